"""A dense layer to `intermediate_size`, GELU, and a dense layer back, at every position."""

import dataclasses

from autograde.boundary import roles
from autograde.exercises.draws import Random, at_drawn_sizes, normal, with_zeros
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, network_weights
from autograde.exercises.numpy_bert import feed_forward
from autograde.exercises.spec import (
    Case,
    Exercise,
    HandsOn,
    OwnWeights,
    Part,
    Reference,
    Same,
    Slopes,
    Trial,
    composed,
    layer,
    mistake,
)


def network_case(rng: Random, x, inner: int) -> Case:
    return Case((x,), weights=network_weights(rng, x.shape[-1], inner), config={"intermediate_size": inner})


def inputs_of_network_layer(rng: Random) -> list[Case]:
    return [network_case(rng, normal(rng, 2, 3, 5, size=1.5), 12),
            network_case(rng, with_zeros(normal(rng, 1, 4, 6)), 6),
            network_case(rng, 9 * normal(rng, 1, 1, 5), 70),
            dataclasses.replace(network_case(rng, normal(rng, 3, 2, 4), 7), first=(normal(rng, 1, 5, 4),))]  # fmt: skip


def inputs_and_arguments(rng: Random) -> list[Trial]:
    case = dataclasses.replace(network_case(rng, normal(rng, 2, 3, 4), 5), keywords={"training": True}, seed=1)
    named = Trial((case,), (Reference(), HandsOn(dtype="float64"), OwnWeights()))  # nor is anything dropped
    wide, narrow = network_case(rng, normal(rng, 2, 3, 4), 9), network_case(rng, normal(rng, 1, 2, 4), 3)
    two = composed(("feed-forward-layer", wide), ("feed-forward-layer", narrow))
    return [*(Trial((case,)) for case in inputs_of_network_layer(rng)), named, Trial((two,))]


def network_of(rng: Random, batch: int, tokens: int, hidden: int, inner: int) -> Trial:
    return Trial((network_case(rng, normal(rng, batch, tokens, hidden, size=1.5), inner),))


def slopes_of_network(rng: Random) -> list[Trial]:
    case = network_case(rng, normal(rng, 2, 3, 4), 7)
    directions = {role: normal(rng, *array.shape) for role, array in case.weights.items()}
    return [Trial((case,), (Slopes(normal(rng, 2, 3, 4), {0: normal(rng, 2, 3, 4)} | directions),))]


def same_vector_twice_in_a_layer(rng: Random) -> list[Trial]:
    x = normal(rng, 1, 5, 4)
    x[0, 3] = x[0, 1]
    case = network_case(rng, x, 6)
    alone = Case((x[:, [1, 4]],), weights=case.weights, config=case.config)
    return [Trial((case, alone), (Same((0, -2, (1,)), (0, -2, (3,))), Same((0, -2, (1, 4)), (1, -2, (0, 1)))))]


EXERCISE = Exercise(
    probe=layer(roles.FEED_FORWARD),
    reference=feed_forward,
    in_graph=True,
    parts=(
        Part("values", 2, inputs_and_arguments, hidden=at_drawn_sizes(network_of, 1, 1, 1, 1, number=1, largest=11)),
        Part("gradients", 1, slopes_of_network, "the weights cannot be trained: their gradients are wrong or missing"),
        Part("each position alone", 1, same_vector_twice_in_a_layer,
            "the same vector must give the same result at every position and with any neighbours"),
    ),
    forbidden=LIBRARY,
    facts=lambda case: {"hidden": case.arguments[0].shape[-1], "wide": case.config["intermediate_size"]},
    hints=(
        "`build` creates two Dense layers, `call` is one line: outer of gelu of inner.",
        "How wide is each result? inner: intermediate_size; outer: as wide as x.",
        "`self.outer` is built for the output of inner: the shape of x with another last number.",
    ),
    misconceptions=(
        mistake("relu", "gelu(self.inner(x))", "ops.relu(self.inner(x))",
            hint="You use ReLU, as the original Transformer does. BERT uses GELU: your own of 4.4."),
        mistake("no-bend", "gelu(self.inner(x))", "self.inner(x)",
            hint="There is no activation between the two Dense layers, and two linear maps in a row are one."),
        mistake("bent-at-the-end",
            "gelu(self.inner(x))", "self.inner(x)",
            "return self.outer(bent)", "return gelu(self.outer(bent))",
            hint="You apply GELU to the result. Apply it between inner and outer."),
        mistake("bent-twice", "return self.outer(bent)", "return gelu(self.outer(bent))",
            hint="You apply GELU in between and again to the result. Line 8 has one GELU."),
        mistake("residual-inside", "return self.outer(bent)", "return x + self.outer(bent)",
            hint="You add x here. The X + of line 8 is before the brackets: it belongs to the residual connection, "
                 "and would be added twice."),
        mistake("sigmoid-approximation", "gelu(self.inner(x))", 'gelu(self.inner(x), "sigmoid")',
            hint="This is GELU's approximation x · σ(1.702 x). BERT uses the exact one, your `gelu`."),
        mistake("never-widened",
            "keras.layers.Dense(self.intermediate_size,", "keras.layers.Dense(x_shape[-1],",
            "(*x_shape[:-1], self.intermediate_size)", "x_shape",
            hint="inner is as wide as x, {hidden} numbers. It must have intermediate_size = {wide} numbers, and "
                 "outer maps them back."),
        mistake("averaged-with-the-neighbours", "self.inner(x)", "self.inner(x + ops.mean(x, axis=1, keepdims=True))",
            hint="Each position also gets the mean of all positions. Here every token is processed alone; mixing "
                 "tokens is attention's task."),
    ),
)  # fmt: skip
