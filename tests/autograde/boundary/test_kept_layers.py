"""Layers of the course's own programs, built once for many questions: they answer as new ones do."""

import functools

import numpy as np
import pytest

from autograde.boundary import call_answer
from autograde.boundary.values import encode
from autograde.exercises import kept_layers

SCALE = {"kind": "layer", "name": "Scale", "config": {}, "roles": {"gamma": ["gamma"]}}


class Counted:
    """A layer of the course's own that counts how often it is built and called."""

    made = calls = 0

    def __new__(cls, **config):
        import keras

        class Scale(keras.layers.Layer):
            def build(self, x_shape):
                self.gamma = self.add_weight(shape=(x_shape[-1],), name="gamma")

            def call(self, x):
                Counted.calls += 1
                return x * self.gamma

        Counted.made += 1
        return Scale(**config)


def _question(asked, shape, gamma):
    weights = {"gamma": np.full(3, gamma, "float32")}
    return {"probe": asked, "arguments": [np.full(shape, 2, "float32")], "keywords": {}, "weights": weights}


def test_a_kept_layer_is_built_once_for_calls_of_one_shape_and_answers_as_a_new_one_does():
    asked = [_question(SCALE, shape, gamma) for shape, gamma in (((2, 3), 1), ((2, 3), 5), ((4, 3), 7))]
    fresh = call_answer.answer(asked, {"Scale": Counted})
    Counted.made = Counted.calls = 0
    kept = kept_layers.answers(asked, {"Scale": Counted})
    assert encode([one["value"] for one in kept]) == encode([one["value"] for one in fresh])
    assert (Counted.made, Counted.calls) == (2, 8)  # each layer called once to build it, and twice for each question


def test_training_and_counting_weights_need_no_layer_of_their_own():
    asked = [_question(SCALE, (2, 3), gamma) | {"keywords": more} for gamma, more in ((1, {}), (2, {"training": True}))]
    counted = _question({"kind": "trainable", "of": SCALE}, (2, 3), 1)
    del counted["weights"]
    fresh = call_answer.answer([*asked, counted], {"Scale": Counted})
    Counted.made = 0
    kept = kept_layers.answers([*asked, counted], {"Scale": Counted})
    assert encode([one["value"] for one in kept]) == encode([one["value"] for one in fresh])
    assert Counted.made == 1


def test_a_question_is_asked_when_its_answer_is_wanted():
    asked = [_question(SCALE, (2, 3), gamma) for gamma in (1, 5)]
    Counted.calls = 0
    given = kept_layers.each_answer(asked, {"Scale": Counted})
    assert Counted.calls == 0
    assert next(given)["status"] == "ok" and Counted.calls == 3
    assert next(given)["status"] == "ok" and Counted.calls == 5


def test_questions_about_initial_weights_get_a_new_layer():
    made = _question({"kind": "made", "of": SCALE, "values": True}, (2, 3), 9) | {"seed": 1}
    asked = [_question(SCALE, (2, 3), 9), made]
    *_, kept = kept_layers.answers(asked, {"Scale": Counted})
    assert encode(kept["value"]) == encode(call_answer.answer(asked[1:], {"Scale": Counted})[0]["value"])


def test_what_was_drawn_before_does_not_change_the_answers_of_a_kept_layer():
    import keras

    dropout = {"kind": "layer", "name": "Dropped", "config": {"rate": 0.5}, "roles": {}}
    question = {"probe": dropout, "arguments": [np.ones((4, 8), "float32")], "keywords": {}, "weights": {}}
    asked = [question, question | {"keywords": {"training": True}, "seed": 3}]
    answers = []
    for seed in (1, 2):
        keras.utils.set_random_seed(seed)
        answers.append([one["value"] for one in kept_layers.answers(asked, {"Dropped": keras.layers.Dropout})])
    assert encode(answers[0]) == encode(answers[1])


DRAWING = {"kind": "function", "name": "draw"}


def _drawn(seed=None):
    """Two numbers of one kernel that counts what it has drawn, and one of Keras, which counts by itself."""
    import keras
    import tensorflow as tf

    counting = [tf.random.uniform((), seed=seed) for _ in range(2)]
    return tf.stack([*counting, keras.random.uniform(())])


@pytest.mark.parametrize("seed", [None, 5])
def test_a_seed_acts_on_kernels_that_count_what_they_have_drawn(seed):
    asked = [{"probe": DRAWING, "arguments": [], "keywords": {}, "seed": one} for one in (1, 2, 1, 1)]
    namespace = {"draw": functools.partial(_drawn, seed)}
    kept = [one["value"] for one in kept_layers.answers(asked, namespace)]
    assert encode(kept) == encode([one["value"] for one in call_answer.answer(asked, namespace)])
    assert encode(kept[0]) == encode(kept[2]) == encode(kept[3]) and encode(kept[0]) != encode(kept[1])


def test_seeds_empty_the_cache_of_kernels_once_where_no_kernel_counts(monkeypatch):
    import keras
    from tensorflow.python.eager.context import Context

    emptied, plainly = [], Context._set_global_seed
    monkeypatch.setattr(Context, "_set_global_seed", lambda own, seed: emptied.append(seed) or plainly(own, seed))
    asked = [{"probe": DRAWING, "arguments": [], "keywords": {}, "seed": one} for one in (1, 2, 1)]
    kept_layers.answers(asked, {"draw": lambda: keras.random.uniform(())})
    assert len(emptied) == 1
    kept_layers.answers(asked, {"draw": _drawn})
    assert len(emptied) == 4  # at the start, and after each question that drew
