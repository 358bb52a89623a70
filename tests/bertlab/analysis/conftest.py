"""The small random model of most tests here, and its tokenizer."""

import pytest
from tiny_model import tiny_model, tiny_tokenizer

from bertlab import checkpoints


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer()


@pytest.fixture(scope="module")
def model():
    return tiny_model()


@pytest.fixture(scope="module")
def checkpoint(model, tokenizer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "tiny"
    checkpoints.save(model, folder, tokenizer)
    return folder
