"""The answer as its first and last token, or (0, 0) for "no answer"."""

from dataclasses import replace

import numpy as np

from autograde.exercises.n08_finetuning._shared import READY_MADE
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, normal, plain_function, values

FIRST, LAST, TOKENS = 5, 10, 12
EACH_BY_ITSELF = """\
def best_span(start, end, first, last, longest, threshold=0.0):
    i = first + int(np.argmax(start[first : last + 1]))
    j = first + int(np.argmax(end[first : last + 1]))
    return (i, j) if start[i] + end[j] > start[0] + end[0] + threshold else (0, 0)
"""


def best_span(start, end, first, last, longest, threshold=0.0):
    """All sums as a matrix, without those of impossible spans."""
    i, j = np.indices((len(start), len(end)))
    possible = (first <= i) & (i <= j) & (j <= last) & (j - i < longest)
    sums = np.where(possible, start[:, None] + end[None, :], -np.inf)
    if sums.max() <= start[0] + end[0] + threshold:
        return 0, 0
    return tuple(int(index) for index in np.unravel_index(sums.argmax(), sums.shape))


def _logits(rng: Random, starts: dict, ends: dict, null: float) -> tuple[np.ndarray, np.ndarray]:
    """Low noise with peaks; `null` is what [CLS] has in both."""
    rows = [normal(rng, TOKENS, size=0.5) for _ in range(2)]
    for row, peaks in zip(rows, (starts, ends)):
        row[0] = null
        for position, height in peaks.items():
            row[position] += height
    return rows[0], rows[1]


def _span(rng: Random, starts: dict, ends: dict, null=-3.0, longest=3, threshold=0.0) -> Case:
    return Case((*_logits(rng, starts, ends, null), FIRST, LAST, longest, threshold))


def other_paragraphs(rng: Random) -> list[Case]:
    """A paragraph of one token; one that begins behind [CLS]; `longest` longer than the paragraph; 1; all below 0, also
    far below; the best starts are in one half of a long paragraph and the best ends in the other. No answer depends on
    the noise."""
    start, end = _logits(rng, {1: 5}, {3: 5}, -9.0)
    one_start, one_end = _logits(rng, {4: 12}, {5: 5}, -9.0)
    low_start, low_end = (row - 2000 for row in _logits(rng, {6: 5}, {8: 5}, -9000.0))
    lowest_start, lowest_end = (row - 40_000 for row in _logits(rng, {7: 5}, {8: 5}, -9000.0))
    far_start, far_end = (normal(rng, 80, size=0.5) for _ in range(2))
    far_start[50:], far_end[10:45] = far_start[50:] + 9, far_end[10:45] + 9
    far_start[int(rng.integers(50, 79))] += 6
    far_start[0] = far_end[0] = -99
    return [
        Case((start, end, 1, 6, 30)), Case((one_start, one_end, 4, 4, 3)), Case((one_start, one_end, 3, 8, 1)),
        Case((low_start, low_end, FIRST, LAST, 4, -1.5)), Case((lowest_start, lowest_end, FIRST, LAST, 4)),
        Case((far_start, far_end, 8, 79, 2)), a_long_answer(rng),
    ]  # fmt: skip


def a_long_answer(rng: Random) -> Case:
    """The best span has 69 of 70 allowed tokens."""
    start, end = (normal(rng, 80, size=0.5) for _ in range(2))
    start[9], end[77] = 12, 12
    return Case((start, end, 8, 79, 70))


def plain_spans(rng: Random) -> list[Case]:
    """Spans of one, two and the maximum number of tokens, at both ends of the paragraph; once without a threshold."""
    inner = [int(rng.integers(FIRST + 1, LAST - 1)) for _ in range(2)]
    spans = [(FIRST, FIRST), (inner[0], inner[0]), (inner[1], inner[1] + 1), (LAST - 2, LAST), (LAST, LAST)]
    default = _span(rng, {inner[0]: 6}, {inner[0] + 1: 6})
    return [
        *(_span(rng, {i: 6}, {j: 6}) for i, j in spans), replace(default, arguments=default.arguments[:-1]),
        *other_paragraphs(rng),
    ]  # fmt: skip


