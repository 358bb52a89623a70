"""Notebook 07: its worked numbers, the run that resumes where it stopped, and the file of weights that is handed in."""

import dataclasses
import json
import logging
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from autograde.boundary import call_answer
from autograde.boundary.roles import model_roles
from autograde.boundary.weights_file import PRETRAINING, read_weights
from autograde.exercises import catalogue, cells, notebooks, runs
from autograde.exercises.n07_pretraining import pretraining_model, train_step
from autograde.exercises.planning import planner
from autograde.student import saving, time_left, trained_weights, training_run
from bertlab.config import BertConfig
from bertlab.data.corpus.build import default_corpus_dir
from bertlab.training.devices.utilisation import training_flops

@pytest.fixture(scope="module")
def names():
    """The names that a student has after the last answer of the notebook."""
    return cells.namespace(catalogue.of_notebook("07_pretraining")[-1])


# --- worked numbers ---


def test_the_lectures_loss_of_the_first_position_is_5_497(names):
    p = np.full((3, 6000), 1e-4, "float32")
    p[0, 21] = 0.0041
    loss = names["etraining_loss"](p, np.array([21, 4987, 5438]), np.array([0]))
    assert float(loss) == pytest.approx(5.497, abs=5e-4)
    assert float(loss) / np.log(2) == pytest.approx(7.930, abs=5e-4)  # what the hint says of base 2


def test_the_loss_of_a_model_that_knows_nothing_is_the_logarithm_of_its_choices(names):
    labels, weights = np.zeros((2, 3), "int32"), np.ones((2, 3), "float32")
    assert float(names["mlm_loss"](np.zeros((2, 3, 4096), "float32"), labels, weights)) == pytest.approx(
        8.318, abs=1e-3
    )
    assert float(names["nsp_loss"](np.zeros((2, 2), "float32"), labels[:, 0])) == pytest.approx(0.693, abs=1e-3)


def test_berts_rate_is_at_its_peak_after_10_000_steps_and_0_after_a_million(names):
    steps = np.array([0, 9_999, 10_000, 505_000, 1_000_000], "float32")
    rates = names["learning_rate"](steps, 1e-4, 10_000, 1_000_000)
    assert np.allclose(rates, [1e-8, 1e-4, 1e-4, 0.5e-4, 0], rtol=1e-4)


