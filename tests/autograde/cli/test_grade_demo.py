"""The demo's class: what its students hand in, and what they earn."""

import json

import pytest
from grade_class import open_shared_launcher

from autograde.demo import NOTEBOOK, grade_sample_class, make_class, summary_lines
from autograde.exercises import catalogue
from autograde.release import editions

POINTS = sum(exercise.points for exercise in catalogue.of_notebook(NOTEBOOK))


def test_the_sample_class_hands_in_the_same_files_every_time():
    made = editions.make(NOTEBOOK)
    handed_in = make_class(made)
    assert handed_in == make_class(made)
    with pytest.raises(json.JSONDecodeError):
        json.loads(handed_in["eli"])
    assert not any(cell["metadata"] or "id" in cell for cell in json.loads(handed_in["dora"])["cells"])
    unanswered = json.loads(made.student)["cells"]
    assert len(json.loads(handed_in["finn"])["cells"]) == len(unanswered) + 1
    stubs = {name: handed_in[name].count("raise NotImplementedError()") for name in ("ada", "cleo", "finn")}
    assert stubs["ada"] == 0 < stubs["cleo"] < stubs["finn"]
    assert len(handed_in) == 12 and compile(handed_in["ivan"], "script", "exec")


@pytest.mark.exhaustive
def test_each_earns_what_they_did_and_nobody_is_graded_twice(tmp_path):
    with open_shared_launcher() as launcher:
        graded = grade_sample_class(tmp_path / "class", launcher)
        again = grade_sample_class(tmp_path / "class", launcher)
    points = {result.student: sum(verdict.points for verdict in result.verdicts) for result in graded.results}
    assert points["ada"] == points["dora"] == POINTS and points["finn"] == 0
    assert 0 < points["cleo"] < points["ben"] < POINTS and 0 < points["eli"] < POINTS
    ben = next(result for result in graded.results if result.student == "ben")
    named = {verdict.exercise: verdict.misconception for verdict in ben.verdicts if verdict.misconception}
    asked = {exercise.id: exercise.misconceptions[0].id for exercise in catalogue.of_notebook(NOTEBOOK)[::3]}
    assert named == asked
    assert points["gus"] == points["hana"] == 0 < points["ivan"] == points["jule"] < points["lena"] < POINTS
    hana = next(result for result in graded.results if result.student == "hana")
    assert all(verdict.advice for verdict in hana.verdicts), "no point is lost without a sentence"
    assert sum(verdict.misconception is not None for verdict in hana.verdicts) == 5
    assert [result.student for result in graded.results if result.failed_technically] == ["gus", "jule"]
    assert (graded.run.graded, again.run.graded, again.run.up_to_date) == (12, 0, 12)
    assert not graded.run.failures and graded.report.exists() and set(graded.feedback) == set(points)
    assert len(summary_lines(graded)) == 14
