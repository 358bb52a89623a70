"""One vector for the whole text, computed from its first token, [CLS]."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.draws import Random, normal
from autograde.exercises.n05_bert._shared import WHOLE_BERT, dense_weights, in_training, own_weights, slopes
from autograde.exercises.numpy_bert import dense
from autograde.exercises.spec import Case, Exercise, Part, Same, Trial, composed, layer, mistake, values


def pooler(hidden, training=None, *, weights, config):
    return np.tanh(dense(hidden[:, 0], weights, "dense"))


def pooler_case(rng: Random, hidden: np.ndarray) -> Case:
    return Case((hidden,), {}, dense_weights(rng, "dense", hidden.shape[-1], hidden.shape[-1]))


def hidden_states(rng: Random) -> list[Case]:
    """The second one after a call with fewer and shorter texts."""
    second = replace(pooler_case(rng, normal(rng, 4, 4, 4)), first=(normal(rng, 2, 3, 4),))
    return [pooler_case(rng, normal(rng, 2, 5, 6)), second, pooler_case(rng, normal(rng, 1, 1, 3)),
            large_values(rng, 2, 3), two_poolers(rng)]  # fmt: skip


def two_poolers(rng: Random) -> Case:
    """Two poolers side by side, each with weights of its own."""
    hidden = normal(rng, 2, 3, 4)
    return composed(("pooler", pooler_case(rng, hidden)), ("pooler", pooler_case(rng, hidden)))


def one_token_and_large_values(rng: Random) -> list[Case]:
    return [pooler_case(rng, normal(rng, 1, 7, 3)), pooler_case(rng, normal(rng, 5, 1, 8)), large_values(rng, 3, 2)]


def large_values(rng: Random, batch: int, tokens: int) -> Case:
    """The argument of tanh lies between −10 and 10, in one text between −1,000 and 1,000: eˣ would overflow."""
    hidden = 3 * normal(rng, batch, tokens, 6)
    hidden[-1] *= 100
    return pooler_case(rng, hidden)


def other_tokens_changed(rng: Random) -> list[Trial]:
    """Two texts with the same vector of [CLS] and different other vectors; the gradient of [CLS] and of the others;
    nothing else acts, also in training."""
    case = pooler_case(rng, normal(rng, 2, 4, 3))
    changed = normal(rng, 2, 4, 3)
    changed[:, 0] = case.arguments[0][:, 0]
    other = Case((changed,), {}, case.weights)
    return [
        *own_weights(case), Trial((case,), (slopes(rng, case, *case.weights, 0, result=(2, 3)),)), in_training(case),
        Trial((case, other), (Same((0, -1, (0, 1, 2)), (1, -1, (0, 1, 2))),)),
    ]  # fmt: skip


EXERCISE = Exercise(
    probe=layer(roles.dense("dense")),
    reference=pooler,
    in_graph=True,
    parts=(
        values(1, hidden_states, hidden=one_token_and_large_values),
        Part("only [CLS]", 1, other_tokens_changed, "the other tokens' vectors must have no effect, the "
            "gradient must reach the weights and the vectors of [CLS], and `name` and `trainable=False` must have an "
            "effect"),
    ),
    forbidden=WHOLE_BERT,
    facts=lambda case: {"tokens": case.arguments[0].shape[1]},
    hints=(
        "(B, T, H) goes in, (B, H) comes out: which axis disappears, and which of its entries stays?",
        "[CLS] is the first token: index 0 of axis 1.",
        "Then the Dense, then tanh (as its activation or afterwards).",
    ),
    misconceptions=(
        mistake("axis-of-tokens-kept", "hidden[:, 0]", "hidden[:, :1]",
            hint="Your result has an axis of one token left, (batch, 1, hidden). `hidden[:, 0]` takes the first token "
                 "and removes its axis."),
        mistake("mean-of-all", "hidden[:, 0]", "ops.mean(hidden, axis=1)",
            hint="You average the {tokens} tokens. BERT's pooler reads one vector, the first, [CLS]. (Averaging is a "
                 "good idea of its own: Reimers & Gurevych 2019.)"),
        mistake("last-token", "hidden[:, 0]", "hidden[:, -1]", hint="You read the last token. [CLS] is the first."),
        mistake("first-text", "hidden[:, 0]", "hidden[0]",
            hint="You take the first text of the batch, not the first token of every text: the batch is axis 0, "
                 "tokens are axis 1."),
        mistake("no-tanh", "ops.tanh(self.dense(first))", "self.dense(first)",
            hint="The tanh is missing: your result has numbers outside (−1, 1)."),
        mistake("tanh-first", "ops.tanh(self.dense(first))", "self.dense(ops.tanh(first))",
            hint="You apply tanh to the vector of [CLS] and then the Dense. Apply the Dense first: the tanh comes "
                 "last."),
        mistake("tanh-twice", "keras.layers.Dense(size)", 'keras.layers.Dense(size, activation="tanh")',
            hint="You apply tanh twice: as the activation of the Dense and once more afterwards."),
        mistake("gelu-instead", "ops.tanh(", "gelu(", hint="GELU is the encoder's activation; the pooler has tanh."),
        mistake("not-to-the-encoder", "first = hidden[:, 0]", "first = ops.stop_gradient(hidden[:, 0])",
            hint="No gradient reaches the vectors of [CLS], so the encoder would not be trained by what reads the "
                 "pooled vector: do not stop it."),
        mistake("every-token", "hidden[:, 0]", "hidden",
            hint="You pool every token and return (B, T, H). One vector per text: take [CLS] alone."),
    ),
)  # fmt: skip
