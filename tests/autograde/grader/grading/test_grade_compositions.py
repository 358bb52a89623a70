"""Hidden questions in which an answer meets the student's other answers: what they find, and whom they cost a point."""

import json
import textwrap
from dataclasses import replace

import numpy as np
import pytest
from grade_class import answer, grade_alone, released_template, solved

from autograde.boundary import call_answer
from autograde.exercises import catalogue, cells
from autograde.exercises.planning import chained_calls, planner
from autograde.exercises.proofs import COMPOSED, wrong_answers
from autograde.exercises.spec import Case, composed, result_of, values
from autograde.grader.grading import sentences
from autograde.grader.grading.budget import MAX_SANDBOXES, Budget
from autograde.grader.grading.carry_forward import NOT_REACHED, carry_forward
from autograde.grader.grading.results import Result
from autograde.grader.grading.run_cells import run_program
from autograde.grader.grading.sentences import with_reasons
from autograde.grader.grading.submission import LIMITS, plan_task
from autograde.grader.reading.repair import read_submission
from autograde.judging.advice import ONLY_TOGETHER
from autograde.judging.compare import Difference
from autograde.judging.judge import judge

WRONG = {
    f"{exercise.id}: {name.removeprefix(COMPOSED)}": (exercise, cell)
    for exercise in catalogue.EXERCISES
    for name, cell in wrong_answers(exercise).items()
    if name.startswith(COMPOSED)
}
NOTEBOOK = "01_wordpiece"
BLANK = Result("ps1", "jane", NOTEBOOK, sha256="0" * 64)
SECRET = b"s" * 32
MERGE = catalogue.find("merge-pair")
ONE_LIST = wrong_answers(MERGE)["one list for all pairs"]
# Counts each word once, however often it occurs.
WRONG_COUNTS = answer("count-pairs").replace("+ count", "+ 1")


def _passes(plan, exercise, cell):
    return judge(plan, lambda questions: call_answer.answer(questions, cells.namespace(exercise, cell)), cell).passed


def test_answers_that_are_right_only_alone_are_known_in_three_notebooks():
    assert len({exercise.notebook for exercise, _ in WRONG.values()}) >= 3


@pytest.mark.parametrize("name", WRONG)
def test_an_answer_that_is_right_only_alone_is_refused_beside_others(name):
    exercise, cell = WRONG[name]
    plan = planner.make_plan(exercise, "beside others", misconceptions=False)
    assert _passes(chained_calls.without(planner.make_plan(exercise, misconceptions=False)), exercise, cell)
    assert _passes(chained_calls.without(plan), exercise, cell)
    assert not _passes(plan, exercise, cell)


def test_compositions_with_others_are_asked_last_and_only_of_hidden_inputs():
    exercise = catalogue.find("tokenize")
    assert chained_calls.names_in(planner.make_plan(exercise, misconceptions=False)) == {"tokenize"}
    plan = planner.make_plan(exercise, "hidden", misconceptions=False)
    assert chained_calls.names_in(plan) == {"tokenize", "wordpiece"}
    composed_ones = ["calls" in question for question in plan["questions"]]
    assert composed_ones == sorted(composed_ones) and composed_ones[-1]
    alone = chained_calls.without(plan)
    assert len(alone["questions"]) == composed_ones.count(False)
    asked_about = {claim["answer"] for part in alone["parts"] for claim in part["claims"]}
    assert asked_about == set(range(len(alone["questions"])))


def test_compositions_of_its_own_calls_meet_no_others():
    plans = {name: planner.make_plan(catalogue.find(name), "hidden") for name in ("f1-matthews", "merge-pair")}
    assert chained_calls.names_in(plans["f1-matthews"]) and not chained_calls.meets_others(plans["f1-matthews"])
    assert chained_calls.meets_others(plans["merge-pair"])


