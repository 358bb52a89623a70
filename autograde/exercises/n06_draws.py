"""Inputs, references and chances of notebook 06, in plain Python and NumPy.

Random functions are called a few hundred times with generators of different seeds. Then each result must obey the rule,
and the counts must lie where chance puts them (see `autograde.chances`).
"""

from math import comb

import numpy as np

from autograde.exercises.spec import Case, Obeys, Rates, Trial

Random = np.random.Generator

CLS, SEP, PAD, MASK = 101, 102, 0, 103  # as in BERT's published vocabulary
CALLS = 300


def seeds(rng: Random, calls: int = CALLS) -> tuple[int, ...]:
    """Different seeds, and the first one once more."""
    drawn = [int(seed) for seed in rng.choice(2**20, calls, replace=False)]
    return (*drawn, drawn[0])


def obeying(rng: Random, rule: str, *arguments, calls: int = 60, note: str = "") -> Trial:
    """Calls whose results obey a rule."""
    return Trial((Case(arguments, seeds=seeds(rng, calls), note=note),), (Obeys(rule),))


def chancy(rng: Random, rule: str, rates: dict, *arguments, calls: int = CALLS) -> Trial:
    """Many calls in which things happen as often as they should."""
    return Trial((Case(arguments, seeds=seeds(rng, calls)),), (Rates(rule, rates),))


def tokens(rng: Random, count: int) -> list[int]:
    """Different ids of regular pieces."""
    return [int(token) for token in rng.choice(np.arange(1000, 2000), count, replace=False)]


def binomial(n: int, k: int, p: float) -> float:
    return comb(n, k) * p**k * (1 - p) ** (n - k)


# --- 6.1 each token on its own ---


def masked_one_by_one(rng: Random) -> list[Trial]:
    share = float(rng.choice([0.2, 0.25, 0.3]))
    example = obeying(rng, "each masked", [21, 11987, 5438], 50001, 0.5, note="the lecture's example")
    return [example, obeying(rng, "each masked", tokens(rng, 8), MASK, share)]


def independent(rng: Random) -> list[Trial]:
    length, p = 6, float(rng.choice([0.2, 0.25, 0.3]))
    rates = {f"position {place}": (1, p) for place in range(length)}
    rates |= {f"{k} masked": (1, binomial(length, k, p)) for k in range(length + 1)}
    return [chancy(rng, "each masked", rates, tokens(rng, length), MASK, p)]


def all_or_nothing(rng: Random) -> list[Trial]:
    sure = {f"position {place}": (1, 1.0) for place in range(4)}
    never = {f"position {place}": (1, 0.0) for place in range(4)}
    return [
        chancy(rng, "each masked", rates, tokens(rng, 4), MASK, p, calls=20) for p, rates in ((1.0, sure), (0.0, never))
    ]


# --- 6.2 how many ---


def number_of_predictions(tokens, most=20, share=0.15):
    return int(min(most, max(1, np.rint(share * tokens))))


def usual_lengths(rng: Random) -> list[Case]:
    drawn = rng.choice([n for n in range(12, 110) if abs(0.15 * n % 1 - 0.5) > 0.04], 3, replace=False)
    return [Case((64, 20)), *(Case((int(n), 20)) for n in drawn), Case((80, 40), {"share": 0.4})]


def short_rows(rng: Random) -> list[Case]:
    return [Case((1, 20)), Case((3, 20)), Case((int(rng.integers(4, 8)), 20))]


def long_rows(rng: Random) -> list[Case]:
    return [Case((512, 20)), Case((512, 76)), Case((int(rng.integers(60, 120)), int(rng.integers(3, 8))))]


def ties(rng: Random) -> list[Case]:
    return [Case((30, 20)), Case((10, 20)), Case((70, 20))]


# --- 6.3 which positions ---


def row(rng: Random, first: int, second: int, padding: int) -> list[int]:
    """[CLS] A [SEP] B [SEP] [PAD] …, in which pieces come up more than once."""
    pieces = tokens(rng, 3)
    drawn = [pieces[index] for index in rng.permutation(np.arange(first + second) % 3)]
    return [CLS, *drawn[:first], SEP, *drawn[first:], SEP, *[PAD] * padding]


def rows_to_choose_from(rng: Random) -> list[Trial]:
    special = [CLS, SEP, PAD]
    trials = [(row(rng, 3, 4, 2), 3), (row(rng, 4, 3, 3), int(rng.integers(4, 6)))]
    return [obeying(rng, "chosen positions", ids, special, count) for ids, count in trials]


def every_position(rng: Random) -> list[Trial]:
    ids = row(rng, 4, 4, 1)
    rates = {f"position {place}": (1, 3 / 8) for place in (1, 2, 3, 4, 6, 7, 8, 9)}
    return [chancy(rng, "chosen positions", rates, ids, [CLS, SEP, PAD], 3)]


