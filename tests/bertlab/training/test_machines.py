"""Pre-training on several machines, played by processes that know only each other's ports."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pretraining_case import CONFIG, curve, make_examples

from bertlab.common.errors import ConfigError
from bertlab.training.devices.distribution import Machine, this_machine
from bertlab.training.presets import preset
from bertlab.training.pretraining import PretrainingRun

ROOT = Path(__file__).parents[3]


def tf_config(cluster, kind, index) -> str:
    return json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, Machine(0, 1)),
        (tf_config({"worker": ["a:1", "b:1"]}, "worker", 1), Machine(1, 2)),
        (tf_config({"chief": ["a:1"], "worker": ["b:1", "c:1"]}, "chief", 0), Machine(0, 3)),
        (tf_config({"worker": ["b:1", "c:1"], "chief": ["a:1"]}, "worker", 1), Machine(2, 3)),
    ],
)
def test_tf_config_names_this_machine_and_the_first_one_writes(monkeypatch, text, expected):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if text is not None:
        monkeypatch.setenv("TF_CONFIG", text)
    assert this_machine() == expected
    assert this_machine().is_chief == (expected.number == 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "JSONDecodeError"),
        ('{"cluster": {"worker": ["a:1"]}}', "KeyError: 'task'"),
        (tf_config({"worker": ["a:1"]}, "ps", 0), "KeyError: 'ps'"),
        (tf_config({"worker": ["a:1", "b:1"]}, "worker", 2), "there is no machine 2 among 2"),
    ],
)
def test_a_tf_config_that_does_not_tell_is_refused(monkeypatch, text, message):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ConfigError, match=message):
        this_machine()


def test_a_batch_that_cannot_be_shared_is_refused_before_the_machines_meet(tmp_path, monkeypatch):
    make_examples(tmp_path / "data")
    monkeypatch.setenv("TF_CONFIG", tf_config({"worker": ["a:1", "b:1", "c:1"]}, "worker", 1))
    with pytest.raises(ConfigError, match=r"into 3 equal parts .* machines 3\): choose a multiple of 3"):
        PretrainingRun(CONFIG, [tmp_path / "data"], tmp_path / "run", preset("small", steps=2, batch_size=8))


# === Two processes ===


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    make_examples(folder / "short", sequence_length=16, next_sentence=False, packing=False, dynamic_masking=True)
    make_examples(folder / "long")
    CONFIG.replace(hidden_dropout=0.0, attention_dropout=0.0).save(folder / "config.json")
    return folder


def start(data, out, environment=None, steps=40):
    """The command as everyone types it; what differs from machine to machine is the environment."""
    command = [
        sys.executable, "-m", "bertlab", "pretrain", str(data / "config.json"), "--data", str(data / "short"),
        "--data", str(data / "long"), "--out", str(out), "--validation", str(data / "long"), "--steps", str(steps),
        "--interval", "10", "--batch-size", "8", "--phase-shares", "0.5,0.5", "--no-xla",
    ]  # fmt: skip
    variables = {name: value for name, value in os.environ.items() if name != "TF_CONFIG"}
    return subprocess.Popen(
        command, cwd=ROOT, env=variables | (environment or {}), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def workers(number=2):
    """TF_CONFIG of each worker, on free ports of this machine."""
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("localhost", 0))
    cluster = {"worker": [f"localhost:{each.getsockname()[1]}" for each in sockets]}
    for each in sockets:
        each.close()
    return [{"TF_CONFIG": tf_config(cluster, "worker", index)} for index in range(number)]


def ended(processes, timeout=1000):
    outputs = [process.communicate(timeout=timeout) for process in processes]
    return [(process.returncode, *output) for process, output in zip(processes, outputs)]


@pytest.mark.exhaustive
def test_two_machines_have_the_losses_of_one_and_go_on_after_one_was_killed(data, tmp_path):
    ((code, _, errors),) = ended([start(data, tmp_path / "one")])
    assert code == 0, errors

    whole = ended([start(data, tmp_path / "two", worker) for worker in workers()])
    assert [code for code, _, _ in whole] == [0, 0], whole
    assert "step 40" in whole[0][1] and whole[1][1] == ""  # the second one writes nothing, also to the shell
    assert "the first machine writes" in whole[1][2]
    one, two = curve(tmp_path / "one"), curve(tmp_path / "two")
    assert len(one) == len(two) == 4
    for row, other in zip(one, two):
        assert other == pytest.approx(row, rel=1e-3)
        assert other["masked_lm_loss"] == pytest.approx(row["masked_lm_loss"], rel=1e-5)

    killed = tmp_path / "killed"
    chief, other = [start(data, killed, worker) for worker in workers()]
    while chief.poll() is None and not (killed / "states" / "state-00000020.safetensors").exists():
        time.sleep(0.005)
    other.send_signal(signal.SIGKILL)
    (code, _, errors), _ = ended([chief, other])
    assert code == 2
    assert "another machine cannot be reached any more" in errors and "the same command again on every" in errors

    again = ended([start(data, killed, worker) for worker in workers()])
    assert [code for code, _, _ in again] == [0, 0], again
    assert curve(killed) == two  # to the last bit
    for name in ("model.safetensors", "config.json", "vocab.txt"):
        assert (killed / "checkpoint" / name).read_bytes() == (tmp_path / "two" / "checkpoint" / name).read_bytes()
