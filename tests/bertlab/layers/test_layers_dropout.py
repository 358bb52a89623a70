"""Dropout's random numbers: what the hash promises, and that they behave as random ones."""

import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
from keras import ops

from bertlab.layers import Dropout
from bertlab.layers.dropout import random_bits

SIGMAS = 5.3  # a right implementation exceeds this with a probability of 1e-7 per comparison


def numpy_bits(size, key):
    """The same hash in unsigned arithmetic."""

    def mix(x, second=0):
        x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
        x = (x ^ (x >> np.uint32(15)) ^ np.uint32(second)) * np.uint32(0x846CA68B)
        return x ^ (x >> np.uint32(16))

    golden = np.uint32(0x9E3779B9)
    seed, counter = (np.array([part], np.uint32) for part in key)
    first = mix(seed + counter * golden)
    second = mix(first + counter)
    return mix(np.arange(size, dtype=np.uint32) * golden + first, second).view(np.int32)


@pytest.mark.parametrize("key", [(0, 0), (1, 0), (123456789, 41), (2**31 - 1, 2**30)])
def test_the_numbers_are_those_of_the_hash_in_unsigned_arithmetic(key):
    found = ops.convert_to_numpy(random_bits((7, 300), np.array(key, "uint32")))
    np.testing.assert_array_equal(found, numpy_bits(2100, key).reshape(7, 300))


def kept(rate=0.1, shape=(64, 1024), seed=3, calls=1):
    """Which places a layer keeps in each of its calls: (calls, *shape) bool."""
    layer = Dropout(rate, seed=seed)
    ones = np.ones(shape, "float32")
    return np.stack([ops.convert_to_numpy(layer(ones, training=True)) > 0 for _ in range(calls)])


def agreement(one, other, rate):
    """The difference of the fraction dropped in both from that of independent draws, in standard deviations."""
    both = np.logical_and(~one, ~other)
    chance = rate**2
    return abs(both.mean() - chance) / np.sqrt(chance * (1 - chance) / both.size)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_share_that_is_dropped_is_the_rate(rate):
    places = kept(rate)
    deviation = np.sqrt(rate * (1 - rate) / places.size)
    assert abs((~places).mean() - rate) < SIGMAS * deviation
    for axis in (1, 2):  # and no row or column is favoured
        share = (~places).mean(axis=axis)
        size = places.shape[axis]
        assert np.abs(share - rate).max() < SIGMAS * np.sqrt(rate * (1 - rate) / size)


@pytest.mark.parametrize("lag", [1, 2, 3, 8, 64, 1024])
def test_neighbours_are_dropped_independently(lag):
    places = kept().ravel()
    assert agreement(places[:-lag], places[lag:], 0.1) < SIGMAS


def test_one_call_tells_nothing_about_the_next_nor_one_layer_about_another():
    calls = kept(calls=6)
    others = [kept(seed=seed)[0] for seed in (4, 5, 2**30)]
    for i, one in enumerate([*calls, *others]):
        for other in [*calls, *others][:i]:
            assert agreement(one, other, 0.1) < SIGMAS


def test_the_rest_is_scaled_so_that_the_expectation_stays():
    x = np.full((2, 3, 500), 2.0, "float32")
    y = ops.convert_to_numpy(Dropout(0.2, seed=1)(x, training=True))
    assert set(np.unique(y)) == {np.float32(0), np.float32(2.5)}


def test_outside_training_and_at_rate_zero_nothing_happens():
    x = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(Dropout(0.5)(x), x)
    np.testing.assert_array_equal(Dropout(0.0)(x, training=True), x)


def test_the_same_seed_gives_the_same_run_of_masks():
    np.testing.assert_array_equal(kept(seed=9, calls=3), kept(seed=9, calls=3))


def test_the_gradient_flows_through_what_was_kept():
    keras.utils.set_random_seed(0)
    dense = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    dropout = Dropout(0.5, seed=2)
    model = keras.Sequential([keras.Input((50,)), dropout, dense])
    model.compile(keras.optimizers.SGD(1.0), loss=lambda y, y_pred: ops.sum(y_pred))
    model.fit(np.ones((1, 50)), np.zeros((1, 1)), batch_size=1, verbose=0)
    change = 1 - np.array(dense.kernel)[:, 0]
    assert set(change) == {0.0, 2.0}  # 1 / (1 − rate) where a place was kept


def test_half_precision_stays_half_precision():
    layer = Dropout(0.1, dtype="bfloat16")
    assert keras.backend.standardize_dtype(layer(ops.ones((2, 3), "bfloat16"), training=True).dtype) == "bfloat16"


TWO_DEVICES = """
import numpy as np, tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
from bertlab.layers import Dropout
with strategy.scope():
    layer = Dropout(0.5, seed=3)
    layer.build((64, 256))

@tf.function
def step():
    return strategy.run(lambda: layer(tf.ones((64, 256)), training=True))

calls = [[value.numpy() > 0 for value in step().values] for _ in range(2)]
np.save("masks.npy", np.array(calls))
"""


@pytest.mark.slow
@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="only TensorFlow copies the layer's seed")
def test_devices_that_share_a_step_drop_different_places(tmp_path):
    root = str(Path(__file__).parents[3])
    subprocess.run([sys.executable, "-c", TWO_DEVICES], cwd=tmp_path, check=True, env=os.environ | {"PYTHONPATH": root})
    masks = np.load(tmp_path / "masks.npy").reshape(4, 64, 256)  # two calls on each of two devices
    for one in range(4):
        for other in range(one):
            assert agreement(masks[one], masks[other], 0.5) < SIGMAS
    assert np.array_equal(masks[0], kept(0.5, (64, 256))[0])  # the first device is as if it were alone
