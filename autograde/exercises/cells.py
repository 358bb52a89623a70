"""The solutions' own cells: patched, and run. The instructor's side only.

Cells tagged "setup" contain the imports of all answers; a cell with the nbgrader metadata `"solution": true` is the
answer to the exercise that its `grade_id` names.
"""

import linecache

from autograde.boundary import mybert_importer
from autograde.common.caches import cached
from autograde.exercises import notebooks
from autograde.exercises.notebooks import SolutionError
from autograde.exercises.spec import Exercise, Misconception
from autograde.exercises.variants import Values


def read(notebook: str, variant: Values = ()) -> tuple[str, dict[str, str]]:
    """The set-up code and the answers by exercise id, in the notebook's order. Raises SolutionError, VariantError."""
    code = [cell for cell in notebooks.cells_of(notebook, variant) if cell.is_code]
    setup = "\n".join(cell.source for cell in code if "setup" in cell.metadata.get("tags", ()))
    return setup, {cell.graded["grade_id"]: cell.source for cell in code if cell.graded.get("solution")}


def answer_cell(exercise: Exercise) -> str:
    """The source of the solution's cell. Raises SolutionError if the notebook has none for this exercise."""
    answers = read(exercise.notebook, exercise.variant)[1]
    if exercise.id not in answers:
        raise SolutionError(f"solutions/{exercise.notebook}.py has no solution cell with grade_id {exercise.id!r}")
    return answers[exercise.id]


def patched_cell(exercise: Exercise, misconception: Misconception) -> str:
    """The solution's cell with the misconception in it. Raises SolutionError if an old text is not there once."""
    if misconception.cell is not None:
        return misconception.cell
    source = answer_cell(exercise)
    for old, new in misconception.patch:
        if source.count(old) != 1:
            raise SolutionError(
                f"{exercise.id}/{misconception.id}: {old!r} occurs {source.count(old)} times in the solution's cell; "
                "a patch needs a text that occurs there exactly once"
            )
        source = source.replace(old, new)
    return source


def namespace(exercise: Exercise, cell: str | None = None) -> dict:
    """The names after set-up and the notebook's answers up to this exercise, with `cell` in place of its answer.

    Each such program runs once in a process; the dict is a copy.
    """
    changed = notebooks.path_of(exercise.notebook).stat().st_mtime_ns
    cell = answer_cell(exercise) if cell is None else cell
    return dict(_names_after(exercise.notebook, exercise.id, cell, exercise.variant, changed))


@cached
def _names_after(notebook, last, cell, variant, changed):
    setup, answers = read(notebook, variant)
    names = {"__name__": "solution"}
    with mybert_importer.only_stand_ins():  # what earlier notebooks built
        _run(setup, f"<{notebook} setup>", names)
    for identity, source in answers.items():
        if identity == last:
            break
        _run(source, f"<{notebook} {identity}>", names)
    _run(cell, f"<{notebook} {last}>", names)
    return names


def stub_cell(source: str) -> str:
    """A solution's cell as the student gets it, without the code between the solution marks."""
    lines, skipping = [], False
    for line in source.splitlines():
        if "### BEGIN SOLUTION" in line:
            skipping = True
            indent = line[: len(line) - len(line.lstrip())]
            lines += [f"{indent}# YOUR CODE HERE", f"{indent}raise NotImplementedError()"]
        elif "### END SOLUTION" in line:
            skipping = False
        elif not skipping:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _run(source, name, names):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)  # so that errors can show their line
    exec(compile(source, name, "exec"), names)
