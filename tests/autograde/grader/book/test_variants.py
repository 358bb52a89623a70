"""Variants of a question: drawn, released, handed out, collected and graded, in an instructor's own exercise."""

import csv
import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from own_folder import NAME, NOTEBOOK, own_folder, run

from autograde.cli import cli
from autograde.common.errors import InputError
from autograde.exercises import catalogue, cells, variants
from autograde.grader.book.course import read_secret
from autograde.grader.book.forget import forget
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.people import GROUPS, Groups
from autograde.grader.book.variants import hand_out, numbers_of, of_hand_in, write_editions
from autograde.grader.grading.grade import grade, open_assignment
from autograde.grader.grading.regrade import regrade
from autograde.grader.grading.results import load_results
from autograde.grader.hand_ins.hand_in import HAND_INS
from autograde.grader.reading.template import Template, TemplateError
from autograde.student import check, plans

CELL = """
# %% tags=["setup"] nbgrader={"grade": false, "grade_id": "variant", "locked": true, "schema_version": 3, "solution": false, "task": false}
FACTOR = 2
UNIT = "metres"
"""  # noqa: E501 (a marker is one line)
DRAW = """
VARIANTS = 4


def draw(rng):
    return {"FACTOR": rng.integers(3, 100), "UNIT": rng.choice(["feet", "miles", "inches"])}
"""
MODULE = '''"""Multiplies every number by FACTOR."""

from autograde.exercises.draws import Random, normal
from autograde.exercises.spec import Case, Exercise, mistake, values


def exercise(given) -> Exercise:
    return Exercise(
        reference=lambda x: given["FACTOR"] * x,
        parts=(values(2, lambda rng: [Case((normal(rng, 2, 3),)), Case((normal(rng, 4, 4),))]),),
        hints=("The idea.", "The next step.", "The function that does it."),
        misconceptions=(
            mistake("added", "FACTOR * x", "FACTOR + x", hint=f"You add {given['FACTOR']} {given['UNIT']}. Multiply."),
            mistake("divided", "FACTOR * x", "x / FACTOR", hint="You divide."),
            mistake("same", "FACTOR * x", "x", hint="You return the numbers as they are."),
        ),
    )
'''
HERE = "def mean_pooling(x):\n    return {} * x"


@pytest.fixture
def own(tmp_path, monkeypatch):
    yield from own_folder(tmp_path, monkeypatch)


@pytest.fixture
def varied(own):
    """The new exercise with four variants."""
    notebook, package = own / f"solutions/{NOTEBOOK}.py", own / f"exercises/n{NOTEBOOK}"
    text = notebook.read_text().replace("return 2 * x", "return FACTOR * x")
    text = text.replace("Doubles every number.", "Multiplies every number by {{FACTOR}}.")
    text = text.replace("# What students are to write,", "# A length in {{UNIT}} times {{FACTOR}}: $\\\\mathbf{{x}}$,")
    place = text.index("\n# %% [markdown]\n# ## 9.1")
    notebook.write_text(text[:place] + CELL + text[place:])
    (package / "__init__.py").write_text((package / "__init__.py").read_text() + DRAW)
    (package / "mean_pooling.py").write_text(MODULE)
    read_again()
    return own


def read_again():
    """Reads the changed exercise."""
    for name in [name for name in sys.modules if name.startswith(f"autograde.exercises.n{NOTEBOOK}")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    catalogue.EXERCISES = tuple(catalogue.read_notebook(NOTEBOOK))


def test_each_variant_has_values_of_its_own_and_the_same_ones_each_time(varied):
    drawn = catalogue.variants_of(NOTEBOOK)
    assert drawn == catalogue.variants_of(NOTEBOOK) and len(set(drawn)) == 4
    assert all([name for name, _ in values] == ["FACTOR", "UNIT"] for values in drawn)
    exercise = catalogue.find(NAME, 3)
    factor = dict(exercise.variant)["FACTOR"]
    assert type(factor) is int and exercise.reference(1.0) == factor
    assert f"by {factor}." in cells.answer_cell(exercise) and cells.namespace(exercise)["FACTOR"] == factor
    assert "by 2." in cells.answer_cell(catalogue.find(NAME)) and cells.namespace(catalogue.find(NAME))["FACTOR"] == 2
    package = varied / f"exercises/n{NOTEBOOK}/__init__.py"
    package.write_text(package.read_text() + 'SEED = "next term"\n')
    read_again()
    assert catalogue.variants_of(NOTEBOOK) != drawn


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rng.integers(3, 100)", "7", "returned only 3 different ones"),
        ("rng.integers(3, 100)", "None", "number or text for FACTOR, got NoneType"),
        ('"FACTOR":', '"FACTORS":', "expected values of FACTOR, UNIT from `draw`"),
        ('KEPT_IN = ""', 'KEPT_IN = "pooling"', "later notebooks, which cannot have variants"),
    ],
)
def test_variants_that_cannot_be_made_are_refused(varied, old, new, message):
    package = varied / f"exercises/n{NOTEBOOK}/__init__.py"
    package.write_text(package.read_text().replace(old, new))
    read_again()
    with pytest.raises(variants.VariantError, match=message):
        catalogue.variants_of(NOTEBOOK)


