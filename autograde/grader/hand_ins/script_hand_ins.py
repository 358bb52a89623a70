"""Which Python script of a student counts as a notebook that the student did not hand in.

A script counts if it has the notebook's name, or if it is the only one that can be meant: the only one with the
notebook's name in its own, or the only one that defines a name of the notebook's exercises. It never replaces a
notebook. All other scripts are collected beside; where no script and no notebook counts, a note says so.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograde.grader.hand_ins.filenames import is_own_module, nearness, notebook_of, own_stem
from autograde.grader.hand_ins.hand_in import Folder
from autograde.grader.hand_ins.identity import Found
from autograde.grader.reading.notebook import read_notebook


def take_scripts(
    folder: Folder, files: list[Found], notebooks: Sequence[str], names: Mapping[str, frozenset[str]]
) -> list[str]:
    """Gives each script that counts the name of its notebook; returns notes for the instructor.

    names: which names a notebook's exercises define, as `exercise_names` returns them.
    """
    handed_in = {file.row.file for file in files if not file.odd and file.row.file.endswith(".ipynb")}
    groups: dict[str | None, list[Found]] = defaultdict(list)
    for file in files:
        if file.row.file.lower().endswith(".py") and not is_own_module(file.entry.inner or file.entry.path):
            groups[notebook_of(file.row.file, notebooks)].append(file)
    notes = []
    for notebook, scripts in groups.items():
        target = f"{notebook}.ipynb"
        already = handed_in if notebook is None else target in handed_in
        if already:
            continue
        if target in folder.notebooks:
            notes.append(_note(folder, scripts, target, "a notebook was collected before"))
        elif meant := notebook and _meant(scripts, notebooks, names.get(notebook, frozenset())):
            for file in meant:
                file.row.file = target
        else:
            why = f"none is named {notebook or 'NOTEBOOK'}.py, and not exactly one defines names of its exercises"
            notes.append(_note(folder, scripts, target if notebook else "NOTEBOOK.ipynb", why))
    return notes


def _meant(scripts: list[Found], notebooks: Sequence[str], names: frozenset[str]) -> list[Found]:
    """The uploads of the one script that can be meant; [] if several can be."""
    near = {file.row.source: nearness(file.row.file, notebooks) for file in scripts}
    best = max(near.values())
    nearest = [file for file in scripts if near[file.row.source] == best]
    if best == 1 or _number_of_scripts(nearest) > 1:
        nearest = [file for file in nearest if names & _defined(file.staged)]
    return nearest if _number_of_scripts(nearest) == 1 else []


def _number_of_scripts(files: list[Found]) -> int:
    """Without what copying and handing in again add to a name."""
    return len({own_stem(file.row.file).lower() for file in files})


def _note(folder: Folder, scripts: list[Found], target: str, why: str) -> str:
    listed = ", ".join(sorted({file.row.file for file in scripts}))
    path = f"submitted/{folder.student}/{folder.assignment}/{target}"
    return f"{folder.student}: not graded: {listed} ({why}); to have a script graded, copy it to {path}"


def exercise_names(course: Path, assignment: str) -> dict[str, frozenset[str]]:
    """notebook → the names that its exercises define, of the released notebooks."""
    folders = (course / kind / assignment for kind in ("release", "source"))
    paths = next(filter(None, (sorted(folder.glob("*.ipynb")) for folder in folders)), [])
    return {path.stem: _defined(path, only_answers=True) for path in paths}


def _defined(path: Path, only_answers: bool = False) -> frozenset[str]:
    cells = [cell for cell in read_notebook(path).cells if cell.kind == "code" and (cell.solution or not only_answers)]
    return frozenset().union(*(cell.parsed.declares for cell in cells))
