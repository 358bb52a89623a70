"""Grade files that other programs read."""

import csv
import io
import json

import pytest

from autograde.common.errors import InputError
from autograde.grader.exports.grades import export
from autograde.grader.exports.tables import cell, plain

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


@pytest.mark.parametrize(
    "name", ["Doe;=1+1;x", "Doe; @SUM(A1)", "Doe\t-1", "Doe;;+1", "=1;=2", "x\n=1+1\ny", '"=1', 'x;"=1"']
)
def test_a_name_is_no_formula_either_where_a_spreadsheet_separates_by_semicolons_or_tabs(name):
    """As Excel does in many countries: it takes a CSV with commas apart at them and, since it then sees no quotes, at
    the ends of lines. Seen to succeed at 722d9dce."""
    text = export([{"assignment": "ps1", "student": name} | PERSON | GRADE], "csv").text
    for separator in ";\t,":
        cells = [one for line in csv.reader(io.StringIO(text), delimiter=separator) for one in line]
        assert not [one for one in cells if one.strip(' "').startswith(("=", "+", "-", "@"))]
    assert plain(str(cell(name))) == name


def test_json_is_the_rows():
    assert json.loads(export(ROWS, "json").text) == ROWS


def test_canvas_has_a_column_per_assignment_and_leaves_what_was_not_handed_in():
    header, possible, jane, other = table(export(ROWS, "canvas").text)
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ps1", "ps2"]
    assert possible[-2:] == ["11", "11"]
    assert jane == ["Doe, Jané", "4711", "", "jane", "", "8.5", "3"]
    assert other[-2:] == ["", ""]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n", "expected a gradebook of Canvas"),
        ("Student,ID,ps1 (1)\n", "expected one column 'ps2' in the Canvas gradebook, found 0"),
    ],
)
def test_a_canvas_file_that_does_not_fit_is_named(text, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        export(ROWS, "canvas", text)


def test_moodle_maps_by_username_and_email():
    header, jane, _ = table(export(ROWS, "moodle").text)
    assert header == ["Username", "First name", "Last name", "Email address", "ps1", "ps2"]
    assert jane == ["", "Jané", "Doe", "jane@x.org", "8.5", "3"]
