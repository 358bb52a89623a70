"""Self-attention with `num_heads` heads of hidden / num_heads numbers each."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.draws import Random, attention_weights, normal, some_seen, with_zeros
from autograde.exercises.n03_attention._shared import WHOLE_ATTENTION
from autograde.exercises.n03_attention.causal_mask import lower_triangle
from autograde.exercises.numpy_bert import multi_head_attention
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
    composed,
    layer,
    mistake,
    result_of,
)


def layer_case(rng: Random, x, num_heads, mask=None) -> Case:
    keywords = {} if mask is None else {"attention_mask": mask}
    return Case((x,), keywords, attention_weights(rng, x.shape[-1]), {"num_heads": num_heads})


def inputs_of_layer(rng: Random) -> list[Case]:
    """Also one head, heads of one number, large scores, one token, kernels of zeros, large outputs; an earlier call
    with another batch and mask, and one with fewer tokens."""
    return [
        layer_case(rng, normal(rng, 2, 5, 8), 2),
        layer_case(rng, with_zeros(normal(rng, 3, 4, 12)), 3),
        layer_case(rng, normal(rng, 1, 3, 4), 1),
        layer_case(rng, 20 * normal(rng, 2, 2, 4), 4),
        layer_case(rng, normal(rng, 1, 1, 6), 2),
        layer_case(rng, normal(rng, 1, 40, 16), 8),
        without_kernels(layer_case(rng, normal(rng, 2, 3, 6), 2)),
        with_large_outputs(layer_case(rng, normal(rng, 2, 3, 6), 3)),
        replace(layer_case(rng, normal(rng, 3, 6, 8), 2), first=(normal(rng, 3, 6, 8), some_seen(rng, 3, 6, 6))),
        replace(layer_case(rng, normal(rng, 2, 6, 4), 2), first=(normal(rng, 3, 3, 4),)),
    ]


def without_kernels(case: Case) -> Case:
    """All scores are equal, and only biases are in the values."""
    kernels = {name: 0 * case.weights[name] for name in case.weights if name.endswith("kernel")}
    return replace(case, weights=case.weights | kernels)


def with_large_outputs(case: Case) -> Case:
    return replace(case, weights=case.weights | {"out/bias": 1000 * case.weights["out/bias"]})


def inputs_and_arguments(rng: Random) -> list[Trial]:
    case = replace(layer_case(rng, normal(rng, 2, 3, 4), 2), keywords={"training": True}, seed=1)
    named = Trial((case,), (Reference(), HandsOn(dtype="float64"), OwnWeights()))  # nor is anything dropped
    return [*(Trial((case,)) for case in inputs_of_layer(rng)), named]


def layer_of(rng: Random, batch: int, tokens: int, heads: int, d: int, share: float | None = None) -> Case:
    """share: of the keys that a query may see; without it there is no mask."""
    mask = None if share is None else rng.random((batch, tokens, tokens)) < share
    return layer_case(rng, normal(rng, batch, tokens, heads * d), heads, mask)


def other_layers(rng: Random) -> list[Trial]:
    """Heads of two numbers or more: with heads of one number and as many tokens as heads, Keras on TensorFlow adds the
    bias of an EinsumDense along the tokens, as if it were one of channels: a right answer would lose points."""
    return [Trial((case,)) for case in (*at_drawn_sizes(layer_of, 1, 1, 1, 2)(rng), layer_on_layer(rng))]


def other_masks(rng: Random) -> list[Case]:
    masked = at_drawn_sizes(lambda *sizes: layer_of(*sizes, share=0.5), 1, 2, 1, 2)
    return [*masked(rng), masked_layer_on_layer(rng)]


def layer_on_layer(rng: Random) -> Case:
    """The second layer on the first one's result; each has weights of its own."""
    lower, upper = layer_of(rng, 2, 4, 2, 3), layer_of(rng, 2, 4, 3, 2)
    return composed(("multi-head-layer", lower), ("multi-head-layer", replace(upper, arguments=(result_of(0),))))


def masked_layer_on_layer(rng: Random) -> Case:
    """Both layers under a padding mask."""
    is_real = (np.arange(4) < np.array([[4], [2]])).astype("int32")
    lower, upper = layer_of(rng, 2, 4, 2, 3), layer_of(rng, 2, 4, 3, 2)
    hidden_keys = {"attention_mask": result_of(0)}
    return composed(
        ("padding-mask", Case((is_real,))),
        ("multi-head-layer", replace(lower, keywords=hidden_keys)),
        ("multi-head-layer", replace(upper, arguments=(result_of(1),), keywords=hidden_keys)),
    )