def more_than_there_are(rng: Random) -> list[Trial]:
    return [obeying(rng, "chosen positions", row(rng, 2, 1, 2), [CLS, SEP, PAD], 5, calls=10)]


# --- 6.4 what stands there instead ---


def rows_to_mask(rng: Random) -> list[Trial]:
    inner = [int(place) for place in rng.choice(np.arange(1, 9), 4, replace=False)]
    first = [CLS, *tokens(rng, 4), SEP, *tokens(rng, 3), SEP]
    replacements = tokens(rng, 40)
    return [
        obeying(rng, "replaced", first, sorted(set(inner) - {5}), MASK, replacements),
        obeying(rng, "replaced", [CLS, *replacements[:6], SEP], [2, 4], MASK, replacements),
    ]


def fates(rng: Random) -> list[Trial]:
    ids = [CLS, *range(2001, 2009), SEP]
    replacements, chosen = tokens(rng, 4), [1, 2, 4, 5, 8]
    rates = {"masked": (5, 0.8), "another": (5, 0.1), "unchanged": (5, 0.1), "all masked": (1, 0.8**5)}
    return [chancy(rng, "replaced", rates, ids, chosen, MASK, replacements)]


def every_replacement(rng: Random) -> list[Trial]:
    ids, replacements = [CLS, *range(2001, 2009), SEP], tokens(rng, 3)
    rates = {f"replaced by {token}": (8, 0.1 / 3) for token in replacements}
    return [chancy(rng, "replaced", rates, ids, list(range(1, 9)), MASK, replacements)]


# --- 6.5 and 6.6 whole words ---


def whole_words(pieces):
    """Another road than the notebook's: mark where words begin, then cut."""
    regular = [piece not in ("[CLS]", "[SEP]", "[PAD]") for piece in pieces]
    goes_on = [
        regular[t] and t > 0 and regular[t - 1] and pieces[t].startswith("##") for t in range(len(pieces))
    ]  # fmt: skip
    begins = [t for t in range(len(pieces)) if regular[t] and not goes_on[t]]
    return [[t for t in range(begin, len(pieces)) if all(goes_on[begin + 1 : t + 1])] for begin in begins]


WORDS = (["the"], ["play", "##ing"], ["bo", "##at"], ["penguin", "##s"], ["flight", "##less"], ["un", "##bel", "##iev",
         "##able"], ["sea"], ["milk"], ["gall", "##on"], ["##s"])  # fmt: skip


def _pieces(rng: Random, count: int) -> list[str]:
    drawn = [WORDS[index] for index in rng.choice(len(WORDS) - 1, count, replace=False)]
    return [piece for word in drawn for piece in word]


def rows_of_words(rng: Random) -> list[Case]:
    example = "[CLS] penguin ##s are flight ##less birds [SEP]".split()
    drawn = ["[CLS]", "un", "##bel", *_pieces(rng, 4), "[SEP]", *_pieces(rng, 3), "[SEP]", "[PAD]", "[PAD]"]
    return [Case((example,)), Case((drawn,))]


def cut_words(rng: Random) -> list[Case]:
    """Truncation at the front leaves the end of a word behind a special token."""
    return [Case((["[CLS]", *_pieces(rng, 2), "[SEP]", "##ing", "##s", *_pieces(rng, 2), "[SEP]"],))]


def places_of_words(rng: Random, sizes: list[int]) -> list[list[int]]:
    """Words of the given sizes one after the other behind [CLS], in a random order."""
    words, place = [], 1
    for size in rng.permutation(sizes):
        words.append(list(range(place, place + int(size))))
        place += int(size)
    return words


def words_to_choose(rng: Random) -> list[Trial]:
    return [
        obeying(rng, "chosen words", places_of_words(rng, [1, 1, 2, 2, 3, 4]), 5),
        obeying(rng, "chosen words", places_of_words(rng, [1, 2, 3, 3, 4]), int(rng.integers(4, 6))),
    ]


def every_word(rng: Random) -> list[Trial]:
    rates = {f"word {index}": (1, 1 / 2) for index in range(6)}
    return [chancy(rng, "chosen words", rates, places_of_words(rng, [2] * 6), 6)]


def nothing_fits(rng: Random) -> list[Trial]:
    return [obeying(rng, "chosen words", places_of_words(rng, [3, 4, 3]), 2, calls=10)]


# --- 6.7 pairs ---

SUBJECTS = "the robin|a daisy|the hammer|my dog|the penguin|a boat|the man|her sister|the milk|an old bank".split("|")
VERBS = "sleeps|sings|sinks|is cute|went out|stands still|laughs|flies|is gone|waits".split("|")


