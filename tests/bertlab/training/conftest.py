"""The pre-trained model that several files here start from, and the check of a run that was killed."""

import pytest
from finetuning_case import save_checkpoint
from killing import Killed


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A tiny model of two layers without dropout."""
    return save_checkpoint(tmp_path_factory.mktemp("pretrained"), num_layers=2)


@pytest.fixture
def check_restart(tmp_path):
    """A function: a training that is killed and started again tells where it goes on, and ends with the same bytes."""

    def check(train, kill, told, file="model.safetensors"):
        said, whole = [], train(tmp_path / "whole")
        with pytest.raises(Killed):
            train(tmp_path / "parts", callbacks=[kill])
        again = train(tmp_path / "parts", say=said.append)
        assert told in said
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "parts" / file).read_bytes()
        return whole, again

    return check
