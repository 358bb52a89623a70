"""Which student has which variant of a notebook's questions.

`autograde release --course` writes the released variants to `variants/ASSIGNMENT/NUMBER/NOTEBOOK.ipynb`. A student's
number follows from the course's secret and the student's name in the gradebook, or the name of the group; so nobody can
choose or guess it, and no table is needed. `autograde variants --to` writes the notebooks to be handed out, and notes
the numbers in `variants/ASSIGNMENT/handed_out.csv`; from then on these count, also when groups change.

Members of a group that was set later can have different numbers. Their one hand-in is then the notebook of one of them:
of the members' variants, the one whose texts are in it. No other variant can be chosen by changing a notebook.
"""

import csv
import io
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from autograde.common.errors import InputError
from autograde.exercises import variants
from autograde.grader.book.course import hidden_number, read_secret
from autograde.grader.book.people import GROUPS
from autograde.grader.book.store import Table
from autograde.grader.exports.tables import written
from autograde.grader.hand_ins.filenames import safe_name
from autograde.grader.hand_ins.hand_in import HAND_INS
from autograde.grader.reading.notebook import read_notebook
from autograde.grader.reading.template import Template
from bertlab.common.files import write_text

FOLDER = "variants"


# (student, notebook) → number, of those who have their notebooks.
HANDED_OUT = Table(
    "variants/{}/handed_out.csv", "the columns student, notebook and variant", "put a copy of it back",
    parse=lambda text: {
        (row["student"], row["notebook"]): int(row["variant"]) for row in csv.DictReader(io.StringIO(text))
    },
    empty=dict,
    text=lambda noted: written([("student", "notebook", "variant"), *sorted((*key, noted[key]) for key in noted)]),
    without=lambda noted, student: {key: number for key, number in noted.items() if key[0] != student},
)  # fmt: skip


def editions(course: str | Path, assignment: str, notebook: str) -> dict[int, Template]:
    """The released variants of a notebook by number; none if it has no variants. Raises TemplateError."""
    paths = Path(course, FOLDER, assignment).glob(f"*/{notebook}.ipynb")
    numbered = sorted((int(path.parent.name), path) for path in paths if path.parent.name.isdecimal())
    return {number: Template.read(path.read_bytes(), notebook) for number, path in numbered}


def released_to(course: str | Path, assignment: str) -> dict[str, Template]:
    """The released notebooks of an assignment that has variants, by name; else none. Raises TemplateError."""
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

    Raises InputError if they differ and students have variants already, or have handed in the notebook.
    """
    before = {number: template.values for number, template in editions(course, assignment, notebook).items()}
    now = {number: Template.read(text.encode(), notebook).values for number, text in enumerate(texts, start=1)}
    home = course / FOLDER / assignment
    if before == now:
        return before, now
    if before and any(name == notebook for _, name in HANDED_OUT.load(course, assignment)):
        raise InputError(
            f"{home}: students have variants of {notebook} with other values; keep `draw`, VARIANTS and SEED as they "
            f"were, or delete {home} to hand out new ones"
        )
    if any(course.glob(f"submitted/*/{assignment}/{notebook}.ipynb")):
        raise InputError(
            f"{course / 'submitted'}: students have handed in {notebook} with other values; keep `draw`, VARIANTS and "
            "SEED as they were, or release it as another assignment"
        )
    return before, now


def numbers_of(course: str | Path, assignment: str, student: str, templates: Mapping[str, Template]) -> dict[str, int]:
    """Notebook → the number of this student's variant, for the notebooks that have variants."""
    varied = {name: len(template.editions) for name, template in templates.items() if template.editions}
    if not varied:
        return {}
    noted, secret, groups = HANDED_OUT.load(course, assignment), read_secret(course), GROUPS.load(course, assignment)
    numbers = {}
    for name, count in varied.items():  # handed out to the student, else to the first member who has one, else drawn
        having = [noted[who, name] for who in (student, *groups.others(student)) if (who, name) in noted]
        drawn = 1 + hidden_number(secret, 8, "variant", groups.of(student) or student, name) % count
        numbers[name] = next(iter(having), 0) or drawn
    return numbers


