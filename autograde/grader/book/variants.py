"""Which student has which variant of a notebook's questions.

`autograde release --course` writes the released variants to `variants/ASSIGNMENT/NUMBER/NOTEBOOK.ipynb`. A student's
number follows from the course's secret and the student's name in the gradebook, or the name of the group; so nobody can
choose or guess it, and no table is needed. `autograde variants --to` writes the notebooks to be handed out, and notes
the numbers in `variants/ASSIGNMENT/handed_out.csv`; from then on these count, also when groups change.

Members of a group that was set later can have different numbers. Their one hand-in is then the notebook of one of them:
of the members' variants, the one whose texts are in it. No other variant can be chosen by changing a notebook.
"""

import csv
import hashlib
import hmac
import io
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from autograde.common.errors import AutogradeError
from autograde.exercises import variants
from autograde.grader.book.course import read_secret
from autograde.grader.book.groups import Groups, read_groups
from autograde.grader.hand_ins.filenames import safe_name
from autograde.grader.hand_ins.hand_in import hand_in
from autograde.grader.reading.notebook import read_notebook
from autograde.grader.reading.template import Template
from bertlab.common.files import write_text

FOLDER = "variants"
_HANDED_OUT = "handed_out.csv"
_COLUMNS = ("student", "notebook", "variant")


class VariantsError(AutogradeError):
    """Variants that were handed out and would change, or a student's name that cannot be a folder's."""


def editions(course: str | Path, assignment: str, notebook: str) -> dict[int, Template]:
    """The released variants of a notebook by number; none if it has no variants. Raises TemplateError."""
    paths = Path(course, FOLDER, assignment).glob(f"*/{notebook}.ipynb")
    numbered = sorted((int(path.parent.name), path) for path in paths if path.parent.name.isdecimal())
    return {number: Template.read(path.read_bytes(), notebook) for number, path in numbered}


def released_to(course: str | Path, assignment: str) -> dict[str, Template]:
    """The released notebooks of an assignment that has variants, by name; none if it has no variants.

    Raises TemplateError.
    """
    if not Path(course, FOLDER, assignment).is_dir():
        return {}
    paths = sorted(Path(course, "release", assignment).glob("*.ipynb"))
    return {path.stem: released(course, assignment, path) for path in paths}


def released(course: str | Path, assignment: str, path: Path) -> Template:
    """A released notebook with the variants of its questions. Raises TemplateError."""
    template = Template.read(path.read_bytes(), path.stem)
    return replace(template, editions=editions(course, assignment, path.stem))


def write_editions(course: Path, assignment: str, notebook: str, texts: list[str]) -> list[Path]:
    """Writes the variants 1, 2, … of a notebook as JSON texts; returns their paths. Raises as `check_values` does."""
    before, now = check_values(course, assignment, notebook, texts)
    home = course / FOLDER / assignment
    for number in before.keys() - now.keys():
        (home / str(number) / f"{notebook}.ipynb").unlink()
    paths = [home / str(number) / f"{notebook}.ipynb" for number in now]
    for path, text in zip(paths, texts):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    return paths


def check_values(course: Path, assignment: str, notebook: str, texts: list[str]) -> tuple[dict, dict]:
    """The values of each variant in the course, and those of the new ones, JSON texts; writes nothing.

    Raises VariantsError if they differ and students have variants already, or have handed in the notebook.
    """
    before = {number: template.values for number, template in editions(course, assignment, notebook).items()}
    now = {number: Template.read(text.encode(), notebook).values for number, text in enumerate(texts, start=1)}
    home = course / FOLDER / assignment
    if before == now:
        return before, now
    if before and any(name == notebook for _, name in _handed_out(course, assignment)):
        raise VariantsError(
            f"{home}: students have variants of {notebook} with other values; keep `draw`, VARIANTS and SEED as they "
            f"were, or delete {home} to hand out new ones"
        )
    if any(course.glob(f"submitted/*/{assignment}/{notebook}.ipynb")):
        raise VariantsError(
            f"{course / 'submitted'}: students have handed in {notebook} with other values; keep `draw`, VARIANTS and "
            "SEED as they were, or release it as another assignment"
        )
    return before, now


def numbers_of(course: str | Path, assignment: str, student: str, templates: Mapping[str, Template]) -> dict[str, int]:
    """Notebook → the number of this student's variant, for the notebooks that have variants."""
    varied = {name: len(template.editions) for name, template in templates.items() if template.editions}
    if not varied:
        return {}
    noted, secret, groups = _handed_out(course, assignment), read_secret(course), read_groups(course, assignment)
    who = groups.of(student) or student
    return {
        name: _noted(noted, student, name, groups) or _drawn(secret, who, name, count) for name, count in varied.items()
    }


def _noted(noted: Mapping[tuple[str, str], int], student: str, notebook: str, groups: Groups) -> int | None:
    """The number that a student was handed out; one who has none yet gets that of the first member who has one."""
    having = (one for one in (student, *groups.others(student)) if (one, notebook) in noted)
    return noted.get((next(having, student), notebook))


