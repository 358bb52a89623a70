"""Entity-level F1 as conlleval counts it, malformed sequences included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.common.errors import DataError
from bertlab.data.tasks.metrics_entities import entities, entity_scores

tag_rows = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), max_size=12)


@pytest.mark.parametrize(
    "tags, expected",
    [
        ("O B-PER I-PER O", [(1, 2, "PER")]),
        ("B-PER B-PER", [(0, 0, "PER"), (1, 1, "PER")]),
        ("I-PER I-PER O I-LOC", [(0, 1, "PER"), (3, 3, "LOC")]),  # an I- after O begins an entity
        ("B-PER I-LOC I-LOC", [(0, 0, "PER"), (1, 2, "LOC")]),  # an I- of another type begins one, too
        ("I-PER B-PER I-PER", [(0, 0, "PER"), (1, 2, "PER")]),
        ("O B-work-of-art I-work-of-art", [(1, 2, "work-of-art")]),  # only the first hyphen separates
        ("", []),
        ("S-PER B-PER I-PER E-PER O B-LOC E-LOC", [(0, 0, "PER"), (1, 3, "PER"), (5, 6, "LOC")]),
        ("U-PER B-PER I-PER L-PER O B-LOC L-LOC", [(0, 0, "PER"), (1, 3, "PER"), (5, 6, "LOC")]),
        ("S-PER I-PER E-LOC E-LOC B-LOC", [(0, 0, "PER"), (1, 1, "PER"), (2, 2, "LOC"), (3, 3, "LOC"), (4, 4, "LOC")]),
    ],
)
def test_entities_are_read_with_the_semantics_of_conlleval(tags, expected):
    assert entities(tags.split()) == expected


def conlleval_counts(gold, guess):
    """The counting of the published script, word by word, written independently: its chunk rules for B, I and O."""

    def split(tag):
        return (tag[0], tag[2:])

    def ends(before, here):
        return before[0] in "BI" and (here[0] in "BO" or before[1] != here[1])

    def begins(before, here):
        return here[0] == "B" or (here[0] == "I" and (before[0] == "O" or before[1] != here[1]))

    right = found_gold = found_guess = 0
    going = False
    last_gold = last_guess = ("O", "")
    for a, b in [*zip(map(split, gold), map(split, guess)), (("O", ""), ("O", ""))]:
        if going:
            both_end = ends(last_gold, a) and ends(last_guess, b)
            if both_end and last_gold[1] == last_guess[1]:
                right, going = right + 1, False
            elif ends(last_gold, a) != ends(last_guess, b) or a[1] != b[1]:
                going = False
        if begins(last_gold, a) and begins(last_guess, b) and a[1] == b[1]:
            going = True
        found_gold += begins(last_gold, a)
        found_guess += begins(last_guess, b)
        last_gold, last_guess = a, b
    return right, found_gold, found_guess


@given(st.lists(st.tuples(*[st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"])] * 2), min_size=1, max_size=15))
def test_counts_are_those_of_the_published_script_word_by_word(pairs):
    gold, guess = (list(tags) for tags in zip(*pairs))
    right, in_gold, in_guess = conlleval_counts(gold, guess)
    scores = entity_scores([gold], [guess])
    assert scores["precision"] == pytest.approx(right / in_guess if in_guess else 0)
    assert scores["recall"] == pytest.approx(right / in_gold if in_gold else 0)
    assert scores["f1"] == pytest.approx(2 * right / (in_gold + in_guess) if in_gold + in_guess else 0)


def with_last_words(tags, last, single):
    """IOB2 written with tags of their own for the last word of an entity and for entities of one word."""
    written = list(tags)
    for first, end, kind in entities(tags):
        written[end] = f"{single if first == end else last}-{kind}"
    return written


@pytest.mark.parametrize("last, single", ["ES", "LU"])
@given(st.lists(st.tuples(*[st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"])] * 2), min_size=1, max_size=15))
def test_the_same_entities_count_the_same_in_every_scheme(last, single, pairs):
    gold, guess = (list(tags) for tags in zip(*pairs))
    expected = entity_scores([gold], [guess])
    scores = entity_scores([with_last_words(gold, last, single)], [with_last_words(guess, last, single)])
    assert scores | {"accuracy": 0} == expected | {"accuracy": 0}  # tags are others, entities the same


def test_figures_over_two_sentences_are_micro_averages_with_one_f1_for_each_type():
    gold = ["B-PER I-PER O B-LOC".split(), "B-ORG O B-LOC".split()]
    guess = ["B-PER I-PER O B-ORG".split(), "B-ORG I-ORG B-LOC".split()]
    scores = entity_scores(gold, guess)
    # gold PER LOC ORG LOC; guessed PER, ORG (wrong type), ORG (too long), LOC: 2 of 4 right on both sides
    assert scores["precision"] == scores["recall"] == scores["f1"] == pytest.approx(1 / 2)
    assert scores["accuracy"] == pytest.approx(5 / 7)
    assert scores["f1:PER"] == 1 and scores["f1:ORG"] == 0 and scores["f1:LOC"] == pytest.approx(2 / 3)


def test_no_entity_crosses_the_end_of_a_sentence():
    whole = entity_scores([["B-X", "I-X"]], [["B-X", "I-X"]])
    parted = entity_scores([["B-X"], ["I-X"]], [["B-X"], ["O"]])
    assert whole["recall"] == 1 and parted["recall"] == pytest.approx(1 / 2)


@given(tag_rows.filter(bool))
def test_a_perfect_prediction_has_f1_1_or_no_entities_at_all(tags):
    assert entity_scores([tags], [tags])["f1"] == (1.0 if entities(tags) else 0.0)


def test_unreadable_tags_and_missing_ones_are_errors():
    with pytest.raises(DataError, match="the tag 'NOUN' is neither O nor B-TYPE nor I-TYPE"):
        entities(["NOUN"])
    with pytest.raises(DataError, match="expected one predicted tag for each word"):
        entity_scores([["O", "O"]], [["O"]])
    with pytest.raises(DataError, match="expected at least one word"):
        entity_scores([], [])