@pytest.mark.parametrize("line", ["FACTOR = [1]", "FACTOR = 2 + UNIT", "import os", "a, b = 1, 2", "x = y = 1"])
def test_the_cell_of_values_assigns_numbers_and_texts_only(line):
    with pytest.raises(variants.VariantError, match="expected only lines such as FACTOR = 2"):
        variants.values_in(f"UNIT = 'feet'\n{line}")


def test_a_variant_is_proved_like_any_exercise(varied):
    (varied / f"answers/{NOTEBOOK}.py").unlink()
    assert "9 of 9 proofs hold" in run("try", NAME, "--variant", 2, "--exercises", varied)
    with pytest.raises(catalogue.UnknownExerciseError, match="a variant of 09_pooling up to 4, got 5"):
        catalogue.find(NAME, 5)


@pytest.fixture
def course(varied, tmp_path, monkeypatch):
    """A released course; its students have their variants, and their machine the release's fingerprints."""
    folder, made = tmp_path / "course", tmp_path / "made"
    run("init", folder, "--exercises", varied)
    (folder / ".autograde/secret").write_text("cd" * 32)  # the class's numbers are the same each time
    words = ("release", "--course", folder, "--assignment", "ps9", "--to", made, "--fingerprints", made / "f")
    told = run(*words, "--exercises", varied)
    assert "4 variants of 09_pooling" in told and "5 exercises, 0 of them unchanged" in told
    assert "5 of them unchanged" in run(*words, "--exercises", varied)
    (tmp_path / "class.csv").write_text("student\n" + "".join(f"s{number}\n" for number in range(12)))
    monkeypatch.setenv("AUTOGRADE_FINGERPRINTS", str(made / "f"))
    plans.index.cache_clear(), plans.plan.cache_clear()
    yield folder
    plans.index.cache_clear(), plans.plan.cache_clear()


def who_has(course, *more) -> dict[str, tuple[int, int]]:
    """student → (number, factor), as the command prints it."""
    told = run("variants", "ps9", "--course", course, *more)
    rows = csv.DictReader(told[told.index("student,") :].splitlines())
    return {row["student"]: (int(row["variant"]), int(row["values"].split()[0].partition("=")[2])) for row in rows}


def answered(notebook: Path, source: str) -> str:
    content = json.loads(notebook.read_text())
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == NAME:
            cell["source"] = source
    return json.dumps(content)


