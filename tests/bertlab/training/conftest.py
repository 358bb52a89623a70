"""The pre-trained model that several files here start from."""

import pytest
from finetuning_case import save_checkpoint


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A tiny model of two layers without dropout."""
    return save_checkpoint(tmp_path_factory.mktemp("pretrained"), num_layers=2)
