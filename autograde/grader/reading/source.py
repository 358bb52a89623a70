"""Cells as text: without notebook commands and modules that are not here, and from a script. Nothing is run."""

import ast
import functools
import re
import sys
from collections import Counter
from importlib.machinery import PathFinder
from itertools import groupby

from autograde.boundary import mybert_importer
from autograde.common.dependencies import ParsedCell
from autograde.common.syntax import LARGEST, error_in, is_bounded

KEEP_BODY = ("time", "timeit", "capture", "prun")  # cell commands whose body is ordinary Python
_CELL_COMMAND = re.compile(r"\A\s*%%(\w+)[^\n]*")
_TIMED = re.compile(r"^(\s*)%(?:time|timeit|prun)\s+(?!-)(\S.*)$")
_COMMAND = re.compile(r"^(\s*)(?:!|%\w|\?|\w[\w.]*\?{1,2}\s*$|\w+\s*=\s*[!%]).*$")

_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)
_OURS = ("autograde", "bertlab", mybert_importer.PACKAGE)
_COLABS = "google.colab"  # other packages have `google`, too
_SUPPRESSED = "with __import__('contextlib').suppress(ImportError, NameError): "

_MARK = re.compile(r"^# (?:%%(?=[ \t]|$)[^\n]*|In ?\[[ \d]*\]:?)[ \t]*$", re.MULTILINE)  # not Colab's `# %%time`
_CALL = re.compile(r"^([ \t]*)((?:\w+ = )?get_ipython\(\)\.(\w+)\(.*\))[ \t]*$", re.MULTILINE)
_LOOKS_LIKE_CODE = re.compile(r"^(?:def \w+\(|class \w+[(:]|import \w+$|from [\w.]+ import )", re.MULTILINE)
_COMMENTED_OUT = re.compile(
    r"^# Commented out IPython magic[^\n]*\n# %%(" + "|".join(KEEP_BODY) + r")\b[^\n]*\n((?:#[^\n]*(?:\n|\Z))+)",
    re.MULTILINE,
)
_MAX_RESTORED = 5 * LARGEST  # characters of a script in which cells are restored: each is parsed
_NEW_PARAGRAPH = re.compile(r"\n[ \t]*\n(?=[^\s)\]}])")
_STATEMENTS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign)


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


def without_lacking_modules(cell: ParsedCell) -> tuple[ParsedCell, list[str]]:
    """A cell in which a statement that needs a module that is not installed here ends only itself, and those modules.

    `from google.colab import drive` or an unused `import seaborn` would otherwise end the cell, and its student would
    lose the points of everything below it.

    The line stays, in a `with` that suppresses the error; lines keep their numbers. Of several statements on one line
    (`import seaborn; import numpy`) those that need such a module are left out. Of several modules in one statement
    (`import seaborn, numpy`) those that are here come first.
    """
    tree = cell.tree if "import" in cell.source else None
    lines, lacking, names = cell.source.split("\n"), [], set()
    for number, group in groupby(tree.body if tree else [], key=lambda statement: statement.lineno):
        statements, needing = list(group), []
        for statement in statements:
            modules, unbound = _imports_lacking(statement)
            lacking += modules
            names |= unbound
            if modules or (
                isinstance(statement, _SIMPLE)
                and names & {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            ):
                needing.append(statement)
        alone = len(statements) == 1
        for statement in reversed(needing):  # the last first: the others keep their places in the line
            text = _without_lacking(statement, alone)
            if statement.end_lineno == number and text is not None:
                line = lines[number - 1].encode()  # offsets count bytes
                line = line[: statement.col_offset] + text.encode() + line[statement.end_col_offset :]
                lines[number - 1] = line.decode()
        if needing and alone and not statements[0].col_offset:
            lines[number - 1] = _SUPPRESSED + lines[number - 1]
    changed = ParsedCell("\n".join(lines)) if lacking else cell
    return (changed, lacking) if changed.is_program else (cell, [])


def _without_lacking(statement: ast.stmt, alone: bool) -> str | None:
    """The text that replaces a statement that needs a module that is not here; None to keep it."""
    if isinstance(statement, ast.Import):
        here = [alias for alias in statement.names if not _is_lacking(alias.name)]
        if here:
            return ast.unparse(ast.Import(here + [it for it in statement.names if it not in here] if alone else here))
    return None if alone else "..."


def _imports_lacking(statement: ast.stmt) -> tuple[list[str], set[str]]:
    """The modules that a statement imports and that are not here, and the names that it does not bind then."""
    if isinstance(statement, ast.Import):
        aliases = [alias for alias in statement.names if _is_lacking(alias.name)]
        modules = [alias.name for alias in aliases]
    elif isinstance(statement, ast.ImportFrom) and not statement.level and _is_lacking(statement.module):
        aliases, modules = statement.names, [statement.module]
    else:
        aliases, modules = [], []
    return modules, {alias.asname or alias.name.partition(".")[0] for alias in aliases}


@functools.lru_cache(maxsize=1000)
def _is_lacking(module: str) -> bool:
    """Whether a student's module is not installed here.

    Only its first name is looked up, since for more Python would run code, and only among what is installed: a student
    could ask for names of the instructor's files.
    """
    first = module.partition(".")[0]
    if first in _OURS or first in sys.stdlib_module_names:
        return False
    folders = [folder for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))]
    return module.startswith(_COLABS) or PathFinder.find_spec(first, folders) is None


