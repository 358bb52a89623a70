"""A program as tokens that its writer cannot change without changing the program. Only syntax is looked at.

    [token.text for token in tokens_of("def f(x):  # twice\n    return 2 * x")]
    # ["def", "arg", "Return", "BinOp", "2", "Mult", "name"]

Comments, docstrings, formatting, type hints, imports and the names that the program defines itself are gone; names that
it uses from elsewhere (`ops.matmul`), numbers and the structure stay. A detour is read as the plain way (`_plain`):
`x if 1 else y`, `[x][0]`, `getattr(ops, "exp")`. Functions that nothing calls are left out, and code below a `return`.
"""

import ast
import hashlib
import io
import re
import tokenize
from collections.abc import Set
from dataclasses import dataclass

from autograde.common import syntax
from autograde.common.dependencies import reached

LARGEST = 400_000  # characters of one answer that are read, comments included: about 2 s
MAX_TOKENS = 20_000  # of one answer that are compared: the longest answer of the course has 900
K = 6  # tokens of a passage: the shortest part of a program that two answers can share
_LONG_STRING = 40  # characters from which a string is compared by its text
_SKIPPED = (ast.Import, ast.ImportFrom, ast.Pass, ast.expr_context, ast.type_ignore)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_ANNOTATIONS = ("annotation", "returns", "type_comment")
_HIDING = frozenset({"exec", "eval", "compile", "__import__", "base64", "marshal", "pickle", "zlib", "codecs"})
_WORD = re.compile(r"#[^\n]*|\w+|[^\w\s]")
_START = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)

Passage = tuple[str, ...]  # K neighbouring tokens


@dataclass(frozen=True)
class Token:
    text: str
    line: int


def tokens_of(source: str, called: Set[str] | None = None) -> list[Token]:
    """The program's tokens, at most MAX_TOKENS; words and signs of a text that does not parse. Never raises.

    called: the names by which the program is called; by default each of its functions may be.
    """
    plain = without_comments(source[:LARGEST])
    tree = syntax.parsed(plain)
    found = _words(plain) if tree is None else _nodes(tree, called)
    return found[:MAX_TOKENS]


def passages_of(tokens: list[Token]) -> dict[Passage, set[int]]:
    """Each run of K tokens → its lines."""
    found: dict[Passage, set[int]] = {}
    for start in range(len(tokens) - K + 1):
        run = tokens[start : start + K]
        found.setdefault(tuple(token.text for token in run), set()).update(token.line for token in run)
    return found


def without_comments(source: str) -> str:
    """The text with its comments gone and with `0` for each docstring; every line keeps its number."""
    lines = io.StringIO(source).readlines()  # as `tokenize` counts them: \x0c or \u2028 end no line
    try:
        found = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return source
    for before, token, after in reversed(list(zip([None, *found], found, [*found[1:], None]))):
        alone = (before is None or before.type in _START) and after is not None
        if token.type == tokenize.COMMENT:
            _replace(lines, token, "")
        elif token.type == tokenize.STRING and alone and after.type in (tokenize.NEWLINE, tokenize.COMMENT):
            _replace(lines, token, "0")
    return "".join(lines)


def _replace(lines: list[str], token: tokenize.TokenInfo, text: str) -> None:
    (first, left), (last, right) = token.start, token.end
    rest = lines[last - 1][right:]
    if first == last:
        lines[first - 1] = lines[first - 1][:left] + text + rest
    else:
        lines[first - 1] = lines[first - 1][:left] + text + "\n"
        lines[first : last - 1] = ["\n"] * (last - 1 - first)
        lines[last - 1] = rest