@pytest.mark.slow
def test_every_student_is_handed_out_collected_and_graded_in_a_variant_of_their_own(course, tmp_path, launcher):
    out, downloads = tmp_path / "out", tmp_path / "downloads"
    table = who_has(course, "--students", tmp_path / "class.csv", "--to", out)
    assert len(table) == 12 and len({number for number, _ in table.values()}) > 1
    by_number = dict(table.values())
    text = (out / "s0" / f"{NOTEBOOK}.ipynb").read_text()
    number, factor = table["s0"]
    assert f"VARIANT = {number}  #" in text and f"times {factor}" in text and "{{FACTOR}}" not in text
    assert "mathbf{{x}}" in text and "FACTOR * x" not in text  # the formula stays, and no answer is in it
    foreign = [student for student, (one, _) in table.items() if one != number]  # "s0" is not among them
    other, copied, tricked, mistaken = foreign[:4]

    mine = out / "s0" / f"{NOTEBOOK}.ipynb"
    handed_in = {
        "s0": answered(mine, HERE.format(factor)),  # right, written out
        mistaken: answered(out / mistaken / f"{NOTEBOOK}.ipynb", "def mean_pooling(x):\n    return FACTOR + x"),
        copied: answered(mine, HERE.format(factor)),  # another's notebook
        other: answered(out / other / f"{NOTEBOOK}.ipynb", HERE.format(factor)),  # another's answer in one's own
    }
    own_text = answered(out / tricked / f"{NOTEBOOK}.ipynb", HERE.format(factor))
    own_text = own_text.replace(f"VARIANT = {table[tricked][0]}", f"VARIANT = {number}")
    handed_in[tricked] = own_text.replace(f"FACTOR = {table[tricked][1]}", f"FACTOR = {factor}")
    for student, notebook in handed_in.items():
        (downloads / student).mkdir(parents=True)
        (downloads / student / f"{NOTEBOOK}.ipynb").write_text(notebook)
    told = run("collect", "ps9", downloads, "--course", course, "--from", "folders")
    manifest = json.loads((course / "collected/ps9/manifest.json").read_text())
    assert manifest["variants"]["s0"] == {NOTEBOOK: number}
    for student in (copied, tricked):
        assert f"note: {student}: {NOTEBOOK} was handed in as variant {number}; the student has" in told
    assert told.count("was handed in as") == 2

    assignment = open_assignment(course, "ps9")
    grade(assignment, launcher)
    results = {result.student: result for result in load_results(course, "ps9")}
    verdicts = {student: result.verdicts[0] for student, result in results.items()}
    assert {student: results[student].variant for student in results} == {s: table[s][0] for s in results}
    assert (verdicts["s0"].points, results["s0"].doubts) == (2, ())
    assert verdicts[mistaken].misconception == "added"
    assert f"You add {table[mistaken][1]} " in " ".join(verdicts[mistaken].advice)
    assert (verdicts[other].points, results[other].doubts) == (0, ())
    for student in (copied, tricked):
        assert verdicts[student].points == 0
        assert f"the student has variant {table[student][0]}" in results[student].doubts[0]
    assert "locked cell variant was changed" in " ".join(results[tricked].repairs)
    shown = (course / "autograded/s0/ps9" / f"{NOTEBOOK}.ipynb").read_text()
    assert f"VARIANT = {number}  #" in shown and by_number[number] == factor
    assert grade(assignment, launcher).graded == 0  # all are up to date
    forget(course, copied)
    listed = [
        (course / "variants/ps9/handed_out.csv").read_text(),
        (course / "collected/ps9/manifest.json").read_text(),
    ]
    assert not any(f"{copied}," in text or f'"{copied}"' in text for text in listed) and mistaken in listed[0]
    results.pop(copied)
    again = regrade(assignment, catalogue.find(NAME), launcher)
    assert not again.changed and again.same == len(results)


def test_the_students_own_check_is_of_the_variant_in_the_notebook(course, monkeypatch):
    number, values = 2, dict(catalogue.variants_of(NOTEBOOK)[1])
    space = {"VARIANT": number, "check": check}
    exec(f"def mean_pooling(x):\n    return {values['FACTOR']} * x\nresult = check(mean_pooling)", space)
    assert space["result"].verdict.passed
    exec("VARIANT = 3\nother = check(mean_pooling)\nVARIANT = 9\nnone = check(mean_pooling)", space)
    assert not space["other"].verdict.passed
    assert "VARIANT is not the number of a variant" in str(space["none"])


def test_numbers_follow_from_the_secret_and_the_group_until_they_are_handed_out(course, tmp_path):
    templates = open_assignment(course, "ps9").templates

    def numbers(*students):
        return [numbers_of(course, "ps9", student, templates)[NOTEBOOK] for student in students]

    alone = numbers(*(f"s{number}" for number in range(12)))
    GROUPS.save(Groups({"Team": ("s0", "s1", "s2")}), course, "ps9")
    assert len(set(numbers("s0", "s1", "s2"))) == 1 and numbers("s3") == alone[3:4]
    who_has(course, "--students", tmp_path / "class.csv", "--to", tmp_path / "out")
    team = numbers("s0")
    shutil.rmtree(course / ".autograde/groups")
    assert numbers("s0", "s1") == team * 2
    (course / "variants/ps9/handed_out.csv").unlink()
    (course / ".autograde/secret").write_text("ab" * 32)
    assert read_secret(course) and numbers(*(f"s{number}" for number in range(12))) != alone


