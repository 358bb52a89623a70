"""The training run of notebook 07: it resumes where it stopped; the weights that are handed in; the time left."""

import dataclasses
import json
import os
import signal

import keras
import numpy as np
import pytest
import safetensors.numpy
import tensorflow as tf
from notebook_loading import names_of_notebook  # noqa: F401 (a fixture)

from autograde.boundary.roles import model_roles
from autograde.boundary.weights_file import PRETRAINING, read_weights
from autograde.exercises.n07_pretraining import pretraining_model, train_step
from autograde.student import progress_file, saving, small_world_run, time_left, trained_weights, training_run
from autograde.student.stand_ins import pretraining
from bertlab.data import small_world
from bertlab.data.corpus.build import default_corpus_dir

pytestmark = pytest.mark.numerical
NOTEBOOK = "07_pretraining"
BATCH = train_step.steep(np.random.default_rng(0))[0].arguments[0]


# --- the run ---


def _settings(**changes):
    plain = training_run.RunSettings("python", 16, 4, steps=4, warmup_steps=1, peak=1e-3, interval=2, compiled=False)
    return dataclasses.replace(plain, model=train_step.TINY, **changes)


def _run(folder, names, settings=None):
    settings = settings or _settings()
    model = names["TinyModel"](**settings.model)
    model(*(BATCH[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")))
    return _new_run(folder, settings, model)


def _new_run(folder, settings, model):
    optimizer = keras.optimizers.Adam(settings.peak)
    optimizer.build(model.trainable_variables)
    return training_run.Run(folder, settings, model, optimizer, say=lambda line: None)


def _train(run, names, until=None):
    for step in run.steps():
        run.record(step, names["train_step"](run.model, run.optimizer, BATCH), {"loss": 1.0})
        if step == until:
            break


def test_a_run_that_was_cut_off_resumes_and_ends_with_the_very_weights(tmp_path, names):
    whole, first = (_run(tmp_path / name, names) for name in ("whole", "cut"))
    for one, theirs in zip(whole.model.weights, first.model.weights):
        theirs.assign(one)
    _train(whole, names)
    _train(first, names, until=1)
    second = _run(tmp_path / "cut", names)
    assert [row["step"] for row in second.history] == [1, 2]
    _train(second, names)
    assert second.history == whole.history
    for one, other in zip(whole.model.weights, second.model.weights):
        assert np.array_equal(one, other)


def test_an_interrupt_ends_a_run_after_its_step_and_it_resumes_there(tmp_path, names):
    run = _run(tmp_path, names)
    said, usual = [], signal.getsignal(signal.SIGINT)
    run._say = said.append
    for step in run.steps():
        if step == 2:
            signal.raise_signal(signal.SIGINT)
    assert said == ["Stopped after step 3 and saved. Run this cell again to go on."]
    assert signal.getsignal(signal.SIGINT) is usual
    assert list(_run(tmp_path, names).steps()) == [3]


def test_a_second_interrupt_stops_at_once(tmp_path, names):
    run = _run(tmp_path, names)
    # as in a notebook, not as an earlier test left it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            for _ in run.steps():
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_run_is_judged_more_often_where_the_loss_falls_fastest(tmp_path, names):
    run = _run(tmp_path, names, _settings(steps=400, interval=100))
    judged = [step + 1 for step in range(400) if run.is_time_to_judge(step)]
    assert judged == [6, 12, 25, 50, 100, 200, 300, 400]


def test_a_folder_with_a_run_of_other_settings_is_refused(tmp_path, names):
    run = _run(tmp_path, names)
    run.record(0, 1.0, {"loss": 1.0})
    with pytest.raises(training_run.RunError, match="other settings .seed was 7, is 8."):
        _run(tmp_path, names, _settings(seed=8))


def test_a_damaged_state_is_explained(tmp_path, names):
    (tmp_path / "state.safetensors").write_bytes(b"half of it")
    with pytest.raises(training_run.RunError, match="delete it to begin again"):
        _run(tmp_path, names)


def test_a_kill_while_a_run_is_saved_leaves_the_state_before(tmp_path, names, monkeypatch):
    run = _run(tmp_path, names)
    run.record(1, 1.0, {"loss": 1.0})
    saved = [np.array(one) for one in run.model.weights]

    def killed(arrays, partial, metadata):
        partial.write_bytes(b"half of it")
        raise KeyboardInterrupt

    for variable in run.model.weights:
        variable.assign(variable + 1)
    with monkeypatch.context() as patched:
        patched.setattr(safetensors.numpy, "save_file", killed)
        with pytest.raises(KeyboardInterrupt):
            run.record(3, 2.0, {"loss": 2.0})
    resumed = _run(tmp_path, names)
    assert resumed.done == 2 and [row["step"] for row in resumed.history] == [2]
    assert all(np.array_equal(one, other) for one, other in zip(resumed.model.weights, saved))


def test_the_run_is_not_started_before_its_checks_have_passed_and_one_line_names_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    progress_file.record("mlm-loss", "passed", 4, "")
    monkeypatch.setattr(progress_file, "load", lambda: {"mlm-loss": {"status": "passed"}})
    assert training_run.ready("mlm-loss")
    assert not training_run.ready("mlm-loss", "train-step")
    assert capsys.readouterr().out == "The run did not start: pass 7.7 train_step first.\n"


def test_a_run_takes_what_has_passed_from_the_notebook_and_the_rest_from_the_course_and_names_it(monkeypatch, capsys):
    monkeypatch.setattr(progress_file, "load", lambda: {"perplexity": {"status": "passed"}})
    notebook = {"perplexity": lambda losses, counts: "mine", "learning_rate": lambda *arguments: "a stub"}
    parts = training_run.passed_or_borrowed(notebook, "perplexity", "learning-rate")
    assert parts.perplexity is notebook["perplexity"] and parts.learning_rate is pretraining.learning_rate
    assert capsys.readouterr().out == "The run borrows what you have not passed from the course: 7.8 learning_rate.\n"
    assert training_run.passed_or_borrowed({}, "perplexity").perplexity is pretraining.perplexity


def test_the_short_runs_floor_is_that_of_the_best_reader():
    text = small_world.sample(1, small_world_run.HELD_OUT)[0]
    rows, hidden = small_world_run.masked_rows([text], 5)
    assert hidden.sum() == 2 and (rows["input_ids"] == small_world_run.MASK).sum() == 2
    for position, label in zip(rows["masked_lm_positions"][0], rows["masked_lm_ids"][0]):
        assert small_world_run.TOKENS[label] == text.words[position - 1]
    one = hidden.copy()
    one[0, rows["masked_lm_positions"][0, 1] - 1] = False  # a single hidden word: its exact probability is known
    place = rows["masked_lm_positions"][0, 0] - 1
    exact = small_world.exact(str(text), place)[text.words[place]]
    assert small_world_run.floor_of([text], one) == pytest.approx(-np.log(exact), abs=1e-6)


def test_the_short_run_trains_the_encoders_matrices_with_muon_in_a_second_model_too(names):
    """Keras numbers the names of later models, encoder_1: at first all of its weights were trained with AdamW."""
    one = keras.ops.ones((2, 3), "int32")
    for _ in range(2):
        model = names["PreTrainingModel"](**small_world_run.MODEL)
        model(one, one, one, one[:, :1])
        optimizer = small_world_run.optimizer_for(model)
        by_muon = [v.path for v in model.trainable_variables if not optimizer._should_use_adamw(v)]
        assert len(by_muon) == 2 * 6 and all("/layer_" in path for path in by_muon)


# --- the file of weights ---


@pytest.fixture
def trained(tmp_path, names):
    """Makes a new run of the solution's model; in place of the notebook's loop, each step changes every weight."""

    def make(folder, steps=4, change=0.01):
        model = names["PreTrainingModel"](**pretraining_model.SIZES)
        model(*pretraining_model.inputs_of_model(np.random.default_rng(0))[0].cases[0].arguments)
        settings = dataclasses.replace(_settings(), model=pretraining_model.SIZES)
        training_run.initialise(model, settings)
        run = _new_run(tmp_path / folder, settings, model)
        for step in run.steps() if steps else ():
            for variable in run.own_model.trainable_variables:
                variable.assign(variable + change)
            run.record(step, 1.0, {"loss": 6.4})
            if step + 2 > steps:
                run.done = step + 1
                break
        return run

    return make


def test_the_weights_of_the_students_model_are_written_by_role_and_read_back(tmp_path, trained):
    run = trained("run")
    said = trained_weights.hand_in(run, tmp_path / "w.safetensors")
    assert "trained for 4 of 4 steps on 'python', held-out loss 6.40 after step 4.\nHand it in" in said
    weights = read_weights(tmp_path / "w.safetensors")
    assert np.array_equal(weights.arrays["embeddings/token"], run.own_model.bert.embeddings.token.embeddings)
    assert np.array_equal(weights.arrays["mlm/bias"], run.own_model.mlm_head.bias)
    assert set(weights.arrays) == set(model_roles(pretraining_model.SIZES["num_layers"]))
    assert "trained for 4 of 4 steps" in trained_weights.check_weights(tmp_path / "w.safetensors")


def test_after_a_crash_the_file_shows_how_far_the_run_came(tmp_path, trained):
    said = trained_weights.hand_in(trained("run", steps=2), tmp_path / "w.safetensors")
    assert "trained for 2 of 4 steps on 'python' (not finished), held-out loss 6.40 after step 2" in said


def test_weights_that_no_step_has_trained_are_not_written(tmp_path, trained):
    """A run that crashed at its first step, and one whose step never changes a weight."""
    path = tmp_path / "w.safetensors"
    begun = trained("begun", steps=0)
    assert trained_weights.hand_in(begun, path).startswith("✗ Nothing was written: the run has made no step")
    said = trained_weights.hand_in(trained("unchanged", change=0.0), path)
    assert "after 4 steps these are the weights of an untrained model" in said and not path.exists()
    weights = trained_weights._weights_of(begun, PRETRAINING)
    safetensors.numpy.save_file(weights.arrays, path, metadata={"config": json.dumps(weights.config)})
    assert trained_weights.check_weights(path).startswith("✗ w.safetensors: these are the weights")


def test_weights_with_nan_are_not_written_and_an_earlier_file_stays_and_is_named(tmp_path, trained):
    path = tmp_path / "w.safetensors"
    trained_weights.hand_in(trained("run"), path)
    before = path.read_bytes()
    said = trained_weights.hand_in(trained("other", change=np.nan), path)
    assert "NaN or infinity" in said and "The file of an earlier run is still there: ✗" not in said
    assert path.read_bytes() == before


# --- where it lies, its settings ---


def test_run_weights_and_texts_are_in_the_home_also_where_the_notebook_is_elsewhere(tmp_path, monkeypatch):
    """As on Colab: the notebook runs in /content, and the home is a folder of the Drive."""
    drive, content = tmp_path / "Drive", tmp_path / "content"
    drive.mkdir()
    content.mkdir()
    monkeypatch.chdir(content)
    monkeypatch.setenv("MYBERT_HOME", "")
    monkeypatch.setenv("BERTLAB_CACHE", "")
    assert trained_weights.weights_path() == content / "pretraining_weights.safetensors"
    saving.keep_in_drive("BertLab", drive)
    folder = drive / "BertLab/07_pretraining"
    assert trained_weights.weights_path() == folder / "pretraining_weights.safetensors"
    sizes = pretraining_model.SIZES
    name = f"{sizes['num_layers']}x{sizes['hidden_size']}_4_steps"
    settings = dataclasses.replace(_settings(), model=sizes)
    assert training_run.run_folder(settings) == folder / "pretraining_run" / name
    assert default_corpus_dir() == drive / "BertLab/cache/corpus"


def test_in_a_course_on_ones_own_machine_they_are_beside_the_notebook(tmp_path, monkeypatch):
    monkeypatch.delenv("MYBERT_HOME", raising=False)
    beside = tmp_path / "ps7"  # nbgrader names the folder after the assignment
    beside.mkdir()
    (tmp_path / "mybert").mkdir()
    monkeypatch.chdir(beside)
    assert trained_weights.weights_path().parent == beside
    assert trained_weights.download_weights().startswith("✗ There is no file of weights yet")
    trained_weights.weights_path().write_bytes(b"numbers")
    assert trained_weights.download_weights() == f"The file is {beside / 'pretraining_weights.safetensors'}."


def test_a_longer_run_is_a_run_of_its_own_and_its_warm_up_and_evaluations_are_spread(monkeypatch):
    short, long = training_run.choose_settings(steps=320, seed=7), training_run.choose_settings(steps=1600, seed=7)
    assert training_run.run_folder(short) != training_run.run_folder(long)
    assert (long.warmup_steps, long.interval) == (5 * short.warmup_steps, 5 * short.interval)
    assert training_run.choose_settings(steps=3, interval=1, seed=7).interval == 1


@pytest.mark.parametrize("name, steps", [("Tesla T4", 1_500), ("NVIDIA A100-SXM4-40GB", 6_000), ("a new GPU", 1_500)])
def test_the_number_of_steps_is_that_of_the_gpu_or_of_a_run_begun_on_another(monkeypatch, tmp_path, name, steps):
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind])
    monkeypatch.setattr(training_run, "gpu_name", lambda: name)
    monkeypatch.setattr(training_run.home, "of_notebook", lambda notebook: tmp_path)
    fresh = training_run.choose_settings()
    assert fresh.steps == steps and fresh.warmup_steps == steps // 15
    assert training_run.choose_settings(steps=7).steps == 7
    for begun in (6_000, 1_500):  # the last saved one is continued
        state = training_run.run_folder(dataclasses.replace(fresh, steps=begun)) / "state.safetensors"
        state.parent.mkdir(parents=True)
        state.write_bytes(b"")
        os.utime(state, (0, 10_000 - begun))
        assert training_run.choose_settings().steps == begun


def test_each_home_has_a_seed_of_its_own_that_a_resumed_run_keeps(monkeypatch, tmp_path):
    """All runs had seed 7: on machines of one kind two honest students ended with nearly the same weights."""
    homes = [tmp_path / name for name in ("ada", "bob", "begun")]
    (homes[2] / "pretraining_run/2x128_1500_steps").mkdir(parents=True)
    (homes[2] / "pretraining_run/2x128_1500_steps/state.safetensors").write_bytes(b"")
    seeds = []
    for folder in (*homes, *homes):
        monkeypatch.setattr(training_run.home, "of_notebook", lambda notebook, folder=folder: folder)
        seeds.append(training_run.choose_settings(steps=9).seed)
    assert seeds[:3] == seeds[3:] and len(set(seeds)) == 3 and seeds[2] == 7
    assert training_run.choose_settings(seed=3).seed == 3
    (folder / "pretraining_run/seed.txt").write_text("seven")
    with pytest.raises(training_run.RunError, match="expected the seed of your run"):
        training_run.choose_settings()


# --- the time left ---


@pytest.fixture
def known_gpus(monkeypatch):
    """Times of a T4 and an A100 as they may be after the next change of the library; settings that they are for."""
    for gpu, milliseconds in (("T4", 54.0), ("A100", 11.5)):
        monkeypatch.setitem(time_left.KNOWN, gpu, dataclasses.replace(time_left.KNOWN[gpu], milliseconds=milliseconds))
    sizes = {"hidden_size": 256, "num_layers": 6}
    return training_run.choose_settings(seed=7, batch_size=256, length=128, steps=1_500, model=sizes)


def test_a_run_prints_beforehand_what_is_computed_for_a_known_gpu_only_for_the_settings_computed(known_gpus):
    told = time_left.beforehand
    assert told(known_gpus, "Tesla T4").startswith("Tesla T4: at least 1 min 21 s for 1,500 steps.")
    assert told(known_gpus, "Tesla T4", done=500).startswith("Tesla T4: at least 54 s for 1,000 steps.")
    assert told(known_gpus, "NVIDIA A100-SXM4-40GB").startswith("NVIDIA A100-SXM4-40GB: at least 17 s")
    unknown = "The time that the run takes is shown after 20 steps."
    assert told(known_gpus, "Quadro T400") == unknown == told(known_gpus, None)
    assert told(dataclasses.replace(known_gpus, length=64), "Tesla T4") == unknown


def test_the_time_left_counts_steps_and_the_evaluations_to_come_without_what_compiles(monkeypatch):
    now, said = [0.0], []
    monkeypatch.setattr(time_left.time, "monotonic", lambda: now[0])
    clock = time_left.TimeLeft(121, 50, say=said.append)
    for step in range(1, 122):
        now[0] += 60 if step == 1 else 2  # the first step compiles
        clock.after(step)
        if step % 50 == 0 or step == 121:
            clock.evaluation_begins()
            now[0] += 300 if step == 50 else 10  # so does the first evaluation
            clock.evaluation_ends()
    lines = dict(line.split(": ") for line in said)
    assert lines["step 21 of 121"] == "about 3 min 20 s left"  # no evaluation was measured yet
    assert lines["step 26 of 121"] == "about 3 min 10 s left"
    assert lines["step 101 of 121"] == "about 50 s left"  # 20 steps and one evaluation
    assert lines["step 121 of 121"] == "the last 120 steps took 9 min 10 s"
