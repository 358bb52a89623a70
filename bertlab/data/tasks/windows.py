"""Questions about contexts that are longer than BERT: overlapping windows, and the best answer among all of them.

    [CLS] question [SEP] context tokens 0 … 319 [SEP]
    [CLS] question [SEP] context tokens 128 … 447 [SEP]        ← the next window begins `stride` tokens later

Training: each window's targets are the first and last token of the answer, or [CLS] (position 0) twice if the window
does not contain all of it. Answering: a span's score is its start logit plus its end logit; a start token counts only
in the window in which it has most context on both sides; the text is cut from the original context by character
offsets. The score of "no answer" is the lowest [CLS] + [CLS] among the question's windows: it wins if it exceeds the
best span's by more than a threshold that is chosen on a development set (`metrics_squad.best_threshold`).
Sources: Devlin et al. 2019, sections 4.2 and 4.3, and the published run_squad.py for windows and maximum context.

Letters: Q questions, W windows, T tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import ConfigError, DataError
from bertlab.data.tasks.features import Features, cut_rows, select_rows, truncate_to_fit
from bertlab.data.tasks.rows import QuestionRow
from bertlab.tokenizers.wordpiece.encoding import Ragged, RaggedEncoding, range_indices, special_count, text_column


@dataclass(frozen=True)
class QuestionWindows:
    """The windows of some questions, with the data to map tokens back to text.

    features: their inputs; targets are start_positions and end_positions (W,) int32, those of [CLS] for "not in this
    window".
    row_of: (W,) the question of each window. first_token: (W,) the context token at which it begins. num_tokens: (W,)
    its context tokens. context_column, no_answer_column: (W,) the columns of its first context token and of [CLS].
    cut_questions: questions that were longer than allowed. lost_answers: answers that no token covers (control
    characters only).
    """

    rows: Sequence[QuestionRow]
    features: Features
    contexts: RaggedEncoding
    context_of: np.ndarray  # (Q,) which of the distinct contexts a question is about
    row_of: np.ndarray
    first_token: np.ndarray
    num_tokens: np.ndarray
    context_column: np.ndarray
    no_answer_column: np.ndarray
    cut_questions: int
    lost_answers: int

    def __len__(self) -> int:
        return len(self.row_of)

    def offsets(self, row: int) -> np.ndarray:
        """Characters of each context token of a question: token i is context[start:end]. (tokens, 2)"""
        splits, context = self.contexts.row_splits, self.context_of[row]
        return self.contexts.offsets[splits[context] : splits[context + 1]]

    def max_context(self) -> Ragged:
        """Marks, in each window, the context tokens that have their most context here: bool rows of num_tokens.

        A token's context in a window is min(tokens to its left, tokens to its right) + 0.01 · tokens of the window, as
        published; among equals the earliest window.
        """
        window = np.repeat(np.arange(len(self)), self.num_tokens)  # (all tokens of all windows,)
        column = range_indices(np.zeros_like(self.num_tokens), self.num_tokens)
        length = self.num_tokens[window]
        score = 100 * np.minimum(column, length - 1 - column) + length
        sizes = np.diff(self.contexts.row_splits)[self.context_of]  # (Q,) tokens of each question's context
        token = (np.cumsum(sizes) - sizes)[self.row_of[window]] + self.first_token[window] + column
        best = np.zeros(sizes.sum(), np.int64)
        np.maximum.at(best, token, score)
        candidates = np.flatnonzero(score == best[token])[::-1]  # reversed: the earliest window is written last
        owner = np.empty(len(best), np.int64)
        owner[token[candidates]] = window[candidates]
        return Ragged(owner[token] == window, np.concatenate([[0], np.cumsum(self.num_tokens)]))


def make_windows(
    rows: Sequence[QuestionRow], tokenizer, max_length: int = 384, stride: int = 128, max_question_length: int = 64
) -> QuestionWindows:
    """Windows of questions and contexts. The defaults are the published ones.

    max_length: T with special tokens. stride: tokens from one window's beginning to the next one's, at most a window
    (Hugging Face's `stride` is the overlap instead). max_question_length: longer questions are truncated and counted.
    The targets are those of a question's first answer, with the whole token where it begins or ends inside one.
    Raises ConfigError if max_length leaves no token for context.
    """
    if stride < 1 or max_question_length < 1:
        raise ConfigError(f"stride and max_question_length must be at least 1, not {stride}, {max_question_length}")
    specials = special_count(tokenizer.vocabulary, pair=True)
    if max_length <= max_question_length + specials:
        raise ConfigError(
            f"max_length must be at least {max_question_length + specials + 1}, for {max_question_length} question "
            f"tokens (max_question_length), {specials} special tokens and context, not {max_length}"
        )
    if not rows:
        raise DataError("there are no questions")
    questions, _, cut = truncate_to_fit(
        tokenizer.encode_batch(row.question for row in rows), None, max_question_length + 2, tokenizer.vocabulary
    )
    distinct = {context: number for number, context in enumerate(dict.fromkeys(row.context for row in rows))}
    contexts = tokenizer.encode_batch_with_offsets(distinct)
    context_of = np.array([distinct[row.context] for row in rows], np.int64)  # (Q,)

    question_lengths = np.diff(questions.row_splits)  # (Q,)
    sizes = np.diff(contexts.row_splits)[context_of]  # (Q,)
    max_context = max_length - specials - question_lengths  # (Q,) context tokens of a full window
    step = np.minimum(stride, max_context)
    counts = 1 + np.maximum(0, -(-(sizes - max_context) // step))  # (Q,) windows
    row_of = np.repeat(np.arange(len(rows)), counts)  # (W,)
    first_token = range_indices(np.zeros_like(counts), counts) * step[row_of]
    num_tokens = np.minimum(max_context[row_of], sizes[row_of] - first_token)
    begins = contexts.row_splits[context_of[row_of]] + first_token
    first, second = select_rows(questions, row_of), cut_rows(contexts.values, begins, num_tokens)
    vocabulary = tokenizer.vocabulary
    context_column = text_column(vocabulary) + question_lengths[row_of] + vocabulary.pair_separators
    answers, lost = _answer_tokens(rows, contexts, context_of)
    no_answer = context_column + num_tokens + 1 if vocabulary.cls_last else np.zeros_like(context_column)  # (W,)
    answers = answers[row_of]  # (W, 2)
    inside = (answers[:, 0] >= first_token) & (answers[:, 1] < first_token + num_tokens)  # (W,); −1 is never inside
    columns = answers - first_token[:, None] + context_column[:, None]  # (W, 2)
    columns = np.where(inside[:, None], columns, no_answer[:, None]).astype(np.int32)
    features = Features(vocabulary, first, second, {"start_positions": columns[:, 0], "end_positions": columns[:, 1]})
    return QuestionWindows(
        rows, features, contexts, context_of, row_of, first_token, num_tokens, context_column, no_answer, cut, lost
    )


def _answer_tokens(rows, contexts: RaggedEncoding, context_of: np.ndarray) -> tuple[np.ndarray, int]:
    """First and last token of each question's first answer, −1 −1 without one: (Q, 2); and the lost answers' number."""
    spans, lost = np.full((len(rows), 2), -1, np.int64), 0
    for index, row in enumerate(rows):
        if not row.answers:
            continue
        begin = row.answer_starts[0]
        end = begin + len(row.answers[0])
        splits = contexts.row_splits[context_of[index] : context_of[index] + 2]
        offsets = contexts.offsets[splits[0] : splits[1]]  # (tokens, 2)
        covered = np.flatnonzero((offsets[:, 1] > begin) & (offsets[:, 0] < end))
        if len(covered):
            spans[index] = covered[0], covered[-1]
        else:
            lost += 1
    return spans, lost


# === From logits to answers ===


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
    max_context = windows.max_context()
    ends = np.cumsum(np.bincount(windows.row_of, minlength=len(windows.rows)))
    answers, first = [], 0
    for row, end in enumerate(ends):
        spans, null_score = [], np.inf
        for window in range(first, end):
            column, count = windows.context_column[window], windows.num_tokens[window]
            start, stop = np.asarray(start_logits[window], np.float64), np.asarray(end_logits[window], np.float64)
            if len(start) < column + count or len(stop) < column + count:
                raise DataError(f"window {window} has {column + count + 1} tokens, but only {len(start)} logits")
            null = windows.no_answer_column[window]
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
    """{id: text}, as `metrics_squad.squad_scores` and `formats_published.write_squad` take it."""
    return {answer.id: answer.text for answer in answers}


def no_answer_scores(answers: Sequence[Answer]) -> dict[str, float]:
    """{id: no_answer_score}, for the search of the best threshold."""
    return {answer.id: answer.no_answer_score for answer in answers}
