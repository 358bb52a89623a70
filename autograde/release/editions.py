"""The two editions of a notebook, from one source: with answers for the instructor, with stubs for students.

Below a cell that only draws is the expected picture: what it shows with the course's own answers, small and grey, kept
as `solutions/expected/NOTEBOOK/KEY.png`. The key comes from the cell's code: a changed cell, or a variant with other
values, has none until `python -m scripts.expected_pictures` makes it. Cell ids are computed: the same source gives the
same bytes.
"""

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from autograde.common.errors import AutogradeError
from autograde.exercises import catalogue, cells, folders, ready_made, variants
from autograde.exercises.notebooks import SOLUTIONS, path_beside
from autograde.exercises.variants import Values

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
MOST_NAMES = 2  # refused names that are shown without folding
EXPECTED = "expected"  # the tag of a cell with an expected picture
ALT = "The picture of this cell with the course's answers, small and grey"
ANSWER = "An answer, to compare with yours"
_MARK = re.compile(r"\s*### (?:BEGIN|END) SOLUTION")
_SETTING = 'COURSE_PACKAGE = ""'  # the line of a notebook that gets the address of the student wheel
_INSTALL = """# Installs the course package where it is missing (for example on Colab); changes nothing else.
import importlib.util, subprocess, sys

PACKAGE = {package!r}
on_colab, installed = "google.colab" in sys.modules, importlib.util.find_spec("autograde") is not None
if not installed:
    if subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", PACKAGE]).returncode:
        raise ModuleNotFoundError(
            "The course package could not be installed. Show the error messages above to your instructor."
        )
if on_colab or not installed:
    importlib.invalidate_caches()
    from autograde.fresh_machine import complete

    complete()  # installs missing small libraries and the TensorFlow Text that matches the installed TensorFlow
if on_colab:
    from autograde.student import keep_in_drive

    print(keep_in_drive())"""
_DEFINES = re.compile(r"^(?:def|class) |\b(?:try|change|your own)\b", re.MULTILINE | re.IGNORECASE)
_SAVE_A_COPY = (
    "**On Colab, choose *File → Save a copy in Drive* before you start, and work in the copy.** "
    "Colab does not save changes in this notebook itself."
)
BADGE = "https://colab.research.google.com/assets/colab-badge.svg"


class ReleaseError(AutogradeError, ValueError):
    """A solution notebook that cannot be released."""


@dataclass(frozen=True)
class Editions:
    """One notebook, written out twice as JSON text: `source` has the answers, `student` has stubs."""

    name: str
    source: str
    student: str


def notebooks(folder: Path | None = None) -> list[str]:
    """The names of all solution notebooks in a folder, in order; by default the instructor's own, else the course's."""
    folder = folder or (folders.own() / "solutions" if folders.own() else SOLUTIONS)
    return sorted(path.stem for path in folder.glob("[0-9P]*_*.py"))


def make(
    name: str, colab: str = "", folder: Path | None = None, package: str = "", variant: Values = (), number: int = 0
) -> Editions:
    """Both editions of a notebook. Raises ReleaseError.

    colab: the address under which Colab finds the folder of student editions; "" leaves the badge out.
    package: the address of the student wheel, which the first code cell installs where it is missing; "": no such cell.
    variant, number: the values and the number of a variant of its questions; by default the written values.
    """
    import jupytext

    path = folder / f"{name}.py" if folder else path_beside("solutions", name)
    if not path.exists():
        known = ", ".join(notebooks(folder)) or "none"
        raise ReleaseError(f"{path}: the solution notebook does not exist; solution notebooks: {known}")
    written = [_cell(name, index, cell) for index, cell in enumerate(jupytext.read(path).cells)]
    written = _with_values(written, variant, number)
    written = _with_refusals(name, written)
    _check_metadata(path, written)
    written = _with_package(name, written, package) if package else written
    written = [one for cell in written for one in (cell, *cell_below(path, name, cell))]
    student = [_for_students(path, cell) for cell in written]
    if colab:
        link = f"[![Open in Colab]({BADGE})]({colab.rstrip('/')}/{name}/{name}.ipynb)"
        student = [text_cell(f"{name} badge", f"{link}\n\n{_SAVE_A_COPY}"), *student]
    return Editions(name, _as_text(written), _as_text(student))


