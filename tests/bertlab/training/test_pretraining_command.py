"""The command `bertlab pretrain` as a user meets it: killed, interrupted, on several devices, beyond the memory."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pretraining_case import CONFIG, curve, make_examples

from bertlab.cli.pretrain import _names

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    make_examples(folder / "short", sequence_length=16, next_sentence=False, packing=False, dynamic_masking=True)
    make_examples(folder / "long")
    CONFIG.save(folder / "config.json")
    return folder


def command(data, out, *options, steps=400):
    return [
        sys.executable, "-m", "bertlab", "pretrain", str(data / "config.json"), "--data", str(data / "short"),
        "--data", str(data / "long"), "--out", str(out), "--steps", str(steps), "--interval", "20",
        "--batch-size", "8", "--phase-shares", "0.5,0.5", "--no-xla", *options,
    ]  # fmt: skip


def run(data, out, *options, **settings):
    return subprocess.run(command(data, out, *options, **settings), cwd=ROOT, capture_output=True, text=True)


def stopped(data, out, sign, after_states, wait=0.0):
    """Starts the command and sends it a signal when so many states have been saved; returns the ended process."""
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731, also where the tests run in the background
    process = subprocess.Popen(command(data, out), cwd=ROOT, **pipes, text=True, preexec_fn=heard)
    name = f"state-{20 * after_states:08d}.safetensors"
    while process.poll() is None and not any(path.name >= name for path in (out / "states").glob("state-*")):
        time.sleep(0.005)
    time.sleep(wait)
    process.send_signal(sign)
    output, errors = process.communicate(timeout=120)
    return process.returncode, output, errors


@pytest.mark.exhaustive
def test_killed_again_and_again_the_same_command_ends_with_the_same_curve_to_the_last_bit(data, tmp_path):
    whole = run(data, tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    for states, wait in ((1, 0.0), (4, 0.03), (9, 0.01), (13, 0.02)):  # within the first phase, and the second
        code, _, errors = stopped(data, tmp_path / "killed", signal.SIGKILL, states, wait)
        assert code == -signal.SIGKILL, errors
    last = run(data, tmp_path / "killed")
    assert last.returncode == 0, last.stderr
    assert curve(tmp_path / "killed") == curve(tmp_path / "whole")
    for name in ("model.safetensors", "config.json", "vocab.txt"):
        ended = [(tmp_path / run / "checkpoint" / name).read_bytes() for run in ("whole", "killed")]
        assert ended[0] == ended[1], name


@pytest.mark.exhaustive
def test_ctrl_c_ends_with_one_line_that_names_what_is_kept(data, tmp_path):
    code, output, errors = stopped(data, tmp_path / "run", signal.SIGINT, after_states=3)
    assert code == 130
    assert output == ""
    (line,) = errors.splitlines()
    assert line.startswith("interrupted; the state of step ") and line.endswith("the same command resumes from there")


@pytest.mark.exhaustive
def test_two_virtual_devices_have_the_same_losses_as_one_and_in_parts_too(data, tmp_path):
    plain = tmp_path / "plain"  # two devices draw other dropout than one, so the model of this comparison has none
    plain.mkdir()
    for name in ("short", "long"):
        (plain / name).symlink_to(data / name)
    CONFIG.replace(hidden_dropout=0.0, attention_dropout=0.0).save(plain / "config.json")
    for name, extra in {"1": [], "2": ["--devices", "2"], "parts": ["--devices", "2", "--accumulation", "2"]}.items():
        done = run(plain, tmp_path / name, "--validation", str(plain / "long"), *extra, steps=40)
        assert done.returncode == 0, done.stderr
    one = curve(tmp_path / "1")
    assert len(one) == 2
    for name in ("2", "parts"):
        for row, other in zip(one, curve(tmp_path / name), strict=True):
            assert other == pytest.approx(row, rel=1e-4)


@pytest.mark.exhaustive
def test_a_batch_beyond_the_memory_is_refused_before_anything_is_written(data, tmp_path):
    done = run(data, tmp_path / "run", "--batch-size", str(2**24))
    assert done.returncode == 2
    assert "GiB are free" in done.stderr and "--accumulation" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.exhaustive
def test_a_run_is_judged_and_drawn(data, tmp_path):
    done = run(data, tmp_path / "run", "--json", steps=20 * 2)
    last = json.loads(done.stdout)
    assert last["step"] == 40
    judge = [sys.executable, "-m", "bertlab", "evaluate", last["checkpoint"], "--data", str(data / "long"), "--json"]
    figures = json.loads(subprocess.run(judge, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert figures["masked_lm_loss"] > 0 and figures["unigram_accuracy"] > 0
    drawing = tmp_path / "curves.svg"
    draw = [sys.executable, "-m", "bertlab", "plot", str(tmp_path / "run"), "--out", str(drawing), "--reference", "all"]
    subprocess.run(draw, cwd=ROOT, check=True, env=os.environ)
    assert "Loss of the guesses" in drawing.read_text(encoding="utf-8")


def test_runs_are_called_in_a_drawing_by_what_tells_them_apart(tmp_path):
    assert _names([tmp_path / "runs/one", tmp_path / "runs/two/metrics.csv"]) == ["one", "two"]
    assert _names([tmp_path / "a/run", tmp_path / "b/run"]) == ["a/run", "b/run"]
    assert _names([tmp_path / "runs/one"]) == ["one"]
    assert _names([]) == []
