"""Failures that stop a run: divergence, a full disk, and the messages about a backend's errors."""

import math
import os
import resource
import sys
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf
from other_backends import last_line
from pretraining_case import CONFIG, make_examples
from refusals import refused
from test_training import examples, new_trainer

from bertlab.common.errors import CheckpointError, DataError, TrainingError
from bertlab.data.pretraining.datasets import batches_of
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.training.devices import failures
from bertlab.training.objectives import MaskedLM
from bertlab.training.presets import preset
from bertlab.training.pretraining import PretrainingRun, pretrain
from bertlab.training.runs import curves
from bertlab.training.runs.curves import RunFiles, read_metrics
from bertlab.training.runs.loop import Alarm, Phase, Progress, TrainingLoop, run_training
from bertlab.training.runs.state import saved_states

# --- runs that are stopped ---


def run_on(arrays, folder, steps=8, **options):
    phase = Phase(steps, lambda step: batches_of(arrays, 8, repeat=True, start_batch=step))
    return run_training(new_trainer(total_steps=steps), [phase], interval=4, folder=folder, **options)


@pytest.mark.slow
def test_a_loss_that_is_not_a_number_stops_the_run_with_step_batch_and_advice(tmp_path):
    arrays = examples(rows=64)
    arrays["masked_lm_weights"][6 * 8 + 3, 0] = np.nan  # in batch number 6: step 7
    with pytest.raises(TrainingError, match=r"step 7 \(batch number 6\): the loss is nan.*step 4.*lower learning rate"):
        run_on(arrays, tmp_path)
    assert [path.name for path in saved_states(tmp_path)] == ["state-00000004.safetensors"]


@pytest.mark.slow
def test_a_full_disk_keeps_the_last_state_and_says_so(tmp_path):
    class FillDisk(keras.callbacks.Callback):
        """Once a first state is saved no file may grow beyond 1000 bytes: the system refuses as on a full disk."""

        def on_epoch_end(self, epoch, logs=None):
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(
            CheckpointError, match=r"state-00000008.*cannot be written.*state of step 4 is kept: free some"
        ):
            run_on(examples(), tmp_path, callbacks=(FillDisk(),))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["state-00000004.safetensors"]
    assert run_on(examples(), tmp_path)[-1]["step"] == 8