@pytest.fixture
def pair(course, tmp_path):
    """Two students with different variants, known to the course: (name, number, factor) of each."""
    table = who_has(course, "--students", tmp_path / "class.csv", "--to", tmp_path / "out")
    other = next(student for student in table if table[student][0] != table["s0"][0])
    with Gradebook(course) as book:
        for student in table:
            book.book.add_student(student)
    return [(student, *table[student]) for student in ("s0", other)]


def handed_out(course, student) -> Path:
    return course.parent / "out" / student / f"{NOTEBOOK}.ipynb"


def collect_of(course, student, text, name="downloads", by_hand=False) -> str:
    """Collects a notebook as this student's; what the command prints. by_hand: the list of students names the file."""
    folder = course.parent / name / ("mailed" if by_hand else student)
    folder.mkdir(parents=True)
    (folder / f"{NOTEBOOK}.ipynb").write_text(text)
    (files := course.parent / "files.csv").write_text(f"student,file\n{student},mailed/{NOTEBOOK}.ipynb\n")
    more = ("--students", files) if by_hand else ()
    return run("collect", "ps9", folder.parent, "--course", course, "--from", "folders", *more)


def set_groups(course, **groups: tuple[str, ...]) -> str:
    """The output of the command, with its notes."""
    rows = [f"{group},{student}" for group, those in groups.items() for student in those]
    (course / "groups.csv").write_text("\n".join(["group,student", *rows]))
    words = ["groups", "ps9", str(course / "groups.csv"), "--course", str(course)]
    return CliRunner().invoke(cli, words, catch_exceptions=False).output


def graded_as(course, *students) -> list[int]:
    templates = open_assignment(course, "ps9").templates
    return [of_hand_in(course, "ps9", student, templates)[NOTEBOOK] for student in students]


@pytest.mark.parametrize("groups_first", [True, False])
def test_a_group_set_after_handing_out_is_graded_as_the_variant_of_the_notebook_it_hands_in(
    course, pair, groups_first, launcher
):
    (first, number, factor), (second, other, theirs) = pair
    right = answered(handed_out(course, second), HERE.format(theirs))  # the second's notebook, in the first's name
    if groups_first:
        assert "its members have different variants of 09_pooling" in set_groups(course, Team=(first, second))
    told = collect_of(course, first, right)
    if not groups_first:
        assert "was handed in as variant" in told and graded_as(course, first) == [number]
        set_groups(course, Team=(first, second))
    else:
        assert "was handed in as variant" not in told
    assert graded_as(course, first, second) == [other, other] and factor != theirs
    assert HAND_INS.load(course, "ps9", first).variants == {NOTEBOOK: other}
    assignment = open_assignment(course, "ps9")
    grade(assignment, launcher)
    results = {result.student: result for result in load_results(course, "ps9")}
    assert {student: one.variant for student, one in results.items()} == {first: other, second: other}
    assert all(one.verdicts[0].points == 2 and not one.doubts for one in results.values())
    assert grade(assignment, launcher).graded == 0


def test_a_group_has_no_other_variants_to_choose_from_than_its_members(course, pair):
    (first, number, factor), (second, other, theirs) = pair
    set_groups(course, Team=(first, second))
    mine = handed_out(course, first).read_text()
    foreign = next(one for one in range(1, 5) if one not in (number, other))
    text = (course / f"variants/ps9/{foreign}/{NOTEBOOK}.ipynb").read_text()
    assert f"note: {first}: {NOTEBOOK} was handed in as variant {foreign}; the student has" in collect_of(
        course, first, text
    )
    assert graded_as(course, first, second) == [number, number]  # of the member who handed in
    changed = mine.replace(f"VARIANT = {number} ", f"VARIANT = {other} ").replace(f"= {factor}", f"= {theirs}")
    collect_of(course, first, changed, "later")
    assert graded_as(course, first) == [number]  # the texts are still of the first member's variant


def test_the_hand_in_of_a_group_keeps_its_variant_when_members_leave(course, pair):
    (first, number, _), (second, other, _) = pair
    third = next(f"s{one}" for one in range(12) if f"s{one}" not in (first, second))
    set_groups(course, Team=(first, second, third))
    collect_of(course, first, handed_out(course, second).read_text())
    assert graded_as(course, first, second, third) == [other] * 3
    forget(course, second)
    set_groups(course, Team=(first, third))
    assert graded_as(course, first, third) == [other] * 2
    set_groups(course, Other=("s10", "s11"))
    assert graded_as(course, first) == [number]  # alone again, and graded with the student's own values


