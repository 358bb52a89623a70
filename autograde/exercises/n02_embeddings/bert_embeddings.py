"""Dropout(LayerNorm(token + segment + position))."""

from autograde.exercises.draws import Random, normal
from autograde.exercises.n02_embeddings._shared import READY_MADE, ids
from autograde.exercises.n02_embeddings.input_embeddings import summed
from autograde.exercises.numpy_bert import norm
from autograde.exercises.spec import (
    Case,
    Dropped,
    Exercise,
    HandsOn,
    Initial,
    OwnWeights,
    Part,
    Slopes,
    Trial,
    layer,
    mistake,
)


def bert_embeddings(token_ids, token_type_ids, training=None, *, weights, config):
    """Without dropout, for any value of `training`."""
    tables = (weights[f"{name}/table"] for name in ("token", "segment", "position"))
    x = summed(token_ids, token_type_ids, *tables)
    return norm(x, weights, "norm")


USUAL = {"max_positions": 512, "num_segments": 2, "dropout": 0.1}  # where the constructor is given nothing else


def layer_case(rng: Random, batch=2, tokens=5, hidden=8, size=1.0, given=None, first=(), **keywords) -> Case:
    """A layer for 11 tokens. size: standard deviation of the tables; given: some of the USUAL, with other values."""
    given = {"max_positions": 9, "num_segments": 2, "dropout": 0.1} if given is None else given
    config = {"vocab_size": 11, "hidden_size": hidden} | given
    segments = (USUAL | given)["num_segments"]
    rows = {"token": 11, "segment": segments, "position": (USUAL | given)["max_positions"]}
    weights = {f"{name}/table": normal(rng, count, hidden, size=size) for name, count in rows.items()}
    weights |= {"norm/gamma": 1 + normal(rng, hidden, size=0.3), "norm/beta": normal(rng, hidden, size=0.3)}
    kinds = rng.integers(0, segments, size=(batch, tokens)).astype("int32")
    kinds[0, 0] = segments - 1
    seed = int(rng.integers(1, 2**31))
    return Case((ids(rng, 11, batch, tokens), kinds), keywords, weights, config, seed=seed, first=first)


def layers(rng: Random) -> list[Trial]:
    """Small and larger numbers; what the constructor is given and what not; other shapes later."""
    earlier = layer_case(rng, batch=1, tokens=3).arguments
    given = [
        layer_case(rng, size=0.02),
        layer_case(rng, batch=3, tokens=4, hidden=12),
        layer_case(rng, batch=1, tokens=6, given={"num_segments": 4, "max_positions": 6}),
        layer_case(rng, tokens=12, given={}),
        layer_case(rng, batch=4, tokens=7, first=earlier, training=False),
    ]
    return [*(Trial((case,)) for case in given), Trial((layer_case(rng),), (HandsOn(dtype="float64"), OwnWeights()))]


TRUNCATED = 0.8796  # standard deviation of a standard normal number that is drawn again beyond ±2


def other_layers(rng: Random) -> list[Trial]:
    sizes = [(int(rng.integers(1, 5)), int(rng.integers(1, 9)), 4 * int(rng.integers(1, 9))) for _ in range(2)]
    return [Trial((layer_case(rng, *size, given={"num_segments": 3, "max_positions": 10}),)) for size in sizes]


def training(rng: Random) -> list[Trial]:
    """The rate that the constructor is given, and the usual one; another seed drops other numbers."""
    given, usual = (
        layer_case(rng, batch=8, tokens=6, hidden=32, given=more, training=True)
        for more in ({"dropout": 0.3, "num_segments": 3}, {})
    )
    return [
        Trial((given,), (Dropped(0.3),)),
        Trial((usual,), (Dropped(USUAL["dropout"]),)),
        Trial((layer_case(rng, given={"dropout": 0.0}, training=True),)),
    ]


def slopes_of_layer(rng: Random) -> list[Trial]:
    case = layer_case(rng, hidden=6)
    directions = {role: normal(rng, *weight.shape) for role, weight in case.weights.items()}
    return [Trial((case,), (Slopes(normal(rng, 2, 5, 6), directions),)), new_tables(rng)]


def new_tables(rng: Random) -> Trial:
    """Three tables of the same size, each with numbers of its own, as small as the text asks."""
    config = {"vocab_size": 64, "hidden_size": 32, "num_segments": 64, "max_positions": 64}
    new = Case(layer_case(rng).arguments, config=config)
    spreads = dict.fromkeys(("token/table", "segment/table", "position/table"), 0.02 * TRUNCATED)
    return Trial((new,), (Initial(spreads, limit=0.05),))


# Paths of a layer's weights: in a Keras Embedding, or in its own variable.
ROLES = {f"{name}/table": [f"{name}.embeddings", f"{name}.kernel", name] for name in ("token", "segment", "position")}
ROLES |= {f"norm/{part}": [f"norm.{part}", part] for part in ("gamma", "beta")}

EXERCISE = Exercise(
    probe=layer(ROLES),
    reference=bert_embeddings,
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 4, layers, hidden=other_layers),
        Part("dropout", 1, training, "in training dropout must be applied to the layer's result, and only in training"),
        Part("gradients", 1, slopes_of_layer,
            "gradients are wrong or missing, or the initial numbers are wrong"),
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