def masked_layer(rng: Random) -> list[Case]:
    nothing = some_seen(rng, 2, 4, 4)
    nothing[0, 1], nothing[1] = False, False  # queries that see no key
    return [
        layer_case(rng, normal(rng, 2, 4, 6), 3, nothing),
        layer_case(rng, normal(rng, 2, 5, 8), 2, some_seen(rng, 2, 1, 5)),
        in_training(layer_case(rng, normal(rng, 2, 3, 4), 2, some_seen(rng, 2, 1, 3))),
        layer_case(rng, normal(rng, 2, 4, 8), 4, np.broadcast_to(lower_triangle(4), (2, 4, 4)).copy()),
        masked_otherwise_before(layer_case(rng, normal(rng, 1, 5, 4), 2), *some_seen(rng, 2, 1, 5, 5)),
        hidden_peaks(rng),
    ]


def in_training(case: Case) -> Case:
    """The layer has no dropout, so training changes nothing."""
    return replace(case, keywords=case.keywords | {"training": True}, seed=1)


def masked_otherwise_before(case: Case, before, mask) -> Case:
    """The layer is called with another mask first."""
    x = case.arguments[0]
    return replace(case, arguments=(x, mask), first=(x, before))


def hidden_peaks(rng: Random) -> Case:
    """The hidden keys have by far the highest scores, about 1400."""
    x, mask = normal(rng, 2, 5, 4), some_seen(rng, 2, 1, 5)
    x[..., 0] = np.where(mask[:, 0], 0, 1)
    return scored_by_first(layer_case(rng, x, 2, mask), 2000)


def scored_by_first(case: Case, size: float) -> Case:
    """The first number of a key's vector gives its score in each head, times size / √2."""
    weights, (width, _) = dict(case.weights), case.weights["query/kernel"].shape
    weights["query/kernel"], weights["query/bias"] = np.zeros((width, width), "float32"), np.ones(width, "float32")
    weights["key/kernel"] = np.zeros((width, width), "float32")
    weights["key/kernel"][0, ::2] = size
    return replace(case, weights=weights)


def batch_of_one(rng: Random) -> list[Trial]:
    """A sentence gives the same result alone as in a batch."""
    case = layer_case(rng, normal(rng, 3, 4, 8), 2)
    alone = Case((case.arguments[0][1:2],), {}, case.weights, case.config)
    return [Trial((case, alone), (Same((0, -3, (1,)), (1, -3, (0,))),))]


def slopes_of_layer(rng: Random) -> list[Trial]:
    """The changes of the output for small changes of each kernel, also under a mask."""
    case = layer_case(rng, normal(rng, 2, 4, 6), 2)
    masked = layer_case(rng, normal(rng, 2, 4, 6), 2, some_seen(rng, 2, 1, 4))
    directions = {f"{name}/kernel": normal(rng, 6, 6) for name in ("query", "key", "value", "out")}
    directions |= {"value/bias": normal(rng, 6), "out/bias": normal(rng, 6), 0: normal(rng, 2, 4, 6)}
    return [Trial((layer,), (Slopes(normal(rng, 2, 4, 6), directions),)) for layer in (case, masked)]


