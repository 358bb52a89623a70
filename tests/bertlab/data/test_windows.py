"""Windows over long contexts, and the way back from logits to text."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from refusals import refused

from bertlab.common.errors import ConfigError
from bertlab.data.tasks.rows import QuestionRow
from bertlab.data.tasks.windows import answer_texts, best_answers, make_windows, no_answer_scores
from bertlab.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TOKENIZER = WordPieceTokenizer(Vocabulary((*SPECIAL_TOKENS, *LETTERS, *(f"##{letter}" for letter in LETTERS))))
CLS, SEP = 2, 3


def ids(text):
    return [len(SPECIAL_TOKENS) + LETTERS.index(letter) for letter in text]


def row(context, answer=None, question="q q", id="1"):
    if answer is None:
        return QuestionRow(id, question, context)
    return QuestionRow(id, question, context, (answer,), (context.index(answer),))


def arrays(features, length):
    return features.batch(range(len(features)), length)


def windows_of(*rows, max_length=10, stride=2, max_question_length=4):
    return make_windows(rows, TOKENIZER, max_length, stride, max_question_length)


def logits(windows, *peaks, width=10, low=-9.0):
    """(W, T) start and end logits: `low` but for the peaks (window, start column, end column, value)."""
    start, end = np.full((2, len(windows), width), low)
    for window, first, last, value in peaks:
        start[window, first], end[window, last] = value, value
    return start, end


def test_windows_hold_the_question_and_move_on_by_the_stride():
    windows = windows_of(row("a b c d e f g h"))  # 10 − 3 − 2 = 5 context tokens in a window
    inputs, _ = arrays(windows.features, 10)
    assert inputs["input_ids"].tolist() == [
        [CLS, *ids("qq"), SEP, *ids("abcde"), SEP],
        [CLS, *ids("qq"), SEP, *ids("cdefg"), SEP],
        [CLS, *ids("qq"), SEP, *ids("efgh"), SEP, 0],
    ]
    assert inputs["token_type_ids"][2].tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1, 0]
    assert (windows.first_token.tolist(), windows.num_tokens.tolist()) == ([0, 2, 4], [5, 5, 4])


def test_the_answer_has_its_columns_where_a_window_holds_all_of_it_and_cls_elsewhere():
    windows = windows_of(row("a b c d e f g h", "e f"))
    targets = windows.features.targets
    assert targets["start_positions"].tolist() == [0, 6, 4]  # column 4 is the first context token of each window
    assert targets["end_positions"].tolist() == [0, 7, 5]
    unanswerable = windows_of(row("a b c"))
    assert unanswerable.features.targets["start_positions"].tolist() == [0]


def test_an_answer_that_ends_inside_a_word_takes_the_tokens_it_touches():
    context = "a bcd e"
    windows = windows_of(row(context, "cd", question="q"))
    inputs, targets = arrays(windows.features, 16)
    start, end = targets["start_positions"][0], targets["end_positions"][0]
    pieces = [TOKENIZER.vocabulary.pieces[i] for i in inputs["input_ids"][0, start : end + 1]]
    assert pieces == ["##c", "##d"]


def test_long_questions_are_cut_and_counted_and_lost_answers_too():
    windows = windows_of(row("a b", question="q r s t u v"), row("a \x07\x07 b", "\x07", id="2"))
    assert (windows.cut_questions, windows.lost_answers) == (1, 1)
    assert arrays(windows.features, 16)[0]["input_ids"][0, :6].tolist() == [CLS, *ids("qrst"), SEP]


def test_settings_that_leave_no_space_are_refused():
    with pytest.raises(ConfigError, match="max_length must be at least 8, for 4 question tokens"):
        windows_of(row("a"), max_length=7)
    refused("at least 1", windows_of, row("a"), stride=0, error=ConfigError)
    refused("no questions", windows_of)


def published_windows(size, room, stride):
    """(start, length) of every window by the loop of the published run_squad.py, told in words: go on until one
    reaches the end, each beginning min(length, stride) after the last."""
    spans, start = [], 0
    while True:
        length = min(size - start, room)
        spans.append((start, length))
        if start + length >= size:
            return spans
        start += min(length, stride)


def published_owner(position, spans):
    """The first window with the largest min(left, right) + 0.01 · length for a token."""
    best = None
    for index, (start, length) in enumerate(spans):
        if start <= position < start + length:
            context = min(position - start, start + length - 1 - position) + 0.01 * length
            if best is None or context > best[0]:
                best = context, index
    return best[1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 70), min_size=1, max_size=4), st.integers(5, 30), st.integers(1, 24))
@example(sizes=[32], max_length=30, stride=24)
def test_windows_and_maximum_context_are_those_of_the_published_loop(sizes, max_length, stride):
    contexts = [" ".join("abcdefghij"[i % 10] for i in range(size)) for size in sizes]
    rows = [row(context, id=str(n), question="q") for n, context in enumerate(contexts)]
    windows = make_windows(rows, TOKENIZER, max_length, stride, max_question_length=1)
    marks, first = windows.max_context(), 0
    for number, size in enumerate(sizes):
        spans = published_windows(size, max_length - 4, stride)
        here = np.flatnonzero(windows.row_of == number)
        assert list(zip(windows.first_token[here], windows.num_tokens[here])) == spans
        for position in range(size):
            holders = [(w, position - s) for w, (s, n) in enumerate(spans) if s <= position < s + n]
            owners = [w for w, column in holders if marks.row(first + w)[column]]
            assert owners == [published_owner(position, spans)]
        first += len(spans)


def test_the_best_span_is_cut_from_the_original_text_by_offsets():
    windows = windows_of(row("A  bcd,É e"), max_length=14)
    # tokens: a b ##c ##d [UNK](,) e e; the É lost its accent
    start, end = logits(windows, (0, 5, 9, 5.0), width=14)
    (answer,) = best_answers(windows, start, end)
    assert answer.text == "bcd,É" and answer.candidates[0].score == 10.0


def test_a_span_may_only_start_where_its_token_has_most_context():
    windows = windows_of(row("a b c d e f g h"))
    assert windows.max_context().row(0).tolist() == [True, True, True, True, False]
    # token e is column 8 of window 0 and column 6 of window 1, whose middle it is
    start, end = logits(windows, (0, 8, 8, 9.0), (1, 6, 6, 5.0))
    (answer,) = best_answers(windows, start, end, n_best=1)
    assert (answer.text, answer.candidates[0].score) == ("e", 10.0)


def test_spans_that_end_before_they_begin_or_are_too_long_or_touch_the_question_do_not_count():
    windows = windows_of(row("a b c d e"))
    start, end = logits(windows, (0, 8, 4, 9.0), (0, 1, 2, 20.0), (0, 5, 6, 3.0))
    # 8 → 4 goes backwards; 1 → 2 is the question; the best valid one is start 5 (3) with end 6 (3)
    assert best_answers(windows, start, end)[0].text == "b c"
    assert best_answers(windows, start, end, max_answer_length=1)[0].text in ("a", "e")


def test_no_answer_wins_above_the_threshold_with_the_lowest_cls_score_of_all_windows():
    windows = windows_of(row("a b c d e f g h", id="x"), row("a", id="y"))
    start, end = logits(windows, (1, 6, 6, 2.0), (3, 4, 4, 1.0))
    start[:3, 0], end[:3, 0] = [9.0, 3.0, 9.0], [9.0, 2.0, 9.0]  # lowest: 5; best span: 4
    answers = best_answers(windows, start, end, null_threshold=0.0)
    assert answer_texts(answers) == {"x": "", "y": "a"}
    assert no_answer_scores(answers) == {"x": 1.0, "y": -18.0 - 2.0}
    assert answer_texts(best_answers(windows, start, end, null_threshold=1.0))["x"] == "e"
    assert answer_texts(best_answers(windows, start, end))["x"] == "e"


def test_candidates_are_the_best_texts_in_order_without_repetition():
    windows = windows_of(row("a b a"))
    start, end = logits(windows, (0, 4, 4, 3.0), (0, 6, 6, 3.0), (0, 5, 5, 2.0))
    (answer,) = best_answers(windows, start, end, n_best=4)
    assert [span.text for span in answer.candidates] == ["a", "a b a", "a b", "b a"]
    assert [span.score for span in answer.candidates] == [6.0, 6.0, 5.0, 5.0]


def test_a_context_without_tokens_gets_the_empty_text():
    windows = windows_of(row(" "), row("a", id="2"))
    start, end = logits(windows)
    assert [answer.text for answer in best_answers(windows, start, end)] == ["", "a"]


def test_logits_that_do_not_fit_are_refused():
    windows = windows_of(row("a b c d e"))
    refused("2 and 2 rows of logits for 1 windows", best_answers, windows, np.zeros((2, 10)), np.zeros((2, 10)))
    refused("window 0 has 10 tokens, but only 4 logits", best_answers, windows, np.zeros((1, 4)), np.zeros((1, 4)))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_perfect_logits_give_back_every_answer_made_of_whole_words(data):
    """But for answers that the published rule loses: where the window that holds all of it is not the start's best."""
    words = data.draw(st.lists(st.sampled_from(["ab", "c", "Éd", "x"]), min_size=1, max_size=30))
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, min(first + 2, len(words) - 1)))
    context, answer = " ".join(words), " ".join(words[first : last + 1])
    begin = len(" ".join(words[:first])) + (first > 0)
    windows = make_windows([QuestionRow("1", "q", context, (answer,), (begin,))], TOKENIZER, 14, 3, 1)
    targets = windows.features.targets
    start, end = np.zeros((2, len(windows), 14))
    rows = np.flatnonzero(targets["start_positions"])
    marks, columns = windows.max_context(), targets["start_positions"] - windows.context_column
    assume(any(marks.row(row)[columns[row]] for row in rows))
    start[rows, targets["start_positions"][rows]] = 5
    end[rows, targets["end_positions"][rows]] = 5
    (found,) = best_answers(windows, start, end)
    assert found.text == answer and (found.candidates[0].start, found.candidates[0].end) == (begin, begin + len(answer))
