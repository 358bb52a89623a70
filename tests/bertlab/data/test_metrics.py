"""Metrics against their definitions, worked out by hand or in another way than the library does it."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from bertlab.data.tasks.metrics import accuracy, default_metrics, f1, macro_f1, matthews, pearson, score, spearman
from bertlab.data.tasks.metrics_entities import entities, entity_scores
from bertlab.data.tasks.metrics_squad import best_threshold, exact_match, normalize, squad_scores, token_f1
from bertlab.data.tasks.rows import PairRow, QuestionRow, SentenceRow, TaggingRow

# 12 rows: of class 1, three found (TP), two missed (FN); of class 0, six kept (TN), one claimed (FP).
GOLD = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
GUESS = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]

binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


def test_the_table_of_four_gives_the_textbook_figures():
    tp, fn, fp, tn = 3, 2, 1, 6
    assert accuracy(GOLD, GUESS) == pytest.approx(9 / 12)
    assert f1(GOLD, GUESS) == pytest.approx(float(Fraction(2 * tp, 2 * tp + fp + fn)))
    expected = (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert matthews(GOLD, GUESS) == pytest.approx(expected)
    f1_of_0 = 2 * tn / (2 * tn + fp + fn)
    assert macro_f1(GOLD, GUESS) == pytest.approx((f1_of_0 + 2 * tp / (2 * tp + fp + fn)) / 2)
    assert f1([0, 0], [0, 0]) == matthews([1, 1], [1, 0]) == 0.0  # without the class, or a difference, anywhere


@given(binary)
def test_matthews_on_two_classes_is_the_formula_of_1975(pairs):
    counts = {cell: sum(pair == cell for pair in pairs) for cell in product((0, 1), repeat=2)}
    tn, fp, fn, tp = counts[0, 0], counts[0, 1], counts[1, 0], counts[1, 1]
    below = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    expected = (tp * tn - fp * fn) / below if below else 0.0
    gold, guess = zip(*pairs)
    assert matthews(gold, guess) == pytest.approx(expected, abs=1e-12)


def test_matthews_on_three_classes_is_gorodkins_r_k():
    gold, guess = [0, 0, 0, 1, 1, 2, 2, 2, 2], [0, 0, 1, 1, 2, 2, 2, 2, 0]
    table = np.zeros((3, 3))
    for a, b in zip(gold, guess):
        table[a, b] += 1
    total, right = table.sum(), np.trace(table)
    rows, columns = table.sum(1), table.sum(0)
    above = right * total - rows @ columns
    below = math.sqrt((total**2 - columns @ columns) * (total**2 - rows @ rows))
    assert matthews(gold, guess) == pytest.approx(above / below)


def test_correlations_on_small_numbers_are_worked_out_by_hand():
    # means 3 and 4: deviations −2 −1 0 1 2 and −2 0 1 1 0; Σxy = 5, Σx² = 10, Σy² = 6
    assert pearson([1, 2, 3, 4, 5], [2, 4, 5, 5, 4]) == pytest.approx(5 / math.sqrt(60))
    # equal ones share the mean of their ranks: 1 2 3 4 5 and 1 2.5 4.5 4.5 2.5; Σxy = 4 + .5 + 1.5 − 1 = 5, Σy² = 9
    assert spearman([1, 2, 3, 4, 5], [2, 4, 5, 5, 4]) == pytest.approx(5 / math.sqrt(10 * 9))


@pytest.mark.parametrize("correlation", [pearson, spearman])
@pytest.mark.parametrize("constant", [3, 0.1])  # three times 0.1 has another mean in floating point
def test_a_correlation_with_a_constant_is_not_defined(correlation, constant):
    assert math.isnan(correlation([1, 2, 4], [constant] * 3))
    assert math.isnan(correlation([constant] * 3, [1, 2, 4]))


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=20), st.integers(1, 9), st.integers(-9, 9))
def test_spearman_does_not_change_under_a_rising_function(values, scale, shift):
    other = np.arange(len(values))
    risen = [scale * value**3 + shift for value in values]
    assert spearman(values, other) == pytest.approx(spearman(risen, other), nan_ok=True)


def test_what_cannot_be_measured_is_an_error():
    refused(r"\(2,\) labels and \(3,\) predictions", accuracy, [0, 1], [0, 1, 1])
    refused("expected at least one row", accuracy, [], [])
    refused("some rows have no label", accuracy, [0, None], [0, 1])


def test_a_task_is_scored_with_its_own_metrics_in_their_order():
    rows = [SentenceRow("x", label) for label in GOLD]
    assert list(score(("f1", "accuracy"), rows, ("no", "yes"), GUESS)) == ["f1", "accuracy"]
    rows = [PairRow("x", "y", label) for label in (1.0, 2.0, 3.0)]
    assert score(("pearson", "spearman"), rows, (), [2.0, 4.0, 6.0])["pearson"] == pytest.approx(1)
    rows = [TaggingRow(("in", "Rome"), (0, 1)), TaggingRow(("Bonn",), (1,))]
    assert score(("entities",), rows, ("O", "B-LOC"), [[0, 1], [0]])["f1"] == pytest.approx(2 / 3)
    assert score(("tags",), rows, ("X", "Y"), [[0, 1], [0]]) == {"accuracy": pytest.approx(2 / 3)}
    rows = [QuestionRow("a", "?", "b c", ("b",), (0,))]
    assert score(("squad",), rows, (), {"a": "b"}) == {"f1": 1.0, "exact": 1.0}


def test_the_f1_of_two_classes_of_ones_own_says_whose_it_is():
    rows = [SentenceRow("x", label) for label in GOLD]
    figures = score(default_metrics("sentence", ("ham", "spam")), rows, ("ham", "spam"), GUESS)
    assert figures == {"accuracy": pytest.approx(9 / 12), "f1:spam": pytest.approx(f1(GOLD, GUESS))}
    assert score(("f1:ham",), rows, ("ham", "spam"), GUESS) == {"f1:ham": pytest.approx(2 * 6 / (2 * 6 + 1 + 2))}
    refused("there is no metric 'f1:eggs'", score, ("f1:eggs",), rows, ("ham", "spam"), GUESS)


def test_a_wrong_number_of_tags_and_unknown_metrics_are_errors():
    rows = [TaggingRow(("in", "Rome"), (0, 1))]
    refused("one predicted tag for each word", score, ("entities",), rows, ("O", "B-LOC"), [[0]])
    refused("there is no metric 'bleu'", score, ("bleu",), rows, (), [])


def test_every_shape_has_metrics_of_its_own():
    assert default_metrics("sentence", ("a", "b", "c")) == ("accuracy", "macro_f1")
    assert default_metrics("pair", ("a", "b")) == ("accuracy", "f1:b")
    assert default_metrics("pair", ()) == ("pearson", "spearman")
    for labels in (("O", "I-X"), ("O", "B-X", "I-X", "E-X", "S-X"), ("O", "B-X", "I-X", "L-X", "U-X")):
        assert default_metrics("tagging", labels) == ("entities",)
    assert default_metrics("tagging", ("NOUN", "VERB")) == ("tags",)


# === Entities ===

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
    refused("the tag 'NOUN' is neither O nor B-TYPE nor I-TYPE", entities, ["NOUN"])
    refused("expected one predicted tag for each word", entity_scores, [["O", "O"]], [["O"]])
    refused("expected at least one word", entity_scores, [], [])


# === SQuAD ===


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The  Denver Broncos!", "denver broncos"),
        ("a cat and AN owl", "cat and owl"),
        ("U.S.", "us"),
        ("theatre", "theatre"),
        ("well-known", "wellknown"),
        ("“quoted”", "“quoted”"),  # only ASCII punctuation is dropped
        ("a.the", "athe"),  # punctuation goes before articles
        ("The", ""),
    ],
)
def test_normalising_lowers_drops_punctuation_then_articles_then_spaces(text, expected):
    assert normalize(text) == expected


def test_f1_counts_shared_tokens_as_bags():
    # gold 4 tokens, guess 5; shared: to, be, to → 3 (the third "to" of the guess has no partner)
    assert token_f1("to be or to", "to to to be not") == pytest.approx(2 * 3 / (4 + 5))
    assert token_f1("the cat", "a cat") == 1 and exact_match("the cat", "a cat") == 1
    assert token_f1("cat", "dog") == 0
    assert token_f1("", "") == 1 and token_f1("", "dog") == 0 and token_f1("the", "") == 1


@given(st.text(alphabet="ab c", max_size=12), st.text(alphabet="ab c", max_size=12))
def test_f1_is_symmetric_and_1_exactly_for_the_same_bag(one, other):
    assert token_f1(one, other) == pytest.approx(token_f1(other, one))
    same_bag = sorted(normalize(one).split()) == sorted(normalize(other).split())
    assert (token_f1(one, other) == 1) == same_bag


ANSWERS = {"a": ["Paris", "the city of Paris"], "b": ["in 1889", "1889"], "c": [], "d": []}


def test_the_best_of_several_answers_counts_and_both_kinds_of_question_are_told_apart():
    predictions = {"a": "city Paris", "b": "1889", "c": "", "d": "a tower"}
    scores = squad_scores(ANSWERS, predictions)
    f1_a = 2 * 2 / (3 + 2)  # against "city of paris"
    assert scores["exact"] == pytest.approx((0 + 1 + 1 + 0) / 4)
    assert scores["f1"] == pytest.approx((f1_a + 1 + 1 + 0) / 4)
    assert scores["has_answer_f1"] == pytest.approx((f1_a + 1) / 2)
    assert scores["has_answer_exact"] == scores["no_answer_exact"] == scores["no_answer_f1"] == 0.5


def test_an_answer_of_nothing_but_punctuation_does_not_count_where_there_are_others():
    assert squad_scores({"a": ["$", "the dollar sign"]}, {"a": ""})["exact"] == 0.0
    assert squad_scores({"a": ["$"]}, {"a": ""})["exact"] == 1.0


def test_version_1_1_has_no_metrics_for_questions_without_answers():
    assert squad_scores({"a": ["x"]}, {"a": "x"}) == {"exact": 1.0, "f1": 1.0}


def test_the_best_threshold_lets_in_the_surest_predictions_until_it_does_not_pay():
    predictions = {"a": "Paris", "b": "1900", "c": "nowhere", "d": ""}
    no_answer = {"a": -5.0, "c": -1.0, "b": 2.0, "d": 7.0}
    # "no answer" everywhere: c and d right, 2. Up to a: 3. Up to c: 2. Up to b (wrong): 2. d is empty anyway: 2.
    scores = squad_scores(ANSWERS, predictions, no_answer)
    assert (scores["best_exact"], scores["best_exact_threshold"]) == (3 / 4, -5.0)
    assert scores["exact"] == pytest.approx(2 / 4)


def judged(items):
    """ids' answerability, predictions, scores and no-answer scores, and the mean at a threshold."""
    ids = [str(number) for number in range(len(items))]
    answerable = {id: item[0] for id, item in zip(ids, items)}
    predictions = {id: "text" if item[1] or item[0] else "" for id, item in zip(ids, items)}
    scores = {id: (item[2] if item[0] else float(not predictions[id])) for id, item in zip(ids, items)}
    null = {id: float(item[3]) for id, item in zip(ids, items)}

    def at(threshold):
        return sum(scores[id] if null[id] <= threshold else float(not answerable[id]) for id in ids) / len(ids)

    return (scores, answerable, predictions, null), at


