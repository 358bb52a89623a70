"""Notebook 06, exercises 6.9 and 6.10: from one example to batches without end."""

from autograde.exercises import n06_draws as draws
from autograde.exercises.n06_common import BUILD_IT, LIBRARY, NOTEBOOK
from autograde.exercises.spec import Exercise, Misconception, Part, cases, plain_function, stream, values

MAKE_EXAMPLE = Exercise(
    id="make-example",
    notebook=NOTEBOOK,
    kept_in="data",
    number="6.9",
    title="One example",
    minutes=8,
    lines="",
    names=("make_example",),
    arguments=("original_ids", "masked_ids", "token_type_ids", "positions", "label", "length", "most"),
    probe=plain_function("make_example"),
    reference=draws.example,
    returns="dict",
    parts=(
        values(3, draws.examples),
        cases("nothing to fill up", 1, draws.full_examples, "a row that is exactly full needs no filling"),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "Three lists are `length` long, three are `most` long, and the label is one number.",
        "What is to be predicted? Look at the positions in the row as it was *before* masking.",
        "A list times a number repeats it: `[0] * 3`. Weights are 1.0 for a real prediction, 0.0 for filling.",
    ),
    misconceptions=(
        Misconception(
            "labels-after-masking",
            "Your masked_lm_ids are taken from the masked row. The model is to find what stood there *before*.",
            (("original_ids[t] for t", "masked_ids[t] for t"),),
        ),
        Misconception(
            "masks-not-attended",
            (
                "attention_mask is 0 where a token is predicted. It hides padding only; the model must see the [MASK] "
                "to know that something is missing. (Two different things are called mask.)"
            ),
            (("[1] * len(masked_ids)", "[int(t not in positions) for t in range(len(masked_ids))]"),),
        ),
        Misconception(
            "filling-counts",
            "All weights are 1, so the filling counts as predictions of token 0 at position 0. Its weight is 0.",
            (("[1.0] * len(positions) + [0.0] * unused", "[1.0] * most"),),
        ),
        Misconception(
            "weights-by-token",
            "Your weights have one number per token. They go with the predictions: `most` of them, in their order.",
            (
                (
                    "[1.0] * len(positions) + [0.0] * unused",
                    "[1.0 if t in positions else 0.0 for t in range(length)]",
                ),
            ),
        ),
        Misconception(
            "predictions-not-filled-up",
            "Your lists of predictions are as long as this row needs. A batch needs one length: fill up to `most`.",
            (("unused = most - len(positions)", "unused = 0"),),
        ),
    ),
)

BATCHES = Exercise(
    id="batches",
    notebook=NOTEBOOK,
    kept_in="data",
    number="6.10",
    title="Batches without end",
    minutes=10,
    lines="",
    names=("batches",),
    arguments=("examples", "batch_size", "seed"),
    probe=stream("batches", 20),
    reference=None,
    returns="anything",
    parts=(
        Part("epochs", 3, draws.epochs_of(32)),
        Part("what is left over", 1, draws.epochs_of(27), "every batch is full; what is left of an epoch is dropped"),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "A data set has a method for each step: `shuffle`, `batch`, `repeat`, `prefetch`. What matters is their order.",
        "Shuffle single examples, of all of them; only then make batches; only then start over.",
        "The buffer of `shuffle` must hold all examples, and `batch` has a parameter for the remainder.",
    ),
    misconceptions=(
        Misconception(
            "unshuffled",
            "The examples come in the order in which they are stored: neighbours share a batch. Shuffle.",
            (("dataset = dataset.shuffle(len(examples[\"input_ids\"]), seed=seed)", "dataset = dataset"),),
        ),
        Misconception(
            "batches-shuffled",
            "You shuffle whole batches: neighbours stay together for ever. Shuffle the examples, then make batches.",
            (
                ("    dataset = dataset.shuffle(len(examples[\"input_ids\"]), seed=seed)\n", ""),
                ("drop_remainder=True)", "drop_remainder=True).shuffle(len(examples[\"input_ids\"]), seed=seed)"),
            ),
        ),
        Misconception(
            "small-buffer",
            (
                "Your shuffle buffer holds one batch: the next example is drawn from the next few, so order survives. "
                "It must hold all examples."
            ),
            (("shuffle(len(examples[\"input_ids\"])", "shuffle(batch_size"),),
        ),
        Misconception(
            "same-order-every-epoch",
            "Every epoch has the order of the first. Let it be shuffled anew each time (it is unless you turn it off).",
            (("seed=seed)", "seed=seed, reshuffle_each_iteration=False)"),),
        ),
        Misconception(
            "repeated-before-shuffling",
            (
                "You repeat before you shuffle: epochs run into one another, and one example comes twice before "
                "another has come at all."
            ),
            (("dataset.shuffle(", "dataset.repeat().shuffle("), ("dataset.repeat().prefetch", "dataset.prefetch")),
        ),
        Misconception(
            "remainder-kept",
            "The last batch of an epoch is smaller. Each new shape costs a compilation: drop the remainder.",
            ((", drop_remainder=True", ""),),
        ),
        Misconception(
            "one-epoch",
            "After one epoch nothing more comes. Training goes through the examples many times: repeat.",
            (("dataset.repeat().prefetch", "dataset.prefetch"),),
        ),
    ),
)  # fmt: skip
