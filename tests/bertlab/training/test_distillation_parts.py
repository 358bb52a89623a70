"""Distillation: the losses beside NumPy, and the student: its layers' map, its size, where it starts."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from pretraining_case import CONFIG
from refusals import refused

from bertlab import families
from bertlab.checkpoints.kinds import variables_of
from bertlab.common.errors import BertLabError
from bertlab.config import BertConfig
from bertlab.models import Backbone, PreTrainingModel
from bertlab.training.distillation import objectives as losses
from bertlab.training.distillation.models import (
    Size,
    chosen_student,
    layer_map,
    same_parts,
    scores_of,
    start_from,
    start_layers,
    student_config,
)

RNG = np.random.default_rng(11)
TEACHER = CONFIG.replace(num_layers=4, hidden_size=16, num_heads=2)


def numbers(*shape, scale=2.0):
    return RNG.normal(0, scale, shape).astype("float32")


def softmax64(logits, temperature):
    powers = np.exp(logits.astype("float64") / temperature)
    return powers / powers.sum(-1, keepdims=True)


# === Losses ===


@pytest.mark.parametrize("temperature", [1.0, 2.0, 7.0])
def test_soft_targets_are_the_divergence_of_the_softened_probabilities_times_the_squared_temperature(temperature):
    student, teacher = numbers(3, 4, 9), numbers(3, 4, 9)
    p, q = softmax64(teacher, temperature), softmax64(student, temperature)
    expected = temperature**2 * (p * np.log(p / q)).sum(-1)
    found = ops.convert_to_numpy(losses.soft_target_losses(student, teacher, temperature))
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


def test_a_student_with_the_teachers_logits_has_lost_nothing():
    logits = numbers(5, 9)
    assert np.abs(ops.convert_to_numpy(losses.soft_target_losses(logits, logits + 3.0, 2.0))).max() < 1e-5


def test_the_gradient_of_soft_targets_keeps_its_size_when_the_temperature_grows():
    """The gradient for large t is (student − teacher) / C, of logits with mean 0 (Hinton et al. 2015, equation 4)."""
    student, teacher = numbers(1, 6), numbers(1, 6)
    student, teacher = student - student.mean(), teacher - teacher.mean()

    def gradient(temperature):
        logits = tf.Variable(student)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(losses.soft_target_losses(logits, teacher, temperature))
        return tape.gradient(loss, logits).numpy()

    limit = (student - teacher) / 6
    np.testing.assert_allclose(gradient(100.0), limit, rtol=0.1, atol=0.01)
    np.testing.assert_allclose(np.linalg.norm(gradient(100.0)), np.linalg.norm(gradient(50.0)), rtol=0.05)


def test_labels_by_themselves_are_softened_one_by_one():
    student, teacher = numbers(4, 3), numbers(4, 3)
    p, q = 1 / (1 + np.exp(-teacher / 2.0)), 1 / (1 + np.exp(-student / 2.0))
    expected = 4.0 * (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))
    np.testing.assert_allclose(ops.convert_to_numpy(losses.label_losses(student, teacher, 2.0)), expected, rtol=1e-4)


def test_the_same_direction_costs_nothing_for_any_length_and_the_opposite_two():
    vectors = numbers(4, 8)
    np.testing.assert_allclose(ops.convert_to_numpy(losses.direction_losses(3 * vectors, vectors)), 0, atol=1e-5)
    np.testing.assert_allclose(ops.convert_to_numpy(losses.direction_losses(-vectors, vectors)), 2, atol=1e-5)


def test_scores_are_compared_where_a_query_may_look_only():
    student, teacher = numbers(2, 3, 5, 5), numbers(2, 3, 5, 5)
    mask = np.ones((2, 1, 5), bool)
    mask[1, :, 3:] = False
    student[1, :, :, 3:] += 100.0  # padding
    squares = ((student - teacher) ** 2).mean(axis=1)
    expected = np.stack([squares[0].mean(-1), squares[1, :, :3].mean(-1)])
    found = ops.convert_to_numpy(losses.score_losses(student, teacher, ops.convert_to_tensor(mask)))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_student_chooses_as_its_teacher_where_both_have_the_same_highest_logit():
    student, teacher = numbers(50, 7), numbers(50, 7)
    expected = student.argmax(-1) == teacher.argmax(-1)
    np.testing.assert_array_equal(ops.convert_to_numpy(losses.same_choice(student, teacher)), expected)


# === The student ===


def test_each_layer_learns_from_the_end_of_its_block():
    assert layer_map(4, 12) == (0, 3, 6, 9, 12)
    assert layer_map(6, 12) == (0, 2, 4, 6, 8, 10, 12)
    assert layer_map(2, 4) == (0, 2, 4)


def test_a_student_of_half_the_layers_starts_from_every_second_one():
    assert start_layers(TEACHER.replace(num_layers=6), TEACHER.replace(num_layers=12)) == (0, 2, 4, 6, 8, 10)
    assert start_layers(TEACHER.replace(num_layers=2), TEACHER) == (0, 2)


def test_a_size_is_read_and_a_student_keeps_what_its_teacher_is_like():
    config = student_config(BertConfig.named("mini"), chosen_student("2x128"))
    assert (config.num_layers, config.hidden_size, config.num_heads, config.intermediate_size) == (2, 128, 4, 512)
    assert config.vocab_size == BertConfig.named("mini").vocab_size
    refused("expected LAYERSxWIDTH", chosen_student, "2by128", error=BertLabError)


@pytest.mark.parametrize(
    "size, heads, said",
    [
        (Size(6, 128), None, "at most 4 layers of width 256"),
        (Size(2, 512), None, "at most 4 layers of width 256"),
        (Size(2, 130), None, "cannot be divided among 4 heads, as many as the teacher has"),
        (Size(2, 128), 3, "cannot be divided among 3 heads"),
    ],
)
def test_a_student_that_cannot_be_is_refused(size, heads, said):
    refused(said, student_config, BertConfig.named("mini"), size, heads, error=BertLabError)


def test_a_student_as_wide_as_its_teacher_starts_from_its_layers():
    teacher = PreTrainingModel(TEACHER)
    config = student_config(TEACHER, Size(2, 16))
    assert same_parts(config, TEACHER) and not same_parts(student_config(TEACHER, Size(2, 8)), TEACHER)
    student = PreTrainingModel(config, next_sentence=False)
    start_from(student, teacher)
    theirs = variables_of(teacher)
    for path, variable in variables_of(student).items():
        source = theirs[path.replace("layer_1/", "layer_2/")]
        np.testing.assert_array_equal(*map(ops.convert_to_numpy, (variable, source)), err_msg=path)


@pytest.mark.parametrize("layers, size, fits", [(6, 3, True), (4, 1, True), (6, 2, False), (9, 3, False)])
def test_local_layers_do_not_start_from_global_ones(layers, size, fits):
    """Global are layers 0, 3, 6 …: layer 1 of 2 is local, and would start from layer 3 of 6."""
    teacher = families.family("modernbert").config(num_layers=layers, hidden_size=16, num_heads=2)
    assert same_parts(student_config(teacher, Size(size, 16)), teacher) == fits


def test_scores_are_computed_for_the_compared_layers_alone():
    backbone = Backbone(TEACHER)
    states = [numbers(2, 5, 16) for _ in range(TEACHER.num_layers)]
    every = scores_of(backbone, {"hidden_states": states}, (1, 2, 3, 4))
    some = scores_of(backbone, {"hidden_states": [None, states[1], None, states[3]]}, (2, 4))
    for one, other in zip(some, every[1::2], strict=True):
        np.testing.assert_array_equal(*map(ops.convert_to_numpy, (one, other)))