def _cell(name: str, index: int, cell) -> dict:
    metadata = {key: cell.metadata[key] for key in ("nbgrader", "tags") if key in cell.metadata}
    own = metadata.get("nbgrader", {}).get("grade_id", "")
    identity = hashlib.sha256(f"{name} {index} {own}".encode()).hexdigest()[:12]
    is_free = cell.cell_type == "code" and not {"nbgrader", "tags"} & set(cell.metadata)
    if is_free and "alt=" in cell.source and not _DEFINES.search(cell.source):  # it only draws
        metadata["jupyter"] = {"source_hidden": True}  # JupyterLab shows the picture and folds the code
    made = {"cell_type": cell.cell_type, "id": identity, "metadata": metadata, "source": cell.source}
    return made | ({"execution_count": None, "outputs": []} if cell.cell_type == "code" else {})


def _with_values(written: list[dict], variant: Values, number: int) -> list[dict]:
    """The cells with the values of a variant, else with those that the cell of the notebook's variants assigns."""
    own = [cell for cell in written if cell["metadata"].get("nbgrader", {}).get("grade_id") == variants.CELL]
    if not own:
        return written
    values = variant or variants.values_in(own[0]["source"])
    stated = variants.cell_of(values, number) if variant else own[0]["source"]
    return [
        cell | {"source": stated if cell is own[0] else variants.filled(cell["source"], values)} for cell in written
    ]


