"""A cell's text as the grader sees it: which names it defines, and what it is without its notebook commands.

Only syntax is looked at (`ast`); nothing is compiled or run.
"""

import ast
import functools
import re
from collections import Counter

from autograde.common.syntax import LARGEST, is_program, parsed

KEEP_BODY = ("time", "timeit", "capture", "prun")  # cell commands whose body is ordinary Python
_CELL_COMMAND = re.compile(r"\A\s*%%(\w+)[^\n]*")
_TIMED = re.compile(r"^(\s*)%(?:time|timeit|prun)\s+(?!-)(\S.*)$")
_COMMAND = re.compile(r"^(\s*)(?:!|%\w|\?|\w[\w.]*\?{1,2}\s*$|\w+\s*=\s*[!%]).*$")
_DEFINED = re.compile(r"^(?:async\s+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


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


def significant(text: str) -> str:
    """A text without empty lines and spaces at line ends: two cells of one such text are the same cell."""
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def alike(template: str, text: str) -> float:
    """The fraction of the template's lines that a text still has; both as `significant` returns them."""
    wanted = Counter(template.split("\n"))
    return (wanted & Counter(text.split("\n"))).total() / wanted.total()
