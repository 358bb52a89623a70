"""From start and end logits to answers: the best span of all windows of a question, or "no answer".

The score of a span is start logit + end logit; that of "no answer" the lowest [CLS] + [CLS] among the question's
windows. "No answer" wins if its score exceeds the best span's by more than a threshold that is chosen on a development
set (`bertlab.data.tasks.metrics_squad.best_threshold`). Source: Devlin et al. 2019, section 4.3.

Letters: W windows, T tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import DataError
from bertlab.data.tasks.windows import QuestionWindows


@dataclass(frozen=True)
class Span:
    """A candidate: context[start:end], characters, and its score in logits."""

    text: str
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class Answer:
    """The model's answer. text: "" for "no answer". no_answer_score: score of "no answer" minus that of the best
    span. candidates: the best spans with different texts, best first.
    """

    id: str
    text: str
    no_answer_score: float
    candidates: tuple[Span, ...]


def best_answers(
    windows: QuestionWindows,
    start_logits: np.ndarray,
    end_logits: np.ndarray,
    n_best: int = 20,
    max_answer_length: int = 30,
    null_threshold: float | None = None,
) -> list[Answer]:
    """One answer for each question, in the order of `windows.rows`.

    start_logits, end_logits: (W, T), or for each window its own (T,), in the order of the windows; padding may follow.
    n_best: starts and ends tried in each window, and candidates kept. max_answer_length: maximum tokens of a span.
    null_threshold: None never predicts "no answer" (SQuAD 1.1); 0.0 is the usual start for SQuAD 2.0.
    A question whose context has no token gets the empty text.
    """
    if len(start_logits) != len(windows) or len(end_logits) != len(windows):
        raise DataError(f"{len(start_logits)} and {len(end_logits)} rows of logits for {len(windows)} windows")
    max_context, no_answer = windows.max_context(), windows.no_answer_column
    ends = np.cumsum(np.bincount(windows.row_of, minlength=len(windows.rows)))
    answers, first = [], 0
    for row, end in enumerate(ends):
        spans, null_score = [], np.inf
        for window in range(first, end):
            column, count = windows.context_column[window], windows.num_tokens[window]
            start, stop = np.asarray(start_logits[window], np.float64), np.asarray(end_logits[window], np.float64)
            if len(start) < column + count or len(stop) < column + count:
                raise DataError(f"window {window} has {column + count + 1} tokens, but only {len(start)} logits")
            null = no_answer[window]
            null_score = min(null_score, start[null] + stop[null])
            context = slice(column, column + count)
            found = _spans(start[context], stop[context], max_context.row(window), n_best, max_answer_length)
            offset = windows.first_token[window]
            spans += [(score, first_token + offset, last_token + offset) for score, first_token, last_token in found]
        candidates = _texts(spans, windows.rows[row].context, windows.offsets(row), n_best)
        difference = float(null_score - candidates[0].score) if candidates else np.inf
        says_none = not candidates or (null_threshold is not None and difference > null_threshold)
        text = "" if says_none else candidates[0].text
        answers.append(Answer(windows.rows[row].id, text, difference, candidates))
        first = end
    return answers


def _spans(start, stop, allowed_starts, n_best: int, max_length: int) -> list[tuple[float, int, int]]:
    """(score, first token, last token) of the valid spans among the n best starts and ends of one window.

    start, stop: (tokens,) logits. allowed_starts: (tokens,) where a span may begin.
    """
    starts = np.flatnonzero(allowed_starts)
    starts = starts[np.argsort(-start[starts], kind="stable")[:n_best]]
    stops = np.argsort(-stop, kind="stable")[:n_best]
    length = stops[None] - starts[:, None] + 1  # (starts, stops)
    a, b = np.nonzero((length >= 1) & (length <= max_length))
    scores = start[starts[a]] + stop[stops[b]]
    return list(zip(scores.tolist(), starts[a].tolist(), stops[b].tolist()))


def _texts(spans, context: str, offsets: np.ndarray, n_best: int) -> tuple[Span, ...]:
    """The best spans with different texts; equal scores in the order of the text."""
    candidates, seen = [], set()
    for score, first, last in sorted(spans, key=lambda span: (-span[0], span[1], span[2])):
        start, end = int(offsets[first, 0]), int(offsets[last, 1])
        text = context[start:end]
        if text not in seen:
            seen.add(text)
            candidates.append(Span(text, start, end, score))
            if len(candidates) == n_best:
                break
    return tuple(candidates)


def answer_texts(answers: Sequence[Answer]) -> dict[str, str]:
    """{id: text}, as `metrics_squad.squad_scores` and `formats_submit.write_squad` take it."""
    return {answer.id: answer.text for answer in answers}


def no_answer_scores(answers: Sequence[Answer]) -> dict[str, float]:
    """{id: no_answer_score}, for the search of the best threshold."""
    return {answer.id: answer.no_answer_score for answer in answers}
