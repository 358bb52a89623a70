"""Shifted positions: where short rows are put, and that a resumed run puts them there again."""

import numpy as np

from bertlab.data.pretraining.collators import ShiftPositions
from bertlab.data.pretraining.datasets import batches_of


def batches(start=0, seed=1, number=40):
    data = {"input_ids": np.arange(64 * 4, dtype="int32").reshape(64, 4)}
    dataset = batches_of(data, 16, repeat=True, start_batch=start, collators=[ShiftPositions(10, seed)])
    return [batch["position_ids"].numpy() for batch in dataset.take(number)]


def test_each_row_keeps_its_order_and_fits_the_model():
    for positions in batches():
        assert positions.dtype == np.int32 and positions.shape == (16, 4)
        np.testing.assert_array_equal(np.diff(positions, axis=1), 1)
        assert positions.min() >= 0 and positions.max() <= 9


def test_every_offset_comes_up():
    offsets = np.concatenate([positions[:, 0] for positions in batches()])
    assert set(offsets) == set(range(7))  # 640 draws: a missing one of 7 has a chance of 7 · (6/7)^640 < 1e-41


def test_a_resumed_run_sees_the_same_positions_and_another_seed_others():
    whole = batches(number=8)
    for one, other in zip(batches(start=5, number=3), whole[5:], strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(batches(seed=2, number=1)[0], whole[0])


def test_the_offsets_of_a_seed_and_a_batch_never_change():
    rows = {"input_ids": np.zeros((6, 4), "int32")}
    offsets = [ShiftPositions(64, 12345)(rows, number)["position_ids"][:, 0].tolist() for number in (0, 7)]
    assert offsets == [[54, 10, 59, 41, 19, 51], [55, 32, 14, 0, 23, 43]]


def test_no_thread_of_tensorflows_is_put_behind_the_batches():
    data = {"input_ids": np.zeros((32, 4), "int32")}
    dataset = batches_of(data, 16, repeat=True, collators=[ShiftPositions(10, seed=0)])
    assert dataset.options().autotune.enabled is False
    optimization = dataset.options().experimental_optimization
    assert (optimization.inject_prefetch, optimization.map_parallelization) == (False, False)