def hidden_ways(source: str) -> list[str]:
    """The ways in which a text can hide a program: names such as exec and base64, more text than is compared."""
    tree = syntax.parsed(without_comments(source[:LARGEST]))
    if tree is None:
        names = set(re.findall(r"\w+", source[:LARGEST]))
    else:
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {
            alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    found = sorted(names & _HIDING)
    if len(source) > LARGEST or len(tokens_of(source)) == MAX_TOKENS:
        found.append(f"{len(source):,} characters, more than is compared")
    return found


def _words(source: str) -> list[Token]:
    found, line, done = [], 1, 0
    for match in _WORD.finditer(source):
        line, done = line + source.count("\n", done, match.start()), match.start()
        if not match[0].startswith("#"):
            found.append(Token(match[0], line))
        if len(found) == MAX_TOKENS:
            break
    return found


def _nodes(tree: ast.Module, called: Set[str] | None) -> list[Token]:
    """The nodes in the order of the text's structure: each before its parts."""
    own = _own_names(tree)
    never = _never_called(tree, called) if called else set()
    found, waiting = [], [(node, 1) for node in reversed(tree.body)]
    while waiting and len(found) < MAX_TOKENS:
        node, line = waiting.pop()
        line = getattr(node, "lineno", line)
        node = _plain(node)
        if (
            node in never
            or isinstance(node, _SKIPPED)
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        ):
            continue
        text = _text_of(node, own)
        if text:
            found.append(Token(text, line))
        waiting += [(part, line) for part in reversed(_parts(node))]
    return found


def _parts(node: ast.AST) -> list[ast.AST]:
    parts = []
    for name, value in ast.iter_fields(node):
        if name in _ANNOTATIONS:
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                parts.append(part)
            if isinstance(part, _LEAVING):
                break  # what is below it never runs
    return parts


def _plain(node: ast.AST) -> ast.AST:
    """The node that does the same without a detour; several detours, one in the other, are undone one by one."""
    while (plainer := _plainer(node)) is not None:
        node = plainer
    return node


def _plainer(node: ast.AST) -> ast.AST | None:
    match node:
        case ast.IfExp(test=test) if (known := _truth(test)) is not None:
            return node.body if known else node.orelse
        case ast.If(test=test) if (known := _truth(test)) is not None:
            return ast.Module(node.body if known else node.orelse, [])
        case ast.While(test=test) if _truth(test) is False:
            return ast.Module(node.orelse, [])
        case ast.BoolOp(op=op, values=[first, second]) if (known := _truth(first)) is not None:
            return second if known == isinstance(op, ast.And) else first
        case ast.Subscript(value=ast.List(elts=parts) | ast.Tuple(elts=parts), slice=place):
            number = _number(place)
            is_in_it = number is not None and -len(parts) <= number < len(parts)
            return parts[number] if is_in_it and not any(isinstance(part, ast.Starred) for part in parts) else None
        case ast.Call(func=ast.Name(id="getattr"), args=[thing, name], keywords=[]):
            text = _text(name)
            return ast.Attribute(thing, text, ast.Load()) if text and text.isidentifier() else None
    return None


def _truth(test: ast.AST) -> bool | None:
    """Whether a condition holds, where its text tells it."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=value)):
            return not value
    return None


def _number(node: ast.AST) -> int | None:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


def _text(node: ast.AST) -> str | None:
    """The text of a literal, or of a few that are put together: "so" + "ft" + "max"."""
    parts: list[str] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.right, ast.Constant):
        parts.insert(0, node.right.value)
        node = node.left
    parts.insert(0, node.value if isinstance(node, ast.Constant) else None)
    return "".join(parts) if all(isinstance(part, str) for part in parts) else None


def _never_called(tree: ast.Module, called: Set[str]) -> set[ast.AST]:
    """The functions and classes that nothing in the program uses, directly or through others. Methods count as used."""
    methods = {part for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body}
    defined = [node for node in ast.walk(tree) if isinstance(node, _DEFINITIONS) and node not in methods]
    uses: dict[str, set[str]] = {}
    for node in defined:
        uses.setdefault(node.name, set()).update(_names_in(node))
    outside = ast.Module([node for node in tree.body if not isinstance(node, _DEFINITIONS)], [])
    used = reached(called | _names_in(outside), lambda name: uses.get(name, ()))
    never = {node for node in defined if node.name not in used}
    return never if len(never) < len(defined) else set()  # else it is called by a name that we do not see


def _names_in(tree: ast.AST) -> set[str]:
    """The names that a part of a program reads, but for those that only a function in it reads."""
    found, waiting = set(), list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not isinstance(tree, ast.ClassDef):
            waiting += node.decorator_list
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        waiting += ast.iter_child_nodes(node)
    return found


def _text_of(node: ast.AST, own: set[str]) -> str:
    match node:
        case ast.Name():
            return "name" if node.id in own else node.id
        case ast.Attribute():
            return ".name" if node.attr in own else f".{node.attr}"
        case ast.keyword():
            return f"{node.arg}="
        case ast.Constant():
            return _constant(node.value)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return "def"
        case ast.AnnAssign():
            return "Assign" if node.value else ""
        case ast.Expr() | ast.arguments() | ast.Module():
            return ""
    return type(node).__name__


def _constant(value) -> str:
    if not isinstance(value, (str, bytes)):
        return hex(value) if type(value) is int else repr(value)  # in hex an int of any size has a text
    if len(value) < _LONG_STRING:
        return "string"
    return hashlib.sha256(value if isinstance(value, bytes) else value.encode("utf-8", "replace")).hexdigest()[:16]


def _own_names(tree: ast.Module) -> set[str]:
    """Names that the program gives to things: variables, arguments, functions, classes, attributes that it sets."""
    own = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            own.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, _DEFINITIONS):
            own.add(node.name)
    return own
