"""Dropout(LayerNorm(token + segment + position))."""

from autograde.exercises.draws import Random, normal
from autograde.exercises.n02_embeddings._shared import READY_MADE, ids
from autograde.exercises.n02_embeddings.input_embeddings import summed
from autograde.exercises.numpy_bert import norm
from autograde.exercises.spec import Case, Dropped, Exercise, Part, Slopes, Trial, layer, mistake, values


def bert_embeddings(token_ids, token_type_ids, training=None, *, weights, config):
    """Without dropout, for any value of `training`."""
    tables = (weights[f"{name}/table"] for name in ("token", "segment", "position"))
    x = summed(token_ids, token_type_ids, *tables)
    return norm(x, weights, "norm")


def layer_case(rng: Random, batch=2, tokens=5, hidden=8, size=1.0, dropout=0.1, **keywords) -> Case:
    """A layer for 11 tokens and 9 positions. size: standard deviation of the three tables."""
    config = {"vocab_size": 11, "hidden_size": hidden, "max_positions": 9, "num_segments": 2, "dropout": dropout}
    rows = {"token": 11, "segment": 2, "position": 9}
    weights = {f"{name}/table": normal(rng, count, hidden, size=size) for name, count in rows.items()}
    weights |= {"norm/gamma": 1 + normal(rng, hidden, size=0.3), "norm/beta": normal(rng, hidden, size=0.3)}
    kinds = rng.integers(0, 2, size=(batch, tokens)).astype("int32")
    seed = int(rng.integers(1, 2**31))
    return Case((ids(rng, 11, batch, tokens), kinds), keywords, weights, config, seed=seed)


def layers(rng: Random) -> list[Case]:
    """Tables with numbers as small as BERT's initial weights, and with larger numbers."""
    return [layer_case(rng, size=0.02), layer_case(rng, batch=3, tokens=4, hidden=12)]


def training(rng: Random) -> list[Trial]:
    case = layer_case(rng, batch=4, tokens=6, hidden=32, dropout=0.3, training=True)
    return [Trial((case,), (Dropped(0.3),))]


def slopes_of_layer(rng: Random) -> list[Trial]:
    case = layer_case(rng, hidden=6)
    directions = {role: normal(rng, *weight.shape) for role, weight in case.weights.items()}
    return [Trial((case,), (Slopes(normal(rng, 2, 5, 6), directions),))]


# Paths of a layer's weights: in a Keras Embedding, or in its own variable.
ROLES = {f"{name}/table": [f"{name}.embeddings", f"{name}.kernel", name] for name in ("token", "segment", "position")}
ROLES |= {f"norm/{part}": [f"norm.{part}", part] for part in ("gamma", "beta")}


EXERCISE = Exercise(
    probe=layer(ROLES),
    reference=bert_embeddings,
    parts=(
        values(4, layers),
        Part("dropout", 1, training, "in training dropout must be applied to the layer's result, and only in training"),
        Part("gradients", 1, slopes_of_layer, "the weights cannot be trained: their gradients are wrong or missing"),
    ),
    forbidden=READY_MADE,
    facts=lambda case: {"hidden": case.config["hidden_size"]},
    hints=(
        "Create all sub-layers in `__init__`: three tables, a LayerNormalization, a Dropout. `call` only uses them.",
        "Look up the positions 0, 1, …, T − 1 in the position table, where T is the length of the sentences.",
        "The order: look up and add, then `norm`, then dropout with the argument `training`. Set ε: Keras has "
        "another default.",
    ),
    misconceptions=(
        mistake("no-norm", "self.norm(x)", "x",
            hint="This is only the sum. BERT applies LayerNorm to it."),
        mistake("keras-epsilon", "epsilon=1e-12, ", "",
            hint="Right for large numbers, wrong for small ones: Keras's LayerNormalization has ε = 0.001, BERT's is "
                 "1e-12. BERT's tables begin with numbers around 0.02, so the variance of a sum is itself about "
                 "0.001."),
        mistake("only-tokens-normalised",
            "x = self.token(token_ids) +", "x = self.norm(self.token(token_ids)) +",
            "self.drop(self.norm(x), training=training)", "self.drop(x, training=training)",
            hint="You normalise the token vectors and then add the others. LayerNorm comes after the sum of all "
                 "three."),
        mistake("times-root-of-hidden",
            "x = self.token(token_ids) +", "x = self.token(token_ids) * self.token.output_dim**0.5 +",
            hint="You multiply the token vectors by √{hidden}. The original transformer does (Vaswani et al. 2017, "
                 "section 3.4); BERT does not."),
        mistake("dropout-before-norm",
            "self.drop(self.norm(x), training=training)", "self.norm(self.drop(x, training=training))",
            hint="You apply dropout before LayerNorm, which then spreads the zeros over the whole vector. In BERT "
                 "dropout comes last."),
        mistake("dropout-always",
            "self.drop(self.norm(x), training=training)", "self.drop(self.norm(x), training=True)",
            hint="Dropout also acts outside training, so the same sentence gives a different result each time. Pass "
                 "on the argument `training`."),
        mistake("dropout-never", "self.drop(self.norm(x), training=training)", "self.norm(x)",
            hint="Right, but without dropout: in training, a fraction of the numbers must become 0."),
    ),
)  # fmt: skip