def test_a_disk_that_is_full_when_the_curve_is_drawn_says_what_is_kept(tmp_path):
    rows = [{"step": step, "seconds": 1.0, "loss": 8.0, "masked_lm_loss": 7.0} for step in (4, 8)]
    loop = TrainingLoop(None, Progress(8, 1.0, rows), interval=4, files=RunFiles(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # refused as on a full disk
        with pytest.raises(CheckpointError, match=r"curve.png: cannot be written .*state of step 8 is kept: free some"):
            loop.complete_files()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_short_intervals_update_the_metrics_and_seldom_draw_the_curve(tmp_path, monkeypatch):
    rows = [{"step": 4, "seconds": 1.0, "loss": 8.0, "masked_lm_loss": 7.0}]
    files = curves.RunFiles(tmp_path)
    files.write(rows)
    assert (tmp_path / "metrics.csv").exists() and not (tmp_path / "curve.png").exists()
    monkeypatch.setattr(curves, "SECONDS_BETWEEN_DRAWINGS", -1)
    files.write(rows)
    assert (tmp_path / "curve.png").exists()


def test_a_file_that_is_not_a_metrics_file_is_refused_by_line(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("# a comment\nstep,loss\n1,2.5\n2,x\n")
    refused(r"metrics\.csv line 4: expected a number", read_metrics, path)
    path.write_text("loss\n1\n")
    refused("line 1: expected a header with a column 'step'", read_metrics, path)
    refused("cannot be read", read_metrics, tmp_path / "none")


# --- the alarm ---


def judged(loss, epoch, *earlier, rising=True):
    """Asks the alarm of a run with intervals of ten steps and two phases, of 20 steps and more, about an interval."""
    rows = [{"step": 10 * (i + 1), "masked_lm_loss": value} for i, value in enumerate(earlier)]
    begin, data = (0, "short") if epoch < 2 else (20, "long")
    trainer = SimpleNamespace(
        objectives=[MaskedLM()], bert=SimpleNamespace(config=CONFIG.replace(vocab_size=1000)),
        dtype_policy=SimpleNamespace(name="float32"),
    )  # fmt: skip
    alarm = Alarm(TrainingLoop(trainer, Progress(10 * epoch, rows=rows), 10), trainer, begin, data, rising)
    alarm.set_model(trainer)
    if not math.isfinite(loss):
        alarm.on_train_batch_end(9, {"loss": loss, "bad_step": 4})
    alarm.on_epoch_end(epoch, {"masked_lm_loss": loss})


def test_a_loss_that_rises_stops_the_run():
    judged(4.0, 1, 3.0)
    refused(r"steps 11 to 20 .*risen to 4\.80 from 3\.00.*state of step 10", judged, 4.8, 1, 3.0, error=TrainingError)


def test_a_phase_on_harder_rows_is_compared_with_itself_alone():
    judged(5.0, 2, 4.0, 2.0)
    judged(5.0, 3, 4.0, 2.0, 5.0)
    with pytest.raises(TrainingError, match=r"batch numbers 10 to 19 of long\): .* risen to 8\.00 from 5\.00"):
        judged(8.0, 3, 4.0, 2.0, 5.0)


def test_a_phase_that_begins_worse_than_blind_is_stopped_with_the_way_past_it():
    refused(r"risen to 9\.00 from 2\.00, .* use --no-divergence-check", judged, 9.0, 2, 4.0, 2.0, error=TrainingError)


def test_the_check_of_a_rise_can_be_turned_off_but_not_that_of_a_number():
    judged(9.0, 1, 2.0, rising=False)
    with pytest.raises(TrainingError, match=r"step 24 \(batch number 3 of long\): the loss is nan"):
        judged(math.nan, 2, 4.0, 2.0, rising=False)


def test_a_run_continues_with_the_check_turned_off(tmp_path):
    data = make_examples(tmp_path / "data")
    recipe = preset("published", steps=4, interval=2, batch_size=8)
    run = PretrainingRun(CONFIG, data, tmp_path / "run", recipe)
    assert run.identity() == PretrainingRun(CONFIG, data, run.folder, recipe.replace(divergence_check=False)).identity()


TWO_DEVICES = """
import sys
from bertlab.training.devices.distribution import data_parallel
from test_training import new_trainer
from bertlab.data.pretraining.datasets import batches_of
from test_training import examples
import keras
import numpy as np

arrays = examples(rows=64)
arrays["masked_lm_weights"][6 * 8 + int(sys.argv[1]), 0] = np.nan  # in step 7, on one device
with data_parallel(2):
    trainer = new_trainer()
    trainer.accumulation = trainer.bad_step.parts = 2
    trainer.compile(trainer.optimizer, jit_compile=False, steps_per_execution=int(sys.argv[2]))

    class Say(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if not np.isfinite(logs["loss"]):
                print("bad step", int(logs["bad_step"]))
                self.model.stop_training = True

    trainer.fit(batches_of(arrays, 8), shuffle=False, verbose=0, callbacks=[Say()])
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("row", "bundle"), [(1, 7), (6, 8)])  # the last step of a bundle, and one in its middle
def test_the_step_that_spoilt_one_device_of_two_is_named(row, bundle):
    path = os.pathsep.join(sys.path)
    assert last_line(TWO_DEVICES, row, bundle, backend="tensorflow", PYTHONPATH=path) == "bad step 7"


# --- a backend's errors ---


def raised(error, machines=1):
    """The exception that a user sees for an error of the backend on one of so many machines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failures, "this_machine", lambda: SimpleNamespace(count=machines))
        with pytest.raises(Exception) as caught, failures.backend_errors():
            raise error
    return caught.value


def test_only_what_tells_of_a_lost_machine_is_called_one():
    lost = tf.errors.UnavailableError(None, None, "Connection reset by peer\nmore")
    told = raised(lost, machines=2)
    assert isinstance(told, TrainingError) and "cannot be reached any more (Connection reset by peer)" in str(told)
    assert raised(lost, machines=1) is lost
    cut_off = tf.errors.UnknownError(None, None, "Gloo all-reduce failed: Connection closed by peer [127.0.0.1]:1234")
    assert "cannot be reached any more" in str(raised(cut_off, machines=2))
    wrong = tf.errors.InvalidArgumentError(None, None, "Incompatible shapes")
    assert raised(wrong, machines=2) is wrong


@pytest.mark.parametrize("machines", [1, 2])
def test_too_little_memory_is_answered_with_accumulation(machines):
    told = raised(tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor with shape[8]"), machines)
    assert isinstance(told, TrainingError)
    assert "OOM when allocating" in str(told) and "a larger --accumulation" in str(told)


@pytest.mark.slow
def test_a_damaged_record_is_named_although_the_backend_met_it(tmp_path, monkeypatch):
    whole = ExampleFiles.take

    def take(self, rows):
        if len(rows) and 40 in rows:
            raise DataError("shard 1, row 40: damaged; make the folder again")
        return whole(self, rows)

    data = make_examples(tmp_path / "data")
    monkeypatch.setattr(ExampleFiles, "take", take)
    recipe = preset("published", steps=40, interval=20, batch_size=8, xla=False)
    with pytest.raises(DataError) as caught:
        pretrain(CONFIG, data, tmp_path / "run", recipe)
    assert str(caught.value) == "shard 1, row 40: damaged; make the folder again"
