"""Sentences for a student about a program that failed in a sandbox.

Each is put together here from the student's own text, as the grader reads it, and from the words and bounded numbers of
`autograde.judging.answers`: a program that has seen hidden inputs cannot write them into a sentence.
"""

import ast
import builtins

from autograde.common import syntax
from autograde.common.dependencies import ParsedCell, Program
from autograde.judging.answers import FORBIDDEN_CALL, Answer, CellOutcome

_OF_IPYTHON = {"In", "Out", "_", "__", "___", "display", "exit", "quit", "get_ipython"}


def how_a_cell_failed(cell: ParsedCell, outcome: CellOutcome, program: Program) -> str:
    """Half a sentence: the error and its line; of a NameError also the name, where the text shows which one it is."""
    where = f" in line {outcome.line}" if outcome.line else ""
    if not syntax.is_bounded(cell.source):
        return f"{outcome.kind}{where}"
    if not cell.is_program:
        return _why_no_program(cell.source)
    unknown = _unknown_names(cell, outcome.line, program) if outcome.kind == "NameError" else []
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


def _unknown_names(cell: ParsedCell, line: int | None, program: Program) -> list[str]:
    """The names that this line reads and that no cell of the program defines; none where a `*` imports unknown ones."""
    if "*" in program.last_with:
        return []
    defined = set(dir(builtins)) | _OF_IPYTHON
    nodes = list(ast.walk(cell.tree))
    defined |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    defined |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return sorted({node.id for node in names if node.lineno == line} - defined - program.last_with.keys())


def what_was_raised(answers: list[Answer], cell: ParsedCell, seconds: float, program: Program) -> str:
    """The first error of an answer, with its line if it is in the answer's own text, and of a NameError the name."""
    answer = next(answer for answer in answers if answer.status == "raised")
    if answer.late:
        return f"It had given no answer after {seconds:g} seconds."
    failure = answer.failure
    if failure.kind == FORBIDDEN_CALL:
        return "It used something that this exercise asks you to write yourself."
    inside = failure.line and failure.line <= cell.source.count("\n") + 1
    line = f" in line {failure.line} of its cell" if inside else ""
    if failure.kind == "NameError" and line and cell.is_program:
        unknown = _unknown_names(cell, failure.line, program)
        if len(unknown) == 1:
            return f"It raised NameError{line}: no cell of your notebook defines `{unknown[0]}`."
    sentence = f"It raised {failure.kind}{line}, on inputs of the grader's own."
    return f"{sentence} Try other sizes, and other numbers of axes."
