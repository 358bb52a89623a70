"""A student on Colab, from the badge to the grade: nothing of the course there, and what Colab does to a notebook."""

import json
import subprocess

import pytest
from click.testing import CliRunner
from colab_machine import as_colab_saves, environment, installed, new_machine, run, served, shown, solved
from grade_class import open_shared_launcher

from autograde.cli import cli
from autograde.exercises import catalogue
from autograde.exercises.planning.planner import write_fingerprints
from autograde.grader.book.course import make_course
from autograde.grader.grading.grade import grade, open_assignment
from autograde.grader.grading.results import load_results
from autograde.release import editions, student_wheel
from autograde.release.assignment import write_assignment

pytestmark = pytest.mark.exhaustive
NOTEBOOKS = ("01_wordpiece", "03_attention")
MOST_SECONDS = 120  # for the first cell


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of the student wheel, which has the checks of these notebooks."""
    folder = tmp_path_factory.mktemp("served")
    asked = [exercise for name in NOTEBOOKS for exercise in catalogue.of_notebook(name)]
    write_fingerprints(asked, folder / "fingerprints")
    wheel = student_wheel.build(folder, folder / "fingerprints")
    with served(folder) as root:
        yield f"{root}/{wheel.name}"


@pytest.fixture(scope="module")
def made(address):
    """The notebooks as they are released for Colab."""
    return {name: editions.make(name, "https://colab.example/course", package=address) for name in NOTEBOOKS}


@pytest.fixture(scope="module")
def machine(tmp_path_factory, address):
    return new_machine(tmp_path_factory.mktemp("colab") / "machine")


@pytest.fixture(scope="module")
def before(machine):
    return installed(machine)


@pytest.fixture(scope="module")
def saved(machine, before, made, tmp_path_factory):
    """The notebooks, solved and run on that machine, as Colab saved them; and the seconds of each one's first cell."""
    content = tmp_path_factory.mktemp("drive") / "content"
    content.mkdir()
    paths, seconds = {}, {}
    for name in NOTEBOOKS:
        paths[name] = content / f"Copy of {name}.ipynb"
        paths[name].write_text(as_colab_saves(solved(made[name])), encoding="utf-8")
        seconds[name] = run(paths[name], machine, content.parent / "kernels")
        print(f"{name}: first cell {seconds[name]:.1f} s")
    return paths, seconds


def test_colab_lacks_tensorflow_text_and_the_course(before):
    assert {"tensorflow", "keras"} <= set(before)
    assert not {"tensorflow-text", "bertlab", "click"} & set(before)


def test_the_first_cell_adds_what_is_missing_quickly_and_changes_nothing_that_was_there(saved, before, machine):
    after = installed(machine)
    assert before.items() <= after.items()
    assert after["tensorflow-text"].split(".")[:2] == after["tensorflow"].split(".")[:2]
    assert {"bertlab", "click", "safetensors"} <= set(after)
    _, seconds = saved
    assert seconds["01_wordpiece"] < MOST_SECONDS
    assert seconds["03_attention"] < 15  # by then everything is there


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_check_passes_there(saved, name):
    passed = [text for text in shown(saved[0][name]) if text.startswith("✓")]
    assert len(passed) == len(catalogue.of_notebook(name))
    assert all("Kept in mybert/" in text for text in passed)


def test_notebook_01_is_beside_tensorflow_text_not_its_stand_in(saved):
    lines = "".join(shown(saved[0]["01_wordpiece"])).splitlines()
    (compared,) = [line for line in lines if line.startswith("yours ") and " s, " in line]
    assert "TensorFlow Text" in compared


def test_after_a_disconnect_the_saved_state_brings_everything_back_elsewhere(saved, machine, tmp_path):
    content = saved[0]["03_attention"].parent

    def python(folder, program):
        folder.mkdir(exist_ok=True)
        done = subprocess.run([machine, "-c", program], cwd=folder, capture_output=True, text=True,
                              env=environment(machine))  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert (content / "mybert/attention.py").is_file() and (content / "mybert/wordpiece.py").is_file()
    state = tmp_path / "mybert_state.zip"
    python(content, f"from autograde.student import save_state; print(save_state({str(state)!r}))")
    program = f"""
from autograde.student import load_state, progress
print(load_state({str(state)!r}))
print(progress())
from mybert.attention import MultiHeadAttention
import inspect
print(inspect.getsource(MultiHeadAttention))
"""
    said = python(tmp_path / "another machine", program)
    pieces = sum(len(catalogue.of_notebook(name)) for name in NOTEBOOKS)
    assert f"{pieces} answers from mybert_state.zip" in said
    assert "class MultiHeadAttention" in said and "stand-in" not in said
    points = sum(exercise.points for exercise in catalogue.of_notebook("03_attention"))
    assert f"{points} of {points} points" in said


def test_what_colab_saved_is_collected_and_graded_like_any_other(saved, made, tmp_path):
    course, download = tmp_path / "course", tmp_path / "download/Jane Doe"
    make_course(course)
    download.mkdir(parents=True)
    with open_shared_launcher() as launcher:
        for name in NOTEBOOKS:
            write_assignment(course, name, [made[name]])
            (download / f"Copy of {name}.ipynb").write_bytes(saved[0][name].read_bytes())
            cell = json.loads(saved[0][name].read_text())["cells"][-1]
            assert "nbgrader" not in cell["metadata"]
            outcome = CliRunner().invoke(cli, ["collect", name, str(download.parent), "--course", str(course)])
            assert outcome.exit_code == 0, outcome.output
            report = grade(open_assignment(course, name), launcher)
            assert report.graded == 1 and not report.failures
            (result,) = load_results(course, name)
            most = sum(exercise.points for exercise in catalogue.of_notebook(name))
            assert (result.student, result.technical) == ("Jane Doe", None)
            assert sum(verdict.points for verdict in result.verdicts) == most
            (download / f"Copy of {name}.ipynb").unlink()
