"""Notebook P: its steps agree with Keras, its features with the library, and its sentences with the recorded runs."""

import keras
import numpy as np
import pytest
from keras import ops
from notebook_loading import names_of_notebook, recorded_values  # noqa: F401 (a fixture)

from bertlab.training.baselines.texts import max_of_real, pair_features

NOTEBOOK = "P_before_transformers"


def test_the_steps_make_kerass_recurrent_layers(names):
    x = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")
    for name, made in (("rnn_step", keras.layers.SimpleRNN), ("lstm_step", keras.layers.LSTM)):
        layer = made(4, return_sequences=True)
        wanted = np.array(layer(x))
        states = (ops.zeros((2, 4)),) * (2 if name == "lstm_step" else 1)
        for place in range(5):
            states = names[name](x[:, place], *states, *layer.get_weights())
            states = states if isinstance(states, tuple) else (states,)
            assert np.allclose(states[0], wanted[:, place], atol=1e-6), name


def test_the_gradient_of_a_straight_reader_is_the_power_of_its_matrix(names):
    tokens, u = 8, np.array([[0.0, 1.2], [-1.2, 0.0]], "float32")  # a turn times 1.2
    x = ops.convert_to_tensor(1e-4 * np.ones((tokens, 2), "float32"))
    found = names["gradient_by_distance"](
        lambda x: names["last_state"](x, np.eye(2, dtype="float32"), u, np.zeros(2, "float32")), x
    )
    assert np.allclose(found, 2**0.5 * 1.2 ** np.arange(tokens), rtol=1e-4)


def test_the_pair_features_are_the_librarys(names):
    rng = np.random.default_rng(1)
    x, y = (rng.normal(size=(3, length, 4)).astype("float32") for length in (5, 6))
    x_real, y_real = (np.array([[1] * 2 + [0] * (length - 2)] * 3, "int32") for length in (5, 6))
    wanted = pair_features(max_of_real(x, x_real), max_of_real(y, y_real))
    found = names["pair_features"](*map(ops.convert_to_tensor, (x, x_real, y, y_real)))
    assert np.allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize(("n", "d", "k", "path"), [(125, 64, 5, 3), (126, 64, 5, 4), (512, 512, 3, 6)])
def test_the_costs_are_those_of_table_1(names, n, d, k, path):
    found = names["costs"](n, d, k)
    assert found == {
        "attention": (n * n * d, 1, 1), "recurrence": (n * d * d, n, n), "convolution": (k * n * d * d, 1, path),
    }  # fmt: skip


def _recorded(experiment: str) -> dict:
    return recorded_values("before_transformers", "reader", "question", value="value", experiment=experiment)


def test_the_recorded_runs_support_the_sentences_about_countries():
    recall = _recorded("recall")

    def reliable(reader):
        """Up to which distance every seed is right in 90 %."""
        found = 0
        for distance in (8, 16, 32, 64):
            if min(recall.get((reader, distance), [1])) < 0.9:
                return found
            found = distance
        return found

    assert 0 < reliable("lstm") < reliable("rnn") < reliable("lstm, bias 3") <= reliable("attention") == 64
    assert np.mean(recall["cbow", 16]) == pytest.approx(0.5, abs=0.04)  # knows both countries, not which came first
    assert max(recall["rnn, small U", 32] + recall["rnn, small U", 64]) < 0.2


def test_the_recorded_runs_support_the_table():
    order = {reader: values for (reader, _), values in _recorded("order").items()}
    assert order["bag"] == order["cbow"] == [0.5] * 3
    assert min(np.mean(order[reader]) for reader in ("rnn", "lstm", "attention")) > 0.95
    transfer = {key: np.mean(values) for key, values in _recorded("transfer").items()}
    assert transfer["bag", "who acts"] == 0.5
    assert transfer["bag", "scene"] > transfer["untrained", "scene"] > transfer["inference", "scene"]
    assert transfer["bag", "subject"] > max(transfer["untrained", "subject"], transfer["inference", "subject"])


def test_tags_at_layer_1_help_in_each_recorded_seed_and_the_layer_makes_no_clear_difference():
    tasks = {way: np.array(values) for (way, _), values in _recorded("tasks").items()}
    assert all(len(values) == 5 for values in tasks.values())
    assert (tasks["tags at layer 1"] > tasks["alone"]).all()
    difference = tasks["tags at layer 1"] - tasks["both at the top"]
    assert abs(difference.mean()) < difference.std(ddof=1)
