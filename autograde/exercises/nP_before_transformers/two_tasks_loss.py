"""The sum of two losses: tags of words from a lower layer, labels of sentences from the last one."""

import numpy as np

from autograde.exercises.nP_before_transformers._shared import READY_MADE_LOSSES, log_softmax, some_real
from autograde.exercises.writing import (
    Exercise,
    Part,
    Random,
    Trial,
    draws,
    mistake,
    sized,
    whole_numbers,
)


def two_tasks_loss(states, w_tag, w_label, tags, labels, layer):
    places = zip(*np.nonzero(tags >= 0))
    tagged = [-log_softmax(states[layer - 1][place] @ w_tag)[tags[place]] for place in places]
    first = [-log_softmax(rows[0] @ w_label)[label] for rows, label in zip(states[-1], labels)]
    return np.array(np.mean(tagged) + np.mean(first))


def some_tags(rng: Random, sizes) -> np.ndarray:
    """−1 in places; of the first row all but one."""
    shape = sizes["batch"], sizes["tokens"]
    real = some_real(rng, *shape)
    real[0] = 0
    real[0, -1] = 1
    return np.where(real == 1, whole_numbers(rng, sizes["tag_names"], *shape), -1).astype("int32")


def at(layer: int):
    return draws(
        __name__, sized(layers=3, batch=4, tokens=5), tags=some_tags, labels="label_names",
        layer=lambda rng, sizes: layer, scale={"w_tag": 1.5, "w_label": 1.5},
        least={"layers": max(2, layer), "batch": 2, "tokens": 2, "tag_names": 2, "label_names": 2},
    )  # fmt: skip


def of_layers(*layers: int):
    return lambda rng: [Trial((case,)) for layer in layers for case in at(layer)(rng)[:4]]


EXERCISE = Exercise(
    reference=two_tasks_loss,
    in_graph=True,
    parts=(
        Part("values", 1.5, of_layers(1), hidden=lambda rng: [Trial((case,)) for case in at(1).hidden(rng)]),
        Part("any layer", 0.5, of_layers(2), "with another layer the tags' loss is wrong"),
        Part("gradients", 1, lambda rng: at(1).gradients(rng),
            "gradients of both losses must reach their layers and weights"),
    ),
    forbidden=READY_MADE_LOSSES,
    hints=(
        "It is the loss of a tagger plus the loss of a classifier. Each is a mean of its own; the sum comes last.",
        "`states[layer - 1]` is layer number `layer`. `states[-1][:, 0]` is the first position of the last layer.",
        "A position without a tag has weight 0: multiply its loss by 0, divide by the number of tags. −1 is no column: "
        "`ops.maximum(tags, 0)` before you look it up.",
    ),
    misconceptions=(
        mistake("both-on-the-last", "states[layer - 1]", "states[-1]",
            hint="You tag the states of the last layer. The lower task gets a lower layer: number `layer`, counted "
                 "from 1."),
        mistake("layers-counted-from-zero", "states[layer - 1]", "states[layer]",
            hint="`states[layer]` is the layer after it: layer 1 is the first item of the list, number 0."),
        mistake("label-from-the-lower-layer", "states[-1][:, 0]", "states[layer - 1][:, 0]",
            hint="Your labels are read from layer `layer` as well. The sentence is classified on top, on the last "
                 "layer."),
        mistake("one-mean-of-all", "    return tag_loss + label_loss\n",
            "    count = ops.sum(has_tag)\n"
            "    return (tag_loss * count + label_loss * labels.shape[0]) / (count + labels.shape[0])\n",
            hint="You average the losses of tags and labels together. There are many more tags, so that the "
                 "sentences would hardly count: take two means and add them."),
        mistake("half-of-each", "return tag_loss + label_loss", "return (tag_loss + label_loss) / 2",
            hint="You take the mean of the two losses. The text has their sum, as BERT has for its two tasks."),
        mistake("untagged-positions-trained-on", "ops.sum(of_tags * has_tag) / ops.sum(has_tag)", "ops.mean(of_tags)",
            hint="Positions without a tag (−1) count in yours, as if they had tag 0."),
        mistake("divided-by-all-positions",
            "ops.sum(of_tags * has_tag) / ops.sum(has_tag)", "ops.mean(of_tags * has_tag)",
            hint="You divide by all positions. Divide by the number of those that have a tag."),
        mistake("mean-of-sentences", "-ops.sum(of_tags * has_tag) / ops.sum(has_tag)",
            "-ops.mean(ops.sum(of_tags * has_tag, axis=1) / ops.sum(has_tag, axis=1))",
            hint="You average within each sentence first, so that a word of a short sentence counts more. All tags "
                 "of the batch have the same weight."),
        mistake("gradient-stopped", "ops.matmul(states[layer - 1], w_tag)",
            "ops.matmul(ops.stop_gradient(states[layer - 1]), w_tag)",
            hint="The tags' gradient does not reach the layers: then they are not shared. Both losses train the "
                 "layers below them."),
        mistake("label-from-the-last-position", "states[-1][:, 0]", "states[-1][:, -1]",
            hint="You classify the last position. The sentence's vector is that of the first, where BERT has [CLS]."),
    ),
)  # fmt: skip