def questions(**options):
    one = st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.0, 0.5, 1.0]), st.integers(-9, 9))
    return st.lists(one, min_size=1, max_size=10, **options)


@given(questions(unique_by=lambda item: item[3]))
def test_no_threshold_gives_more_than_the_best_one_and_the_best_one_gives_its_reported_score(items):
    arguments, at = judged(items)
    best, threshold = best_threshold(*arguments)
    assert best == pytest.approx(max(at(threshold) for threshold in [-100, *arguments[-1].values()]))
    assert at(threshold) == pytest.approx(best)


@given(questions())
def test_among_equal_scores_the_threshold_is_the_best_that_there_is(items):
    arguments, at = judged(items)
    best, threshold = best_threshold(*arguments)
    assert at(threshold) == pytest.approx(max(at(threshold) for threshold in [-100, *arguments[-1].values()]))
    assert at(threshold) <= best + 1e-9  # the official figure lets equal ones in one by one


def test_where_no_answer_is_best_everywhere_the_threshold_says_no_answer_everywhere():
    answers, predictions = {"a": [], "b": ["x"]}, {"a": "y", "b": "y"}
    scores = squad_scores(answers, predictions, {"a": -5.0, "b": -4.0})  # differences of logits
    assert (scores["best_f1"], scores["best_f1_threshold"]) == (0.5, -6.0)
    probabilities = squad_scores(answers, predictions, {"a": 0.1, "b": 0.2})
    assert (probabilities["best_f1"], probabilities["best_f1_threshold"]) == (0.5, 0.0)  # as the official script


def test_a_question_without_prediction_or_score_is_an_error_not_a_silent_gain():
    refused("1 questions have no prediction, first 'b'", squad_scores, {"a": ["x"], "b": ["y"]}, {"a": "x"})
    refused("no no-answer score", squad_scores, {"a": ["x"]}, {"a": "x"}, {})
    refused("expected at least one question", squad_scores, {}, {})
