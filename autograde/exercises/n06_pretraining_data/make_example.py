"""One training example, padded to fixed sizes. The id of [PAD] is 0."""

import numpy as np

from autograde.exercises.draws import Random
from autograde.exercises.n06_pretraining_data._shared import CLS, LIBRARY, MASK, OTHER_CLS, OTHER_SEP, SEP, tokens
from autograde.exercises.spec import Case, Exercise, cases, composed, mistake, plain_function, result_of, values


def example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    """NumPy arrays filled from the left, given as lists."""

    def filled(size, values, kind="int64"):
        array = np.zeros(size, kind)
        array[: len(values)] = values
        return array.tolist()

    return {
        "input_ids": filled(length, masked_ids),
        "token_type_ids": filled(length, token_type_ids),
        "attention_mask": filled(length, [1] * len(masked_ids)),
        "masked_lm_positions": filled(max_predictions, positions),
        "masked_lm_ids": filled(max_predictions, [original_ids[position] for position in positions]),
        "masked_lm_weights": filled(max_predictions, [1.0] * len(positions), "float64"),
        "next_sentence_labels": label,
    }


def _example_case(
    rng: Random, a: int, b: int, count: int, length: int, max_predictions: int, label: int, special=(CLS, SEP),
    in_order=True,
) -> Case:  # fmt: skip
    cls, sep = special
    original = [cls, *tokens(rng, a), sep, *tokens(rng, b), sep]
    regular = [position for position, token in enumerate(original) if token not in special]
    positions = sorted(int(position) for position in rng.choice(regular, count, replace=False))
    positions = positions if in_order else positions[1:] + positions[:1]
    masked = list(original)
    for position, token in zip(positions[1:], [MASK, 0, *tokens(rng, count)]):  # a replacement may have [PAD]'s id
        masked[position] = token
    segments = [0] * (a + 2) + [1] * (b + 1)
    return Case((original, masked, segments, positions, label, length, max_predictions))


def examples(rng: Random) -> list[Case]:
    """Both labels; the special tokens of two vocabularies; without a prediction; a single one, and many unused;
    positions that are not ascending."""
    return [
        _example_case(rng, 2, 4, 0, 11, 3, label=0), _example_case(rng, 1, 2, 1, 9, 12, label=1),
        _example_case(rng, 4, 3, 3, 14, 5, label=1),
        _example_case(rng, 3, 5, 2, 13, 4, label=0, special=(OTHER_CLS, OTHER_SEP)),
        _example_case(rng, 5, 3, 4, 13, 6, label=1, in_order=False),
    ]  # fmt: skip


def full_examples(rng: Random) -> list[Case]:
    """An example that needs no padding; only the sequence, and only the predictions."""
    return [
        _example_case(rng, 4, 3, 4, 10, 4, label=0),
        _example_case(rng, 2, 3, 2, 8, 4, label=0),
        _example_case(rng, 3, 2, 3, 12, 3, label=1),
    ]


def other_examples(rng: Random) -> list[Case]:
    """More predictions than tokens are left to fill; a second segment of one token."""
    other = OTHER_CLS, OTHER_SEP
    return [_example_case(rng, 9, 1, 2, 14, 20, label=1), _example_case(rng, 1, 1, 2, 30, 3, label=0, special=other)]


def two_examples(rng: Random) -> list[Case]:
    """With places for as many predictions as `number_of_predictions` says; both are made before one is read."""
    one, other = _example_case(rng, 3, 4, 2, 12, 4, label=1), _example_case(rng, 2, 2, 1, 12, 4, label=0)
    return [
        composed(
            ("number-of-predictions", Case((int(rng.integers(20, 60)),))),
            ("make-example", Case((*one.arguments[:-1], result_of(0)))),
            ("make-example", Case((*other.arguments[:-1], result_of(0)))),
        )
    ]


EXERCISE = Exercise(
    probe=plain_function(),
    reference=example,
    returns="dict",
    parts=(
        values(3, examples, hidden=other_examples),
        cases("no padding needed", 1, full_examples, "a sequence of exactly the full length needs no padding",
            two_examples),
    ),
    forbidden=LIBRARY,
    hints=(
        "Three lists have the length `length`, three have the length `max_predictions`, and the label is one number.",
        "The labels are the original ids: look them up in the sequence *before* masking.",
        "A list times a number repeats it: `[0] * 3`. Weights are 1.0 for a real prediction, 0.0 for padding.",
    ),
    misconceptions=(
        mistake("unchanged-ones-without-weight",
            "[1.0] * len(positions)", "[float(original_ids[t] != masked_ids[t]) for t in positions]",
            hint="A chosen token that was not changed has weight 0 in your example. It is predicted like the others: "
                 "every chosen position has weight 1."),
        mistake("inputs-before-masking", '"input_ids": masked_ids', '"input_ids": original_ids',
            hint="Your input_ids are the ids before masking: the model would see the answers. Which of the two lists "
                 "is for the model?"),
        mistake("labels-after-masking", "original_ids[t] for t", "masked_ids[t] for t",
            hint="Your masked_lm_ids come from the masked sequence. The labels are the ids *before* masking."),
        mistake("masks-not-attended",
            "[1] * len(masked_ids)", "[int(t not in positions) for t in range(len(masked_ids))]",
            hint="attention_mask is 0 where a token is predicted. It must hide only padding; the model must see the "
                 "[MASK] to know that a word is missing. (Two different things are called mask.)"),
        mistake("filling-counts", "[1.0] * len(positions) + [0.0] * unused", "[1.0] * max_predictions",
            hint="All weights are 1, so the padding counts as predictions of token 0 at position 0. Its weight is 0."),
        mistake("weights-by-token",
            "[1.0] * len(positions) + [0.0] * unused", "[1.0 if t in positions else 0.0 for t in range(length)]",
            hint="Your weights have one number per token. They belong to the predictions: `max_predictions` of them, "
                 "in their order."),
        mistake("predictions-not-filled-up", "unused = max_predictions - len(positions)", "unused = 0",
            hint="Your lists of predictions have different lengths for different examples. A batch needs one "
                 "length: pad up to `max_predictions`."),
    ),
)  # fmt: skip
