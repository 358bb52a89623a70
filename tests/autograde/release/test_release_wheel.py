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


def test_a_check_works_from_the_wheel_alone(wheels, tmp_path):
    """With the wheel in front of everything else on the path, from a folder that knows no course."""
    with zipfile.ZipFile(wheels[0]) as archive:
        archive.extractall(tmp_path / "site")
    program = """
import importlib.util, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in str(finder)]  # of this very checkout
assert importlib.util.find_spec("autograde.exercises") is None
from autograde.student import check
def attention_scores(q, k):
    from keras import ops
    return q @ ops.swapaxes(k, -1, -2)
print(check(attention_scores))
"""
    (tmp_path / "work").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path / "work", capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "✗ 3.4 attention_scores" in done.stdout and "before dividing by √d_attn" in done.stdout


def test_every_module_that_the_student_part_imports_is_in_it(wheels, tmp_path):
    """Each of its modules is imported from the wheel alone, the drawings and the stand-ins too."""
    with zipfile.ZipFile(wheels[0]) as archive:
        archive.extractall(tmp_path / "site")
    names = [
        ".".join(path.relative_to(tmp_path / "site").with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((tmp_path / "site/autograde").rglob("*.py"))
    ]
    program = f"""
import importlib, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in str(finder)]
for name in {names}:
    importlib.import_module(name)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(tmp_path / "site")})  # fmt: skip
    assert done.returncode == 0, done.stderr
