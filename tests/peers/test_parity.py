"""Our models against transformers' PyTorch ones (BERT, DistilBERT, RoBERTa), live, on TensorFlow, JAX and PyTorch.

Hidden states of every layer, attention weights, pooled output, both logits and the loss, on random weights of the
configurations in benchmarks/parity/cases.py: padding, one to three segments, every length from 1 to the maximum, and
12 × 768 at 512 tokens. Gradients of every parameter at the longest. The fused path is compared as well.
"""

import numpy as np
import pytest

from benchmarks.parity.__main__ import BACKENDS, relative_differences, tolerance, worker
from benchmarks.parity.cases import CASES

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The checkpoint and transformers' arrays of every case, by name."""
    workplace = tmp_path_factory.mktemp("parity")
    places = {name: workplace / name for name in CASES}
    worker("reference", *places.values())
    return places


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request, folders):
    """A backend that has written its arrays of every case."""
    worker("ours", *folders.values(), backend=request.param)
    yield request.param
    for folder in folders.values():
        (folder / f"{request.param}.npz").unlink()  # a gigabyte at full size


@pytest.mark.parametrize("name", CASES)
def test_outputs_and_gradients_equal_those_of_transformers(folders, backend, name):
    expected = np.load(folders[name] / "expected.npz")
    found = np.load(folders[name] / f"{backend}.npz")

    differences = relative_differences(expected, found)

    assert {int(key.split("/")[0]) for key in differences} == set(CASES[name].lengths)
    too_far = {key: value for key, value in differences.items() if not value <= tolerance(key)}  # NaN is too far
    assert not too_far


@pytest.mark.parametrize("name", CASES)
def test_the_fused_path_equals_the_explicit_one(folders, backend, name):
    found = np.load(folders[name] / f"{backend}.npz")
    for key in found:
        if key.endswith("/output/fused_sequence_output"):
            explicit = found[key.replace("fused_sequence_output", "hidden_states")][-1]
            np.testing.assert_allclose(found[key], explicit, rtol=0, atol=1e-5 * max(1, np.abs(explicit).max()))
