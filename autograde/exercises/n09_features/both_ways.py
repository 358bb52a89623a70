"""The tokens that a forward and a backward language model read and predict, for padded sentences."""

import numpy as np

from autograde.exercises.n09_features._shared import real_words
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values, whole_numbers


def both_ways(ids, is_real, start, end):
    """Position by position, counted from either end of the sentence with its marks."""
    arrays = np.zeros((4, len(ids), ids.shape[1] + 1), "int32")
    for row, length in enumerate(is_real.sum(axis=1)):
        marked = np.concatenate([[start], ids[row, :length], [end]])
        for place in range(length + 1):
            arrays[:, row, place] = marked[[place, place + 1, length + 1 - place, length - place]]
    return tuple(arrays)


def batch(rng: Random, rows: int, tokens: int, padded: bool) -> Case:
    """Ids below 9, the marks above; no sentence reads the same from both ends."""
    ids = whole_numbers(rng, 9, rows, tokens)
    ids[:, -1] = (ids[:, 0] + 1 + ids[:, -1] % 8) % 9 if tokens > 1 else ids[:, -1]
    real = real_words(rng, rows, tokens) if padded else np.ones((rows, tokens), "int32")
    start, end = (int(mark) for mark in 10 + rng.permutation(4)[:2])
    return Case((ids, real, start, end))


def whole_sentences(rng: Random) -> list[Case]:
    """One word, as many sentences as words, ids of 0."""
    by_hand = Case((np.array([[4, 2, 6], [1, 0, 0]], "int32"), np.ones((2, 3), "int32"), 7, 8), note="by hand")
    return [by_hand, batch(rng, 2, 5, False), batch(rng, 4, 4, False), batch(rng, 3, 1, False)]


def padded_sentences(rng: Random) -> list[Case]:
    """The text's example; padding has ids of words, and words have the id of padding."""
    text = Case((np.array([[3, 5, 0]], "int32"), np.array([[1, 1, 0]], "int32"), 7, 8), note="the text's example")
    with_zeros = batch(rng, 4, 6, True)
    with_zeros.arguments[0][:, 0] = 0
    return [text, batch(rng, 4, 5, True), with_zeros, batch(rng, 2, 4, True)]


EXERCISE = Exercise(
    probe=plain_function(),
    returns="tuple",
    reference=both_ways,
    parts=(
        values(2, whole_sentences, hidden=lambda rng: [batch(rng, 3, 7, False)]),
        cases("padding", 2, padded_sentences, "with padding the result is wrong: each sentence is turned within its "
            "own length, between the two marks, and 0 comes behind", lambda rng: [batch(rng, 5, 8, True)]),
    ),
    facts=lambda case: {"start": case.arguments[2], "end": case.arguments[3]},
    hints=(
        "Write down start, words, end for one sentence. A model reads all but the last and predicts all but the first.",
        "`sentence[::-1]` is the turned sentence: it begins with `end`. Inputs and targets come in the same way.",
        "`numbers[real == 1]` are the real words of a row. Fill arrays of zeros, as long as the row and one more.",
    ),
    misconceptions=(
        mistake("target-is-the-input", "sentence[:-1], sentence[1:], turned[:-1], turned[1:]",
            "sentence[:-1], sentence[:-1], turned[:-1], turned[:-1]",
            hint="Your models predict the word that they have just read. Each target is what comes next."),
        mistake("backwards-not-turned", "turned[:-1], turned[1:]", "sentence[1:], sentence[:-1]",
            hint="Your backward model has the right pairs but reads them from the left, so it has already seen each "
                 "target. It reads the turned sentence, from `end` on."),
        mistake("marks-exchanged", "turned = sentence[::-1]", "turned = [start, *sentence[-2:0:-1], end]",
            hint="Your turned sentence begins with {start} and ends with {end}. Turn the marks, too: a reader from "
                 "the right meets `end` first."),
        mistake("twice-forwards", "turned = sentence[::-1]", "turned = sentence",
            hint="Your backward model reads forwards. Turn the sentence."),
        mistake("directions-exchanged", "sentence[:-1], sentence[1:], turned[:-1], turned[1:]",
            "turned[:-1], turned[1:], sentence[:-1], sentence[1:]",
            hint="You return the backward model's arrays first. The forward ones come first."),
        mistake("inputs-and-targets-exchanged", "sentence[:-1], sentence[1:], turned[:-1], turned[1:]",
            "sentence[1:], sentence[:-1], turned[1:], turned[:-1]",
            hint="You exchange inputs and targets. A model that reads from the left reads `start` first and "
                 "predicts the first word."),
        mistake("padding-turned-to-the-front", "            array[row, : len(part)] = part\n    return arrays\n",
            "            array[row, : len(part)] = part\n"
            "    for array, mark in zip(arrays[2:], (0, 0)):\n"
            "        for row, real in enumerate(is_real):\n"
            "            array[row] = np.roll(array[row], len(real) - real.sum())\n    return arrays\n",
            hint="In your backward arrays padding comes first: the whole row was turned. Turn each sentence within its "
                 "own length."),
        mistake("padding-is-id-zero", "numbers[real == 1]", "numbers[numbers != 0]",
            hint="You leave out the words with the id 0 and keep padding that has another id. Only `is_real` says what "
                 "is padding."),
        mistake("padding-kept", "numbers[real == 1]", "numbers",
            hint="Padding is in your sentences, as if it were words: `end` comes behind it. Take real words alone."),
    ),
)  # fmt: skip
