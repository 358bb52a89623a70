"""Notebook 00: its first cell on machines with and without the course package, and the worked numbers."""

import os
import subprocess
import sys
import zipfile

import jupytext
import numpy as np
import pytest
from keras import ops

from autograde.exercises import catalogue, cells, notebooks


@pytest.fixture(scope="module")
def sentence_vector():
    return cells.namespace(catalogue.find("sentence-vector"))["sentence_vector"]


@pytest.fixture(scope="module")
def first_cell():
    notebook = jupytext.read(notebooks.SOLUTIONS / "00_welcome.py")
    return next(cell.source for cell in notebook.cells if cell.cell_type == "code")


def _run_without_the_course(cell, folder, package):
    """The cell, with the course package filled in, in a Python that sees no installed packages.

    What it installs goes into `folder`/installed.
    """
    cell = cell.replace('COURSE_PACKAGE = ""', f"COURSE_PACKAGE = {str(package)!r}", 1)
    place = str(folder / "installed")
    environment = os.environ | {"PYTHONPATH": place, "PIP_TARGET": place, "PIP_NO_INDEX": "1"}
    return subprocess.run(
        [sys.executable, "-S", "-c", cell], cwd=folder, env=environment, capture_output=True, text=True
    )


def _wheel(folder):
    """A wheel of one package, empty but for what looks after a fresh machine, that needs a library nobody has."""
    path = folder / "bertlab-1.0-py3-none-any.whl"
    about = "Metadata-Version: 2.1\nName: bertlab\nVersion: 1.0\nRequires-Dist: no-such-library>=1\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("autograde/__init__.py", "")
        archive.write(notebooks.SOLUTIONS.parent / "autograde/fresh_machine.py", "autograde/fresh_machine.py")
        archive.writestr("bertlab-1.0.dist-info/METADATA", about)
        archive.writestr(
            "bertlab-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("bertlab-1.0.dist-info/RECORD", "")
    return path


def test_both_settings_of_the_instructor_are_empty_in_the_source(first_cell):
    assert first_cell.startswith('COURSE_PACKAGE = ""') and '\nHAND_IN = ""' in first_cell


def test_the_first_cell_does_nothing_where_the_course_is_installed(first_cell, capsys):
    exec(first_cell, {})
    assert capsys.readouterr().out == "The course package is installed.\n"


def test_without_the_package_the_first_cell_installs_it_and_says_what_else_it_could_not_get(first_cell, tmp_path):
    done = _run_without_the_course(first_cell, tmp_path, _wheel(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "no-such-library>=1 could not be installed; show this to your instructor" in done.stdout
    assert "The course package is installed." in done.stdout
    assert {path.name for path in (tmp_path / "installed").iterdir()} == {"autograde", "bertlab-1.0.dist-info"}


@pytest.mark.parametrize(
    ("package", "said"),
    [("", "ask your instructor for a notebook in which it is filled in"),
     ("none.whl", "The course package could not be installed. Show the error messages above")],
)  # fmt: skip
def test_where_no_package_can_be_fetched_the_first_cell_names_whom_to_ask(first_cell, tmp_path, package, said):
    done = _run_without_the_course(first_cell, tmp_path, package and tmp_path / package)
    assert done.returncode == 1
    assert said in done.stderr


def test_the_mean_of_the_notebooks_example(sentence_vector):
    x = ops.convert_to_tensor([[1.0, 2], [3, 4], [5, 9]])
    assert np.array(sentence_vector(x)).tolist() == [3, 5]


def test_a_mean_does_not_know_who_bit_whom(sentence_vector):
    dog, bites, man = np.random.default_rng(1).uniform(0, 1, size=(3, 6)).astype("float32")
    one, other = (
        sentence_vector(ops.convert_to_tensor(np.stack(order))) for order in ((dog, bites, man), (man, bites, dog))
    )
    assert np.allclose(one, other, atol=1e-6)