@pytest.mark.parametrize(
    "name", ["wordpiece", "count-pairs", "truncate-pair", "fill-in", "align-labels", "layer-rates"]
)
def test_each_draw_has_two_calls_of_a_function_that_returns_lists_or_dicts(name):
    for seed in (None, "hidden"):
        plan = planner.make_plan(catalogue.find(name), seed, misconceptions=False)
        calls = [question["calls"] for question in plan["questions"] if "calls" in question]
        assert calls and len(calls[-1]) == 2
        assert [claim["expected"][0] != claim["expected"][1] for claim in plan["parts"][-1]["claims"][-1:]] == [True]


@pytest.mark.parametrize("name", ["sentence-vector", "strip-accents", "number-of-predictions", "f1-matthews", "bert"])
def test_what_no_later_call_can_change_is_asked_once(name):
    plan = planner.make_plan(catalogue.find(name), misconceptions=False)
    assert all(len(question.get("calls", ())) < 2 for question in plan["questions"])


def test_a_later_exercise_is_refused_because_nothing_could_replace_it():
    call = ("pack", Case((["a"], None, {}, 5)))
    exercise = replace(catalogue.find("tokenize"), parts=(values(2, lambda rng: [composed(call)]),))
    with pytest.raises(ValueError, match="tokenize: expected a composition with exercises of 01_wordpiece up to this"):
        planner.make_plan(exercise, "hidden", misconceptions=False)


def test_a_result_is_handed_on_as_it_is_also_inside_of_lists_and_as_one_item():
    given = []
    names = {"pair": lambda: (["a"], "b"), "keep": lambda *things, more: given.append((things, more))}
    calls = [("pair", (), {}), ("keep", (result_of(0), [result_of(0, 0)]), {"more": result_of(0, item=1)})]
    question = {
        "probe": {"kind": "composition", "name": "keep"}, "arguments": [], "keywords": {},
        "calls": [{"probe": {"kind": "function", "name": name}, "arguments": list(arguments), "keywords": keywords}
                  for name, arguments, keywords in calls],
    }  # fmt: skip
    [found] = call_answer.answer([question], names)
    assert found["value"] == [(["a"], "b"), None]
    [((both, [first]), more)] = given
    assert both[0] is first and more == "b"


# --- in the grader ---


@pytest.fixture(scope="module")
def template():
    return released_template(NOTEBOOK)


def _task(text, template):
    exercises = catalogue.of_notebook(NOTEBOOK)
    return plan_task(read_submission(text.encode(), template), template, exercises, BLANK, SECRET, LIMITS)


@pytest.mark.slow
def test_a_mistake_of_another_answer_costs_no_point_in_a_composition(launcher, template):
    """`merge_pair` is asked together with `count_pairs`, which its answer does not use."""
    assert WRONG_COUNTS != answer("count-pairs")
    text = solved({"count-pairs": WRONG_COUNTS}, notebook=NOTEBOOK)
    result, verdicts = grade_alone(text, launcher, template, sha256=BLANK.sha256)
    assert verdicts["count-pairs"].points == 0 and verdicts["merge-pair"].passed
    assert any("course's own 1.7 count_pairs" in note for note in verdicts["merge-pair"].notes)
    assert result.points == result.max_points - verdicts["count-pairs"].max_points


def test_without_time_to_ask_again_it_costs_no_point_either(launcher, template):
    task = _task(solved({"count-pairs": WRONG_COUNTS}, notebook=NOTEBOOK), template)
    outcome = run_program(task, launcher, Budget.of(LIMITS))
    assert not outcome.verdict(MERGE).passed
    outcome = carry_forward(task, outcome, launcher, Budget(0, 0))
    assert outcome.verdict(MERGE).passed
    assert NOT_REACHED in outcome.verdict(catalogue.find("count-pairs")).advice


HELD = "\n\nheld = merge_pair\n"
END_IF_REPLACED = 'import os\nif not hasattr(count_pairs, "mine"):\n    os._exit(0)\n'
ENDS = {
    "when it is asked": HELD
    + f"def merge_pair(*given):\n{textwrap.indent(END_IF_REPLACED, '    ')}    return held(*given)\n",
    "in its cell": "\n\n" + END_IF_REPLACED,
}