def test_a_step_on_a_table_looked_up_twice_is_as_long_as_clipping_allows(names):
    """The gradient of a table comes as a list of rows, equal ones among them: its length is that of their sum."""
    import keras

    model, batch = names["TinyModel"](**train_step.TINY), train_step.steep(np.random.default_rng(0))[0].arguments[0]
    model(*(batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")))
    for variable in model.trainable_variables:
        variable.assign(3 * np.random.default_rng(1).normal(size=variable.shape))
    before = [np.array(variable) for variable in model.trainable_variables]
    names["train_step"](model, keras.optimizers.SGD(1.0), batch)
    moved = sum(np.sum((np.array(now) - old) ** 2) for now, old in zip(model.trainable_variables, before))
    assert np.sqrt(moved) == pytest.approx(1, abs=1e-4)


# --- the run ---


def _settings(**changes):
    plain = training_run.RunSettings("python", 16, 4, steps=4, warmup_steps=1, peak=1e-3, interval=2, compiled=False)
    return dataclasses.replace(plain, model=train_step.TINY, **changes)


def _run(folder, names, settings):
    import keras

    model = names["TinyModel"](**settings.model)
    batch = train_step.steep(np.random.default_rng(0))[0].arguments[0]
    model(*(batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")))
    optimizer = keras.optimizers.Adam(settings.peak)
    optimizer.build(model.trainable_variables)
    return training_run.Run(folder, settings, model, optimizer, say=lambda line: None), batch


@pytest.mark.slow
def test_checking_a_step_logs_no_warning_of_tensorflow():
    exercise, logger, logged = catalogue.find("train-step"), logging.getLogger("tensorflow"), []
    handler = logging.Handler()
    handler.emit = logged.append
    level = logger.level
    logger.addHandler(handler)
    try:
        questions = planner.make_plan(exercise, misconceptions=False)["questions"]
        compiled = [question for question in questions if question["keywords"].get("compiled")]
        assert all(one["status"] == "ok" for one in call_answer.answer(6 * compiled, cells.namespace(exercise)))
    finally:
        logger.removeHandler(handler)
    assert compiled and logged == [] and logger.level == level


def test_a_run_that_was_cut_off_resumes_and_ends_with_the_very_weights(tmp_path, names):
    whole, batch = _run(tmp_path / "whole", names, _settings())
    first, _ = _run(tmp_path / "cut", names, _settings())
    for one, theirs in zip(whole.model.weights, first.model.weights):
        theirs.assign(one)
    for step in whole.steps():
        whole.record(step, names["train_step"](whole.model, whole.optimizer, batch), {"loss": 1.0})
    for step in first.steps():
        first.record(step, names["train_step"](first.model, first.optimizer, batch), {"loss": 1.0})
        if step == 1:
            break
    second, _ = _run(tmp_path / "cut", names, _settings())
    assert [row["step"] for row in second.history] == [1, 2]
    for step in second.steps():
        second.record(step, names["train_step"](second.model, second.optimizer, batch), {"loss": 1.0})
    assert second.history == whole.history
    for one, other in zip(whole.model.weights, second.model.weights):
        assert np.array_equal(one, other)


def test_an_interrupt_ends_a_run_after_its_step_and_it_resumes_there(tmp_path, names):
    run, _ = _run(tmp_path, names, _settings())
    said, usual = [], signal.getsignal(signal.SIGINT)
    run._say = said.append
    for step in run.steps():
        if step == 2:
            signal.raise_signal(signal.SIGINT)
    assert said == ["Stopped after step 3 and saved. Run this cell again to go on."]
    assert signal.getsignal(signal.SIGINT) is usual
    assert list(_run(tmp_path, names, _settings())[0].steps()) == [3]


def test_a_second_interrupt_stops_at_once(tmp_path, names):
    run, _ = _run(tmp_path, names, _settings())
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # as in a notebook, not as an earlier test left it
    try:
        with pytest.raises(KeyboardInterrupt):
            for _ in run.steps():
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_run_is_judged_more_often_where_the_loss_falls_fastest(tmp_path, names):
    run, _ = _run(tmp_path, names, _settings(steps=400, interval=100))
    judged = [step + 1 for step in range(400) if run.is_time_to_judge(step)]
    assert judged == [6, 12, 25, 50, 100, 200, 300, 400]


def test_the_first_cell_quiets_the_backend_before_anything_loads_it():
    """Red text of TensorFlow was the first thing that the notebook showed."""
    first = next(cell for cell in notebooks.cells_of("07_pretraining") if cell.is_code)
    before, _, _ = first.source.partition("load_backend()\n")
    program = before + "\nimport sys\nprint('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_folder_with_a_run_of_other_settings_is_refused(tmp_path, names):
    run, _ = _run(tmp_path, names, _settings())
    run.record(0, 1.0, {"loss": 1.0})
    with pytest.raises(training_run.RunError, match="other settings .seed was 7, is 8."):
        _run(tmp_path, names, _settings(seed=8))


def test_a_kill_while_a_run_is_saved_leaves_the_state_before(tmp_path, names, monkeypatch):
    import safetensors.numpy

    run, _ = _run(tmp_path, names, _settings())
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
    resumed, _ = _run(tmp_path, names, _settings())
    assert resumed.done == 2 and [row["step"] for row in resumed.history] == [2]
    assert all(np.array_equal(one, other) for one, other in zip(resumed.model.weights, saved))


def test_the_run_is_not_started_before_its_checks_have_passed_and_one_line_names_them(tmp_path, monkeypatch, capsys):
    from autograde.student import progress_file

    monkeypatch.chdir(tmp_path)
    progress_file.record("mlm-loss", "passed", 4, "")
    monkeypatch.setattr(progress_file, "load", lambda: {"mlm-loss": {"status": "passed"}})
    assert training_run.ready("mlm-loss")
    assert not training_run.ready("mlm-loss", "train-step")
    assert capsys.readouterr().out == "The run did not start: pass 7.7 train_step first.\n"


def test_a_run_takes_what_has_passed_from_the_notebook_and_the_rest_from_the_course_and_names_it(monkeypatch, capsys):
    from autograde.student import progress_file
    from autograde.student.stand_ins import pretraining

    monkeypatch.setattr(progress_file, "load", lambda: {"perplexity": {"status": "passed"}})
    notebook = {"perplexity": lambda losses, counts: "mine", "learning_rate": lambda *arguments: "a stub"}
    parts = training_run.passed_or_borrowed(notebook, "perplexity", "learning-rate")
    assert parts.perplexity is notebook["perplexity"] and parts.learning_rate is pretraining.learning_rate
    assert capsys.readouterr().out == "The run borrows what you have not passed from the course: 7.8 learning_rate.\n"
    assert training_run.passed_or_borrowed({}, "perplexity").perplexity is pretraining.perplexity


def test_the_run_needs_the_exercises_from_the_loss_to_the_step_and_no_others():
    text = (notebooks.SOLUTIONS / "07_pretraining.py").read_text(encoding="utf-8")
    needed = re.search(r"^NEEDED = \((.*?)\)$", text, re.MULTILINE)[1]
    numbers = [catalogue.find(name).number for name in re.findall(r'"([\w-]+)"', needed)]
    assert numbers == ["7.2", "7.3", "7.4", "7.5", "7.6", "7.7"]


# --- the optimizer and the accounts ---


def test_adamw_steps_are_those_of_keras(names):
    """Keras adds ε before the correction, which does not matter for gradients that are much larger than ε."""
    import keras

    rng = np.random.default_rng(3)
    weight = keras.Variable(rng.normal(size=(3, 4)).astype("float32"))
    own, m, v = np.array(weight), np.zeros((3, 4), "float32"), np.zeros((3, 4), "float32")
    optimizer = keras.optimizers.AdamW(0.01, weight_decay=0.01, epsilon=1e-6)
    optimizer.build([weight])
    for step in range(1, 21):
        gradient = rng.normal(size=(3, 4)).astype("float32")
        optimizer.apply([keras.ops.convert_to_tensor(gradient)], [weight])
        own, m, v = names["adamw_step"](*map(keras.ops.convert_to_tensor, (own, gradient, m, v)), step, 0.01)
    assert np.allclose(own, weight, atol=1e-4)


def test_bert_read_its_text_at_most_13_times(names):
    tokens, flops = names["tokens_and_flops"]([(900_000, 128), (100_000, 512)], 256, 12, 768)
    assert tokens == 42_598_400_000 and round(tokens / 3.3e9) == 13 and round(256 * 512 * 1_000_000 / 3.3e9) == 40
    assert 2.2e19 < flops < 2.5e19


def test_the_operations_are_those_that_the_library_counts_for_an_encoder(names):
    sizes = dict(hidden_size=256, num_layers=3, num_heads=4, intermediate_size=1_024)
    _, flops = names["tokens_and_flops"]([(1, 128)], 8, 3, 256)
    assert flops == training_flops(BertConfig(vocab_size=50, **sizes), 8, 128, None)


def test_attention_is_a_tenth_of_the_operations_of_base_at_512_and_half_at_six_times_the_width(names):
    count = names["tokens_and_flops"]
    for length, share in ((512, 0.1), (4608, 0.5)):
        matrices = 72 * 12 * 768**2 * length
        assert 1 - matrices / count([(1, length)], 1, 12, 768)[1] == pytest.approx(share)


def test_the_short_runs_floor_is_that_of_the_best_reader():
    from autograde.student import small_world_run
    from bertlab.data import small_world

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


# --- the file of weights ---


def _small_run(folder, names, steps=4):
    """A run of the solution's model, new."""
    import keras

    model = names["PreTrainingModel"](**pretraining_model.SIZES)
    model(*pretraining_model.inputs_of_model(np.random.default_rng(0))[0].cases[0].arguments)
    settings = dataclasses.replace(_settings(), model=pretraining_model.SIZES, steps=steps)
    training_run.initialise(model, settings)
    optimizer = keras.optimizers.Adam(settings.peak)
    optimizer.build(model.trainable_variables)
    return training_run.Run(folder, settings, model, optimizer, say=lambda line: None)


def _trained_for(run, steps, change=0.01):
    """Replaces the notebook's loop: after so many steps every weight has changed."""
    for step in run.steps():
        for variable in run.own_model.trainable_variables:
            variable.assign(variable + change)
        run.record(step, 1.0, {"loss": 6.4})
        if step + 2 > steps:
            run.done = step + 1
            break
    return run


def test_the_weights_of_the_students_model_are_written_by_role_and_read_back(tmp_path, names):
    run = _trained_for(_small_run(tmp_path / "run", names), 4)
    said = trained_weights.hand_in(run, tmp_path / "w.safetensors")
    assert "trained for 4 of 4 steps on 'python', held-out loss 6.40 after step 4.\nHand it in" in said
    weights = read_weights(tmp_path / "w.safetensors")
    assert np.array_equal(weights.arrays["embeddings/token"], run.own_model.bert.embeddings.token.embeddings)
    assert np.array_equal(weights.arrays["mlm/bias"], run.own_model.mlm_head.bias)
    assert set(weights.arrays) == set(model_roles(pretraining_model.SIZES["num_layers"]))
    assert "trained for 4 of 4 steps" in trained_weights.check_weights(tmp_path / "w.safetensors")


def test_after_a_crash_the_file_shows_how_far_the_run_came(tmp_path, names):
    run = _trained_for(_small_run(tmp_path / "run", names), 2)
    said = trained_weights.hand_in(run, tmp_path / "w.safetensors")
    assert "trained for 2 of 4 steps on 'python' (not finished), held-out loss 6.40 after step 2" in said


def test_weights_that_no_step_has_trained_are_not_written(tmp_path, names):
    """A run that crashed at its first step, and one whose step never changes a weight."""
    path = tmp_path / "w.safetensors"
    run = _small_run(tmp_path / "run", names)
    assert trained_weights.hand_in(run, path).startswith("✗ Nothing was written: the run has made no step")
    _trained_for(run, 4, change=0.0)
    assert "after 4 steps these are the weights of an untrained model" in trained_weights.hand_in(run, path)
    _trained_for(_small_run(tmp_path / "other", names), 4, change=np.nan)
    assert not path.exists()


def test_weights_with_nan_are_not_written_and_an_earlier_file_stays_and_is_named(tmp_path, names):
    path = tmp_path / "w.safetensors"
    trained_weights.hand_in(_trained_for(_small_run(tmp_path / "run", names), 4), path)
    before = path.read_bytes()
    said = trained_weights.hand_in(_trained_for(_small_run(tmp_path / "other", names), 4, change=np.nan), path)
    assert "NaN or infinity" in said and "The file of an earlier run is still there: ✗" not in said
    assert path.read_bytes() == before


def test_a_file_with_untrained_weights_is_no_hand_in(tmp_path, names):
    from safetensors.numpy import save_file

    run = _small_run(tmp_path / "run", names)
    weights = trained_weights._weights_of(run, PRETRAINING)
    save_file(weights.arrays, tmp_path / "w.safetensors", metadata={"config": json.dumps(weights.config)})
    assert trained_weights.check_weights(tmp_path / "w.safetensors").startswith(
        "✗ w.safetensors: these are the weights"
    )


# --- where it lies ---


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


def test_a_damaged_state_is_explained(tmp_path, names):
    (tmp_path / "state.safetensors").write_bytes(b"half of it")
    with pytest.raises(training_run.RunError, match="delete it to begin again"):
        _run(tmp_path, names, _settings())


def test_the_notebooks_points_are_those_of_its_exercises_and_its_run():
    text = (notebooks.SOLUTIONS / "07_pretraining.py").read_text(encoding="utf-8")
    points = sum(one.points for one in (*catalogue.of_notebook("07_pretraining"), *runs.of_notebook("07_pretraining")))
    assert f"{points:g} points, the training run included" in text


def test_the_text_has_the_times_and_operations_that_the_cell_computes_with():
    text = (notebooks.SOLUTIONS / "07_pretraining.py").read_text(encoding="utf-8")
    milliseconds = time_left.KNOWN["T4"].milliseconds
    times = rf"at least {int(1_500 * milliseconds / 1000)} seconds: {milliseconds:.0f} ms each, computed"
    assert times in text and f"at least {int(20_000 * milliseconds / 60_000)} minutes on a T4" in text
    small = {"hidden_size": 128, "num_layers": 2, "num_heads": 2, "intermediate_size": 512, "vocab_size": 4_096}
    large = {"hidden_size": 256, "num_layers": 6, "num_heads": 4, "intermediate_size": 1_024, "vocab_size": 4_096}
    (operations,) = re.findall(r"arithmetic \| (\S+)·10¹² operations \| (\S+)·10¹⁵ operations, or (\S+)·10¹⁵", text)
    computed = [
        steps * training_flops(BertConfig(**sizes), rows, length, -(-15 * length // 100)) / unit
        for sizes, rows, length, steps, unit in (
            (small, 64, 32, 1_500, 1e12), (large, 256, 128, 1_500, 1e15), (large, 256, 128, 6_000, 1e15),
        )
    ]  # fmt: skip
    assert tuple(f"{value:.1f}" for value in computed) == operations


def test_a_run_prints_beforehand_what_is_computed_for_a_known_gpu_only_for_the_settings_computed(monkeypatch):
    _compute_known_gpus_again(monkeypatch)
    settings = dataclasses.replace(
        training_run.choose_settings(seed=7),
        batch_size=256,
        length=128,
        steps=1_500,
        model={"hidden_size": 256, "num_layers": 6},
    )
    assert time_left.beforehand(settings, "Tesla T4").startswith("Tesla T4: at least 1 min 21 s for 1,500 steps.")
    assert time_left.beforehand(settings, "NVIDIA A100-SXM4-40GB").startswith("NVIDIA A100-SXM4-40GB: at least 17 s")
    unknown = "The time that the run takes is shown after 20 steps."
    assert time_left.beforehand(settings, "Quadro T400") == unknown == time_left.beforehand(settings, None)
    assert time_left.beforehand(dataclasses.replace(settings, length=64), "Tesla T4") == unknown


@pytest.mark.parametrize("name, steps", [("Tesla T4", 1_500), ("NVIDIA A100-SXM4-40GB", 6_000), ("a new GPU", 1_500)])
def test_the_number_of_steps_is_that_of_the_gpu_or_of_a_run_begun_on_another(monkeypatch, tmp_path, name, steps):
    import tensorflow as tf

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


def _compute_known_gpus_again(monkeypatch):
    """Times of a T4 and an A100 as they may be after the next change of the library."""
    for gpu, milliseconds in (("T4", 54.0), ("A100", 11.5)):
        monkeypatch.setitem(time_left.KNOWN, gpu, dataclasses.replace(time_left.KNOWN[gpu], milliseconds=milliseconds))


def test_a_run_that_resumes_prints_the_time_of_its_remaining_steps(monkeypatch):
    _compute_known_gpus_again(monkeypatch)
    sizes = {"hidden_size": 256, "num_layers": 6}
    settings = training_run.choose_settings(seed=7, batch_size=256, length=128, steps=1_500, model=sizes)
    assert time_left.beforehand(settings, "Tesla T4", done=500).startswith("Tesla T4: at least 54 s for 1,000 steps.")


def test_the_short_run_trains_the_encoders_matrices_with_muon_in_a_second_model_too(names):
    """Keras numbers the names of later models, encoder_1: at first all of its weights were trained with AdamW."""
    import keras

    from autograde.student import small_world_run

    one = keras.ops.ones((2, 3), "int32")
    for _ in range(2):
        model = names["PreTrainingModel"](**small_world_run.MODEL)
        model(one, one, one, one[:, :1])
        optimizer = small_world_run.optimizer_for(model)
        by_muon = [v.path for v in model.trainable_variables if not optimizer._should_use_adamw(v)]
        assert len(by_muon) == 2 * 6 and all("/layer_" in path for path in by_muon)
