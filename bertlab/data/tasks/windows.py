"""Questions about contexts that are longer than BERT: overlapping windows, and the best answer among all of them.

    [CLS] question [SEP] context tokens 0 … 319 [SEP]
    [CLS] question [SEP] context tokens 128 … 447 [SEP]        ← the next window begins `stride` tokens later

Training: each window's targets are the first and last token of the answer, or [CLS] (position 0) twice if the window
does not contain all of it. Answering: a span's score is its start logit plus its end logit; a start token counts only
in the window in which it has most context on both sides; the text is cut from the original context by character
offsets.
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
    its context tokens. context_column: (W,) the column of its first context token. cut_questions: questions that were
    longer than allowed. lost_answers: answers that no token covers (control characters only).
    """

    rows: Sequence[QuestionRow]
    features: Features
    contexts: RaggedEncoding
    context_of: np.ndarray  # (Q,) which of the distinct contexts a question is about
    row_of: np.ndarray
    first_token: np.ndarray
    num_tokens: np.ndarray
    context_column: np.ndarray
    cut_questions: int
    lost_answers: int

    def __len__(self) -> int:
        return len(self.row_of)

    @property
    def no_answer_column(self) -> np.ndarray:
        """The column of [CLS] in each window, which means "no answer": (W,)."""
        return _cls_columns(self.features.vocabulary, self.context_column, self.num_tokens)

    def dataset(self, batch_size: int, shuffle_seed: int | None = None, bucket: bool = False, **options):
        """A `tf.data.Dataset` of (inputs, {"start_positions", "end_positions"}); see `Features.dataset`."""
        return self.features.dataset(batch_size, shuffle_seed, bucket, **options)

    def offsets(self, row: int) -> np.ndarray:
        """Characters of each context token of a question: token i is context[start:end]. (tokens, 2)"""
        splits, context = self.contexts.row_splits, self.context_of[row]
        return self.contexts.offsets[splits[context] : splits[context + 1]]

    def max_context(self) -> Ragged:
        """Marks, in each window, the context tokens that have their most context here: bool rows of num_tokens.

        A token's context in a window is min(tokens to its left, tokens to its right) + 0.01 · tokens of the window, as
        published; among equals the earliest window. Every context token is marked in exactly one window.
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
    rows: Sequence[QuestionRow],
    tokenizer,
    max_length: int = 384,
    stride: int = 128,
    max_question_length: int = 64,
) -> QuestionWindows:
    """Windows of questions and contexts. The defaults are the published ones.

    max_length: T with special tokens. stride: tokens from one window's beginning to the next one's (Hugging Face's
    `stride` is the overlap instead); if it is larger than a window, windows follow each other without a gap.
    max_question_length: longer questions are truncated and counted. The targets are those of a question's first answer,
    and an answer that begins or ends inside a token includes the whole token.
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
    no_answer = _cls_columns(vocabulary, context_column, num_tokens)
    answers = answers[row_of]  # (W, 2)
    inside = (answers[:, 0] >= first_token) & (answers[:, 1] < first_token + num_tokens)  # (W,); −1 is never inside
    columns = answers - first_token[:, None] + context_column[:, None]  # (W, 2)
    columns = np.where(inside[:, None], columns, no_answer[:, None]).astype(np.int32)
    features = Features(vocabulary, first, second, {"start_positions": columns[:, 0], "end_positions": columns[:, 1]})
    return QuestionWindows(
        rows, features, contexts, context_of, row_of, first_token, num_tokens, context_column, cut, lost
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


def _cls_columns(vocabulary, context_column, num_tokens) -> np.ndarray:
    """The column of [CLS] in each window: (W,)."""
    return context_column + num_tokens + 1 if vocabulary.cls_last else np.zeros_like(context_column)
