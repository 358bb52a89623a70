"""A checkpoint that a test may spoil, and what it means that it is not accepted."""

import pytest
from checkpoint_files import GOLDEN, golden_copy, same_weights, weights

from bertlab.checkpoints import load, load_into, read_config
from bertlab.common.errors import CheckpointError
from bertlab.models import BertForPreTraining


@pytest.fixture
def folder(tmp_path):
    return golden_copy("gelu", tmp_path / "checkpoint")


@pytest.fixture(scope="module")
def model():
    return BertForPreTraining(read_config(GOLDEN / "gelu"))


@pytest.fixture
def assert_refused(model):
    """Neither way of loading accepts the checkpoint, and a model that should have been filled keeps its weights."""

    def check(path, message, error=CheckpointError):
        before = weights(model)
        with pytest.raises(error, match=message):
            load(path)
        with pytest.raises(error, match=message):
            load_into(model, path)
        assert same_weights(before, weights(model))

    return check
