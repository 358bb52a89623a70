"""Sentences for a student about a program that failed in a sandbox.

Each is put together here from the student's own text, as the grader reads it, and from the words and bounded numbers of
`autograde.judging.answers`: a program that has seen hidden inputs cannot write them into a sentence.
"""

import ast
import builtins

from autograde.common import syntax
from autograde.common.dependencies import read_cell
from autograde.grader.reading.notebook import Cell
from autograde.judging.answers import FORBIDDEN_CALL, Answer, CellOutcome

_OF_IPYTHON = {"In", "Out", "_", "__", "___", "display", "exit", "quit", "get_ipython"}


def how_a_cell_failed(source: str, outcome: CellOutcome, program: list[Cell]) -> str:
    """Half a sentence: the error and its line; of a NameError also the name, where the text shows which one it is."""
    where = f" in line {outcome.line}" if outcome.line else ""
    if not syntax.is_bounded(source):
        return f"{outcome.kind}{where}"
    if not syntax.is_program(source):
        return _why_no_program(source)
    unknown = _unknown_names(source, outcome.line, program) if outcome.kind == "NameError" else []
    if len(unknown) == 1:
        return f"NameError{where}: name '{unknown[0]}' is not defined"
    return f"{outcome.kind}{where}"


def _why_no_program(source: str) -> str:
    try:
        syntax.parse(source)
    except SyntaxError as mistake:
        return f"SyntaxError: {mistake.msg} (line {mistake.lineno})"
    except (ValueError, RecursionError, MemoryError):
        pass
    return "it is no Python program"


def _unknown_names(source: str, line: int | None, program: list[Cell]) -> list[str]:
    """The names that this line reads and that no cell of the program defines; none where a `*` imports unknown ones."""
    cells = [read_cell(cell.source) for cell in program]
    known = set(dir(builtins)) | _OF_IPYTHON
    for cell in cells:
        known |= {*cell.defines, *cell.imports}
    if "*" in known:
        return []
    nodes = list(ast.walk(syntax.parse(source)))
    known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    known |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return sorted({node.id for node in names if node.lineno == line} - known)


def what_was_raised(answers: list[Answer], source: str, seconds: float, program: list[Cell]) -> str:
    """The first error of an answer, with its line where the answer's own text has such a line, and of a NameError the
    name."""
    answer = next(answer for answer in answers if answer.status == "raised")
    if answer.late:
        return f"It had given no answer after {seconds:g} seconds."
    failure = answer.failure
    if failure.kind == FORBIDDEN_CALL:
        return "It used something that this exercise asks you to write yourself."
    line = f" in line {failure.line} of its cell" if failure.line and failure.line <= source.count("\n") + 1 else ""
    if failure.kind == "NameError" and line and syntax.is_program(source):
        unknown = _unknown_names(source, failure.line, program)
        if len(unknown) == 1:
            return f"It raised NameError{line}: no cell of your notebook defines `{unknown[0]}`."
    said = f"It raised {failure.kind}{line}, on inputs of the grader's own."
    return f"{said} Try other sizes, and other numbers of axes."
