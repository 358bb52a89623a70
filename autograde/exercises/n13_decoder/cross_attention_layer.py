"""Attention of one sequence to another, with several heads: a layer with two inputs."""

from dataclasses import replace

from autograde.boundary import roles
from autograde.exercises.draws import Random, attention_weights, normal, some_seen
from autograde.exercises.n03_attention._shared import WHOLE_ATTENTION
from autograde.exercises.n13_decoder._shared import cross_attention
from autograde.exercises.writing import (
    Case,
    Exercise,
    HandsOn,
    OwnWeights,
    Part,
    Reference,
    Same,
    Slopes,
    Trial,
    at_drawn_sizes,
    cases,
    layer,
    mistake,
)


def layer_of(rng: Random, batch: int, tokens: int, source_tokens: int, heads: int, d: int, share=None) -> Case:
    """share: the fraction of the keys that a query may see; None: the case has no mask."""
    hidden = heads * d
    z, h = normal(rng, batch, tokens, hidden), normal(rng, batch, source_tokens, hidden)
    keywords = {} if share is None else {"attention_mask": rng.random((batch, tokens, source_tokens)) < share}
    return Case((z, h), keywords, attention_weights(rng, hidden), {"num_heads": heads})


def inputs_of_layer(rng: Random) -> list[Trial]:
    """Longer and shorter sources, one of equal length; one head, one token on either side, heads of one number; an
    earlier call with other lengths."""
    sizes = ((2, 3, 5, 2, 4), (3, 4, 2, 3, 4), (1, 4, 4, 1, 6), (2, 1, 3, 2, 3), (2, 3, 1, 4, 1))
    given = [layer_of(rng, *size) for size in sizes]
    given.append(replace(layer_of(rng, 2, 3, 4, 2, 3), first=layer_of(rng, 1, 5, 2, 2, 3).arguments))
    named = replace(layer_of(rng, 2, 2, 3, 2, 2), keywords={"training": True}, seed=1)
    return [*(Trial((case,)) for case in given), Trial((named,), (Reference(), HandsOn(dtype="float64"), OwnWeights()))]


def masked_layer(rng: Random) -> list[Case]:
    """The padding of the source, a mask for each query, and queries that see nothing; in training too."""
    nothing = some_seen(rng, 2, 3, 5)
    nothing[0, 1], nothing[1] = False, False
    masks = (some_seen(rng, 2, 1, 5), some_seen(rng, 2, 3, 5), nothing)
    given = [replace(layer_of(rng, 2, 3, 5, 2, 3), keywords={"attention_mask": mask}) for mask in masks]
    return [*given, replace(given[0], keywords=given[0].keywords | {"training": True}, seed=1)]


def source_is_a_set(rng: Random) -> list[Trial]:
    """The order of the source's tokens has no effect; a sentence gives the same result alone as in a batch."""
    case = layer_of(rng, 3, 4, 5, 2, 4)
    z, h = case.arguments
    turned = replace(case, arguments=(z, h[:, rng.permutation(5)]))
    alone = replace(case, arguments=(z[1:2], h[1:2]))
    every = (0, 1, 2, 3)
    return [
        Trial((case, turned), (Same((0, -2, every), (1, -2, every)),)),
        Trial((case, alone), (Same((0, -3, (1,)), (1, -3, (0,))),)),
    ]


def slopes_of_layer(rng: Random) -> list[Trial]:
    """The gradients of both inputs and of each kernel, also under a mask."""
    trials = []
    for share in (None, 0.6):
        case = layer_of(rng, 2, 3, 4, 2, 3, share)
        directions = {f"{name}/kernel": normal(rng, 6, 6) for name in ("query", "key", "value", "out")}
        directions |= {index: normal(rng, *argument.shape) for index, argument in enumerate(case.arguments)}
        trials.append(Trial((case,), (Slopes(normal(rng, 2, 3, 6), directions),)))
    return trials


EXERCISE = Exercise(
    probe=layer(roles.ATTENTION),
    reference=cross_attention,
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 2, inputs_of_layer, hidden=lambda rng: [
            Trial((case,)) for case in at_drawn_sizes(layer_of, 1, 1, 1, 1, 2)(rng)]),
        cases("mask", 1, masked_layer, "with a mask of the source the result is wrong",
            at_drawn_sizes(lambda *sizes: layer_of(*sizes, share=0.6), 1, 1, 2, 1, 2)),
        Part("the source is a set", 1, source_is_a_set,
            "the order of the source must not matter, nor the other sentences of the batch"),
        Part("gradients", 1, slopes_of_layer, "the gradients of an input or of a kernel are wrong or missing"),
    ),
    forbidden=WHOLE_ATTENTION,
    facts=lambda case: {
        "z": case.arguments[0].shape[1], "h": case.arguments[1].shape[1], "hidden": case.arguments[0].shape[2],
        "d": case.arguments[0].shape[2] // case.config["num_heads"],
    },
    hints=(
        "Start from your layer of 3.10. Which of its four lines with x now read z, which h?",
        "The result has a row for each token of z: queries come from z, and the last reshape has the shape of z.",
        "split_heads takes the number of tokens from its own argument: it is {z} for the queries and {h} for keys "
        "and values.",
    ),
    misconceptions=(
        mistake("roles-exchanged", "self.query(z)", "self.query(h)", "self.key(h)", "self.key(z)",
            "self.value(h)", "self.value(z)",
            hint="Your queries come from h, keys and values from z. The result has a row per token of z: queries "
                 "from z."),
        mistake("keys-of-the-asker", "self.key(h)", "self.key(z)",
            hint="Your keys come from z. Keys and values describe the same tokens: both come from h."),
        mistake("values-of-the-asker", "self.value(h)", "self.value(z)",
            hint="Your values come from z. Keys and values describe the same tokens: both come from h."),
        mistake("source-never-read", "self.key(h)", "self.key(z)", "self.value(h)", "self.value(z)",
            hint="h is never used: this is self-attention of z. Keys and values come from h."),
        mistake("scaled-by-hidden-size", "attention_scores(q, k)",
            "ops.matmul(q, ops.swapaxes(k, -1, -2)) / ops.shape(z)[-1] ** 0.5",
            hint="You divide by √{hidden}, the root of the hidden size. A head's vectors have {d} numbers, so it is "
                 "√{d}."),
        mistake("mask-ignored", "if attention_mask is not None:", "if False:",
            hint="The mask has no effect. Apply it between scores and softmax, as in 3.8."),
        mistake("mask-inverted", "ops.where(ops.expand_dims(attention_mask, axis=1), scores, MASKED_SCORE)",
            "ops.where(ops.expand_dims(attention_mask, axis=1), MASKED_SCORE, scores)",
            hint="With a mask you hide exactly the visible keys. True means: may be seen."),
        mistake("added-to-z", "return self.out(side_by_side)", "return z + self.out(side_by_side)",
            hint="You add z to the result. The residual connection belongs to the decoder layer, the next exercise."),
        mistake("no-output-projection", "return self.out(side_by_side)", "return side_by_side",
            hint="The heads are side by side, but not mixed: the last step is self.out."),
    ),
)  # fmt: skip
