"""A checkpoint that must not be accepted."""

import pytest
from checkpoint_files import GOLDEN, same_weights, weights

from bertlab.checkpoints import load, load_into, read_config
from bertlab.common.errors import CheckpointError
from bertlab.models import BertForPreTraining


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
