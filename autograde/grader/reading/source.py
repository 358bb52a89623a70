"""A cell's text without its notebook commands, and how alike two texts are. Nothing is compiled or run."""

import re
from collections import Counter

from autograde.common.dependencies import ParsedCell
from autograde.common.syntax import LARGEST

KEEP_BODY = ("time", "timeit", "capture", "prun")  # cell commands whose body is ordinary Python
_CELL_COMMAND = re.compile(r"\A\s*%%(\w+)[^\n]*")
_TIMED = re.compile(r"^(\s*)%(?:time|timeit|prun)\s+(?!-)(\S.*)$")
_COMMAND = re.compile(r"^(\s*)(?:!|%\w|\?|\w[\w.]*\?{1,2}\s*$|\w+\s*=\s*[!%]).*$")


def without_commands(cell: ParsedCell) -> tuple[ParsedCell, list[str]]:
    """A cell with its notebook commands (`!pip …`, `%matplotlib`, `%%time`) made comments, and those commands.

    A cell that is plain Python comes back as it is, so a line of a string that begins with % is left alone. Lines keep
    their numbers: an error still names the student's own line.
    """
    source = cell.source
    if cell.is_program or len(source) > LARGEST:
        return cell, []
    header = _CELL_COMMAND.match(source)
    if header and header[1] not in KEEP_BODY:
        return ParsedCell("\n".join(f"# {line}" for line in source.split("\n"))), [header[0].strip()]
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
    changed = ParsedCell("\n".join(lines))
    return (changed, commands) if changed.is_program else (cell, [])


def significant(text: str) -> str:
    """A text without empty lines and spaces at line ends: two cells of one such text are the same cell."""
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def alike(template: str, text: str) -> float:
    """The fraction of the template's lines that a text still has; both as `significant` returns them."""
    wanted = Counter(template.split("\n"))
    return (wanted & Counter(text.split("\n"))).total() / wanted.total()
