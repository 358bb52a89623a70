"""The k most probable tokens for every [MASK] of one text."""

import numpy as np

from autograde.exercises.numpy_bert import softmax
from autograde.exercises.writing import Case, Exercise, Forbidden, Part, Random, Trial, mistake, normal, values


def fill_in(token_ids, logits, pieces, k=5):
    mask = pieces.index("[MASK]")
    guesses = []
    for row in softmax(logits)[[token == mask for token in token_ids]]:
        best = np.argsort(-row)[:k]
        guesses.append([(pieces[i], float(row[i])) for i in best])
    return guesses


PIECES = ("[PAD]", "[CLS]", "[SEP]", "a", "robin", "is", "not", "bird", "tree", "river", "bank", "the", "##s", "[UNK]",
          "mask", "Paris")  # fmt: skip


def blanks(rng: Random, tokens: int, positions, k: int | None, mask: int | None = None) -> Case:
    """A sequence of ids with some [MASK]; the id of [MASK] differs from draw to draw."""
    pieces = list(PIECES)
    pieces.insert(int(rng.integers(1, len(pieces))) if mask is None else mask, "[MASK]")
    others = [i for i, piece in enumerate(pieces) if piece != "[MASK]"]
    ids = [int(i) for i in rng.choice(others, tokens)]
    for position in positions:
        ids[position] = pieces.index("[MASK]")
    more = () if k is None else (k,)
    return Case((ids, normal(rng, tokens, len(pieces), size=2), pieces, *more))


def one_blank(rng: Random) -> list[Case]:
    """k is given, or 5 by default."""
    return [
        blanks(rng, 6, [int(rng.integers(1, 5))], 4), blanks(rng, 5, [int(rng.integers(1, 4))], None),
        blanks(rng, 5, [int(rng.integers(1, 4))], 3), *unusual_blanks(rng),
    ]  # fmt: skip


def unusual_blanks(rng: Random) -> list[Case]:
    """[MASK] is the first or the last token of the vocabulary and of the text, or all of it; k is 1, or all tokens.

    Logits whose powers are too large or too small for float32.
    """
    far = [shifted(blanks(rng, 5, [2], 3), by) for by in (128, -128)]
    alone = blanks(rng, 1, [0], 2)
    return [
        blanks(rng, 4, [0], 1, mask=0), blanks(rng, 5, [4], len(PIECES) + 1, mask=len(PIECES)), *far, alone,
        *similar_tokens(rng),
    ]  # fmt: skip


def similar_tokens(rng: Random) -> list[Case]:
    """Other tokens that could be taken for [MASK], also the one with its id in the published vocabulary; a token that
    is nearly certain; two that are nearly equally probable."""
    unknown, certain, equal = (blanks(rng, 6, [2], 3) for _ in range(3))
    ids, logits, pieces, k = unknown.arguments
    ids[3], ids[4] = pieces.index("[UNK]"), pieces.index("mask")
    certain.arguments[1][2, pieces_but_mask(certain)[0]] += 30
    first, second = (equal.arguments[2].index(piece) for piece in ("tree", "bird"))
    equal.arguments[1][2, [first, second]] = 8.0005, 8.0
    large = [*PIECES, "[MASK]", *(f"word{number}" for number in range(100))]
    token_ids = [103, large.index("[MASK]"), 5]
    return [unknown, certain, equal, Case((token_ids, normal(rng, 3, len(large), size=2), large, 2))]


def pieces_but_mask(case: Case) -> list[int]:
    return [index for index, piece in enumerate(case.arguments[2]) if piece != "[MASK]"]


def shifted(case: Case, by: int) -> Case:
    """The same case with a number added to all logits: the probabilities stay."""
    ids, logits, *others = case.arguments
    return Case((ids, logits + np.float32(by), *others))


def longer_text(rng: Random) -> list[Case]:
    return [blanks(rng, 20, [int(rng.integers(5, 20))], 6)]


def longer_text_with_several(rng: Random) -> list[Trial]:
    return [Trial((blanks(rng, 20, [3, 4, 11, 19], 6),))]


def several_blanks(rng: Random) -> list[Trial]:
    """Two apart, two side by side, four, all, and none."""
    first = int(rng.integers(1, 3))
    cases = (
        blanks(rng, 7, [first, first + 3], 4), blanks(rng, 7, [first, first + 1], 2), blanks(rng, 3, [0, 1, 2], 3),
        blanks(rng, 4, [], 2), blanks(rng, 6, [0, 2, 3, 5], 2),
    )  # fmt: skip
    return [Trial((case,)) for case in cases]


EXERCISE = Exercise(
    reference=fill_in,
    returns="list",
    parts=(
        values(2, one_blank, hidden=longer_text),
        Part("several masks, or none", 1, several_blanks, "with two masks, or with none, the list is wrong",
            longer_text_with_several),
    ),
    forbidden=Forbidden("In this exercise you read the head's logits yourself."),
    facts=lambda case: {"k": case.arguments[3], "mask": case.arguments[2].index("[MASK]")},
    hints=(
        "Find the id of [MASK] in `pieces`, then the positions at which `token_ids` has it.",
        "Softmax over the whole vocabulary first; choose the k largest afterwards.",
        "`ops.top_k(row, k)` returns the largest values, best first, and their indices; `pieces[int(i)]` is the "
        "token.",
    ),
    misconceptions=(
        mistake("mask-is-four", 'pieces.index("[MASK]")', "4",
            hint="You take 4 for the id of [MASK]. It depends on the vocabulary: look it up in `pieces`."),
        mistake("shares-among-the-best",
            "ops.softmax(logits, axis=-1)", "logits",
            "shares, best = ops.top_k(row, k)\n",
            "shares, best = ops.top_k(row, k)\n"
            "            shares = ops.softmax(shares)\n",
            hint="Your {k} probabilities sum to 1: you applied softmax after choosing. The other tokens have "
                 "probability too."),
        mistake("logits-for-probabilities", "ops.softmax(logits, axis=-1)", "logits",
            hint="These numbers are logits. Softmax over the vocabulary turns them into probabilities."),
        mistake("softmax-over-tokens", "ops.softmax(logits, axis=-1)", "ops.softmax(logits, axis=0)",
            hint="You applied softmax over the positions. Each position chooses among the tokens of the vocabulary: "
                 "the last axis."),
        mistake("worst-first", "for i, share in zip(best, shares)]", "for i, share in zip(best, shares)][::-1]",
            hint="Your list begins with the least probable of the {k}. The most probable comes first."),
        mistake("least-likely",
            "shares, best = ops.top_k(row, k)", "best = ops.argsort(row)[:k]\n            shares = ops.take(row, best)",
            hint="You took the {k} smallest: sorting is ascending. Reverse it, or sort by the negative."),
        mistake("reads-cls", "ops.top_k(row, k)", "ops.top_k(probabilities[0], k)",
            hint="You read the first token, [CLS]. Read the logits at the position of [MASK]."),
        mistake("first-blank-only", "    return guesses", "    return guesses[:1]",
            hint="With several [MASK] you answer only the first one: return one list per [MASK]."),
    ),
)  # fmt: skip