@pytest.mark.parametrize("by_hand", (False, True))
def test_a_corrected_notebook_of_a_member_who_left_keeps_its_variant(course, pair, by_hand):
    (first, _, _), (second, other, _) = pair
    third = next(f"s{one}" for one in range(12) if f"s{one}" not in (first, second))
    set_groups(course, Team=(first, second, third))
    text = handed_out(course, second).read_text()
    collect_of(course, first, text)
    set_groups(course, Team=(first, third))
    for number, student in enumerate((first, third, first)):
        corrected = answered(handed_out(course, second), HERE.format(number))
        collect_of(course, student, corrected, f"later{number}", by_hand)
        assert graded_as(course, first, third) == [other] * 2


def test_who_joins_a_group_is_handed_out_what_its_members_have(course, pair, tmp_path):
    (first, number, _), _ = pair
    set_groups(course, Team=(first, "zoe"))
    (tmp_path / "new.csv").write_text("student\nzoe\n")
    assert who_has(course, "--students", tmp_path / "new.csv", "--to", tmp_path / "more")["zoe"][0] == number


def test_values_that_students_have_are_not_released_again(course, tmp_path, varied):
    who_has(course, "--students", tmp_path / "class.csv", "--to", tmp_path / "out")
    texts = [path.read_text() for path in sorted((course / "variants/ps9").glob(f"*/{NOTEBOOK}.ipynb"))]
    assert write_editions(course, "ps9", NOTEBOOK, [text.replace("A length", "Some length") for text in texts])
    with pytest.raises(InputError, match="students have variants of 09_pooling with other values"):
        write_editions(course, "ps9", NOTEBOOK, texts[:2])
    assert Template.read(texts[0].encode(), NOTEBOOK).values == catalogue.variants_of(NOTEBOOK)[0]


def test_values_of_notebooks_that_were_handed_in_are_not_released_again(course, varied):
    texts = [path.read_text() for path in sorted((course / "variants/ps9").glob(f"*/{NOTEBOOK}.ipynb"))]
    handed_in = course / f"submitted/ann/ps9/{NOTEBOOK}.ipynb"
    handed_in.parent.mkdir(parents=True)
    handed_in.write_text(texts[0])
    with pytest.raises(InputError, match="students have handed in 09_pooling with other values"):
        write_editions(course, "ps9", NOTEBOOK, texts[:2])
    module = varied / f"exercises/n{NOTEBOOK}/__init__.py"
    module.write_text(module.read_text().replace("VARIANTS = 4", "VARIANTS = 3"))
    read_again()
    wheel = varied.parent / "unwritten"
    with pytest.raises(InputError, match="handed in"):
        run("release", "--course", course, "--assignment", "ps9", "--to", wheel, "--fingerprints", wheel,
            "--exercises", varied)  # fmt: skip
    assert not list(wheel.glob("**/*.npz"))


def test_a_name_that_cannot_be_a_folders_is_refused_before_any_notebook_is_written(course, tmp_path):
    templates = open_assignment(course, "ps9").templates
    with pytest.raises(InputError, match="cannot be the name"):
        hand_out(course, "ps9", ["ann", "a/b"], templates, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("line", "number"), [("VARIANT = 3", 3), ("VARIANT = " + "1" * 5000, None), ("x = 3", None)])
def test_only_a_short_number_is_the_number_of_a_variant(line, number):
    assert variants.number_in(line) == number


def test_an_unreleased_variant_is_named(course):
    template = open_assignment(course, "ps9").templates[NOTEBOOK]
    with pytest.raises(TemplateError, match="variant 9 is not released; expected one of"):
        template.edition(9)


def test_an_assignment_without_variants_says_so(own, tmp_path):
    course = tmp_path / "course"
    run("init", course, "--exercises", own)
    run("release", "--course", course, "--assignment", "ps9", "--to", tmp_path / "m", "--fingerprints", tmp_path / "f",
        "--exercises", own)  # fmt: skip
    done = CliRunner().invoke(cli, ["variants", "ps9", "--course", str(course)])
    assert "its notebooks have no variants" in str(done.exception or done.output)
    assert not (course / "variants").exists()
