"""Held-out rows: which rows stay together, which stay in training, and the message where no row can be held out."""

from collections import Counter

import pytest
from refusals import refused

from bertlab.common.errors import DataError
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, SentenceRow, TaggingRow, TaskData, hold_out

SEEDS = range(20)


def sentences(*labels, names=("a", "b", "c")):
    return TaskData("mine", "sentence", names, [SentenceRow(f"text {n}", label) for n, label in enumerate(labels)])


def test_a_part_is_drawn_with_the_seed_and_both_parts_keep_their_order():
    data = sentences(*[0, 1] * 25)
    held = hold_out(data, 0.2, seed=3)
    assert (len(held.train), len(held.validation)) == (40, 10)
    assert sorted([*held.train, *held.validation], key=data.train.index) == data.train
    assert all(part == sorted(part, key=data.train.index) for part in (held.train, held.validation))
    assert held == hold_out(data, 0.2, seed=3) != hold_out(data, 0.2, seed=4)


@pytest.mark.parametrize(
    "shape, make",
    [
        ("question", lambda n: QuestionRow(str(n), f"question {n}?", f"context {n % 7}")),
        ("multiple-choice", lambda n: MultipleChoiceRow(f"context {n % 7}", ("a", str(n)), 0)),
        ("sentence", lambda n: SentenceRow(f"text {n % 7}", n % 2)),
        ("pair", lambda n: PairRow("one", f"other {n % 7}", n % 2)),
        ("tagging", lambda n: TaggingRow(("a", f"word{n % 7}"), (0, 1))),
    ],
)
def test_rows_about_one_text_are_never_on_both_sides(shape, make):
    data = TaskData("mine", shape, ("a", "b"), [make(n) for n in range(28)])  # 7 texts with 4 rows each
    texts = ("context", "text", "text_b", "words")
    for seed in SEEDS:
        held = hold_out(data, 0.3, seed)
        sides = [
            {getattr(row, name) for row in rows for name in texts if hasattr(row, name)}
            for rows in (held.train, held.validation)
        ]
        assert not sides[0] & sides[1]
        assert len(held.validation) == 8  # two texts; three would be more than 0.3 · 28


def test_every_class_stays_in_training_and_gives_about_its_share():
    data = sentences(*[0] * 80, *[1] * 19, 2)
    for seed in SEEDS:
        held = hold_out(data, 0.1, seed)
        assert {row.label for row in held.train} == {0, 1, 2}
        counts = Counter(row.label for row in held.validation)
        assert sum(counts.values()) == 10 and 8 >= counts[0] and 2 >= counts[1]


def test_every_tag_stays_in_training():
    rows = [TaggingRow((f"word{n}", "x"), (0, 1 + (n == 4))) for n in range(10)]
    data = TaskData("mine", "tagging", ("O", "A", "B"), rows)
    assert all(rows[4] in hold_out(data, 0.5, seed).train for seed in SEEDS)


def test_a_small_share_holds_back_one_text_and_a_large_one_leaves_one():
    assert len(hold_out(sentences(0, 1, 0, 1), 0.01).validation) == 1
    numbers = TaskData("mine", "sentence", (), [SentenceRow(str(n), n / 2) for n in range(4)])
    assert len(hold_out(numbers, 0.99).train) == 1
    contexts = ["long"] * 99 + ["short"]
    data = TaskData("mine", "question", (), [QuestionRow(str(n), "?", text) for n, text in enumerate(contexts)])
    assert all([row.context for row in hold_out(data, 0.001, seed).validation] == ["short"] for seed in SEEDS)


def test_where_no_row_can_be_held_out_the_reason_is_reported():
    refused("mine: there are no training rows, so none can be held out", hold_out, sentences(), 0.2)
    with pytest.raises(DataError, match="mine: all training rows are about one text"):
        hold_out(TaskData("mine", "question", (), [QuestionRow(str(n), "?", "text") for n in range(9)]), 0.2)
    refused("mine: no row can be held out, because every class needs a training row", hold_out, sentences(0, 1, 2), 0.3)