def of_hand_in(course: str | Path, assignment: str, student: str, templates: Mapping[str, Template]) -> dict[str, int]:
    """Notebook → the number of the variant that a student's hand-in is graded as.

    It is the student's own; of a group's hand-in, the one that `recognised` found when the group got it.
    """
    numbers = numbers_of(course, assignment, student, templates)
    if not numbers or GROUPS.load(course, assignment).of(student) is None:
        return numbers
    record = HAND_INS.load_or_empty(course, assignment, student)
    if record is None or not record.variants:
        return recognised(course, assignment, student, templates)
    return {name: record.variants.get(name, number) for name, number in numbers.items()}


def recognised(course: str | Path, assignment: str, student: str, templates: Mapping[str, Template]) -> dict[str, int]:
    """Notebook → the number of the member's variant that a group's hand-in is.

    student: the member who handed in; this member's number counts where the texts in the notebook do not decide.
    """
    own_numbers = numbers_of(course, assignment, student, templates)
    others = GROUPS.load(course, assignment).others(student) if own_numbers else ()
    record = HAND_INS.load_or_empty(course, assignment, student)
    theirs = [numbers_of(course, assignment, other, templates) for other in others]
    theirs.append(record.variants if record else {})  # perhaps of a member who has left
    closest = {}
    for name, number in own_numbers.items():
        path = Path(course, "submitted", student, assignment, f"{name}.ipynb")
        possible = {number, *(numbers[name] for numbers in theirs if name in numbers)}
        closest[name] = _closest(path, templates[name], possible, number) if path.is_file() else number
    return closest


def _closest(path: Path, template: Template, possible: set[int], own_number: int) -> int:
    """The variant of which a notebook has the most cells that not all variants have; the own one if several do."""
    given = {
        number: {cell.cell.source.strip() for cell in template.edition(number).cells if cell.role != "answer"}
        for number in possible
    }
    here = {cell.source.strip() for cell in read_notebook(path).cells} - set.intersection(*given.values())
    counts = {number: len(texts & here) for number, texts in given.items()}
    most_frequent = [number for number, count in counts.items() if count == max(counts.values())]
    return most_frequent[0] if len(most_frequent) == 1 else own_number


def of_several(course: str | Path, assignment: str) -> list[str]:
    """A sentence for each group whose members have different variants of a notebook: it was set after handing out."""
    templates, sentences = released_to(course, assignment), []
    for group, members in GROUPS.load(course, assignment).members.items() if templates else ():
        numbers = [numbers_of(course, assignment, student, templates) for student in members]
        for name in numbers[0]:
            if len(different := sorted({of_member[name] for of_member in numbers})) > 1:
                sentences.append(
                    f"{group}: its members have different variants of {name} ({', '.join(map(str, different))}), "
                    "handed out before they were a group; their hand-in is graded as the variant of the member whose "
                    "notebook it is"
                )
    return sentences


def hand_out(
    course: Path, assignment: str, students: Iterable[str], templates: Mapping[str, Template], folder: Path
) -> list[Path]:
    """Writes `folder/STUDENT/NOTEBOOK.ipynb` for each student, and notes who has which; returns the paths."""
    students, noted, paths = list(students), HANDED_OUT.load(course, assignment), []
    for student in students:  # before anything is written
        if safe_name(student) != student:
            raise InputError(f"{student!r} cannot be the name of a student in a gradebook; correct it")
    for student in students:
        for notebook, number in numbers_of(course, assignment, student, templates).items():
            noted[student, notebook] = number
            paths.append(folder / student / f"{notebook}.ipynb")
            paths[-1].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(course / FOLDER / assignment / str(number) / f"{notebook}.ipynb", paths[-1])
    HANDED_OUT.save(noted, course, assignment)
    return paths


def another(path: Path, number: int) -> str:
    """A sentence for the instructor if a notebook is not the variant that its student has; else nothing."""
    sources = (cell.source for cell in read_notebook(path).cells if cell.kind == "code")
    stated = next((number_there for source in sources if (number_there := variants.number_in(source)) is not None), 0)
    if stated == number:
        return ""
    which = f"variant {stated}" if stated else "without the number of a variant"
    return f"{path.stem} was handed in as {which}; the student has variant {number}, and is graded with its values"