def library(rng: Random, sizes: tuple[int, ...]) -> list[list[str]]:
    """Documents of different sentences."""
    drawn = rng.choice(len(SUBJECTS) * len(VERBS), sum(sizes), replace=False)
    sentences = [f"{SUBJECTS[n // len(VERBS)]} {VERBS[n % len(VERBS)]}" for n in drawn]
    ends = np.cumsum(sizes)
    return [sentences[end - size : end] for size, end in zip(sizes, ends)]


def pairs(rng: Random) -> list[Trial]:
    sizes = tuple(int(size) for size in rng.permutation([3, 4, 6]))
    document = int(rng.integers(3))
    return [
        obeying(rng, "next sentence", library(rng, sizes), document, int(rng.integers(sizes[document] - 1))),
        obeying(rng, "next sentence", library(rng, (2, 4)), 0, 0),
    ]


def half_and_half(rng: Random) -> list[Trial]:
    rates = {"next": (1, 1 / 2), "not next": (1, 1 / 2)}
    return [chancy(rng, "next sentence", rates, library(rng, (4, 4, 4)), int(rng.integers(3)), int(rng.integers(3)))]


def any_other_document(rng: Random) -> list[Trial]:
    document = int(rng.integers(4))
    rates = {f"document {index}": (1, 1 / 6) for index in range(4) if index != document}
    rates |= {f"sentence {index}": (1, 1 / 8) for index in range(4)}
    return [chancy(rng, "next sentence", rates, library(rng, (4, 4, 4, 4)), document, 1)]


# --- 6.8 truncation ---


def too_long(rng: Random) -> list[Trial]:
    a, b = int(rng.integers(8, 12)), int(rng.integers(3, 6))
    return [
        obeying(rng, "truncated", tokens(rng, a), tokens(rng, b), a + b - 3),
        obeying(rng, "truncated", tokens(rng, b), tokens(rng, a), a + b - 4),
        obeying(rng, "truncated", tokens(rng, 9), tokens(rng, 6), 9),
        obeying(rng, "truncated", tokens(rng, b), tokens(rng, a), a + b + 2, note="fits as it is"),
    ]


def from_either_end(rng: Random) -> list[Trial]:
    a, b, taken = 9, 3, 5
    first = {f"{k} from the front of A": (1, binomial(taken, k, 0.5)) for k in range(taken + 1)}
    second = {f"{k} from the front of B": (1, binomial(taken, k, 0.5)) for k in range(taken + 1)}
    return [
        chancy(rng, "truncated", first, tokens(rng, a), tokens(rng, b), a + b - taken),
        chancy(rng, "truncated", second, tokens(rng, b), tokens(rng, a), a + b - taken),
    ]


# --- 6.9 one example ---


def example(original_ids, masked_ids, token_type_ids, positions, label, length, most):
    """NumPy arrays filled from the left, given as lists."""

    def filled(size, values, kind="int64"):
        array = np.zeros(size, kind)
        array[: len(values)] = values
        return array.tolist()

    return {
        "input_ids": filled(length, masked_ids),
        "token_type_ids": filled(length, token_type_ids),
        "attention_mask": filled(length, [1] * len(masked_ids)),
        "masked_lm_positions": filled(most, positions),
        "masked_lm_ids": filled(most, [original_ids[place] for place in positions]),
        "masked_lm_weights": filled(most, [1.0] * len(positions), "float64"),
        "next_sentence_labels": label,
    }


def _example_case(rng: Random, a: int, b: int, count: int, length: int, most: int) -> Case:
    original = [CLS, *tokens(rng, a), SEP, *tokens(rng, b), SEP]
    regular = [place for place, token in enumerate(original) if token not in (CLS, SEP)]
    positions = sorted(int(place) for place in rng.choice(regular, count, replace=False))
    masked = list(original)
    for place, token in zip(positions[1:], [MASK, *tokens(rng, count)]):
        masked[place] = token
    segments = [0] * (a + 2) + [1] * (b + 1)
    return Case((original, masked, segments, positions, int(rng.integers(2)), length, most))


def examples(rng: Random) -> list[Case]:
    return [_example_case(rng, 4, 3, 3, 14, 5), _example_case(rng, 3, 5, 2, 13, 4)]


def full_examples(rng: Random) -> list[Case]:
    """Nothing to fill up."""
    return [_example_case(rng, 4, 3, 4, 10, 4)]


# --- 6.10 batches ---


def stored_examples(rng: Random, count: int) -> dict[str, np.ndarray]:
    """Rows that differ from one another, with a label that goes with each."""
    ids = rng.choice(np.arange(1000, 30000), (count, 5), replace=False).astype("int32")
    return {"input_ids": ids, "next_sentence_labels": (ids.sum(axis=1) % 7).astype("int32")}


def epochs_of(count: int):
    """Trials on a number of examples, in batches of 4."""

    def trials(rng: Random) -> list[Trial]:
        case = Case((stored_examples(rng, count), 4, int(rng.integers(1000))))
        return [Trial((case,), (Obeys("epochs"),))]

    return trials
