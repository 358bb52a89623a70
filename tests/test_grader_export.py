"""Grade files that other programs read, and similarity that finds copies and leaves honest work alone."""

import csv
import io
import json

import pytest
from grader_course import ANSWERS, NAMES, STUBS
from hypothesis import given, settings
from hypothesis import strategies as st
from test_grader_pages import ATTACK, Page, assert_harmless

from autograde.grader.export import export
from autograde.grader.similarity import WINDOW, K, fingerprints, similar_pairs, similarity_page, tokens
from autograde.grader.tables import ExportError

PERSON = {"name": "Jané Doe", "last_name": "Doe", "first_name": "Jané", "email": "jane@x.org", "login": "",
          "lms_user_id": "4711", "participant": ""}  # fmt: skip
GRADE = {"submitted": True, "timestamp": "2026-01-30 12:00:00", "late": "", "raw_score": 9.0, "late_penalty": 0.5,
         "score": 8.5, "max_score": 11.0, "needs_manual_grade": False}  # fmt: skip
ROWS = [
    {"assignment": "ps1", "student": "jane"} | PERSON | GRADE,
    {"assignment": "ps1", "student": "=cmd()"} | dict.fromkeys(PERSON, "") | GRADE | {"submitted": False, "score": 0.0},
    {"assignment": "ps2", "student": "jane"} | PERSON | GRADE | {"score": 3.0},
]


def table(text):
    return list(csv.reader(io.StringIO(text)))


def test_csv_has_a_row_per_student_and_assignment_and_no_formula():
    rows = list(csv.DictReader(io.StringIO(export(ROWS, "csv").text)))
    assert [row["score"] for row in rows] == ["8.5", "0", "3"]
    assert rows[1]["student"] == "'=cmd()"


def test_json_is_the_rows():
    assert json.loads(export(ROWS, "json").text) == ROWS


def test_canvas_has_a_column_per_assignment_and_leaves_what_was_not_handed_in():
    header, possible, jane, other = table(export(ROWS, "canvas").text)
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ps1", "ps2"]
    assert possible[-2:] == ["11", "11"]
    assert jane == ["Doe, Jané", "4711", "", "jane", "", "8.5", "3"]
    assert other[-2:] == ["", ""]


def test_canvas_own_gradebook_is_filled_in():
    theirs = (
        "Student,ID,SIS Login ID,Section,ps1 (99),ps2 (98),Final\n"
        "    Points Possible,,,,11,11,\n"
        '"Doe, Jané",4711,jdoe1,A,,1,\n'
        '"Roe, Mark",4712,mroe,A,5,,\n'
    )
    filled = table(export(ROWS, "canvas", theirs).text)
    assert filled[2] == ["Doe, Jané", "4711", "jdoe1", "A", "8.5", "3", ""]
    assert filled[3] == ["Roe, Mark", "4712", "mroe", "A", "5", "", ""]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n", "expected a gradebook of Canvas"),
        ("Student,ID,ps1 (1)\n", "expected one column 'ps2' in the Canvas gradebook, found 0"),
    ],
)
def test_a_canvas_file_that_does_not_fit_is_named(text, words):
    with pytest.raises(ExportError, match=words.replace("(", r"\(")):
        export(ROWS, "canvas", text)


def test_moodle_maps_by_username_and_email():
    header, jane, _ = table(export(ROWS, "moodle").text)
    assert header == ["Username", "First name", "Last name", "Email address", "ps1", "ps2"]
    assert jane == ["", "Jané", "Doe", "jane@x.org", "8.5", "3"]


def test_an_unknown_format_is_named():
    with pytest.raises(ExportError, match="csv, canvas, moodle, json"):
        export(ROWS, "xls")


# --- similarity ---

LONG = """
def attention_weights(scores, mask=None):
    if mask is not None:
        scores = np.where(mask[..., None, :], scores, -1e9)
    shifted = scores - np.max(scores, axis=-1, keepdims=True)
    powers = np.exp(shifted)
    return powers / np.sum(powers, axis=-1, keepdims=True)
"""
OTHER = """
class Head:
    def __init__(self, size):
        self.size = size
        self.layers = [make(index, width=size * 4) for index in range(3)]

    def __call__(self, inputs):
        for layer in self.layers:
            inputs = inputs + layer(inputs) if layer.open else inputs
        return inputs
"""
RENAMED = LONG.replace("scores", "s").replace("shifted", "t").replace("powers", "e").replace("    ", "  ")
TEMPLATE = {exercise: STUBS[exercise] for exercise in NAMES}


def test_renaming_comments_and_spacing_change_nothing():
    commented = LONG.replace("powers = np", "# the powers\n    powers   =   np")
    assert fingerprints(LONG).keys() == fingerprints(RENAMED).keys() == fingerprints(commented).keys()


def test_a_renamed_copy_ranks_first_and_honest_work_is_left_alone():
    students = {
        "copied": {"weights": RENAMED},
        "source": {"weights": LONG},
        "honest": {"weights": OTHER},
        "short": {"weights": ANSWERS["weights"]},
    }
    pairs = similar_pairs(students, TEMPLATE)
    assert [(pair.first, pair.second) for pair in pairs] == [("copied", "source")]
    assert pairs[0].share == 1.0
    assert {4, 5, 7} <= pairs[0].first_lines


def test_the_template_is_nobodys():
    students = {"a": {"weights": LONG}, "b": {"weights": LONG}}
    assert similar_pairs(students, {"weights": LONG}) == []


def test_what_much_of_the_class_writes_is_nobodys():
    students = {f"s{n:02}": {"weights": LONG} for n in range(20)}
    assert similar_pairs(students, {}) == []
    assert len(similar_pairs(dict(list(students.items())[:3]), {})) == 3


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 20), st.integers(0, 20))
def test_any_shared_run_of_the_guaranteed_length_is_found(before, after):
    names = ["x = a[0]", "y = {1: b}", "while c: break", "z = d(e, f=2)", "del g", "h += i ** j", "assert k, l"]
    shared = "\n".join(names)
    assert len(tokens(shared)) >= K + WINDOW - 1
    one = fingerprints("\n".join(["m = n or p"] * before + [shared]))
    two = fingerprints("\n".join([shared] + ["global q"] * after))
    assert one.keys() & two.keys()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=120))
def test_no_text_is_too_strange_to_compare(text):
    pairs = similar_pairs({"a": {"x": text}, "b": {"x": text}}, {})
    assert len(pairs) <= 1 and all(0 < pair.share <= 1 for pair in pairs)


def test_the_page_shows_both_sides_and_runs_nothing():
    students = {ATTACK: {"weights": LONG + f"\nnote = '''{ATTACK}'''"}, "b": {"weights": RENAMED}}
    page = similarity_page(students, similar_pairs(students, {}), ATTACK)
    assert_harmless(page)
    assert page.count('class="same"') >= 10
    assert "def attention_weights" in Page(page).text
