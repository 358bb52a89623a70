"""The sentence each token belongs to: 0 for the first and for padding, 1 for the second."""

import numpy as np

from autograde.exercises.n02_embeddings._shared import READY_MADE
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, values

PAD, CLS, SEP = 0, 2, 3  # ids of a vocabulary that begins with [PAD] [UNK] [CLS] [SEP] [MASK]
FIRST_WORD = 5
# [CLS] my dog is cute [SEP] he likes play ##ing [SEP], the lecture's eleven tokens
LECTURE_IDS = np.array([[CLS, 5, 6, 7, 8, SEP, 9, 10, 11, 12, SEP]], "int32")


def segments(token_ids, sep_id, pad_id):
    """Token by token: a [SEP] ends a segment after itself."""
    result = np.zeros(token_ids.shape, "int64")
    for row, pieces in enumerate(token_ids):
        segment = 0
        for position, piece in enumerate(pieces):
            result[row, position] = segment if piece != pad_id else 0
            segment = 1 if piece == sep_id else segment
    return result


def packed(rng: Random, first: int, second: int, padding: int = 0, sep_id: int = SEP, pad_id: int = PAD) -> np.ndarray:
    """[CLS] first [SEP] second [SEP] [PAD] …; without a second segment if it is 0."""
    words = rng.integers(FIRST_WORD, 20, size=first + second)
    row = [CLS, *words[:first], sep_id] + ([*words[first:], sep_id] if second else [])
    return np.array(row + [pad_id] * padding, "int32")


def other_ids(rng: Random) -> list[Case]:
    """[SEP] and [PAD] with other ids; the usual ones belong to words. Ids are integers of 64 bits, too."""
    made = []
    for sep_id, pad_id, dtype in ((102, 0, "int32"), (30, 21, "int64"), (1000, 300, "int32")):
        batch = np.stack([packed(rng, 3, 2, 2, sep_id, pad_id), packed(rng, 1, 4, 2, sep_id, pad_id),
                          packed(rng, 2, 0, 6, sep_id, pad_id), packed(rng, 0, 4, 3, sep_id, pad_id)])  # fmt: skip
        if pad_id:
            batch[0, 1:4] = [PAD, SEP, PAD]  # words here
            batch[1, 3:5] = [SEP, PAD]
        made.append(Case((batch.astype(dtype), sep_id, pad_id)))
    return made


def other_batches(rng: Random) -> list[Case]:
    """Longer rows, also some that are cut off in the second sentence, and one of padding alone."""
    sep_id, pad_id = (int(number) for number in some_ids(rng))
    length = int(rng.integers(12, 40))
    rows = [packed(rng, int(a), int(b), 60, sep_id, pad_id)[:length] for a, b in rng.integers(0, (10, 30), size=(7, 2))]
    rows.append(np.full(length, pad_id, "int32"))
    return [Case((np.stack(rows), sep_id, pad_id)), Case((rows[0][None], sep_id, pad_id))]


def some_ids(rng: Random) -> np.ndarray:
    return rng.choice(np.arange(20, 40000), 2, replace=False)


def pairs(rng: Random) -> list[Case]:
    first = int(rng.integers(1, 4))
    batch = np.stack([packed(rng, first, 6 - first), packed(rng, 5 - first, 1 + first), packed(rng, 7, 0)])
    return [
        Case((LECTURE_IDS, SEP, PAD), note="the lecture's eleven tokens"),
        Case((batch, SEP, PAD)),
        Case((batch[:1], SEP, PAD)),
    ]


def padded(rng: Random) -> list[Case]:
    first = int(rng.integers(1, 4))
    batch = [packed(rng, first, 4 - first, 3), packed(rng, first + 1, 0, 7 - first), packed(rng, 3, 1, 3)]
    batch += [packed(rng, 4, 9)[:10], packed(rng, 12, 2)[:10]]  # cut off in the second sentence; in the first one
    batch.append(np.full(10, PAD, "int32"))
    return [Case((np.stack(batch), SEP, PAD)), Case((packed(rng, 50, 60, 20)[None], SEP, PAD)), *other_ids(rng)]


EXERCISE = Exercise(
    reference=segments,
    dtype="int32",
    parts=(
        values(2, pairs),
        cases("padding", 1, padded,
            "with padding, where a sequence is cut off, or with other ids of [SEP] and [PAD] or ids of another dtype, "
            "the result is wrong",
            other_batches),
    ),
    forbidden=READY_MADE,
    hints=(
        "Consider one token: how many [SEP] come before it? 0 means A, 1 means B.",
        "`ops.cumsum` of the booleans (cast to integers) counts the [SEP] up to *and including* each token; the "
        "token itself must not count.",
        "Padding comes after a [SEP] too. However many [SEP] there are, a [PAD] belongs to segment 0.",
    ),
    misconceptions=(
        mistake("separator-begins-B", " - is_separator", "",
            hint="Your first [SEP] belongs to B. It ends sentence A: only tokens *after* it are B's."),
        mistake("counted-inclusively", " - is_separator", "", "ops.equal(before, 1)", "before >= 1",
            hint="Your count of [SEP] includes the token itself, so the first [SEP] already belongs to B. Count only "
                 "those *before* each token: subtract the token's own."),
        mistake("padding-is-B",
            "ops.logical_and(ops.equal(before, 1), ops.not_equal(token_ids, pad_id))", "ops.equal(before, 1)",
            hint="Where there is no second sentence your padding becomes one. [PAD] belongs to segment 0, as in the "
                 "published tokenizer."),
        mistake("a-third-segment", 'return ops.cast(in_second, "int32")', "return before",
            hint="You return the number of [SEP] before a token. After the second [SEP] that is 2, but there are "
                 "only two segment vectors; [PAD] gets 0."),
        mistake("segments-from-one", 'ops.cast(in_second, "int32")', 'ops.cast(in_second, "int32") + 1',
            hint="Your segments are 1 and 2. They are rows of a table with two rows: 0 and 1."),
        mistake("counted-down-the-batch", "axis=-1", "axis=0",
            hint="You count the [SEP] of other sentences in the batch. Count along each sentence: the last axis."),
    ),
)  # fmt: skip
