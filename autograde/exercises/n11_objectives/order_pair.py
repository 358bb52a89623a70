"""ALBERT's sentence order: two consecutive sentences, in their order (label 0) or exchanged (label 1)."""

from autograde.exercises.n06_pretraining_data._shared import chancy, obeying
from autograde.exercises.n06_pretraining_data.make_pair import library
from autograde.exercises.n11_objectives._shared import LIBRARY
from autograde.exercises.writing import Exercise, Part, Random, Trial, mistake, random_function

RULE = "sentence order"


def pairs(rng: Random) -> list[Trial]:
    """At the beginning, in the middle and at the end of a document; a document of two sentences."""
    (long, short) = library(rng, (6, 2))
    places = [(long, 0), (long, int(rng.integers(1, 4))), (long, 4), (short, 0)]
    return [obeying(rng, RULE, *place) for place in places]


def half_and_half(rng: Random) -> list[Trial]:
    """At an even and at an odd place."""
    rates, document = {"in order": (1, 1 / 2), "exchanged": (1, 1 / 2)}, library(rng, (5,))[0]
    return [chancy(rng, RULE, rates, document, place) for place in (2 * int(rng.integers(2)), 1)]


EXERCISE = Exercise(
    probe=random_function(),
    returns="tuple",
    parts=(
        Part("A, B and the label", 2, pairs,
            hidden=lambda rng: [obeying(rng, RULE, library(rng, (8,))[0], int(rng.integers(7)))]),
        Part("labels half and half", 1, half_and_half, "over many calls the labels are not half and half"),
    ),
    forbidden=LIBRARY,
    hints=(
        "Both kinds use the same two sentences, number i and the next one. Only their order differs.",
        "One draw decides. 0 means: in the document's order.",
        "`rng.random() < 0.5` is True in half of the calls.",
    ),
    misconceptions=(
        mistake("labels-turned", "return first, second, 0", "return first, second, 1",
            "return second, first, 1", "return second, first, 0",
            hint="You exchanged the labels: 0 is the document's order, 1 the other one."),
        mistake("next-sentence-again", "return second, first, 1",
            "return first, document[int(rng.integers(len(document)))], 1",
            hint="For the label 1 you draw another second sentence, as in 6.7. In ALBERT's task it is the same two "
                 "sentences, exchanged: then their topic says nothing."),
        mistake("words-reversed", "return second, first, 1",
            "return first, ' '.join(reversed(second.split())), 1",
            hint="You turn the words of a sentence round. Exchange the two *sentences*, and leave each as it is."),
        mistake("label-lost", "return second, first, 1", "return second, first, 0",
            hint="Exchanged sentences get the label 0 in your pairs, like those in order. Then there is nothing to "
                 "learn."),
        mistake("never-exchanged", "rng.random() < 0.5", "rng.random() < 1",
            hint="Your pairs are always in order. Exchange them in half of the cases."),
        mistake("by-the-place", "rng.random() < 0.5", "i % 2 == 0",
            hint="The place in the document decides about the order. Draw it: each pair is exchanged in half of the "
                 "calls."),
    ),
)  # fmt: skip
