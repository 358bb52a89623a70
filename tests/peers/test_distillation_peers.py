"""Losses of distillation beside PyTorch's own."""

import numpy as np
import pytest
from keras import ops

from bertlab.training.distillation import objectives as losses

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peers
RNG = np.random.default_rng(3)


def numbers(*shape):
    return RNG.normal(0, 2, shape).astype("float32")


@pytest.mark.parametrize("temperature", [1.0, 2.0, 5.0])
def test_soft_targets_equal_the_published_formula(temperature):
    """KLDivLoss with batchmean on softened probabilities, times t squared, as in distiller.py of DistilBERT."""
    student, teacher = numbers(40, 11), numbers(40, 11)
    logs = torch.log_softmax(torch.tensor(student) / temperature, dim=-1)
    probabilities = torch.softmax(torch.tensor(teacher) / temperature, dim=-1)
    expected = torch.nn.KLDivLoss(reduction="batchmean")(logs, probabilities) * temperature**2
    found = ops.convert_to_numpy(losses.soft_target_losses(student, teacher, temperature)).mean()
    assert found == pytest.approx(float(expected), rel=1e-5)


def test_directions_equal_the_cosine_embedding_loss():
    student, teacher = numbers(40, 16), numbers(40, 16)
    expected = torch.nn.CosineEmbeddingLoss()(torch.tensor(student), torch.tensor(teacher), torch.ones(40))
    assert ops.convert_to_numpy(losses.direction_losses(student, teacher)).mean() == pytest.approx(
        float(expected), rel=1e-5
    )


def test_scores_and_states_of_full_rows_equal_the_mean_squared_error():
    student, teacher = numbers(2, 3, 5, 5), numbers(2, 3, 5, 5)
    expected = float(torch.nn.MSELoss()(torch.tensor(student), torch.tensor(teacher)))
    assert ops.convert_to_numpy(losses.score_losses(student, teacher)).mean() == pytest.approx(expected, rel=1e-5)
    assert ops.convert_to_numpy(losses.vector_losses(student, teacher)).mean() == pytest.approx(expected, rel=1e-5)
