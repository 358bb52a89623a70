"""SQuAD's exact match, F1 and best threshold, on cases whose results can be computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.common.errors import DataError
from bertlab.data.tasks.metrics_squad import best_threshold, exact_match, normalize, squad_scores, token_f1


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
    with pytest.raises(DataError, match="1 questions have no prediction, first 'b'"):
        squad_scores({"a": ["x"], "b": ["y"]}, {"a": "x"})
    with pytest.raises(DataError, match="no no-answer score"):
        squad_scores({"a": ["x"]}, {"a": "x"}, {})
    with pytest.raises(DataError, match="expected at least one question"):
        squad_scores({}, {})
