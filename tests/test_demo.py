"""The demo: a small run of every stage, its report, and a run that is killed and started again."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bertlab.demo.settings import DemoSettings, PhaseSettings
from bertlab.training.finetuning import FineTuningSettings


def small_settings(steps=20, interval=10):
    phases = (PhaseSettings(16, 16, steps, 1), PhaseSettings(32, 8, steps, 1))
    fine_tuning = FineTuningSettings(epochs=1, seeds=(1, 2))
    return DemoSettings(
        vocab_size=600, hidden_size=16, phases=phases, interval=interval, task_rows=64, fine_tuning=fine_tuning
    )


def test_settings_agree_with_one_another():
    settings = DemoSettings()
    assert all(phase.steps % settings.interval == 0 for phase in settings.phases)
    assert settings.config.max_position_embeddings >= settings.task_sequence_length
    assert settings.held_out_examples.masked_lm_probability == 0.15


def test_the_advantage_is_measured_in_pooled_standard_deviations():
    from bertlab.training.finetuning import STARTS, Run, advantage

    def runs(start, *values):
        return [Run(start, seed, value, [], []) for seed, value in enumerate(values)]

    both = runs(STARTS[0], 0.8, 0.9, 1.0) + runs(STARTS[1], 0.4, 0.5, 0.6)
    difference, deviations = advantage(both)
    assert difference == pytest.approx(0.4)
    assert deviations == pytest.approx(4.0)  # each start has a standard deviation of 0.1
    assert advantage(runs(STARTS[0], 0.5, 0.5) + runs(STARTS[1], 0.5, 0.5)) == (0.0, 0.0)


def test_the_pre_trained_start_takes_the_encoder_and_scratch_does_not(tmp_path):
    import keras
    import numpy as np

    from bertlab.config import BertConfig
    from bertlab.models import BertEncoder
    from bertlab.training.finetuning import STARTS, Comparison, Split

    keras.utils.set_random_seed(0)
    encoder = BertEncoder(BertConfig(vocab_size=20, hidden_size=8, num_layers=1, num_heads=2, intermediate_size=16))
    rng = np.random.default_rng(0)
    ids = rng.integers(5, 20, (32, 6)).astype("int32")
    split = Split({"input_ids": ids}, (ids[:, 1] > 12).astype("int32"))
    settings = FineTuningSettings(learning_rate=0.0, batch_size=8, epochs=1, seeds=(1, 2))
    comparison = Comparison(encoder, 2, split, split, settings, tmp_path)
    runs = comparison.run_all()
    assert {(run.start, run.seed) for run in runs} == {(start, seed) for start in STARTS for seed in (1, 2)}
    assert all(len(run.predictions) == 32 for run in runs)

    classifier = comparison._classifier
    for start, same in zip(STARTS, (True, False), strict=True):
        comparison._set_weights(classifier, start, seed=5)
        table = classifier.bert.embeddings.token.embeddings
        assert np.array_equal(np.array(table), np.array(encoder.embeddings.token.embeddings)) is same


def without_times(value):
    """The same results without what the clock said."""
    if isinstance(value, dict):
        return {name: without_times(item) for name, item in value.items() if name != "seconds"}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def kill_when(pattern, folder, timeout=240):
    """Runs the small demo in a process of its own and kills it as soon as a file of that name is there."""
    program = "import sys; sys.path.insert(0, sys.argv[1]); import test_demo; test_demo.run_small_demo(sys.argv[2])"
    command = [sys.executable, "-c", program, str(Path(__file__).parent), str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + timeout
    while not list(folder.glob(pattern)):
        assert process.poll() is None, f"the demo ended before there was a {pattern}"
        assert time.monotonic() < end, f"no {pattern} after {timeout} s"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_small_demo(folder):
    from bertlab.demo.pipeline import run_demo

    return run_demo(small_settings(), folder)


@pytest.mark.exhaustive
def test_a_demo_that_is_killed_again_and_again_ends_with_the_same_results(tmp_path):
    straight = run_small_demo(tmp_path / "straight")
    folder = tmp_path / "killed"
    kill_when("vocab.txt", folder)
    kill_when("examples/train-1*", folder)
    kill_when("states/state-00000010.safetensors", folder)
    kill_when("states/state-00000030.safetensors", folder)
    kill_when("fine-tuning/*-1.json", folder)
    assert not (folder / "report.html").exists()
    resumed = run_small_demo(folder)
    assert without_times(resumed) == without_times(straight)
    assert (folder / "report.html").exists()


@pytest.mark.exhaustive
def test_every_stage_runs_and_the_report_needs_nothing_beside_it(tmp_path):
    from bertlab.demo.pipeline import STAGES, run_demo, summary_lines

    settings = small_settings()
    said = []
    results = run_demo(settings, tmp_path / "demo", say=said.append)
    assert list(results) == [name for name, _, _ in STAGES]
    assert len(summary_lines(results, tmp_path)) == 10
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 6
    assert not re.findall(r'(?:src|href)="(?!#)', page.replace("xlink:href", "")), "the report points to another file"

    again = run_demo(settings, tmp_path / "demo", say=said.append)
    again["corpus"]["seconds"] = results["corpus"]["seconds"]  # looked at anew each time
    assert json.dumps(again) == json.dumps(results)
