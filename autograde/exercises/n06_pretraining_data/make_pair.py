"""A sentence, and either the next one of its document (label 0) or one of another document (label 1)."""

import numpy as np

from autograde.exercises.n06_pretraining_data._shared import LIBRARY, chancy, obeying
from autograde.exercises.writing import Exercise, Part, Random, Trial, mistake, random_function

SUBJECTS = "the robin|a daisy|the hammer|my dog|the penguin|a boat|the man|her sister|the milk|an old bank".split("|")
VERBS = "sleeps|sings|sinks|is cute|went out|stands still|laughs|flies|is gone|waits".split("|")
SHORT = "yes|no|why|who|how|go|sit|run|eat|look|stop|wait|sing|read|hide|rest".split("|")
MANY_CALLS = 2003  # a prime, like CALLS; of SHORT sentences, since a plan holds all results


def library(rng: Random, sizes: tuple[int, ...]) -> list[list[str]]:
    """Documents of different sentences."""
    drawn = rng.choice(len(SUBJECTS) * len(VERBS), sum(sizes), replace=False)
    return in_documents([f"{SUBJECTS[n // len(VERBS)]} {VERBS[n % len(VERBS)]}" for n in drawn], sizes)


def in_documents(sentences: list[str], sizes: tuple[int, ...]) -> list[list[str]]:
    ends = np.cumsum(sizes)
    return [sentences[end - size : end] for size, end in zip(sizes, ends)]


def pairs(rng: Random) -> list[Trial]:
    """The first, a middle and the last document; the first and the last sentence that has a next one."""
    sizes = tuple(int(size) for size in rng.permutation([3, 4, 6]))
    chosen = [(0, 0), (1, int(rng.integers(sizes[1] - 1))), (2, sizes[2] - 2)]
    return [
        *(obeying(rng, "next sentence", library(rng, sizes), *indices) for indices in chosen),
        obeying(rng, "next sentence", library(rng, (2, 4)), 0, 0),
    ]


def half_and_half(rng: Random) -> list[Trial]:
    rates = {"next": (1, 1 / 2), "not next": (1, 1 / 2)}
    return [chancy(rng, "next sentence", rates, library(rng, (4, 4, 4)), int(rng.integers(3)), int(rng.integers(3)))]


def any_other(rng: Random, sizes: tuple[int, ...], document: int) -> Trial:
    """All other documents are equally likely, also the short ones, and all sentences of each.

    Calls enough to see one document drawn twice as often as the others.
    """
    others = [index for index in range(len(sizes)) if index != document]
    rates = {f"document {index}": (1, 1 / 2 / len(others)) for index in others}
    for index in others:
        each = 1 / 2 / len(others) / sizes[index]
        rates |= {f"sentence {sentence} of document {index}": (1, each) for sentence in range(sizes[index])}
    documents = in_documents([str(word) for word in rng.permutation(SHORT)], sizes)
    return chancy(rng, "next sentence", rates, documents, document, 1, calls=MANY_CALLS)


def any_other_document(rng: Random) -> list[Trial]:
    return [any_other(rng, (4, 1, 6, 3), int(rng.choice([0, 2, 3]))), *alike(rng)]


def alike(rng: Random) -> list[Trial]:
    """Documents with all or one of their sentences alike, and one with the same sentence twice: their numbers count."""
    first, other = library(rng, (3, 4))
    rates = {"next": (1, 1 / 2), "not next": (1, 1 / 2), "a document like A's": (1, 1 / 4)}
    twice = [[*first[:2], first[0], first[2]], other]
    a, b, c, d = (str(word) for word in rng.permutation(["yes", "no", "why", "who"]))
    shared = [[a, b, c], [d, c, a, b]]  # A, its next one and a third are in both; short, since a plan holds all results
    each = {f"sentence {sentence} of document 1": (1, 1 / 8) for sentence in range(4)}
    return [
        chancy(rng, "next sentence", each, shared, 0, 0, calls=211),
        chancy(rng, "next sentence", rates, [first, other, list(first)], 0, 1),
        obeying(rng, "next sentence", twice, 0, 2),
        chancy(rng, "next sentence", {"next": (1, 1 / 2), "not next": (1, 1 / 2)}, [first[:2], first[:2]], 1, 0),
    ]  # fmt: skip


def any_of_two(rng: Random) -> list[Trial]:
    return [any_other(rng, (3, 9), 0), any_other(rng, (1, 2, 3, 4, 5), 4)]


EXERCISE = Exercise(
    probe=random_function(),
    returns="tuple",
    parts=(
        Part("A, B and the label", 2, pairs),
        Part("labels half and half", 1, half_and_half,
            "over many calls the labels are not half and half"),
        Part("any other document", 1, any_other_document,
            "with the label 1, all documents but A's must have the same probability, and then all sentences of the "
            "drawn one, also if a document or a sentence is equal to A's or to the next one", any_of_two),
    ),
    forbidden=LIBRARY,
    hints=(
        "First decide at random between the two kinds, then find B.",
        "For the second kind: remove A's own document *before* you draw, then draw a sentence of the drawn document.",
        "0 means IsNext. A sentence of another document has the label 1.",
    ),
    misconceptions=(
        mistake("labels-swapped",
            "documents[document][sentence + 1], 0", "documents[document][sentence + 1], 1",
            "other[int(rng.integers(len(other)))], 1", "other[int(rng.integers(len(other)))], 0",
            hint="You swapped the labels. In the published code 0 is IsNext and 1 is NotNext."),
        mistake("own-document-too", " if d != document", "",
            hint="A B that is not next may come from A's own document in your version. Draw among the *other* "
                 "documents."),
        mistake("own-document-only", "other = documents[int(rng.choice(others))]", "other = documents[document]",
            hint="Your B always comes from A's document. For NotNext take it from another one."),
        mistake("the-next-document", "int(rng.choice(others))", "others[document % len(others)]",
            hint="NotNext always takes the document that follows. Draw it: all other documents have the same "
                 "probability."),
        mistake("opening-sentence", "int(rng.integers(len(other)))", "0",
            hint="B is always the first sentence of its document, which is easy to recognise. Draw any sentence."),
        mistake("all-sentences-alike",
            "other = documents[int(rng.choice(others))]", "other = [text for d in others for text in documents[d]]",
            hint="You draw among all sentences of the other documents, so long documents come more often. First draw "
                 "a document, then one of its sentences."),
        mistake("always-next", "rng.random() < 0.5", "rng.random() < 1",
            hint="Every pair is IsNext. With only one label there is nothing to learn: draw NotNext with "
                 "probability ½."),
    ),
)  # fmt: skip
