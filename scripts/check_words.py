"""Checks prose for the words that scripts/words.toml lists: `python -m scripts.check_words`.

It reads prose wherever a person does: Markdown, the notebooks' text cells, docstrings, comments, string literals
(help texts, error messages) and HTML templates. Code, and text in backticks, is left out. scripts/words.toml is its
configuration.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "scripts" / "words.toml"
KINDS = ("markdown", "docstring", "string", "comment", "html")
SUFFIXES = (".md", ".py", ".html")
_NOT_PROSE = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>|\{[{%#].*?[}%#]\}", re.DOTALL)  # of an HTML template


@dataclass(frozen=True)
class Text:
    """A run of prose: the line where it begins, the kind of place it is from, and the words."""

    line: int
    kind: str
    words: str


@dataclass(frozen=True)
class Rule:
    """One entry of scripts/words.toml: a pattern, the kinds of text it is for, and what to write instead."""

    pattern: re.Pattern
    instead: str
    bad: str
    good: str
    kinds: tuple[str, ...] = KINDS


@dataclass(frozen=True)
class Finding:
    """A pattern found in a file."""

    path: str
    line: int
    found: str
    rule: Rule

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.found!r}: {self.rule.instead}"


def load_config(path: Path = CONFIG) -> tuple[list[str], list[Rule]]:
    """The areas (glob patterns of paths) that must be free of findings, and the rules."""
    config = tomllib.loads(path.read_text(encoding="utf-8"))
    rules = []
    for entry in config["rule"]:
        flags = 0 if entry.get("case") else re.IGNORECASE
        kinds = tuple(entry.get("kinds", KINDS))
        rules.append(Rule(re.compile(entry["pattern"], flags), entry["instead"], entry["bad"], entry["good"], kinds))
    return config["areas"], rules


def texts_of(path: Path) -> Iterator[Text]:
    """The prose of a file, by its suffix."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield from markdown_texts(source)
    elif path.suffix == ".py":
        yield from python_texts(source)
    elif path.suffix == ".html":
        yield Text(1, "html", _NOT_PROSE.sub(lambda code: "\n" * code[0].count("\n") or " ", source))


def markdown_texts(source: str, first_line: int = 1) -> Iterator[Text]:
    """Markdown without its fenced and indented code, a paragraph at a time: a pattern may run over a line's end."""
    paragraph: list[str] = []
    begin, fenced = first_line, False
    for number, line in enumerate([*source.splitlines(), ""], first_line):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        if fenced or not line.strip() or line.startswith("    "):
            if paragraph:
                yield Text(begin, "markdown", "\n".join(paragraph))
            paragraph = []
            continue
        if not paragraph:
            begin = number
        paragraph.append(line)


def python_texts(source: str) -> Iterator[Text]:
    """Docstrings, other string literals that hold a space, comments, and the text cells of a notebook's source."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value): _argument_names(node)
        for node in ast.walk(tree)
        if isinstance(node, documented) and ast.get_docstring(node) is not None
    }
    inside_f_strings = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    patches = {id(text) for node in ast.walk(tree) if isinstance(node, ast.Call) for text in _code_texts(node)}
    for node in ast.walk(tree):
        if id(node) in patches:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield Text(node.lineno, "string", "".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside_f_strings:
            if id(node) in docstrings:
                names = re.compile(rf"\b({'|'.join(docstrings[id(node)])})\b")
                yield Text(node.lineno, "docstring", names.sub(lambda name: " " * len(name[0]), node.value))
            elif " " in node.value and not _is_program(node.value):
                yield Text(node.lineno, "string", node.value)
    yield from comment_texts(source)


def _argument_names(node: ast.AST) -> list[str]:
    """The names of a function's arguments, which its docstring repeats; a pattern that matches nothing otherwise."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ["(?!)"]
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [argument.arg for argument in arguments] or ["(?!)"]


def _is_program(text: str) -> bool:
    """Whether a text of several lines is Python code, such as a mistake that a student makes."""
    try:
        return "\n" in text.strip() and bool(ast.parse(text).body)
    except SyntaxError:
        return False


def _code_texts(call: ast.Call) -> list[ast.expr]:
    """The arguments of an exercise's `mistake(…)` that are code as a student writes it."""
    if not isinstance(call.func, ast.Name) or call.func.id != "mistake":
        return []
    return call.args + [keyword.value for keyword in call.keywords if keyword.arg == "cell"]


def comment_texts(source: str) -> Iterator[Text]:
    """Comments that follow one another as one text; those of a `# %% [markdown]` cell as Markdown."""
    block: list[str] = []
    begin = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        if block and line != last + 1:
            yield from _comment_block(block, begin)
            block = []
        if not block:
            begin = line
        block.append(token.string.removeprefix("#").removeprefix(" "))
        last = line
    yield from _comment_block(block, begin)


def _comment_block(block: list[str], begin: int) -> Iterator[Text]:
    if block and block[0].startswith("%% [markdown]"):
        yield from markdown_texts("\n".join(block[1:]), begin + 1)
    elif block:
        yield Text(begin, "comment", "\n".join(block))


def check(path: Path, rules: list[Rule], root: Path = ROOT) -> Iterator[Finding]:
    """All findings in a file. Words in `backticks` are code: blanked, so that lines keep their numbers."""
    for text in texts_of(path):
        words = re.sub(r"`[^`\n]+`", lambda code: "`" + " " * (len(code[0]) - 2) + "`", text.words)
        for rule in rules:
            if text.kind in rule.kinds:
                for match in rule.pattern.finditer(words):
                    line = text.line + words[: match.start()].count("\n")
                    yield Finding(str(path.relative_to(root)), line, " ".join(match[0].split()), rule)


def tracked_files(patterns: list[str], root: Path = ROOT) -> list[Path]:
    """Files in git, or new and not ignored, that match; a pattern that matches nothing is an error."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True
    )
    names = {name for name in listed.stdout.splitlines() if name.endswith(SUFFIXES) and (root / name).is_file()}
    chosen: set[str] = set()
    for pattern in patterns:
        folder = pattern.rstrip("/") + "/"
        matching = {name for name in names if Path(f"/{name}").match(f"/{pattern}") or name.startswith(folder)}
        if not matching:
            raise SystemExit(f"scripts/words.toml: area {pattern!r} matches no file; mend or remove it")
        chosen |= matching
    return [root / name for name in sorted(chosen)]


def main(arguments: list[str] | None = None) -> int:
    """Prints each finding; 1 if there are any."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", help="Check these files or folders instead of the configured areas.")
    parser.add_argument("--count", action="store_true", help="Print how often each rule matches, not where.")
    options = parser.parse_args(arguments)
    areas, rules = load_config()
    findings = [finding for path in tracked_files(options.paths or areas) for finding in check(path, rules)]
    if options.count:
        for instead, count in Counter(finding.rule.bad for finding in findings).most_common():
            print(f"{count:5}  {instead}")
    else:
        print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
