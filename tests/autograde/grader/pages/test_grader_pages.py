"""Feedback and class report: readable, complete, nothing hidden in them, nothing in them runs."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograde.common.errors import InputError
from autograde.grader.grading.results import Result
from autograde.grader.pages.feedback import ByHand, feedback_page, write_feedback
from autograde.grader.pages.report import report_page
from autograde.judging.verdict import PartResult, Picture, Verdict

ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}{% raw %}&lt;"


def verdict(exercise="scores", status="passed", points=3.0, most=3.0, **more):
    return Verdict(exercise, f"3.2 {exercise}", status, points, most, **more)


def result(student="jane", verdicts=(), **more):
    return Result("ps3", student, "03_attention", tuple(verdicts), **more)


class Page(HTMLParser):
    """Tags, attributes and visible text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data):
        self.text += f" {data}"


def assert_harmless(text):
    page = Page(text)
    assert not set(page.tags) & {"script", "img", "iframe", "object", "embed", "form", "input", "base"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    for name, value in page.attributes:
        if name in ("href", "src", "xlink:href"):
            assert value.startswith("#")
    assert any(value and value.startswith("default-src 'none'") for name, value in page.attributes if name == "content")


FULL = result(
    verdicts=[
        verdict(parts=(PartResult("values", 3, 3),)),
        verdict("weights", "partly", 1, 2, parts=(PartResult("values", 1, 1), PartResult("ties", 0, 1, "of rows"))),
        verdict("head", "wrong", 0, 4, misconception="unscaled", advice=("This is before dividing by √d.",)),
        verdict("mask", "not attempted", 0, 2),
        verdict("why", "technical", 0, 2, technical="memory: more than 4 GB"),
    ],
    repairs=("The test cell check_head was changed; the released one was used.",),
    handed_in="2026-01-30 12:00:00 UTC",
)


def test_feedback_says_what_was_right_wrong_and_what_to_do():
    text = Page(feedback_page(FULL)).text
    wanted = (
        "4 of 13 points", "results as expected", "ties: of rows", "This is before dividing by √d.", "not attempted",
        "memory: more than 4 GB", "the released one was used", "handed in 2026-01-30",
    )  # fmt: skip
    for words in wanted:
        assert words in " ".join(text.split()), words


@pytest.mark.parametrize("page", [feedback_page, lambda one: report_page([one], "ps3")])
@pytest.mark.parametrize("time", ["2026-01-30 12:00:07 UTC", "2026-01-30 12:00:07.875388 UTC"])
def test_the_time_of_handing_in_is_shown_to_the_minute(page, time):
    text = Page(page(result(verdicts=[verdict()], handed_in=time))).text
    assert "handed in 2026-01-30 12:00 UTC" in " ".join(text.split())


def test_feedback_never_shows_the_hidden_check():
    secret = verdict(
        "head", "wrong", 0, 4, seed="c0ffee42", facts=(("tried", "q = 0.123456"), ("values", "expected 2.0283")),
        picture=Picture([[1.5]], [[987.654]]),
    )  # fmt: skip
    text = feedback_page(result(verdicts=[secret]))
    for hidden in ("c0ffee", "0.123456", "2.0283", "987.654"):
        assert hidden not in text


def test_what_a_human_gave_and_took_is_shown():
    page = feedback_page(FULL, {"head": ByHand(3.5, "Good <idea>.")}, late_penalty=1.0)
    text = " ".join(Page(page).text.split())
    assert "6.5 of 13 points" in text
    assert "Good <idea>." in text and "1 points are deducted" in text


def test_the_page_of_an_unreadable_notebook_begins_with_this():
    text = Page(feedback_page(result(problem="Your file is empty."))).text
    assert "could not be read. Your file is empty." in " ".join(text.split())


def test_a_reason_for_the_whole_notebook_is_not_repeated_at_each_exercise():
    why = "Your file is empty."
    unread = [verdict(name, "missing", 0, 2, advice=(why,)) for name in ("scores", "weights")]
    assert feedback_page(result(problem=why, verdicts=unread)).count(why) == 1
    ended = "Cell 28 failed: it ended the whole program."
    one = verdict("head", "technical", 0, 2, technical=ended, advice=(ended, f"It could not be graded: {ended[:-1]}."))
    page = feedback_page(result(verdicts=[one]))
    assert page.count(ended[:-1]) == 1 and ".." not in page.partition("<header>")[2]


def test_the_report_names_what_a_technical_failure_cost_and_sorts_exercises_by_number():
    lost = [Verdict(str(n), f"3.{n} x", "technical", 0, 2, technical="Cell 9 failed.") for n in (10, 9)]
    text = Page(report_page([result(technical="cell 9 ended the program", verdicts=lost)], "ps3")).text
    assert "cell 9 ended the program; not graded: 3.10 x, 3.9 x" in text and "Cell 9 failed" not in text
    table = text[text.index("Exercise by exercise") :]
    assert table.index("3.9 x") < table.index("3.10 x")


def attacked(text):
    """A record with the text in every field that a student or a program of theirs can reach."""
    one = verdict(
        "scores", "wrong", 0, 3, parts=(PartResult(text, 0, 3, text),), advice=(text, text), notes=(text,),
        technical=text, misconception=text,
    )  # fmt: skip
    return Result("ps3", text, text, (one,), (text,), text, text, text)


def test_html_in_any_field_is_only_text():
    record = attacked(ATTACK)
    for page in (feedback_page(record, {"scores": ByHand(1, ATTACK)}), report_page([record, FULL], ATTACK)):
        assert_harmless(page)
        assert ATTACK in Page(page).text.replace("  ", " ")


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_no_text_breaks_out_of_a_page(text):
    assert_harmless(feedback_page(attacked(f"</style></title>{text}<b onclick=x>")))


def test_the_report_counts_what_it_should():
    unscaled = verdict("head", "wrong", 0, 4, misconception="unscaled", advice=("Look.",))
    class_of = [
        result("a", [verdict(), verdict("head", "passed", 4, 4)], seconds=1.0, handed_in="2026-01-30 12:00:00 UTC"),
        result("b", [verdict(), unscaled], seconds=3),
        result("c", [verdict("scores", "wrong", 0), unscaled], seconds=2),
        result("d", problem="Your file is empty."),
    ]
    text = " ".join(Page(report_page(class_of, "ps3")).text.split())
    assert "1.5 median of 7 points" in text
    assert "1 have full marks" in text
    assert re.search(r"unscaled b, c 3.2 head 2 Look.", text)
    assert re.search(r"3.2 head 33% 1 0 2 0 unscaled \(2\) 3.2 scores 67%", text)  # hardest first
    assert re.search(r"b 3 / 7 3.2 head \(unscaled\)", text)
    assert re.search(r"Technical failures .* d 03_attention Your file is empty.", text)
    assert "2 need help" in text  # d failed for another reason


@pytest.mark.slow
def test_the_report_shows_where_students_stopped_and_whose_file_was_mended():
    untried = [verdict(name, "not attempted", 0) for name in ("head", "mask", "why")]
    class_of = [
        result("a", [verdict(), *untried]),
        result("b", [verdict()], repairs=("The answer was found in cell 7.", "So was another.")),
        result("c", [verdict("scores", "missing", 0)], repairs=("The file is damaged.",)),
    ]
    text = " ".join(Page(report_page(class_of, "ps3")).text.split())
    assert "a 3 / 12 not tried: 3.2 head and 2 more" in text
    assert re.search(r"c 03_attention The file is damaged\. b 03_attention .* cell 7\. … and 1 more", text)
    assert "Repaired files" not in report_page(class_of[:1], "ps3")


def test_feedback_sets_names_as_code_and_a_note_on_top_leads_to_what_was_mended():
    page = feedback_page(result(verdicts=[verdict("head", "missing", 0, 4, advice=("There is no `<head>` yet.",))]))
    assert "There is no <code>&lt;head&gt;</code> yet." in page and "had to be repaired" not in page
    assert 'href="#file"' in feedback_page(FULL) and 'id="file"' in feedback_page(FULL)


def test_a_class_of_five_hundred_is_all_there_and_mostly_folded_away():
    unscaled = verdict("head", "wrong", 0, 4, misconception="unscaled", advice=("Look.",))
    page = report_page([result(f"s{number:03}", [verdict(), unscaled]) for number in range(500)], "ps3")
    help_table = page[page.index(">Who needs help<") : page.index("Technical failures")]
    shown, folded = help_table.split("<details>")
    assert (shown.count("<td><b>s"), folded.count("<td><b>s")) == (25, 475)
    assert "and 475 more" in folded and "and 488 more" in page  # of the names under a mistake, 12 are shown


def test_the_report_is_the_same_bytes_every_time():
    assert report_page([FULL], "ps3") == report_page([FULL], "ps3")


def test_a_report_on_nothing_says_what_to_do():
    with pytest.raises(InputError, match="autograde grade"):
        report_page([], "ps3")


def test_feedback_lies_where_nbgrader_looks(tmp_path):
    assert write_feedback(tmp_path, FULL) == tmp_path / "feedback/jane/ps3/03_attention.html"


def test_the_report_names_the_tests_that_may_be_missing():
    sentence = "3.11 cross_attention is right on the course's answers and not on the student's own: look at 3.8"
    found = [result(f"s{number}", [verdict()], untested=(sentence,)) for number in range(2)]
    text = " ".join(Page(report_page(found, "ps3")).text.split())
    assert "Tests that may be missing" in text and text.count("look at 3.8") == 1 and "s0, s1" in text
    assert "may be missing" not in report_page([FULL], "ps3")