@pytest.mark.parametrize("end", ENDS)
def test_a_program_that_ends_beside_the_courses_answers_keeps_its_first_verdict(launcher, template, end):
    marked = answer("count-pairs") + "\ncount_pairs.mine = True\n"
    task = _task(solved({"merge-pair": ONE_LIST + ENDS[end], "count-pairs": marked}, notebook=NOTEBOOK), template)
    first = run_program(task, launcher, Budget.of(LIMITS))
    outcome = carry_forward(task, first, launcher, Budget.of(LIMITS))
    assert outcome.technical and first.verdict(MERGE).points == outcome.verdict(MERGE).points == 2


def test_using_up_the_starts_keeps_the_first_verdict(launcher, template):
    task = _task(solved({"merge-pair": ONE_LIST}, notebook=NOTEBOOK), template)
    budget = Budget.of(LIMITS)
    first = run_program(task, launcher, budget)
    budget.started = MAX_SANDBOXES
    assert carry_forward(task, first, launcher, budget).verdict(MERGE).points == 2


def test_an_answer_judged_alone_shows_where_it_differs_alone(launcher, template):
    partly = answer("merge-pair").replace('right.removeprefix("##")', "right")
    assert partly != answer("merge-pair")
    task = _task(solved({"merge-pair": partly, "count-pairs": WRONG_COUNTS}, notebook=NOTEBOOK), template)
    plan = task.plans["merge-pair"]
    outcome = carry_forward(task, run_program(task, launcher, Budget.of(LIMITS)), launcher, Budget(0, 0))
    judged = outcome.judged["merge-pair"]
    given = judged.answers[: len(chained_calls.without(plan)["questions"])]
    outcome = outcome.with_judged(MERGE, replace(judged, answers=given))
    advice = with_reasons(task, outcome).verdict(MERGE).advice
    assert NOT_REACHED in advice and any("differs" in sentence or "expected" in sentence for sentence in advice)


def test_the_place_of_a_difference_is_told_only_of_answers_that_saw_no_solution():
    """Beside the course's solutions a program could spell them: first, middle, last for each version handed in."""
    claim, difference = {"kind": "equal"}, Difference("values", "", (1, 1), np.zeros((3, 3)), np.ones((3, 3)))
    assert "middle row, middle column" in sentences._in_words(claim, difference, with_place=True)
    assert sentences._in_words(claim, difference, with_place=False) == "The shape is right and values differ."


def test_no_place_is_told_of_answers_beside_the_courses_solutions(launcher, template):
    wrong = answer("merge-pair") + "\nkept = merge_pair\ndef merge_pair(*given):\n    return kept(*given)[:-1]\n"
    task = _task(solved({"merge-pair": wrong, "count-pairs": WRONG_COUNTS}, notebook=NOTEBOOK), template)
    outcome = carry_forward(task, run_program(task, launcher, Budget.of(LIMITS)), launcher, Budget.of(LIMITS))
    assert outcome.judged["merge-pair"].on_course or outcome.judged["merge-pair"].credited
    advice = " ".join(with_reasons(task, outcome).verdict(MERGE).advice)
    assert "the first difference is in" not in advice


def test_an_answer_above_the_one_that_it_meets_is_graded_again_below_it(launcher, template):
    content = json.loads(solved(notebook=NOTEBOOK))
    names = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in content["cells"]]
    cell = content["cells"].pop(names.index("merge-pair"))
    content["cells"].insert(names.index("count-pairs"), cell)
    result, _ = grade_alone(json.dumps(content), launcher, template, sha256=BLANK.sha256)
    assert result.points == result.max_points and not result.untested


def test_an_answer_that_fails_beside_right_ones_too_loses_its_points(launcher, template):
    text = solved({"merge-pair": ONE_LIST}, notebook=NOTEBOOK)
    _, verdicts = grade_alone(text, launcher, template, sha256=BLANK.sha256)
    lost = {name: verdict.max_points - verdict.points for name, verdict in verdicts.items() if not verdict.passed}
    assert lost == {"merge-pair": 1} and ONLY_TOGETHER in verdicts["merge-pair"].advice