def significant(text: str) -> str:
    """A text without empty lines and spaces at line ends: two cells of one such text are the same cell."""
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def alike(template: str, text: str) -> float:
    """The fraction of the template's lines that a text still has; both as `significant` returns them."""
    wanted = Counter(template.split("\n"))
    return (wanted & Counter(text.split("\n"))).total() / wanted.total()


# --- scripts ---


def split_script(text: str) -> list[str]:
    """The cells of a Python script that was handed in in place of a notebook, without empty ones.

    Jupyter and editors mark each cell (`# In[3]:`, `# %%`). Colab marks none: there a paragraph is a cell, so that an
    error in one does not end the others. A script that does not parse as a whole is split at empty lines.
    """
    if _MARK.search(text):
        parts = _MARK.split(text)
    else:
        text = _COMMENTED_OUT.sub(_restored, text) if len(text) <= _MAX_RESTORED else text
        program = without_commands(ParsedCell(text))[0]
        parts = _paragraphs(program) if program.is_program else _NEW_PARAGRAPH.split(_without_texts(text))
    return [part for part in parts if part.strip()]


def _restored(match: re.Match) -> str:
    """A cell under `%%time`, of which Colab makes every line a comment."""
    cell = re.sub(r"^# ?", "", match[2], flags=re.MULTILINE)
    return cell if has_statements(cell) else match[0]


def _paragraphs(program: ParsedCell) -> list[str]:
    """A program in parts that run alone. Lone strings are left out: Colab writes text cells as strings."""
    lines, starts, has_code, end = program.source.split("\n"), [], [], 0
    for part in program.tree.body:
        start = min([part.lineno, *(mark.lineno for mark in getattr(part, "decorator_list", ()))]) - 1
        if not starts or not all(line.strip() for line in lines[end:start]):
            starts.append(end)  # comments above a statement belong to it
            has_code.append(False)
        has_code[-1] |= not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        end = part.end_lineno
    ends = [*starts[1:], len(lines)]
    return ["\n".join(lines[start:end]) for start, end, wanted in zip(starts, ends, has_code) if wanted]


def _without_texts(text: str) -> str:
    """A script that does not parse, without the strings in which Colab writes text cells."""
    lines, string = [], []
    for line in text.split("\n"):
        if not string and not line.startswith('"""'):
            lines.append(line)
            continue
        string.append(line)
        if line.rstrip().endswith('"""') and (len(string) > 1 or len(line.rstrip()) >= 6):
            string = []
    return "\n".join(lines + string)  # what a string that never ends contains can be code


def without_calls(cell: str) -> str:
    """A cell with the calls that Jupyter writes for notebook commands undone.

    `get_ipython().run_cell_magic('time', '', 'def f(): …')` becomes the cell in it, any other call a comment.
    """
    return _CALL.sub(_undone, cell) if len(cell) <= LARGEST else cell


def _undone(match: re.Match) -> str:
    indent, call, method = match.groups()
    tree = ParsedCell(call).tree
    if tree is None:
        return match[0]
    values = [value.value for value in tree.body[0].value.args if isinstance(value, ast.Constant)]
    if method == "run_cell_magic" and len(values) == 3 and values[0] in KEEP_BODY and isinstance(values[2], str):
        return values[2]
    return f"{indent}pass  # {call}"


def has_statements(cell: str) -> bool:
    """Whether a cell is a program that defines, imports or assigns something: prose can be an expression."""
    tree = without_commands(ParsedCell(cell))[0].tree
    return tree is not None and any(isinstance(part, _STATEMENTS) for part in tree.body)


def what_it_is(text: str) -> str:
    """The description, for the student, of a file that is neither a notebook nor a script with readable cells."""
    if not _LOOKS_LIKE_CODE.search(text):
        return "not a notebook (it is not JSON)"
    if not is_bounded(text):
        return f"a Python script of {len(text) // 1000} kB without cell marks (# %%), not a notebook"
    error = error_in(text)
    where = f" (line {error.lineno}: {error.msg})" if error else ""
    return f"a Python script that Python cannot read{where}, not a notebook"
