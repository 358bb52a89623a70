"""The head's probabilities at one position, layer by layer."""

from math import erf

import numpy as np

from autograde.exercises.n10_inside_bert._shared import LIBRARY
from autograde.exercises.numpy_bert import softmax
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, normal, taking, values

GELU = np.vectorize(lambda x: x * (1 + erf(x / 2**0.5)) / 2, otypes=["float64"])


def lens(weights, states, position):
    """Layer by layer."""
    kernel, bias, gamma, beta, table, output_bias = weights
    found = []
    for state in states:
        x = GELU(state[position] @ kernel + bias)
        x = gamma * (x - x.mean()) / np.sqrt(x.var() + 1e-12) + beta
        found.append(softmax(table @ x + output_bias))
    return np.array(found)


def model_of(rng: Random, layers: int, tokens: int, hidden: int, vocabulary: int, position: int) -> Case:
    """Weights of a head, the states of the embeddings and of all layers, and a position."""
    weights = [
        normal(rng, hidden, hidden), normal(rng, hidden), 1 + normal(rng, hidden, size=0.3), normal(rng, hidden),
        normal(rng, vocabulary, hidden), normal(rng, vocabulary),
    ]  # fmt: skip
    return Case((weights, normal(rng, layers + 1, tokens, hidden), position))


def models(rng: Random) -> list[Case]:
    """Also as many layers as tokens; the first position and the last one; a model without layers."""
    return [
        model_of(rng, 4, 6, 5, 7, 3), model_of(rng, 2, 3, 4, 9, 1), model_of(rng, 3, 5, 6, 3, 0),
        model_of(rng, 1, 4, 3, 5, 3), model_of(rng, 0, 4, 3, 4, 2),
    ]  # fmt: skip


def sure_models(rng: Random) -> list[Case]:
    """Logits of some hundreds."""
    case = model_of(rng, 3, 5, 4, 6, 2)
    weights, states, position = case.arguments
    weights[4] = weights[4] * 60
    return [Case((weights, states, position))]


EXERCISE = Exercise(
    probe=taking("mlm_head"),
    reference=lens,
    parts=(
        values(2, models, hidden=lambda rng: [model_of(rng, *map(int, rng.integers(5, 9, size=4)), 4)]),
        cases("large logits", 1, sure_models, "of large logits the probabilities are wrong"),
    ),
    forbidden=LIBRARY,
    hints=(
        "The head does not ask from which layer a vector comes. Give it the vectors of all layers at this position.",
        "`states[:, position]` is (layers + 1, hidden): a batch of vectors.",
        "A head returns logits. A softmax over the vocabulary, the last axis, makes probabilities.",
    ),
    misconceptions=(
        mistake("softmax-over-layers", "axis=-1", "axis=0",
            hint="Your softmax goes over the layers. In each layer the probabilities of all *tokens* sum to 1."),
        mistake("logits", "ops.softmax(head(states[:, position]), axis=-1)", "head(states[:, position])",
            hint="These are logits. Probabilities need a softmax over the vocabulary."),
        mistake("without-the-embeddings", "states[:, position]", "states[1:, position]",
            hint="You leave out state 0, the embeddings. They are the beginning of the story: what the head would say "
                 "without any layer."),
        mistake("next-position", "states[:, position]", "states[:, (position + 1) % states.shape[1]]",
            hint="You read the vector of the next token. Positions count from 0, and [CLS] is position 0."),
        mistake("mean-of-the-tokens", "states[:, position]", "ops.mean(states, axis=1)",
            hint="You average the vectors of all tokens. A blank is answered at its own position."),
        mistake("layer-for-position", "states[:, position]", "states[position % states.shape[0]]",
            hint="You take all tokens of one layer. The first axis are the layers, the second the tokens."),
        mistake("sum-of-the-layers", "states[:, position]", "ops.cumsum(states, axis=0)[:, position]",
            hint="You add up the layers below. Each state already contains them, through the residual connections."),
        mistake("softmax-before-the-head", "ops.softmax(head(states[:, position]), axis=-1)",
            "head(ops.softmax(states[:, position], axis=-1))",
            hint="You take the softmax of the vectors. It belongs to the logits: after the head."),
    ),
)  # fmt: skip
