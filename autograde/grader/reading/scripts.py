"""Splits a Python script, handed in in place of a notebook, into cells.

Jupyter and editors mark each cell (`# In[3]:`, `# %%`). Colab marks none: there a paragraph is a cell, so that an error
in one does not end the others. Only syntax is looked at; nothing is run.
"""

import ast
import re

from autograde.common.dependencies import ParsedCell
from autograde.common.syntax import LARGEST, error_in, is_bounded
from autograde.grader.reading.source import KEEP_BODY, without_commands

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


def split_script(text: str) -> list[str]:
    """The cells of a script, without empty ones. A script that does not parse as a whole is split at empty lines."""
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