EXERCISE = Exercise(
    probe=layer(roles.ATTENTION),
    reference=multi_head_attention,
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 3, inputs_and_arguments, hidden=other_layers),
        cases("mask", 1, masked_layer, "with a mask the result is wrong", other_masks),
        Part("gradients", 1, slopes_of_layer,
            "the gradients of the weights are wrong or missing, with or without a mask"),
        Part("each sentence independently", 1, batch_of_one, "a sentence must give the same result in any batch"),
    ),
    forbidden=WHOLE_ATTENTION,
    facts=lambda case: {
        "hidden": case.arguments[0].shape[-1],
        "heads": case.config["num_heads"],
        "d": case.arguments[0].shape[-1] // case.config["num_heads"],
    },
    hints=(
        "Print the shape after every step and compare it with the chain above the stub.",
        "split_heads: reshape to (batch, tokens, heads, d), then swap the axes 1 and 2. Back: swap first, then "
        "reshape.",
        "The mask is (batch, 1 or tokens, tokens), the scores are (batch, heads, tokens, tokens): one "
        "`ops.expand_dims` aligns them.",
    ),
    misconceptions=(
        mistake("scaled-by-hidden-size",
            "attention_scores(q, k)", "ops.matmul(q, ops.swapaxes(k, -1, -2)) / ops.shape(x)[-1] ** 0.5",
            hint="You divide by √{hidden}, the root of the hidden size. A head's vectors have {d} numbers, so it is "
                 "√{d}."),
        mistake("scaled-twice",
            "attention_scores(q, k)", "attention_scores(q, k) / (ops.shape(q)[-1] ** 0.5)",
            hint="You divide the scores by √{d} twice: your `attention_scores` has already done it."),
        mistake("unscaled", "attention_scores(q, k)", "ops.matmul(q, ops.swapaxes(k, -1, -2))",
            hint="You take the products of queries and keys as they are. Divide them by √{d}, as your "
                 "`attention_scores` does."),
        mistake("split-without-transpose",
            "(batch, tokens, self.num_heads, hidden // self.num_heads)",
            "(batch, self.num_heads, tokens, hidden // self.num_heads)",
            "return ops.transpose(x, (0, 2, 1, 3))", "return x",
            hint="Reshaping directly to (batch, heads, tokens, d) splits the sentence, not the vectors: a head gets "
                 "numbers of several tokens. First (batch, tokens, heads, d), then swap two axes."),
        mistake("number-by-number",
            "(batch, tokens, self.num_heads, hidden // self.num_heads)",
            "(batch, tokens, hidden // self.num_heads, self.num_heads)",
            "return ops.transpose(x, (0, 2, 1, 3))", "return ops.transpose(x, (0, 3, 1, 2))",
            "ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x))",
            "ops.reshape(ops.transpose(found, (0, 2, 3, 1)), ops.shape(x))",
            hint="You split each row into {d} groups of {heads}, so a head gets one number of each group. Split into "
                 "{heads} heads of {d} neighbouring numbers: (batch, tokens, heads, d)."),
        mistake("merged-without-transpose",
            "ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x))", "ops.reshape(found, ops.shape(x))",
            hint="You join the heads without swapping the axes back: rows then mix several tokens. Transpose to "
                 "(batch, tokens, heads, d) first."),
        mistake("no-output-projection", "return self.out(side_by_side)", "return side_by_side",
            hint="The heads are side by side, but not mixed: the last step is self.out."),
        mistake("one-large-head",
            "(batch, tokens, self.num_heads, hidden // self.num_heads)", "(batch, tokens, 1, hidden)",
            hint="There is one head as wide as the hidden size. `num_heads` = {heads} heads have {d} numbers each, "
                 "and each has its own softmax."),
        mistake("mask-inverted", "ops.where(ops.expand_dims(attention_mask, axis=1), scores, MASKED_SCORE)",
            "ops.where(ops.expand_dims(attention_mask, axis=1), MASKED_SCORE, scores)",
            hint="With a mask you hide exactly the visible keys. True means: may be seen."),
        mistake("mask-ignored", "if attention_mask is not None:", "if False:",
            hint="The mask has no effect. Apply it between scores and softmax, as in 3.8."),
        mistake("mask-without-heads", "ops.expand_dims(attention_mask, axis=1)", "attention_mask",
            hint="The mask has no axis of heads yet, so its axis of sentences is aligned with that of the heads: "
                 "an error, or every head has the mask of one sentence. Add an axis with `ops.expand_dims` at axis 1."),
        mistake("mask-on-queries",
            "ops.expand_dims(attention_mask, axis=1)", "ops.expand_dims(attention_mask, axis=-1)",
            hint="The mask's new axis is last: this hides queries, not keys. The axis of heads is axis 1."),
        mistake("out-of-the-graph",
            "weights = softmax_rows(scores)", "weights = ops.convert_to_tensor(softmax_rows(scores).numpy())",
            hint="The values are right, but the layer cannot learn: no gradient flows through NumPy to query and "
                 "key. Use only `keras.ops` from the first line to the last."),
        mistake("queries-everywhere", "self.split_heads(self.key(x)), self.split_heads(self.value(x))",
            "self.split_heads(self.query(x)), self.split_heads(self.query(x))",
            hint="Keys and values come from self.query as well. Each has its own projection."),
    ),
)  # fmt: skip
