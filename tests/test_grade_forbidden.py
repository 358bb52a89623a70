"""What an exercise forbids does nothing in the sandbox that decides about it, under any name, in any thread."""

import re
from pathlib import Path

import pytest
from grade_class import NOTEBOOK, POINTS, answer, solved

from autograde.exercises import catalogue
from autograde.grader.notebook_grading import grade_notebook
from autograde.grader.results import Result
from autograde.grader.submission import LIMITS
from autograde.grader.template import Template
from autograde.release import editions

_, *_parts = re.split(r"^# %% (.*)\n", (Path(__file__).parent / "hostile/forbidden.py").read_text(), flags=re.M)
WAYS = dict(zip(_parts[::2], _parts[1::2]))


@pytest.fixture(scope="module")
def template():
    return Template.read(editions.make(NOTEBOOK).student.encode(), NOTEBOOK)


def _verdicts(launcher, template, tmp_path, edits) -> dict:
    path = tmp_path / f"{NOTEBOOK}.ipynb"
    path.write_text(solved(edits))
    exercises = catalogue.of_notebook(NOTEBOOK)
    result = grade_notebook(path, template, exercises, launcher, Result("ps3", "x", NOTEBOOK), b"s" * 32, LIMITS).result
    return {verdict.exercise: verdict for verdict in result.verdicts}


@pytest.mark.parametrize(
    "way", list(WAYS)[:1] + [pytest.param(w, marks=pytest.mark.exhaustive) for w in list(WAYS)[1:]]
)
def test_a_way_round_the_ban_earns_nothing_and_costs_nobody_else(launcher, template, tmp_path, way):
    verdicts = _verdicts(launcher, template, tmp_path, {"softmax-rows": WAYS[way]})
    assert verdicts["softmax-rows"].points == 0 and not verdicts["softmax-rows"].passed
    assert sum(verdict.points for verdict in verdicts.values()) == POINTS - 3


@pytest.mark.exhaustive
def test_an_honest_answer_keeps_its_points_where_it_is_asked_again(launcher, template, tmp_path):
    """`getattr` alone is no proof of anything: the program runs once more, and everything in it is right."""
    with_dynamic_names = f"{answer('softmax-rows')}\nassert getattr(ops, 'so' + 'rt')\nsoftmax = ops.softmax\n"
    verdicts = _verdicts(launcher, template, tmp_path, {"softmax-rows": with_dynamic_names})
    assert verdicts["softmax-rows"].status == "refused"  # its own cell names it
    edits = {"scores": f"{answer('scores')}\nassert getattr(ops, 'so' + 'rt')\nlater = ops.softmax\n"}
    assert all(verdict.passed for verdict in _verdicts(launcher, template, tmp_path, edits).values())
