"""A student on Colab, from the badge to the grade: nothing of the course there, and what Colab does to a notebook."""

import json
import subprocess
import time

import pytest
from click.testing import CliRunner
from colab_machine import Machine, as_colab_saves, environment, installed, new_machine, run, served, shown, solved
from grade_class import open_shared_launcher
from safetensors import safe_open

from autograde.boundary.weights_file import WEIGHTS, read_weights
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


# --- the training run of notebook 07: the machine is lost between two evaluations, and the run resumes ---

STEPS, INTERVAL = 24, 8
NEEDED = ("schedule = dict(", "def tensors(", "settings = choose_settings()")


def _cells(drive) -> tuple[list[str], str, str]:
    """The cells that the run needs, for few steps and this Drive; the cell with the run; the cell after it."""
    content = solved(editions.make("07_pretraining", package="https://example/wheel.whl"))["cells"]
    code = [cell for cell in content if cell["cell_type"] == "code"]
    place = next(number for number, cell in enumerate(code) if "run.steps()" in cell["source"])
    before = [cell["source"] for cell in code[:place] if _is_needed(cell)]
    small = f"choose_settings(steps={STEPS}, interval={INTERVAL})"
    before = [source.replace("choose_settings()", small) for source in before]
    first = before[0].replace("keep_in_drive()", f"keep_in_drive(drive={str(drive)!r})")
    assert first != before[0] and any(small in source for source in before)
    return [first, *before[1:]], code[place]["source"], code[place + 1]["source"]


def _is_needed(cell) -> bool:
    graded, source = cell["metadata"].get("nbgrader"), cell["source"]
    is_start = "load_backend()" in source or "keep_in_drive()" in source or "setup" in cell["metadata"].get("tags", ())
    return bool(graded) or is_start or any(text in source for text in NEEDED)


def _step_saved(state) -> int:
    with safe_open(state, framework="numpy") as file:
        return json.loads(file.metadata()["run"])["step"]


def test_a_run_resumes_in_the_drive_after_the_machine_is_lost(tmp_path):
    drive = tmp_path / "drive/MyDrive"
    before, training, after = _cells(drive)
    folder = drive / "BertLab/07_pretraining"
    state = folder / f"pretraining_run/2x128_{STEPS}_steps/state.safetensors"

    machine = Machine(tmp_path / "first")
    said = "".join(machine.run(source) for source in before)
    assert f"Your course is stored in {drive / 'BertLab'}" in said
    machine.start(training)
    end = time.monotonic() + 300
    while not state.exists() and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(0.3)  # between two evaluations
    machine.lose()
    saved = _step_saved(state)
    assert 0 < saved < STEPS and not (folder / WEIGHTS).exists()

    machine = Machine(tmp_path / "second")
    for source in before:
        machine.run(source)
    said = machine.run(training)
    assert f"Resuming the run in {state.parent}/ after step {saved} of {STEPS}." in said
    assert _step_saved(state) == STEPS
    said = machine.run(after) + machine.run("print(download_weights())")
    assert f"trained for {STEPS} of {STEPS} steps on 'python', held-out loss" in said
    assert f"the browser gets {folder / WEIGHTS}" in said
    left = sorted(path.name for path in machine.content.iterdir())
    machine.lose()
    assert left == []  # nothing of the work is on the machine itself
    assert read_weights(folder / WEIGHTS).config["hidden_size"] == 128
    assert (drive / "BertLab/cache").is_dir() and (drive / "BertLab/mybert/pretraining.py").is_file()
