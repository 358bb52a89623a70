"""Our BERT against transformers' PyTorch BERT, through the stored arrays of tests/golden: neither is installed here.

The live comparison, on three backends and at full size, is tests/peers/test_parity.py.
"""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.parity.__main__ import relative_differences, tolerance
from benchmarks.parity.worker import results

GOLDEN = Path(__file__).parents[2] / "golden"
FOLDERS = sorted(path.parent for path in GOLDEN.glob("*/expected.npz"))


def test_the_golden_arrays_are_there():
    assert {folder.name for folder in FOLDERS} == {"gelu", "gelu_new", "relu"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_outputs_and_gradients_equal_those_of_transformers(folder):
    expected = dict(np.load(folder / "expected.npz"))

    differences = relative_differences(expected, results(folder, expected))

    assert {name.split("/")[0] for name in differences} == {"1", "5", "16"}
    assert sum("/gradient/" in name for name in differences) > 40  # every parameter of two layers and the heads
    too_far = {name: value for name, value in differences.items() if not value <= tolerance(name)}  # NaN is too far
    assert not too_far


def test_the_comparison_notices_a_small_error():
    expected = dict(np.load(FOLDERS[0] / "expected.npz"))
    found = expected | {
        name.replace("hidden_states", "fused_sequence_output"): array[-1]
        for name, array in expected.items()
        if name.endswith("/output/hidden_states")
    }
    assert set(relative_differences(expected, found).values()) == {0.0}
    name = "5/output/attentions"
    differences = relative_differences(expected, found | {name: expected[name] + 2e-5})
    assert [n for n, value in differences.items() if value > tolerance(n)] == [name]
