"""A cell's text as the grader sees it: which names it defines, and what it is without its notebook commands.

Only syntax is looked at (`ast`); nothing is compiled or run.
"""

import ast
import functools
import re
import sys
from collections import Counter
from importlib.machinery import PathFinder

from autograde import mybert_importer
from autograde.syntax import LARGEST, is_program, parsed

KEEP_BODY = ("time", "timeit", "capture", "prun")  # cell commands whose body is ordinary Python
_CELL_COMMAND = re.compile(r"\A\s*%%(\w+)[^\n]*")
_TIMED = re.compile(r"^(\s*)%(?:time|timeit|prun)\s+(?!-)(\S.*)$")
_COMMAND = re.compile(r"^(\s*)(?:!|%\w|\?|\w[\w.]*\?{1,2}\s*$|\w+\s*=\s*[!%]).*$")
_DEFINED = re.compile(r"^(?:async\s+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_IMPORTS, _SIMPLE = (ast.Import, ast.ImportFrom), (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)
_OURS = ("autograde", "bertlab", mybert_importer.PACKAGE)
_COLABS = "google.colab"  # other packages have `google`, too
_SUPPRESSED = "with __import__('contextlib').suppress(ImportError, NameError): "


@functools.lru_cache(maxsize=4000)
def defined_names(source: str) -> frozenset[str]:
    """Names a cell defines at its top level: functions, classes, variables; by pattern if it does not parse."""
    tree = parsed(source)
    if tree is None:
        return frozenset(one or other for one, other in _DEFINED.findall(source[:LARGEST]))
    names = set()
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(statement.name)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names |= {part.id for target in targets for part in _parts(target) if isinstance(part, ast.Name)}
    return frozenset(names)


def _parts(target):
    return target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]


def called_names(source: str, function: str) -> list[str]:
    """The arguments of `function`, if the cell contains only such calls: check(a) → ["a"], check("a") too."""
    tree = parsed(source)
    names = []
    for statement in tree.body if tree else []:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == function):
            return []
        for argument in call.args[:1]:
            if isinstance(argument, ast.Name):
                names.append(argument.id)
            elif isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                names.append(argument.value)
    return names


def without_commands(source: str) -> tuple[str, list[str]]:
    """A cell with its notebook commands (`!pip …`, `%matplotlib`, `%%time`) made comments, and those commands.

    A cell that is plain Python comes back as it is, so a line of a string that begins with % is left alone. Lines keep
    their numbers: an error still names the student's own line.
    """
    if is_program(source) or len(source) > LARGEST:
        return source, []
    header = _CELL_COMMAND.match(source)
    if header and header[1] not in KEEP_BODY:
        return "\n".join(f"# {line}" for line in source.split("\n")), [header[0].strip()]
    commands, lines, at_the_top = [], [], bool(header)
    for line in source.split("\n"):
        timed, command = _TIMED.match(line), _COMMAND.match(line)
        first, at_the_top = at_the_top, at_the_top and not line.strip()
        if first and line.strip().startswith("%%"):
            commands.append(line.strip())
            lines.append(f"# {line.strip()}")
        elif timed:
            commands.append(line.strip())
            lines.append(timed[1] + timed[2])
        elif command:
            commands.append(line.strip())
            lines.append(f"{command[1]}pass  # {line.strip()}")
        else:
            lines.append(line)
    changed = "\n".join(lines)
    return (changed, commands) if is_program(changed) else (source, [])


def without_lacking_modules(source: str) -> tuple[str, list[str]]:
    """A cell in which a line that needs a module that is not installed here ends only itself, and those modules.

    `from google.colab import drive` at the top of a cell would otherwise end the cell. The line stays, in a `with` that
    suppresses the error; lines keep their numbers.
    """
    tree = parsed(source) if "import" in source else None
    lines, lacking, names = source.split("\n"), [], set()
    for statement in tree.body if tree else []:
        if isinstance(statement, _IMPORTS):
            found = [module for module in _modules(statement) if _is_lacking(module)]
            names |= {alias.asname or alias.name.partition(".")[0] for alias in statement.names if found}
            lacking += found
        else:
            found = isinstance(statement, _SIMPLE) and names & _read_in(statement)
        if found and statement.col_offset == 0:
            lines[statement.lineno - 1] = _SUPPRESSED + lines[statement.lineno - 1]
    changed = "\n".join(lines)
    return (changed, lacking) if lacking and is_program(changed) else (source, [])


def _modules(statement: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return [statement.module] if statement.module and not statement.level else []


def _read_in(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


@functools.lru_cache(maxsize=1000)
def _is_lacking(module: str) -> bool:
    """Whether a student's module is not installed here.

    Only its first name is looked up, since for more Python would run code, and only among what is installed: a student
    could ask for names of the instructor's files.
    """
    first = module.partition(".")[0]
    if first in _OURS or first in sys.stdlib_module_names:
        return False
    places = [place for place in sys.path if place.endswith(("site-packages", "dist-packages"))]
    return module.startswith(_COLABS) or PathFinder.find_spec(first, places) is None


def significant(text: str) -> str:
    """A text without empty lines and spaces at line ends: two cells of one such text are the same cell."""
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def alike(template: str, text: str) -> float:
    """The fraction of the template's lines that a text still has; both as `significant` returns them."""
    wanted = Counter(template.split("\n"))
    return (wanted & Counter(text.split("\n"))).total() / wanted.total()
