"""One vector for each token from the vectors of all layers: six ways."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, cases, draws, mistake, sized


def take_layers(states, how):
    layers = len(states) - 1
    numbers = {
        "embeddings": [0], "second-to-last": [layers - 1], "last": [layers], "all-sum": range(1, layers + 1),
    }.get(how, range(layers - 3, layers + 1))  # fmt: skip
    chosen = [states[number] for number in numbers]
    if how == "last4-concat":
        return np.stack(chosen, axis=2).reshape(*states[0].shape[:2], -1)
    return np.sum(chosen, axis=0)


def taken(*ways: str):
    """The example of the text, four layers, and more of them, each way in turn."""
    numbers = [[[[number]]] for number in (50, 1, 2, 3, 4, 5)]
    declared = [
        draws(
            __name__, Case((numbers, how), note="the text's example"), sized(states=5), sized(states=13, tokens=1),
            how=lambda rng, sizes, how=how: how, least={"states": 5},
        )
        for how in ways
    ]  # fmt: skip

    def visible(rng):
        return [case for inputs in declared for case in inputs(rng)[:5]]

    visible.hidden = lambda rng: [case for inputs in declared for case in inputs.hidden(rng)]
    return visible


EXERCISE = Exercise(
    reference=take_layers,
    parts=(
        cases("one layer", 2, taken("embeddings", "second-to-last", "last"), ""),
        cases("sums", 1, taken("last4-sum", "all-sum"), "a sum takes the wrong layers, or does not add them"),
        cases("side by side", 1, taken("last4-concat"), "the last four layers are not side by side, the lowest first"),
    ),
    facts=lambda case: {"hidden": case.arguments[0][0].shape[-1]},
    hints=(
        "`states` has L + 1 items: number 0 is the embeddings, number i what layer i returns. Negative numbers count "
        "from the end.",
        "`states[-4:]` is the list of the last four. Python's `sum` adds tensors, too.",
        "`ops.concatenate` joins along an axis. The vectors get longer: which axis is that?",
    ),
    misconceptions=(
        mistake("embeddings-are-layer-one", "return states[0]", "return states[1]",
            hint="You take the first layer. The embeddings come before it: they are item 0 of the list."),
        mistake("last-is-second-to-last", "return states[-2]", "return states[-3]",
            hint="This is the last layer but two. The second-to-last is h^(L−1), the one just below the last."),
        mistake("first-four",
            "return ops.concatenate(states[-4:], axis=-1)", "return ops.concatenate(states[:4], axis=-1)",
            "return sum(states[-4:])", "return sum(states[:4])",
            hint="You take the first four items, the embeddings among them. The last four layers are at the end of the "
                 "list."),
        mistake("slice-ends-too-early",
            "return ops.concatenate(states[-4:], axis=-1)", "return ops.concatenate(states[-4:-1], axis=-1)",
            "return sum(states[-4:])", "return sum(states[-4:-1])",
            hint="The last layer is missing: a slice ends *before* its second number. Leave that number out."),
        mistake("five-of-them",
            "return ops.concatenate(states[-4:], axis=-1)", "return ops.concatenate(states[-5:], axis=-1)",
            "return sum(states[-4:])", "return sum(states[-5:])",
            hint="You take five. In a model of four layers the fifth from the end is the embeddings, which know "
                 "nothing of the context."),
        mistake("embeddings-in-the-sum", "return sum(states[1:])", "return sum(states)",
            hint="Your sum of all layers has the embeddings in it. They are h^(0); the layers begin with h^(1)."),
        mistake("mean-for-sum",
            "return sum(states[-4:])", "return sum(states[-4:]) / 4",
            "return sum(states[1:])", "return sum(states[1:]) / (len(states) - 1)",
            hint="You take the mean of the layers. The text has their sum."),
        mistake("tokens-side-by-side", "axis=-1)", "axis=1)",
            hint="You put the tokens of four layers one behind the other: the sentence gets longer. Each token must "
                 "get a longer vector."),
        mistake("stacked", "ops.concatenate(states[-4:], axis=-1)", "ops.stack(states[-4:], axis=-1)",
            hint="Stacking makes a new axis. Side by side means that the axis of the {hidden} numbers gets longer."),
        mistake("highest-first", "ops.concatenate(states[-4:], axis=-1)", "ops.concatenate(states[:-5:-1], axis=-1)",
            hint="Your four blocks begin with the last layer. The lowest of the four comes first."),
    ),
)  # fmt: skip