def longer_paragraphs(rng: Random) -> list[Case]:
    """The best start and the best end belong together, far above the noise: no verdict depends on chance."""
    start, end = long_scores(rng)
    position = int(rng.integers(20, 250))
    start[position] = end[position + 5] = 60
    return [Case((start, end, 12, 280, 30)), Case((start, end, 1, 299, 7, -4.0))]


def longer_traps(rng: Random) -> list[Case]:
    """The best start and the best end belong to no possible span; a pair that is lower is the answer."""
    start, end = long_scores(rng)
    start[200] = end[20] = 60
    start[100] = end[112] = 50
    return [Case((start, end, 12, 280, 30))]


def long_scores(rng: Random) -> tuple[np.ndarray, np.ndarray]:
    """300 tokens; [CLS] has 0, and the tokens in front of 12 and behind 280 are low."""
    start, end = normal(rng, 300, size=2), normal(rng, 300, size=2)
    for row in (start, end):
        row[0] = 0
        row[1:12] -= 40
        row[281:] -= 40
    return start, end


def impossible_spans(rng: Random) -> list[Case]:
    """The scores of the question are low: no span with a token of it wins by chance.

    The fourth answer has neither the best start nor the best end. The last one's sum is far below that of impossible
    pairs.
    """
    early, low = int(rng.integers(FIRST, FIRST + 3)), dict.fromkeys(range(1, FIRST), -20)
    return [
        _span(rng, {early + 2: 6} | low, {early: 6} | low),  # the end before the start
        _span(rng, {FIRST: 6, FIRST + 3: 2} | low, {LAST: 6, FIRST + 1: 2} | low),  # far apart
        _span(rng, {early: 6} | low, {early + 3: 6} | low),  # one token too many
        _span(rng, {LAST: 9, early + 1: 8} | low, {FIRST: 9, early + 2: 8} | low),  # the best of both at the wrong ends
        far_below_impossible_pairs(),
    ]


def far_below_impossible_pairs() -> Case:
    """A penalty in place of a test does not exclude the pairs whose end comes before their start."""
    start, end = np.full(TOKENS, -30_000, "float32"), np.full(TOKENS, -30_000, "float32")
    start[0] = end[0] = -40_000
    start[LAST], end[FIRST], start[FIRST] = 0, 0, -29_990
    return Case((start, end, FIRST, LAST, 3))


def tempting_questions(rng: Random) -> list[Case]:
    position = int(rng.integers(FIRST, LAST))
    return [
        _span(rng, {2: 9, position: 5}, {3: 9, position: 5}),
        _span(rng, {4: 9, FIRST: 5}, {FIRST: 5}),
        _span(rng, {position: 5}, {position: 5, LAST + 1: 9}),
    ]


def no_answers(rng: Random) -> list[Case]:
    position = int(rng.integers(FIRST, LAST))
    return [
        _span(rng, {position: 4}, {position: 4}, null=8.0),
        _span(rng, {position: 6}, {position: 6}, null=4.0, threshold=8.0),
        _span(rng, {position: 6}, {position: 6}, null=8.0, threshold=-8.0),
        *null_by_two_numbers(rng, position),
        *ties_with_null(rng),
        *thresholds(rng, position),
    ]


def thresholds(rng: Random, position: int) -> list[Case]:
    """A threshold above 0 that the span exceeds, one below 0 that it does not reach, and fractions on both sides of the
    difference. Without a threshold, a span that is better and one that is worse by little."""
    found = []
    with_threshold = (2, 5, 5.0), (3, 5, 3.75), (3, 5, 4.25), (7, 5, -3.0), (7, 5, -4.25)
    for null, height, *threshold in (*with_threshold, (5.984375, 6), (6.015625, 6)):
        start, end = _logits(rng, {}, {}, null)
        start[position] = end[position + 1] = height
        found.append(Case((start, end, FIRST, LAST, 3, *threshold)))
    return found


def null_by_two_numbers(rng: Random, position: int) -> list[Case]:
    """[CLS] has different numbers as start and as end, and other tokens outside of the paragraph have larger ones."""
    found = []
    for start_null, end_null, height in ((9.0, -8.0, 3.0), (-8.0, 9.0, 3.0), (2.0, 9.0, 4.0), (9.0, 2.0, 4.0)):
        start, end = _logits(rng, {position: height, 2: 30}, {position: height, 3: 30}, 0.0)
        start[0], end[0] = start_null, end_null
        found.append(Case((start, end, FIRST, LAST, 3, 0.0)))
    return found


