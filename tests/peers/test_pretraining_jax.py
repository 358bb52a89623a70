"""Pre-training on JAX: in parts, on several devices and machines, and resumed, as TensorFlow does; PyTorch in parts."""

import json
import os
import re
import signal
import socket
import subprocess
import sys

import pytest
from other_backends import ROOT, environment, last_line
from pretraining_case import CONFIG, make_examples

pytestmark = pytest.mark.peers
PLAIN = CONFIG.replace(hidden_dropout=0.0, attention_dropout=0.0)  # each backend draws its own dropout
SCRIPT = """
import json, os, signal, sys
import keras
import numpy as np
from bertlab.config import BertConfig
from bertlab.training.presets import preset
from bertlab.training.pretraining import PretrainingRun

folder, out, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
stop_at, lost_at = options.pop("stop_at", None), options.pop("lost_at", None)

class Stop(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch + 1 == stop_at:
            raise SystemExit
        if epoch + 1 == lost_at:
            os.kill(os.getpid(), signal.SIGKILL)

recipe = preset("published", steps=8, interval=2, batch_size=8, learning_rate=1e-3, **options)
run = PretrainingRun(BertConfig.load(folder + "/config.json"), [folder + "/examples"], out, recipe)
fresh = run.trainer

def with_the_same_weights_on_every_backend(say):
    trainer = fresh(say)
    rng = np.random.default_rng(0)
    for variable in trainer.trainable_variables:
        variable.assign(rng.normal(0, 0.1, variable.shape).astype("float32"))
    return trainer

run.trainer = with_the_same_weights_on_every_backend
print("losses", json.dumps([row["loss"] for row in run.train([Stop()])]), flush=True)
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    make_examples(folder / "examples")
    PLAIN.save(folder / "config.json")
    return folder


def start(data, out, backend="jax", devices=1, variables=None, **options):
    arguments = [str(data), str(out), json.dumps(options | {"devices": devices})]
    command = [sys.executable, "-c", SCRIPT, *arguments]
    own = environment(backend, devices, **(variables or {}))
    return subprocess.Popen(command, env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def losses(*arguments, **options):
    return losses_of(start(*arguments, **options))


def losses_of(process):
    output, errors = process.communicate(timeout=1000)
    assert process.returncode == 0, errors[-3000:]
    found = re.search(r"^losses (.*)", output, re.MULTILINE)  # among what JAX's own parts print
    return json.loads(found[1]) if found else None


def on_two_machines(data, out, **options):
    """The losses that each of two processes has."""
    return [losses_of(process) for process in two_machines(data, out, {}, **options)]


def two_machines(data, out, of_the_second, **options):
    """Two processes, which know only the first one's port. of_the_second: options that only this one has."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    processes = []
    for number in range(2):
        variables = {
            "KERAS_DISTRIBUTION_JOB_ADDRESSES": f"localhost:{port}",
            "KERAS_DISTRIBUTION_NUM_PROCESSES": "2",
            "KERAS_DISTRIBUTION_PROCESS_ID": str(number),
        }
        own = of_the_second if number == 1 else {}
        processes.append(start(data, out, variables=variables, **options, **own))
    return processes


def test_jax_has_the_losses_of_tensorflow_in_parts_and_on_two_devices_and_resumes_bitwise(data, tmp_path):
    expected = losses(data, tmp_path / "tensorflow", "tensorflow", xla=False)
    whole = losses(data, tmp_path / "whole")
    assert whole == pytest.approx(expected, rel=1e-4)
    assert losses(data, tmp_path / "parts", accumulation=4) == pytest.approx(whole, rel=1e-4)
    assert losses(data, tmp_path / "devices", devices=2) == pytest.approx(whole, rel=1e-4)
    both = losses(data, tmp_path / "both", devices=2, accumulation=2)
    assert both == pytest.approx(whole, rel=1e-4)
    assert losses(data, tmp_path / "resumed", stop_at=2) is None
    assert losses(data, tmp_path / "resumed") == whole


ARITHMETIC = """
import sys
import jax, keras
from bertlab.models import BertForPreTraining
from bertlab.training.devices.distribution import data_parallel
from bertlab.training.recipes.optimizer import adamw
from bertlab.training.runs.pretrainer import PreTrainer
from test_training import CONFIG, examples

def of_one_device(devices):
    with data_parallel(devices):
        trainer = PreTrainer(BertForPreTraining(CONFIG.replace(hidden_size=64, num_layers=1)), accumulation=4)
        trainer.compile(adamw(1e-3, trainer))
        trainer.optimizer.build(trainer.trainable_variables)
        batch, distribution = examples(rows=32), keras.distribution.distribution()
        if distribution is not None:
            layouts = {name: distribution.get_data_layout(values.shape) for name, values in batch.items()}
            batch = {name: keras.distribution.distribute_tensor(batch[name], layouts[name]) for name in batch}
        kinds = ("trainable", "non_trainable", "optimizer", "metrics")
        state = trainer._get_jax_state(**{f"{kind}_variables": True for kind in kinds})
        return jax.jit(trainer.train_step).lower(state, batch).compile().cost_analysis()["flops"]

print(of_one_device(4) / of_one_device(1))
"""


def test_in_parts_too_each_of_four_devices_computes_a_quarter():
    path = os.pathsep.join(str(ROOT / folder) for folder in ("", "tests/support", "tests/bertlab/training"))
    assert float(last_line(ARITHMETIC, backend="jax", devices=4, PYTHONPATH=path)) < 0.4  # the optimizer is not shared


def test_pytorch_trains_in_parts_with_the_losses_of_whole_batches(data, tmp_path):
    whole = losses(data, tmp_path / "whole", "torch")
    assert losses(data, tmp_path / "parts", "torch", accumulation=4) == pytest.approx(whole, rel=1e-4)


def test_two_machines_have_the_losses_of_one_and_resume_bitwise(data, tmp_path):
    one = losses(data, tmp_path / "one")
    whole = on_two_machines(data, tmp_path / "two")
    assert whole[0] == whole[1] == pytest.approx(one, rel=1e-4)
    assert on_two_machines(data, tmp_path / "resumed", stop_at=2) == [None, None]
    assert on_two_machines(data, tmp_path / "resumed") == whole
    assert (tmp_path / "two" / "checkpoint" / "model.safetensors").exists()


def test_when_one_of_two_machines_is_lost_the_other_stops_and_the_same_command_resumes(data, tmp_path):
    whole = losses(data, tmp_path / "one")
    first, second = two_machines(data, tmp_path / "lost", {"lost_at": 2})
    assert second.wait(timeout=300) == -signal.SIGKILL
    first.communicate(timeout=300)
    assert first.returncode != 0
    assert not (tmp_path / "lost" / "checkpoint").exists()
    again = on_two_machines(data, tmp_path / "lost")
    assert again[0] == again[1] == pytest.approx(whole, rel=1e-4)
