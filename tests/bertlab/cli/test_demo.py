"""The demo: a small run of every stage, its report, and a run that is killed and started again."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from bertlab.demo.settings import DemoSettings


def small_settings():
    usual = DemoSettings()
    recipe = usual.recipe.replace(steps=40, batch_size=8, phase_shares=(0.5, 0.5), interval=10)
    fine_tuning = usual.fine_tuning.replace(epochs=1, seeds=(1, 2))
    return DemoSettings(vocab_size=600, hidden_size=16, recipe=recipe, task_rows=64, fine_tuning=fine_tuning)


def test_settings_agree_with_one_another():
    settings = DemoSettings()
    assert [tuple(phase) for phase in settings.phases] == [(16, 256, 600, False), (32, 128, 400, True)]
    assert settings.config.max_position_embeddings >= settings.fine_tuning.max_length
    assert settings.held_out_examples.masked_lm_probability == 0.15
    assert DemoSettings(seed=3).pretraining.seed == 3


def without_times(value):
    """The same results without measured times and speeds."""
    measured = ("seconds", "tokens_per_second", "peak_share", "data_wait_share")
    if isinstance(value, dict):
        return {name: without_times(item) for name, item in value.items() if name not in measured}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def kill_when(pattern, folder, timeout=240):
    """Runs the small demo in a process of its own and kills it as soon as a file of that name is there."""
    program = f"import sys; sys.path[:0] = {sys.path}; import test_demo; test_demo.run_small_demo(sys.argv[1])"
    command = [sys.executable, "-c", program, str(folder)]
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
    kill_when("fine-tuning/runs/*-s1.json", folder)
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
    again["corpus"]["seconds"] = results["corpus"]["seconds"]  # measured each time
    assert json.dumps(again) == json.dumps(results)