def for_self_study(editions: Editions) -> str:
    """The student edition, as JSON text, with each answer folded in a text cell below its check.

    It is for those who learn alone, never for a course with grades.
    """
    written, notebook = json.loads(editions.source)["cells"], json.loads(editions.student)
    answers = {}
    for cell in written:
        graded = cell["metadata"].get("nbgrader", {})
        if graded.get("solution") and cell["cell_type"] == "code":
            lines = [line for line in cell["source"].split("\n") if not _MARK.match(line)]
            answers[f"check-{graded['grade_id']}"] = "\n".join(lines)
    cells_of_it = []
    for cell in notebook["cells"]:
        cells_of_it.append(cell)
        check = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if check in answers:
            folded = f"<details><summary>{ANSWER}</summary>\n\n```python\n{answers[check]}\n```\n\n</details>"
            cells_of_it.append(text_cell(f"{editions.name} {check} answer", folded))
    return json.dumps(notebook | {"cells": cells_of_it}, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def make_variants(name: str, colab: str = "", package: str = "") -> list[Editions]:
    """Both editions of each variant 1, 2, … of a notebook; none if it has no variants. Raises ReleaseError."""
    drawn = enumerate(catalogue.variants_of(name), start=1) if catalogue.of_notebook(name) else ()
    return [make(name, colab, None, package, values, number) for number, values in drawn]


def _with_refusals(name: str, written: list[dict]) -> list[dict]:
    """The cells, each exercise's text with the ready-made functions that the exercise refuses."""
    refusals = {exercise.id: ready_made.refusal(exercise.forbidden) for exercise in catalogue.of_notebook(name)}
    texts = list(written)
    for index, cell in enumerate(written):
        graded = cell["metadata"].get("nbgrader", {})
        sentence = refusals.get(graded.get("grade_id")) if graded.get("solution") else None
        if sentence:
            above = max(before for before in range(index) if written[before]["cell_type"] == "markdown")
            if sentence.count("`") > 2 * (1 + MOST_NAMES):  # more than `check` and a few names: a line that opens
                summary = "Names that <code>check</code> refuses here"
                sentence = f"<details><summary>{summary}</summary>\n\n{sentence}\n\n</details>"
            texts[above] = written[above] | {"source": f"{written[above]['source']}\n\n{sentence}"}
    return texts


def _with_package(name: str, written: list[dict], package: str) -> list[dict]:
    """The cells with the wheel's address: in the notebook's own setting for it, or in a new first code cell."""
    filled = [cell | {"source": cell["source"].replace(_SETTING, f"COURSE_PACKAGE = {package!r}")} for cell in written]
    if filled != written:
        return filled
    identity = hashlib.sha256(f"{name} package".encode()).hexdigest()[:12]
    install = {"cell_type": "code", "id": identity, "metadata": {}, "source": _INSTALL.format(package=package),
               "execution_count": None, "outputs": []}  # fmt: skip
    index = next(index for index, cell in enumerate(written) if cell["cell_type"] == "code")
    return [*written[:index], install, *written[index:]]


def _check_metadata(path: Path, written: list[dict]) -> None:
    """Checks nbgrader's rules: each grade_id occurs once, and a graded cell has points."""
    seen = set()
    for cell in written:
        graded = cell["metadata"].get("nbgrader")
        if graded is None:
            continue
        name = graded.get("grade_id")
        if not name or name in seen:
            raise ReleaseError(f"{path}: expected a unique grade_id in each nbgrader cell, got {name!r}")
        if graded.get("schema_version") != 3:
            raise ReleaseError(f"{path}: {name}: expected schema_version 3, got {graded.get('schema_version')}")
        if graded.get("grade") and not isinstance(graded.get("points"), (int, float)):
            raise ReleaseError(f"{path}: {name} is graded, but has no points; add them to its metadata")
        seen.add(name)


def _for_students(path: Path, cell: dict) -> dict:
    graded = cell["metadata"].get("nbgrader", {})
    if not graded.get("solution") or cell["cell_type"] != "code":
        if "### BEGIN" in cell["source"]:
            raise ReleaseError(f"{path}: solution marks in a cell that is not an answer: {cell['source'][:60]!r}")
        return cell
    if cell["source"].count("### BEGIN SOLUTION") != cell["source"].count("### END SOLUTION"):
        raise ReleaseError(f"{path}: {graded['grade_id']}: expected as many END SOLUTION as BEGIN SOLUTION marks")
    if "### BEGIN SOLUTION" not in cell["source"]:
        raise ReleaseError(f"{path}: {graded['grade_id']} has no ### BEGIN SOLUTION; students would see the answer")
    return cell | {"source": cells.stub_cell(cell["source"]).rstrip("\n")}


def _as_text(written: list[dict]) -> str:
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    content = {"cells": written, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


# --- expected pictures ---


def key_of(source: str) -> str:
    """The name of a cell's picture. source: the cell's code."""
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def folder_of(solution: Path) -> Path:
    """The folder with a notebook's expected pictures. solution: the notebook's text."""
    return solution.parent / "expected" / solution.stem


def text_cell(key: str, source: str, **metadata) -> dict:
    """A text cell that the solution notebook does not have. key: its id is computed from it."""
    identity = hashlib.sha256(key.encode()).hexdigest()[:12]
    return {"cell_type": "markdown", "id": identity, "metadata": metadata, "source": source}


def cell_below(solution: Path, name: str, cell: dict) -> list[dict]:
    """The text cell with the expected picture of a cell that draws; [] for other cells."""
    path = folder_of(solution) / f"{key_of(cell['source'])}.png"
    if cell["cell_type"] != "code" or not path.exists():
        return []
    picture = base64.b64encode(path.read_bytes()).decode("ascii")
    source = f"*Expected:*<br>![{ALT}](data:image/png;base64,{picture})"
    return [text_cell(f"{name} {path.stem} expected", source, tags=[EXPECTED])]
