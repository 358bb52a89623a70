"""SQuAD's exact match and F1, versions 1.1 and 2.0, by the official definitions.

Texts are compared after normalisation: lower case, no ASCII punctuation, no articles (a, an, the), single spaces.
F1 counts the tokens that prediction and answer share, as bags. With several right answers the best one counts. In
version 2.0 the right answer to an unanswerable question is the empty text. Sources: Rajpurkar et al. 2016, section 6.1;
2018, section 5, and its evaluation script.

A prediction that is empty after normalisation is right if the gold answer is empty too, as in 2.0's script (1.1's
counts it as 0).
"""

import math
import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence

from bertlab.common.errors import DataError

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize(text: str) -> str:
    """Lower case, without punctuation and articles, words one space apart; in this order, as published."""
    text = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", text).split())


def exact_match(answer: str, prediction: str) -> float:
    """1.0 if both are the same after normalisation, otherwise 0.0."""
    return float(normalize(answer) == normalize(prediction))


def token_f1(answer: str, prediction: str) -> float:
    """F1 over the bags of normalised tokens; if one is empty, 1.0 if both are empty."""
    gold, guess = normalize(answer).split(), normalize(prediction).split()
    if not gold or not guess:
        return float(gold == guess)
    shared = (Counter(gold) & Counter(guess)).total()
    return 2 * shared / (len(gold) + len(guess))


def squad_scores(
    answers: Mapping[str, Sequence[str]],
    predictions: Mapping[str, str],
    no_answer_scores: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """exact and f1 over all questions, and over those with and without an answer if there are both kinds.

    answers: question id → its right answers, none for an unanswerable question. predictions: id → text, "" for "no
    answer". no_answer_scores: id → the model's score for "no answer"; with it the result also has best_exact and
    best_f1, and the thresholds above which a prediction is replaced by "no answer" (see `best_threshold`).
    Raises DataError if a question has no prediction.
    """
    missing = [id for id in answers if id not in predictions]
    if missing:
        raise DataError(f"{len(missing)} questions have no prediction, first {missing[0]!r}; give every id a text")
    if not answers:
        raise DataError("expected at least one question to evaluate")
    exact, f1, answerable = {}, {}, {}
    for id, texts in answers.items():
        gold = [text for text in texts if normalize(text)] or [""]
        exact[id] = max(exact_match(text, predictions[id]) for text in gold)
        f1[id] = max(token_f1(text, predictions[id]) for text in gold)
        answerable[id] = bool(texts)
    figures, groups = {"exact": exact, "f1": f1}, {"": list(answers)}
    if len(set(answerable.values())) == 2:
        groups["has_answer_"] = [id for id in answers if answerable[id]]
        groups["no_answer_"] = [id for id in answers if not answerable[id]]
    scores = {
        f"{group}{name}": sum(values[id] for id in ids) / len(ids)
        for group, ids in groups.items()
        for name, values in figures.items()
    }
    if no_answer_scores is not None:
        for name, values in figures.items():
            best, threshold = best_threshold(values, answerable, predictions, no_answer_scores)
            scores[f"best_{name}"], scores[f"best_{name}_threshold"] = best, threshold
    return scores


def best_threshold(
    scores: Mapping[str, float],
    answerable: Mapping[str, bool],
    predictions: Mapping[str, str],
    no_answer_scores: Mapping[str, float],
) -> tuple[float, float]:
    """The best mean score, and the threshold that gives it: above it, a prediction becomes "no answer".

    Begins with "no answer" everywhere (every unanswerable question right) and adds predictions one by one, most
    confident first: an answerable one adds its score, an unanswerable one loses its point unless its prediction is
    empty anyway. No threshold can separate equal no-answer scores: the returned one may give less than the best mean.
    If "no answer" everywhere is best, it is below every score: the official 0.0 for probabilities, lower for
    differences of logits.
    """
    missing = [id for id in scores if id not in no_answer_scores]
    if missing:
        raise DataError(f"{len(missing)} questions have no no-answer score, the first is {missing[0]!r}")
    current = best = best_reached = sum(not known for known in answerable.values())
    lowest = min(no_answer_scores[id] for id in scores)
    threshold = 0.0 if lowest > 0 else lowest - 1.0  # below all scores, distinct even in low precision
    ids = sorted(scores, key=no_answer_scores.__getitem__)
    for id, following in zip(ids, [*ids[1:], None]):
        if answerable[id]:
            current += scores[id]
        elif predictions[id]:
            current -= 1
        best = max(best, current)
        here = no_answer_scores[id]
        parted = following is None or no_answer_scores[following] > here
        if parted and current > best_reached and math.isfinite(here):
            best_reached, threshold = current, here
    return best / len(scores), threshold
