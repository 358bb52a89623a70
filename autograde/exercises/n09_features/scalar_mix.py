"""A weighted sum of layers, with a learned share for each and one scale."""

from dataclasses import replace

import numpy as np

from autograde.exercises.writing import (
    Case,
    Exercise,
    HandsOn,
    OwnWeights,
    Part,
    Random,
    Reference,
    Slopes,
    Trial,
    at_drawn_sizes,
    cases,
    layer,
    mistake,
    normal,
)


def mixed(states, *, weights, config):
    """Layer by layer; with the initial weights all shares are equal."""
    w = weights.get("w", np.zeros(config["num_layers"]))
    shares = np.exp(w - w.max()) / np.exp(w - w.max()).sum()
    total = sum(share * states[:, :, number] for number, share in enumerate(shares))
    return weights.get("gamma", 1.0) * total


def case_of(rng: Random, batch: int, tokens: int, layers: int, hidden: int) -> Case:
    """gamma is far from 0 and 1, and the shares are far from equal."""
    w = np.array([1.5, -1.0, *normal(rng, layers)], "float32")[:layers]
    gamma = np.array([rng.choice([-1, 1]) * (1.5 + rng.random())], "float32")
    weights = {"w": rng.permutation(w), "gamma": gamma}
    return Case((normal(rng, batch, tokens, layers, hidden),), weights=weights, config={"num_layers": layers})


BY_HAND = Case(
    (np.array([[[[4], [8], [0]]]], "float32"),), note="the text's example", config={"num_layers": 3},
    weights={"w": np.array([0, np.log(2), 0], "float32"), "gamma": np.array([3], "float32")},
)  # fmt: skip


def inputs_of_mix(rng: Random) -> list[Trial]:
    """One layer, as many layers as tokens and numbers, BERT-Base's 13; an earlier call with other sentences."""
    sizes = ((2, 3, 5, 4), (1, 4, 2, 4), (4, 4, 4, 4), (2, 1, 13, 2), (1, 2, 1, 3), (3, 2, 4, 1))
    given = [case_of(rng, *size) for size in sizes]
    given.append(replace(case_of(rng, 2, 3, 4, 5), first=(normal(rng, 3, 2, 4, 5),)))
    named = Trial((case_of(rng, 2, 2, 3, 4),), (Reference(), HandsOn(dtype="float64"), OwnWeights()))
    return [*(Trial((case,)) for case in (BY_HAND, *given)), named]


def new_mix(rng: Random) -> list[Case]:
    """Nothing is put in: the result is the mean."""
    given = [case_of(rng, 2, 3, layers, 4) for layers in (5, 2)]
    return [Case(case.arguments, config=case.config, seed=3) for case in given]


def slopes_of_mix(rng: Random) -> list[Trial]:
    case = case_of(rng, 2, 3, 4, 5)
    directions = {0: normal(rng, 2, 3, 4, 5), "w": normal(rng, 4), "gamma": np.array([1.3], "float32")}
    return [Trial((case,), (Slopes(normal(rng, 2, 3, 5), directions),))]


EXERCISE = Exercise(
    probe=layer({"w": ["w", "weights_of_layers", "scalars"], "gamma": ["gamma", "scale"]}),
    reference=mixed,
    in_graph=True,
    parts=(
        Part("values", 2, inputs_of_mix, hidden=lambda rng: [
            Trial((case,)) for case in at_drawn_sizes(case_of, 1, 1, 2, 1)(rng)]),
        cases("a new layer", 1, new_mix, "a new layer must return the mean of the layers: equal shares, γ = 1"),
        Part("gradients", 1, slopes_of_mix, "gradients must reach the layers' vectors, w and γ"),
    ),
    facts=lambda case: {"layers": case.arguments[0].shape[2]},
    hints=(
        "Two weights in `__init__`: `self.add_weight(shape=…, initializer=…, name=…)`. One number has the shape ().",
        "The shares are (layers,), the states (batch, tokens, layers, hidden). Where must the shares get an axis?",
        "Multiply, then sum over the axis of the layers, −2. γ comes last.",
    ),
    misconceptions=(
        mistake("no-softmax", "ops.softmax(self.w)", "self.w",
            hint="You multiply by w itself, as in the lecture's figure. The shares are softmax(w)."),
        mistake("divided-by-the-sum", "ops.softmax(self.w)", "self.w / ops.sum(self.w)",
            hint="You divide w by its sum. That is 0/0 in a new layer, and shares can become negative: softmax takes "
                 "e^w first."),
        mistake("each-share-alone", "ops.softmax(self.w)", "ops.sigmoid(self.w)",
            hint="A sigmoid looks at each layer alone. Shares add up to 1: softmax."),
        mistake("no-gamma", "return self.gamma * ops.sum", "return ops.sum",
            hint="γ has no effect in your layer. It scales the sum."),
        mistake("gamma-inside", "ops.softmax(self.w)", "ops.softmax(self.gamma * self.w)",
            "return self.gamma * ops.sum", "return ops.sum",
            hint="Your γ is inside of the softmax, where it is a temperature. It scales the sum, outside."),
        mistake("gamma-starts-at-zero", 'initializer="ones"', 'initializer="zeros"',
            hint="Your γ begins at 0, so a new layer returns zeros, and w gets no gradient. It begins at 1."),
        mistake("shares-by-chance", 'initializer="zeros"', 'initializer="random_normal"',
            hint="Your shares begin by chance. Before training no layer is better than another: begin with equal w."),
        mistake("mean-over-layers", "ops.sum(shares[:, None] * states, axis=-2)",
            "ops.mean(shares[:, None] * states, axis=-2)",
            hint="You divide by the number of layers, {layers}. The shares already add up to 1: take the sum."),
        mistake("attention-over-layers", "shares = ops.softmax(self.w)\n",
            "shares = ops.softmax(states * self.w[:, None], axis=-2)\n", "shares[:, None] * states", "shares * states",
            hint="Your shares depend on the vectors of each word. Here they are the same for all words: softmax of w "
                 "alone."),
        mistake("scores-as-constants", "shares = ops.softmax(self.w)\n",
            "w = self.w.numpy() if hasattr(self.w, 'numpy') else np.array(self.w)\n"
            "        shares = ops.softmax(ops.convert_to_tensor(w))\n",
            hint="Your shares are right, but w is read as a constant and will never learn. Use `self.w` in the formula "
                 "itself."),
    ),
)  # fmt: skip
