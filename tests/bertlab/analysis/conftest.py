"""The small random model of most tests here, and its tokenizer."""

import pytest
from tiny_model import tiny_model, tiny_tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer()


@pytest.fixture(scope="module")
def model():
    return tiny_model()
