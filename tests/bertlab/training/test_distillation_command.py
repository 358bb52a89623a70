"""The commands `bertlab distill` and `bertlab distill-task` on a tiny teacher."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from bertlab_command import run
from finetuning_case import TOKENIZER, save_checkpoint, sentences
from pretraining_case import curve
from safetensors.numpy import load_file

from bertlab.data.documents import Document
from bertlab.data.pretraining.make import make_data
from bertlab.data.pretraining.settings import ExampleSettings

ROOT = Path(__file__).parents[3]
SENTENCES = ("the film was good .", "it was a bad film .", "in paris the film was not good .", "rome is a city .")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A teacher of 2 layers, rows of pre-training and labelled rows."""
    folder = tmp_path_factory.mktemp("command")
    save_checkpoint(folder / "teacher", num_layers=2)
    documents = [Document(id=str(i), paragraphs=(SENTENCES[i % 2 :] * 3,)) for i in range(12)]
    settings = ExampleSettings(sequence_length=16, next_sentence=False, dynamic_masking=True)
    make_data(documents, TOKENIZER, folder / "rows", settings)
    labelled = sentences(np.random.default_rng(1), 40)
    lines = [f"{row.text},{('bad', 'good')[row.label]}" for row in labelled]
    (folder / "reviews.csv").write_text("\n".join(["text,label", *lines, ""]))
    return folder


def distill(folder, *words, command="distill", code=0):
    return run(command, *(folder / word if (folder / word).exists() else word for word in words), code=code)


@pytest.mark.slow
def test_from_a_pre_trained_teacher_to_a_student_of_a_task(folder):
    short = ("--steps", "4", "--interval", "2", "--batch-size", "4", "--no-xla", "--json")
    done = distill(folder, "teacher", "--to", "1x8", "--data", "rows", "--out", str(folder / "student"), *short)
    last = json.loads(done.splitlines()[-1])
    assert last["step"] == 4 and {"masked_lm_loss", "soft_targets_loss", "cosine_loss"} <= set(last)
    written = (folder / "student/command.toml").read_text()
    assert 'preset = "published"' in written and "learning-rate = 0.0001" in written and "pre-norm" not in written

    tuned = ("finetune", folder / "reviews.csv", "--model", folder / "teacher", "--validation-share", "0.2")
    run(*tuned, "--epochs", "1", "--max-length", "16", "--out", folder / "tuned")
    words = ("--validation-share", "0.2", "--epochs", "1", "--seeds", "2", "--out", str(folder / "distilled"))
    done = distill(folder, "tuned", "reviews.csv", "--to", "student/checkpoint", *words, command="distill-task")
    assert (folder / "distilled/task.json").exists() and "accuracy" in done
    assert len(json.loads((folder / "distilled/results.json").read_text())["runs"]) == 2


def process(folder, out):
    """`bertlab distill`, general stage, as a process of its own."""
    words = ("--to", "1x8", "--data", folder / "rows", "--out", out, "--steps", 120, "--interval", 10)
    command = [sys.executable, "-m", "bertlab", "distill", folder / "teacher", *words, "--batch-size", 4, "--no-xla"]
    return subprocess.Popen([str(word) for word in command], cwd=ROOT, stderr=subprocess.PIPE, text=True)


@pytest.mark.exhaustive
def test_killed_again_and_again_the_same_command_ends_with_the_same_student(folder, tmp_path):
    whole = process(folder, tmp_path / "whole")
    assert whole.wait(timeout=300) == 0, whole.stderr.read()
    for step, wait in ((10, 0.0), (50, 0.02)):
        run, states = process(folder, tmp_path / "killed"), tmp_path / "killed" / "states"
        name = f"state-{step:08d}.safetensors"
        while run.poll() is None and not any(path.name >= name for path in states.glob("state-*")):
            time.sleep(0.005)
        time.sleep(wait)
        run.kill()
        assert run.wait(timeout=60) == -signal.SIGKILL, run.stderr.read()
    last = process(folder, tmp_path / "killed")
    assert last.wait(timeout=300) == 0, last.stderr.read()
    assert curve(tmp_path / "killed") == curve(tmp_path / "whole")
    for name in ("model.safetensors", "config.json", "vocab.txt"):
        ended = [(tmp_path / run / "checkpoint" / name).read_bytes() for run in ("whole", "killed")]
        assert ended[0] == ended[1], name


@pytest.mark.parametrize(
    "words, said",
    [
        (("--to", "1x8"), "Missing option '--data'"),
        (("--to", "1x8", "--data", "rows", "--epochs", "2"), "'--epochs'; use `bertlab distill-task TEACHER ROWS`"),
        (("reviews.csv", "--to", "1x8", "--stage", "task"), "'--stage'; use `bertlab distill-task TEACHER ROWS` for"),
        (("reviews.csv", "--to", "1x8", "--data", "rows"), "unexpected extra argument"),
        (("--to", "1x8", "--data", "rows", "--temperature", "0"), "x>0"),
    ],
)
def test_options_of_the_other_command_are_refused(words, said, folder):
    assert said in distill(folder, "teacher", *words, "--out", str(folder / "never"), code=2)
    assert not (folder / "never").exists()


def distill_alone(folder, *words):
    """The output of `bertlab distill`, in a process of its own, which can divide the processor."""
    arguments = [str(folder / word) if (folder / word).exists() else word for word in words]
    command = [sys.executable, "-m", "bertlab", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize("losses", ["outputs", "layers"])
def test_two_virtual_devices_have_the_same_losses_as_one_in_the_general_stage(folder, tmp_path, losses):
    words = ("distill", "teacher", "--to", "1x8", "--data", "rows", "--losses", losses, "--steps", "6",
             "--interval", "3", "--batch-size", "4", "--no-xla", "--dropout", "0", "--validation", "rows")  # fmt: skip
    one, two = (
        json.loads(distill_alone(folder, *words, "--devices", devices, "--out", str(tmp_path / devices), "--json"))
        for devices in ("1", "2")
    )
    one, two = ({name: last[name] for name in one if name.endswith("loss")} for last in (one, two))
    assert "val_loss" in one and two == pytest.approx(one, rel=1e-3)  # Adam enlarges rounding


@pytest.mark.exhaustive
@pytest.mark.parametrize("losses", ["outputs", "layers"])
def test_two_virtual_devices_have_the_same_student_as_one_in_the_task_stage(folder, tmp_path, losses):
    save_checkpoint(tmp_path / "start", num_layers=2, hidden_dropout=0.0, attention_dropout=0.0)
    reviews = (str(folder / "reviews.csv"), "--validation-share", "0.2", "--epochs", "1")
    tuned = tmp_path / "tuned"
    run("finetune", *reviews, "--model", tmp_path / "start", "--max-length", "16", "--out", tuned)
    found = []
    for devices in ("1", "2"):
        out = tmp_path / f"student-{devices}"
        distill_alone(folder, "distill-task", str(tuned), *reviews, "--to", "1x8", "--losses", losses,
                      "--batch-size", "4", "--devices", devices, "--out", str(out))  # fmt: skip
        found.append(load_file(next(out.rglob("model.safetensors"))))
    for name, one in found[0].items():
        np.testing.assert_allclose(found[1][name], one, atol=2e-5, err_msg=name)
