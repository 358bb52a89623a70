"""The training run of notebook 07 on Colab: the machine is lost between two evaluations, and the run resumes."""

import json
import time

import pytest
from colab_machine import Machine, solved

from autograde.boundary.weights_file import WEIGHTS, read_weights
from autograde.release import editions

pytestmark = pytest.mark.exhaustive
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
    from safetensors import safe_open

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
