"""Text and lists in messages: nothing hides, and of what is long the telling part is shown."""

import time

import pytest

from autograde.common.texts import LONGEST_TEXT, around, article, first_difference, row, short, visible
from autograde.judging.compare import compare


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("zoe\u0308", r"'zoe\u0308'"),
        ("a\u200bb\n", r"'a\u200bb\n'"),
        ("공", "'공'"),
        ("\u1100\u1169", r"'\u1100\u1169'"),
        (["a", ("b",), {("c", "##d"): 1.5}, None], "['a', ('b',), {('c', '##d'): 1.5}, None]"),
    ],
)
def test_every_character_can_be_seen(value, shown):
    assert visible(value) == shown


def test_a_long_text_is_cut_at_its_end_and_around_a_difference():
    one, other = "a" * 200, "a" * 100 + "b" * 100
    place = first_difference(one, other)
    assert place == 100 and first_difference("ab", "abc") == 2
    assert len(short(one)) == LONGEST_TEXT and short(one).endswith("…")
    assert around(other, place) == f"…'{'a' * 30}{'b' * 30}'…" and around("ab", 1) == "'ab'"


def test_a_long_list_shows_the_items_around_a_place():
    items = [f"token {number}" for number in range(100)]
    assert row(items[:3]) == "['token 0', 'token 1', 'token 2']"
    assert row(items).startswith("['token 0'") and row(items).endswith(", …]")
    middle = row(items, 50)
    assert middle.startswith("[…, ") and "'token 50'" in middle and middle.endswith(", …]")
    assert row(items, 100).endswith("'token 99']") and row(["a" * 500])[:3] == "['a" and row([]) == "[]"


@pytest.mark.parametrize(
    ("kind", "words"),
    [("list", "a list"), ("array", "an array"), ("str", "a string"), ("NumPy array", "a NumPy array"),
     ("nothing", "nothing")],
)  # fmt: skip
def test_a_kind_of_thing_gets_its_article(kind, words):
    assert article(kind) == words


def test_a_long_value_is_shortened_without_writing_all_of_it():
    """A sandbox may answer with megabytes, and each mistake says what was expected."""
    start = time.process_time()
    for value in ("\u0301" * 4_000_000, ["\u0301" * 400_000] * 10, {"\u0301" * 4_000_000: 1}):
        assert short(value).endswith("…") and row([value])
        assert compare("abc", value).message
    assert compare({"a": 1}, {f"{number}{'x' * 50}": 1 for number in range(50_000)}).message
    assert time.process_time() - start < 1