def of_hand_in(course: str | Path, assignment: str, student: str, templates: Mapping[str, Template]) -> dict[str, int]:
    """Notebook → the number of the variant that a student's hand-in is graded as.

    It is the student's own; of a group's hand-in, the one that `recognised` found when the group got it.
    """
    own = numbers_of(course, assignment, student, templates)
    if not own or read_groups(course, assignment).of(student) is None:
        return own
    record = hand_in(course, assignment, student)
    if record is None or not record.variants:
        return recognised(course, assignment, student, templates)
    return {name: record.variants.get(name, number) for name, number in own.items()}


def recognised(course: str | Path, assignment: str, student: str, templates: Mapping[str, Template]) -> dict[str, int]:
    """Notebook → the number of the member's variant that a group's hand-in is.

    student: the member who handed in; this member's number counts where the texts in the notebook do not decide.
    """
    own = numbers_of(course, assignment, student, templates)
    others = read_groups(course, assignment).others(student) if own else ()
    record = hand_in(course, assignment, student)
    theirs = [numbers_of(course, assignment, other, templates) for other in others]
    theirs.append(record.variants if record else {})  # perhaps of a member who has left
    found = {}
    for name, number in own.items():
        path = Path(course, "submitted", student, assignment, f"{name}.ipynb")
        possible = {number, *(numbers[name] for numbers in theirs if name in numbers)}
        found[name] = _closest(path, templates[name], possible, number) if path.is_file() else number
    return found


def _closest(path: Path, template: Template, possible: set[int], own: int) -> int:
    """The one of these variants of which a notebook has the most cells that not all of them have; `own` if several."""
    given = {
        number: {cell.cell.source.strip() for cell in template.edition(number).cells if cell.role != "answer"}
        for number in possible
    }
    here = {cell.source.strip() for cell in read_notebook(path).cells} - set.intersection(*given.values())
    counts = {number: len(texts & here) for number, texts in given.items()}
    most_frequent = [number for number, count in counts.items() if count == max(counts.values())]
    return most_frequent[0] if len(most_frequent) == 1 else own


def of_several(course: str | Path, assignment: str) -> list[str]:
    """A sentence for each group whose members have different variants of a notebook: it was set after handing out."""
    templates, said = released_to(course, assignment), []
    for group, members in read_groups(course, assignment).members.items() if templates else ():
        numbers = [numbers_of(course, assignment, student, templates) for student in members]
        for name in numbers[0]:
            if len(found := sorted({one[name] for one in numbers})) > 1:
                said.append(
                    f"{group}: its members have different variants of {name} ({', '.join(map(str, found))}), handed "
                    "out before they were a group; their hand-in is graded as the variant of the member whose notebook "
                    "it is"
                )
    return said


def _drawn(secret: bytes, who: str, notebook: str, count: int) -> int:
    digest = hmac.new(secret, "\0".join(("variant", who, notebook)).encode(), hashlib.sha256).digest()
    return 1 + int.from_bytes(digest[:8], "big") % count


def _handed_out(course: str | Path, assignment: str) -> dict[tuple[str, str], int]:
    """(student, notebook) → number, of those who have their notebooks."""
    path = Path(course, FOLDER, assignment, _HANDED_OUT)
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {(row["student"], row["notebook"]): int(row["variant"]) for row in csv.DictReader(file)}


def hand_out(
    course: Path, assignment: str, students: Iterable[str], templates: Mapping[str, Template], folder: Path
) -> list[Path]:
    """Writes `folder/STUDENT/NOTEBOOK.ipynb` for each student, and notes who has which; returns the paths."""
    students, noted, paths = list(students), _handed_out(course, assignment), []
    for student in students:  # before anything is written
        if safe_name(student) != student:
            raise VariantsError(f"{student!r} cannot be the name of a student in a gradebook; correct it")
    for student in students:
        for notebook, number in numbers_of(course, assignment, student, templates).items():
            noted[student, notebook] = number
            paths.append(folder / student / f"{notebook}.ipynb")
            paths[-1].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(course / FOLDER / assignment / str(number) / f"{notebook}.ipynb", paths[-1])
    _note(course, assignment, noted)
    return paths


def _note(course: Path, assignment: str, noted: Mapping[tuple[str, str], int]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_COLUMNS, *sorted((*key, number) for key, number in noted.items())])
    write_text(course / FOLDER / assignment / _HANDED_OUT, text.getvalue())


def is_noted(course: Path, student: str) -> bool:
    """Whether a list of what was handed out has a row of this student."""
    names = (path.parent.name for path in course.glob(f"{FOLDER}/*/{_HANDED_OUT}"))
    return any(one == student for name in names for one, _ in _handed_out(course, name))


def forget(course: Path, student: str) -> bool:
    """Takes a student out of the lists of what was handed out; returns whether there was a row."""
    found = False
    for path in sorted(course.glob(f"{FOLDER}/*/{_HANDED_OUT}")):
        noted = _handed_out(course, path.parent.name)
        kept = {key: number for key, number in noted.items() if key[0] != student}
        if kept != noted:
            _note(course, path.parent.name, kept)
            found = True
    return found


def another(path: Path, number: int) -> str:
    """A sentence for the instructor if a notebook is not the variant that its student has; else nothing."""
    sources = (cell.source for cell in read_notebook(path).cells if cell.kind == "code")
    stated = next((found for source in sources if (found := variants.number_in(source)) is not None), 0)
    if stated == number:
        return ""
    which = f"variant {stated}" if stated else "without the number of a variant"
    return f"{path.stem} was handed in as {which}; the student has variant {number}, and is graded with its values"
