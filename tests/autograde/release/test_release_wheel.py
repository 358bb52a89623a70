"""The wheel that students install: no answers in it, the same bytes every time, and `check` works from it alone."""

import os
import subprocess
import sys
import zipfile

import pytest
from autograde_case import copy_fingerprints

from autograde.exercises import catalogue, cells
from autograde.release import student_wheel

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    made = copy_fingerprints(tmp_path_factory.mktemp("fingerprints"))
    return [student_wheel.build(folder / name, made) for name in ("one", "two")]


@pytest.fixture
def site(wheels, tmp_path):
    """The folder that the wheel is installed in."""
    with zipfile.ZipFile(wheels[0]) as archive:
        archive.extractall(tmp_path / "site")
    return tmp_path / "site"


def run_from(site, program):
    """What a program prints with the wheel in front of everything else, from a folder that knows no course."""
    without_this_checkout = """
import importlib.util, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in str(finder)]
"""
    work = site.parent / "work"
    work.mkdir()
    done = subprocess.run([sys.executable, "-c", without_this_checkout + program], cwd=work, capture_output=True,
                          text=True, env=os.environ | {"PYTHONPATH": str(site)})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_same_files_give_the_same_bytes(wheels):
    assert wheels[0].name == wheels[1].name and "+student" in wheels[0].name
    assert wheels[0].read_bytes() == wheels[1].read_bytes()


def test_it_holds_every_exercises_fingerprints_and_nothing_of_the_instructors(wheels):
    with zipfile.ZipFile(wheels[0]) as archive:
        names = set(archive.namelist())
        text = b"\n".join(archive.read(name) for name in names if name.endswith(".py")).decode()
        scripts = next(archive.read(name).decode() for name in names if name.endswith("entry_points.txt"))
    for exercise in catalogue.EXERCISES:
        assert f"autograde/student/fingerprints/{exercise.id}.npz" in names
        assert cells.answer_cell(exercise) not in text
    instructors = ("autograde/exercises", "autograde/grader", "autograde/release", "solutions")
    assert not [name for name in names if name.startswith(instructors)]
    assert "bertlab/models/base.py" in names and "autograde" not in scripts


def test_a_check_works_from_the_wheel_alone(site):
    program = """
assert importlib.util.find_spec("autograde.exercises") is None
from autograde.student import check
def attention_scores(q, k):
    from keras import ops
    return q @ ops.swapaxes(k, -1, -2)
print(check(attention_scores))
"""
    said = run_from(site, program)
    assert "✗ 3.4 attention_scores" in said and "before dividing by √d_attn" in said


def test_every_module_that_the_student_part_imports_is_in_it(site):
    """Each of its modules is imported from the wheel alone, the drawings and the stand-ins too."""
    names = [
        ".".join(path.relative_to(site).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((site / "autograde").rglob("*.py"))
    ]
    run_from(site, f"for name in {names}:\n    importlib.import_module(name)")
