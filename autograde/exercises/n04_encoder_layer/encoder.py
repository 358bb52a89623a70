"""`num_layers` encoder layers, one after the other, each with this dropout."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.draws import Random, normal, some_seen
from autograde.exercises.n04_encoder_layer._shared import (
    BOTH_NORMS,
    LIBRARY,
    SEED,
    dropped_by_signs,
    layer_weights,
    nothing_to_add,
    slopes,
)
from autograde.exercises.numpy_bert import encoder
from autograde.exercises.spec import Case, Exercise, HandsOn, OwnWeights, Part, Reference, Trial, cases, layer, mistake

# In a stack a role has the arrays of all layers side by side; the star splits them along the last axis.
STACK_ROLES = {role: [f"layers_.*.{path}" for path in paths] for role, paths in roles.ENCODER_LAYER.items()}


def stack_case(rng: Random, x, layers: int, inner: int, mask=None, more: dict | None = None, **keywords) -> Case:
    """more: further arguments of the constructor."""
    each = [layer_weights(rng, x.shape[-1], inner) for _ in range(layers)]
    weights = {role: np.concatenate([one[role] for one in each], axis=-1) for role in each[0]}
    config = {"num_layers": layers, "num_heads": 2, "intermediate_size": inner} | (more or {})
    keywords |= {} if mask is None else {"attention_mask": mask}
    return Case((x,), keywords, weights, config, seed=SEED)


def inputs_of_stack(rng: Random) -> list[Trial]:
    """Also a single layer, an earlier call with a mask and fewer tokens.

    In training dropout with the rate that the constructor is given, also 0, and the usual one, only behind the
    sub-layers, not between the layers.
    """
    given = [
        stack_case(rng, normal(rng, 2, 4, 6), 3, 8),
        nothing_to_add(stack_case(rng, normal(rng, 2, 4, 4), 1, 5, more={"dropout": 0.5}, training=True)),
        nothing_to_add(stack_case(rng, normal(rng, 2, 4, 4), 2, 3, more={"dropout": 0.5}, training=True), BOTH_NORMS),
        stack_case(rng, normal(rng, 2, 3, 4), 2, 3, more={"dropout": 0.0}, training=True),
        replace(
            stack_case(rng, normal(rng, 3, 4, 4), 2, 3, training=False),
            first=(normal(rng, 1, 2, 4), some_seen(rng, 1, 1, 2)),
        ),
    ]
    named = Trial((stack_case(rng, normal(rng, 1, 2, 4), 2, 3),), (HandsOn(dtype="float64"), OwnWeights()))
    trained = Trial((given[0],), (Reference(), slopes(rng, given[0])))
    return [trained, *(Trial((case,)) for case in given[1:]), named, *in_training(rng)]


def in_training(rng: Random) -> list[Trial]:
    """In the first and in the last layer of two."""
    trials = []
    for more, rate, which in (({"dropout": 0.4}, 0.4, 0), ({"dropout": 0.4}, 0.4, -1), ({}, 0.1, -1)):
        case = stack_case(rng, normal(rng, 6, 10, 32), 2, 4, more=more, training=True)
        trials.append(dropped_by_signs(case, "feed_forward", rate, 2, which))
    return trials


def masked_stack(rng: Random) -> list[Case]:
    """Also in training, and with three layers."""
    masks = (some_seen(rng, 2, 1, 5), some_seen(rng, 2, 5, 5))
    trained = {"more": {"dropout": 0.0}, "training": True}
    return [
        *(stack_case(rng, normal(rng, 2, 5, 4), 2, 6, mask) for mask in masks),
        stack_case(rng, normal(rng, 2, 4, 4), 3, 3, some_seen(rng, 2, 1, 4), **trained),
    ]


def other_stacks(rng: Random) -> list[Trial]:
    layers, batch, tokens, inner = (int(size) for size in rng.integers(1, 5, size=4))
    return [Trial((stack_case(rng, normal(rng, batch, tokens, 6), layers, inner),))]


def other_masked_stacks(rng: Random) -> list[Case]:
    layers, batch, tokens, inner = (int(size) for size in rng.integers(1, 5, size=4))
    mask = some_seen(rng, batch, tokens + 1, tokens + 1)
    return [stack_case(rng, normal(rng, batch, tokens + 1, 6), layers, inner, mask)]


EXERCISE = Exercise(
    probe=layer(STACK_ROLES),
    reference=encoder,
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 2, inputs_of_stack, hidden=other_stacks),
        cases("mask", 1, masked_stack, "with a mask the result is wrong", other_masked_stacks),
    ),
    forbidden=LIBRARY,
    facts=lambda case: {"layers": case.config["num_layers"]},
    hints=(
        "`__init__` creates the list of layers, `call` is a loop over it.",
        "The output of one layer is the input of the next; pass the mask to every one.",
        "Create a list of num_layers *different* layers: a comprehension calls EncoderLayer(…) once for each.",
    ),
    misconceptions=(
        mistake("one-layer-again",
            "[EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]",
            "[EncoderLayer(num_heads, intermediate_size, dropout)] * num_layers",
            "        for layer in self.layers_:\n            layer.build(x_shape)",
            "        self.layers_[0].build(x_shape)",
            hint="Your list contains the same layer {layers} times, so all depths share their weights. (ALBERT does "
                 "that on purpose: Lan et al. 2020.) In BERT each layer has its own: create {layers}."),
        mistake("all-from-the-start",
            "            x = layer(x, attention_mask=attention_mask, training=training)\n        return x",
            "            y = layer(x, attention_mask=attention_mask, training=training)\n        return y",
            hint="Every layer reads the input of the stack, so only the last one counts. Each must read the output "
                 "of the one before it."),
        mistake("residual-around-the-stack",
            "        for layer in self.layers_:\n            x = layer(",
            "        start = x\n"
            "        for layer in self.layers_:\n"
            "            x = layer(",
            "        return x", "        return start + x",
            hint="You add the stack's input to its output. The residual connections are already inside the layers."),
        mistake("backwards", "for layer in self.layers_:\n            x = layer(",
            "for layer in reversed(self.layers_):\n            x = layer(",
            hint="The layers run from the last to the first. The one with index 0 reads the embeddings."),
        mistake("last-layer-forgotten", "for layer in self.layers_:\n            x = layer(",
            "for layer in self.layers_[:-1]:\n            x = layer(",
            hint="One layer too few runs: use all {layers} of the list, including the last."),
        mistake("mask-not-passed", "attention_mask=attention_mask, training=training", "training=training",
            hint="The mask has no effect: pass it to every layer."),
        mistake("mask-only-at-first", "            x = layer(x, attention_mask=attention_mask, training=training)",
            "            x = layer(x, attention_mask=attention_mask, training=training)\n"
            "            attention_mask = None",
            hint="Only the first layer gets the mask. Padding is padding at every depth: pass it to all."),
    ),
)  # fmt: skip
