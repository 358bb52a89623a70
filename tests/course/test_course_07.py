"""Notebook 07: its worked numbers, and what its text states. Its run: tests/autograde/student/test_training_run.py."""

import logging
import re
import subprocess
import sys

import keras
import numpy as np
import pytest
from notebook_loading import names_of_notebook, text_of  # noqa: F401 (a fixture)

from autograde.boundary import call_answer
from autograde.exercises import catalogue, cells, notebooks, runs
from autograde.exercises.n07_pretraining import train_step
from autograde.exercises.planning import planner
from autograde.student import time_left
from bertlab.config import BertConfig
from bertlab.training.devices.utilisation import training_flops

NOTEBOOK = "07_pretraining"
TEXT = text_of(NOTEBOOK)


def test_the_lectures_loss_of_the_first_position_is_5_497(names):
    p = np.full((3, 6000), 1e-4, "float32")
    p[0, 21] = 0.0041
    loss = names["etraining_loss"](p, np.array([21, 4987, 5438]), np.array([0]))
    assert float(loss) == pytest.approx(5.497, abs=5e-4)
    assert float(loss) / np.log(2) == pytest.approx(7.930, abs=5e-4)  # what the hint says of base 2


def test_the_loss_of_a_model_that_knows_nothing_is_the_logarithm_of_its_choices(names):
    labels, weights = np.zeros((2, 3), "int32"), np.ones((2, 3), "float32")
    mlm_loss = names["mlm_loss"](np.zeros((2, 3, 4096), "float32"), labels, weights)
    nsp_loss = names["nsp_loss"](np.zeros((2, 2), "float32"), labels[:, 0])
    assert [float(mlm_loss), float(nsp_loss)] == pytest.approx([8.318, 0.693], abs=1e-3)


def test_berts_rate_is_at_its_peak_after_10_000_steps_and_0_after_a_million(names):
    steps = np.array([0, 9_999, 10_000, 505_000, 1_000_000], "float32")
    rates = names["learning_rate"](steps, 1e-4, 10_000, 1_000_000)
    assert np.allclose(rates, [1e-8, 1e-4, 1e-4, 0.5e-4, 0], rtol=1e-4)


def test_a_step_on_a_table_looked_up_twice_is_as_long_as_clipping_allows(names):
    """The gradient of a table comes as a list of rows, equal ones among them: its length is that of their sum."""
    model, batch = names["TinyModel"](**train_step.TINY), train_step.steep(np.random.default_rng(0))[0].arguments[0]
    model(*(batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")))
    for variable in model.trainable_variables:
        variable.assign(3 * np.random.default_rng(1).normal(size=variable.shape))
    before = [np.array(variable) for variable in model.trainable_variables]
    names["train_step"](model, keras.optimizers.SGD(1.0), batch)
    moved = sum(np.sum((np.array(now) - old) ** 2) for now, old in zip(model.trainable_variables, before))
    assert np.sqrt(moved) == pytest.approx(1, abs=1e-4)


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


def test_adamw_steps_are_those_of_keras(names):
    """Keras adds ε before the correction, which does not matter for gradients that are much larger than ε."""
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


def test_the_first_cell_quiets_the_backend_before_anything_loads_it():
    """Red text of TensorFlow was the first thing that the notebook showed."""
    first = next(cell for cell in notebooks.cells_of(NOTEBOOK) if cell.is_code)
    before, _, _ = first.source.partition("load_backend()\n")
    program = before + "\nimport sys\nprint('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_run_needs_the_exercises_from_the_loss_to_the_step_and_no_others():
    needed = re.search(r"^NEEDED = \((.*?)\)$", TEXT, re.MULTILINE)[1]
    numbers = [catalogue.find(name).number for name in re.findall(r'"([\w-]+)"', needed)]
    assert numbers == ["7.2", "7.3", "7.4", "7.5", "7.6", "7.7"]


def test_the_notebooks_points_are_those_of_its_exercises_and_its_run():
    points = sum(one.points for one in (*catalogue.of_notebook(NOTEBOOK), *runs.of_notebook(NOTEBOOK)))
    assert f"{points:g} points, the training run included" in TEXT


def test_the_text_has_the_times_and_operations_that_the_cell_computes_with():
    milliseconds = time_left.KNOWN["T4"].milliseconds
    times = rf"at least {int(1_500 * milliseconds / 1000)} seconds: {milliseconds:.0f} ms each, computed"
    assert times in TEXT and f"at least {int(20_000 * milliseconds / 60_000)} minutes on a T4" in TEXT
    small = {"hidden_size": 128, "num_layers": 2, "num_heads": 2, "intermediate_size": 512, "vocab_size": 4_096}
    large = {"hidden_size": 256, "num_layers": 6, "num_heads": 4, "intermediate_size": 1_024, "vocab_size": 4_096}
    (operations,) = re.findall(r"arithmetic \| (\S+)·10¹² operations \| (\S+)·10¹⁵ operations, or (\S+)·10¹⁵", TEXT)
    computed = [
        steps * training_flops(BertConfig(**sizes), rows, length, -(-15 * length // 100)) / unit
        for sizes, rows, length, steps, unit in (
            (small, 64, 32, 1_500, 1e12), (large, 256, 128, 1_500, 1e15), (large, 256, 128, 6_000, 1e15),
        )
    ]  # fmt: skip
    assert tuple(f"{value:.1f}" for value in computed) == operations
