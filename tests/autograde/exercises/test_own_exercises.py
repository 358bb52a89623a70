"""An instructor's own exercises in a folder of theirs: written, proved, released and graded without a fork."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from own_folder import NAME, NOTEBOOK, own_folder, run

from autograde import exercises as package
from autograde.boundary import fingerprints
from autograde.cli import cli
from autograde.exercises import catalogue, cells, folders, notebooks, other_answers, proofs
from autograde.exercises.notebooks import SolutionError
from autograde.grader.grading import upstream
from autograde.grader.grading.grade import grade, open_assignment
from autograde.grader.grading.results import load_results
from autograde.grader.grading.upstream import stand_ins_of
from autograde.release import editions, sources
from autograde.student import plans


@pytest.fixture
def own(tmp_path, monkeypatch):
    yield from own_folder(tmp_path, monkeypatch)


def test_a_new_exercise_is_proved_and_what_it_does_not_test_is_listed(own):
    assert sorted(path.relative_to(own).as_posix() for path in own.rglob("*.py") if path.name != "__init__.py") == [
        "answers/09_pooling.py", "exercises/n09_pooling/mean_pooling.py", "solutions/09_pooling.py",
    ]  # fmt: skip
    shown = run("try", NAME, "--exercises", own)
    assert "9 of 9 proofs hold" in shown and "1 alternatives" in shown and "not there yet:" in shown
    assert "- no hint helps after a failed try" in shown
    assert "no other right answer" not in shown and "4 sentences have no part that tests them" in shown
    (own / "answers/09_pooling.py").unlink()
    assert "no other right answer is in answers/09_pooling.py" in run("try", NAME, "--exercises", own)


@pytest.mark.parametrize(("older", "kind"), [("alternatives", "right"), ("wrong", "wrong")])
def test_answers_in_the_folders_of_earlier_versions_are_refused_with_the_place_where_they_belong(own, older, kind):
    (own / older).mkdir()
    (own / older / f"{NOTEBOOK}.py").write_text(f"# %% {NAME}: sum\n", encoding="utf-8")
    with pytest.raises(folders.ExerciseFolderError, match=rf"answers/09_pooling.py; move .*exercise: {kind}: name"):
        proofs.Proofs(catalogue.find(NAME)).others()


@pytest.mark.slow
def test_it_is_released_and_graded_and_the_course_remembers_the_folder(own, tmp_path, launcher):
    course, made = tmp_path / "course", tmp_path / "made"
    run("init", course, "--exercises", own)
    run("release", "--course", course, "--assignment", "ps9", "--to", made, "--fingerprints", made / "f",
         "--exercises", own)  # fmt: skip
    student = json.loads((made / NOTEBOOK / f"{NOTEBOOK}.ipynb").read_text())
    assert fingerprints.load(made / "f" / f"{NAME}.npz")["exercise"]["notebook"] == NOTEBOOK
    answers = {"right": "def mean_pooling(x):\n    return x + x", "wrong": "def mean_pooling(x):\n    return x * x"}
    for name, source in answers.items():
        written = [
            cell | {"source": source} if cell["metadata"].get("nbgrader", {}).get("grade_id") == NAME else cell
            for cell in student["cells"]
        ]
        path = course / "submitted" / name / "ps9" / f"{NOTEBOOK}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(student | {"cells": written}))
    grade(open_assignment(course, "ps9"), launcher)
    verdicts = {result.student: result.verdicts[0] for result in load_results(course, "ps9")}
    assert (verdicts["right"].points, verdicts["wrong"].misconception) == (2, "squared")
    script = (
        f"from autograde.grader.grading.grade import open_assignment\nopen_assignment({str(course)!r}, 'ps9')\n"
        f"from autograde.exercises import catalogue\nprint(catalogue.find({NAME!r}).notebook, len(catalogue.EXERCISES))"
    )
    clean = {name: value for name, value in os.environ.items() if name != folders.VARIABLE}
    told = subprocess.run([sys.executable, "-c", script], env=clean, capture_output=True, text=True, check=True)
    count = len(catalogue.read_all())
    assert told.stdout.split() == [NOTEBOOK, str(count)] and count > 1


def test_a_notebook_of_the_course_is_changed_in_a_copy(own):
    with pytest.raises(SolutionError, match="03_attention is a notebook of the course: copy"):
        CliRunner().invoke(cli, ["new-exercise", "03_attention", NAME, "--exercises", str(own)], catch_exceptions=False)
    before = sources.hash_of(catalogue.find(NAME))
    copy = own / "solutions/03_attention.py"
    copy.write_text(notebooks.path_beside("solutions", "03_attention").read_text().replace("# # 03 · ", "# # 03 · My "))
    assert notebooks.title_of("03_attention") == "03 · My Attention"
    assert editions.notebooks() == ["03_attention", NOTEBOOK]
    assert sources.hash_of(catalogue.find(NAME)) == before
    module = own / "exercises/n09_pooling/mean_pooling.py"
    module.write_text(module.read_text() + "\n# changed\n")
    assert sources.hash_of(catalogue.find(NAME)) != before


def test_a_folder_that_submissions_can_read_is_refused(own):
    assert cells.answer_cell(catalogue.find(NAME))
    with pytest.raises(folders.ExerciseFolderError, match="outside of"):
        folders.use(Path(sys.prefix) / "my_folder")


def test_a_changed_copy_is_used_although_the_course_s_own_was_imported(own, tmp_path):
    """Grading and `release --course` read the catalogue before they know the course's folder."""
    course_s, folder = importlib.import_module(f"{package.__name__}.n03_attention.scores"), tmp_path / "copies"
    shutil.copytree(Path(course_s.__file__).parent, folder / "exercises/n03_attention")
    (folder / "solutions").mkdir()
    shutil.copy(notebooks.path_beside("solutions", "03_attention"), folder / "solutions")
    copy = folder / "exercises/n03_attention/scores.py"
    copy.write_text(copy.read_text().replace("A dot product of two rows is", "My hint: a dot product is"))
    folders.use(folder)
    assert catalogue.find("scores").hints[0].startswith("My hint")
    assert Path(sys.modules[course_s.__name__].__file__) == copy