def ties_with_null(rng: Random) -> list[Case]:
    """Whole numbers: the best span has exactly the score of [CLS] plus threshold, and one more."""
    position, found = int(rng.integers(FIRST, LAST)), []
    for height, threshold in ((4, 0.0), (5, 0.0), (6, 4.0), (5, 2.0)):
        start, end = np.full(TOKENS, -3, "float32"), np.full(TOKENS, -3, "float32")
        start[0] = end[0] = 4
        start[position] = end[position + 1] = height
        found.append(Case((start, end, FIRST, LAST, 3, threshold)))
    return found


EXERCISE = Exercise(
    probe=plain_function(),
    reference=best_span,
    returns="anything",
    parts=(
        values(2, plain_spans, hidden=longer_paragraphs),
        cases("order and length of spans", 1, impossible_spans,
            "the best span must be chosen that does not end before it begins and has at most `longest` tokens",
            longer_traps),
        cases("answers only from the paragraph", 1, tempting_questions,
            "high scores outside of the paragraph must have no effect"),
        cases("no answer", 1, no_answers, "(0, 0) is right exactly if no span is better than [CLS] by more than "
                                          "threshold"),
    ),
    forbidden=READY_MADE,
    hints=(
        "Two loops: every start i from first to last, every end j from i on. Keep the best sum start[i] + end[j].",
        "A span from i to j has j − i + 1 tokens; that may be at most longest, and j at most last.",
        "At the end compare the best sum with start[0] + end[0] + threshold. It is the answer only if it is larger.",
    ),
    misconceptions=(
        mistake("last-token-excluded", "range(first, last + 1)", "range(first, last)",
            "min(i + longest, last + 1)", "min(i + longest, last)",
            hint="Your answers never contain the token `last`. It belongs to the text: both ranges end behind it."),
        mistake("each-by-itself", cell=EACH_BY_ITSELF,
            hint="You choose the best start and the best end independently. They may not form a span: the end can "
                 "come before the start, or far after it. Use the sum of a *pair*."),
        mistake("best-start-first", "for i in range(first, last + 1)",
            "for i in [first + int(np.argmax(start[first : last + 1]))]",
            hint="You take the best start, and only then look for an end. The best *pair* may begin elsewhere."),
        mistake("above-zero", "best, span = -np.inf, (0, 0)", "best, span = 0, (0, 0)",
            hint="You look for a sum above 0, but all scores may be negative. Begin with -np.inf."),
        mistake("backwards", "range(i, min(i + longest, last + 1))", "range(first, min(i + longest, last + 1))",
            hint="Your spans may end before they begin. For a start i, ends begin at j = i."),
        mistake("any-length", "min(i + longest, last + 1)", "last + 1",
            hint="You allow spans of any length. `longest` is the maximum number of tokens of an answer."),
        mistake("one-too-long", "min(i + longest, last + 1)", "min(i + longest + 1, last + 1)",
            hint="Your longest spans have longest + 1 tokens: from i to j there are j − i + 1."),
        mistake("question-may-answer", "for i in range(first, last + 1)", "for i in range(1, last + 1)",
            hint="You also try spans in the question. The answer is in the paragraph, from first to last."),
        mistake("always-an-answer", "if best > start[0] + end[0] + threshold else (0, 0)", "",
            hint="You always return a span. If the best sum is not larger than start[0] + end[0] + threshold, "
                 "return (0, 0)."),
        mistake("null-counted-once", "start[0] + end[0] + threshold", "start[0] + threshold",
            hint="The score of [CLS] has two parts, as that of a span: start[0] + end[0]."),
        mistake("null-forgotten", "start[0] + end[0] + threshold", "threshold",
            hint='You compare the best sum with the threshold alone. What is the score of "no answer"?'),
        mistake("not-larger", "best > start[0]", "best >= start[0]",
            hint="A span whose score is exactly that of [CLS] plus the threshold is no answer: it must be *larger*."),
        mistake("threshold-reversed", "end[0] + threshold", "end[0] - threshold",
            hint='You use the threshold with the wrong sign: a larger threshold must make "no answer" *more* '
                 'frequent. It is added to the score of [CLS].'),
    ),
)  # fmt: skip