def _changed_copy(folder: Path, number: int) -> Path:
    """A folder with a copy of notebook 03 whose set-up and first answer are marked with a number."""
    for kind in ("solutions", "answers"):
        (folder / kind).mkdir(parents=True)
        text = notebooks.path_beside(kind, "03_attention").read_text()
        marked = text.replace("# %% scores: right: ", f"# %% scores: right: {number} ")
        (folder / kind / "03_attention.py").write_text(marked)
    shutil.copytree(folders.COURSE / "autograde/exercises/n03_attention", folder / "exercises/n03_attention")
    notebook = folder / "solutions/03_attention.py"
    notebook.write_text(notebook.read_text().replace("import numpy", f"MARK = {number}\nimport numpy", 1))
    return folder


def test_nothing_of_one_folder_is_used_after_another(own, tmp_path, monkeypatch):
    """Everything that is cached: the notebook, the names after its set-up, other right answers, plans, hashes."""
    monkeypatch.setenv("AUTOGRADE_FINGERPRINTS", str(tmp_path / "none"))
    monkeypatch.setattr(plans, "BESIDE", tmp_path / "none")
    one, two = (_changed_copy(tmp_path / name, number) for name, number in (("one", 1), ("two", 2)))
    seen = []
    for number, folder in ((1, one), (2, two)):
        folders.use(folder)
        exercise = catalogue.find("scores")
        assert cells.namespace(exercise)["MARK"] == number
        assert all(structure.startswith(f"{number} ") for structure in other_answers.alternatives(exercise))
        assert f"{number} " in next(iter(other_answers.alternatives(exercise)))
        stand_ins_of("03_attention")
        seen.append([facts["id"] for facts in plans.index()])
    assert seen[0] == seen[1]
    notebook = two / "solutions/03_attention.py"
    notebook.write_text(notebook.read_text().replace("MARK = 2", "MARK = 33"))
    assert cells.namespace(catalogue.find("scores"))["MARK"] == 33


def test_every_cache_of_the_folder_is_cleared_with_it():
    """A function in these modules that is cached for ever takes all it depends on as arguments, or is `cached`."""
    for module in (cells, notebooks, sources, other_answers, upstream, plans):
        text = Path(module.__file__).read_text(encoding="utf-8")
        for name in re.findall(r"@functools\.(?:lru_)?cache[^\n]*\ndef (\w+)", text):
            of_our_own_files = name in ("_digest", "_stand_in_names")
            assert of_our_own_files, f"{module.__name__}.{name}: use `autograde.common.caches.cached`"


@pytest.mark.parametrize(
    "line", ["from . import _shared", "from ._shared import X", "from ..n09_pooling import _shared"]
)
def test_a_module_that_is_imported_by_its_place_counts_in_the_hash(own, line):
    module, shared = (own / "exercises/n09_pooling" / name for name in ("mean_pooling.py", "_shared.py"))
    shared.write_text("X = 1\n")
    module.write_text(f"{module.read_text()}\n{line}\n")
    before = sources.hash_of(catalogue.find(NAME))
    shared.write_text("X = 22\n")
    assert sources.hash_of(catalogue.find(NAME)) != before


@pytest.mark.parametrize("command", [("release",), ("grade", "ps9"), ("try", NAME), ("exercises",)])
def test_a_folder_that_is_not_there_is_named(command, tmp_path):
    told = CliRunner().invoke(cli, [*command, "--exercises", str(tmp_path / "missing")])
    assert told.exit_code == 2 and "missing' does not exist" in " ".join(told.stderr.split())
