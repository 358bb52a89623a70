"""Answers from a sandbox: each field is a word from a fixed list, a bounded number, a flag or a value to compare."""

import ast
import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograde.exercises import catalogue
from autograde.exercises.planning import planner
from autograde.judging import answers
from autograde.judging.answers import Answer, CellOutcome, Failure, is_a, read
from autograde.judging.judge import fault, judge
from autograde.judging.match_mistake import same_outcome, same_value, without_code
from autograde.sandbox import limits as names
from autograde.sandbox.limits import End

CANARY = "CANARY7f3a"
# Every field, and what it may hold. A new field fails the test until it is listed here.
CROSSES = {
    Answer: {
        "status": answers.STATUSES, "value": "compared", "returned": answers.KINDS, "failure": Failure,
        "after": "compared",
        "again": "compared", "printed": bool, "watched": "of the question", "new_weights": bool,
        "no_gradient": (None, False, True), "late": bool, "type": ("",),
    },
    Failure: {
        "kind": answers.ERRORS, "line": range(1, answers.MAX_LINES + 1), "shapes": "compared", "digest": "compared",
        "reason": answers.REASONS, "type": ("",), "message": ("",), "text": ("",),
    },
    CellOutcome: {"status": ("ok", "failed", "late"), "kind": answers.ERRORS, "line": range(1, answers.MAX_LINES + 1)},
}  # fmt: skip
# What only the tests of the sandbox read of a cell, and what only the student's own machine shows of an answer.
NOT_FOR_THE_GRADER = {"stdout", "outputs", "traceback", "png", "message"}


@pytest.mark.parametrize("kind", CROSSES)
def test_every_field_is_listed(kind):
    assert {field.name for field in fields(kind)} == set(CROSSES[kind])


_words = st.sampled_from(
    [CANARY, "ok", "raised", "refused", "missing", "tensor", "ValueError", "no such weight", "", 3, None]
)
_anything = st.recursive(
    _words | st.integers() | st.booleans() | st.floats() | st.just(np.zeros(3)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([CANARY, "a"]), inner, max_size=2),
    max_leaves=4,
)
_part = {key: _anything for key in ("type", "message", "line", "text", "function", "reason", "digest")}
_notes = {
    key: _anything for key in ("returned", "watched", "printed", "after", "again", "new_weights", "no_gradient", CANARY)
}
_raw = _anything | st.fixed_dictionaries(
    {"status": _words, "value": _anything},
    optional={"error": st.fixed_dictionaries({}, optional=_part), "notes": st.fixed_dictionaries({}, optional=_notes)},
)


def _is_listed(value, allowed) -> bool:
    if allowed in ("compared", "of the question"):
        return True
    if isinstance(allowed, type):
        return value is None or type(value) is allowed
    return value is None or value in allowed


@settings(max_examples=300, deadline=None)
@given(_raw)
def test_for_any_answer_each_field_holds_what_is_listed(raw):
    answer = read(raw, {"watch": ["keras.ops.softmax"]})
    for thing in (answer, answer.failure or Failure()):
        for field in fields(thing):
            assert _is_listed(getattr(thing, field.name), CROSSES[type(thing)][field.name]), field.name
    assert set(answer.watched) <= {"keras.ops.softmax"}


@pytest.fixture(scope="module")
def plans():
    exercises = [catalogue.find(name) for name in ("scores", "causal-mask", "truncate-pair", "choose-positions")]
    return [planner.make_plan(exercise, "hidden", misconceptions=False) for exercise in exercises]


@settings(max_examples=200, deadline=None)
@given(st.lists(_raw, min_size=1, max_size=4))
def test_no_verdict_on_hidden_inputs_quotes_an_answer(plans, raw):
    for plan in plans:
        given_back = [read(raw[place % len(raw)], question) for place, question in enumerate(plan["questions"])]
        verdict = judge(plan, lambda questions, given_back=given_back: given_back, reveal=False)
        assert CANARY not in json.dumps(verdict.to_dict())
        assert verdict.facts == () and verdict.picture is None


def test_a_kind_or_an_error_that_is_not_listed_has_no_name():
    raw = {"status": "refused", "value": 3, "error": {"type": CANARY, "line": 10**600}, "notes": {"returned": CANARY}}
    answer = read(raw)
    assert (answer.returned, answer.failure.kind, answer.failure.line) == ("another object", "an error", None)
    assert answer.value is None


def test_the_end_of_a_sandbox_has_a_reason_of_the_list():
    assert [field.name for field in fields(End)] == ["reason", "detail"]
    assert str(End(names.EXIT, "the program ended itself")) == "exit: the program ended itself"


@pytest.mark.parametrize(
    "path", sorted(Path(answers.__file__).parents[1].glob("grader/**/*.py")), ids=lambda path: path.stem
)
def test_the_grader_reads_no_text_of_a_sandbox(path):
    """Its own modules have `.message` of their own errors; the words of a cell and of an answer they do not touch."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    read_here = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    if {"SandboxEnded", "cell_outcome", "Answer"} & imported:
        assert not read_here & (NOT_FOR_THE_GRADER - {"message"} | {"failure.message"})
    assert "run_cell" not in read_here or {"cell_outcome"} <= imported


# --- decided outside ---

VARIES = {
    "kind": "varies", "answer": 0, "other": 1, "returns": "tensor",
    "whole": np.random.default_rng(1).normal(size=(4, 8)),
}  # fmt: skip
QUESTION = {"probe": {"kind": "layer", "name": "L"}, "arguments": [np.arange(3.0)], "keywords": {}}


def _said(value, **notes) -> Answer:
    return read({"status": "ok", "value": value, "notes": {"returned": "tensor"} | notes})


@pytest.mark.parametrize(("size", "holds"), [(0.0, False), (1e-6, False), (1e-3, False), (0.5, True)])
def test_dropout_is_a_visible_change_of_most_numbers_under_another_seed(size, holds):
    """An encoder layer that added 1e-6 earned the dropout part at 472cbaf: the sandbox itself reported "unstable"."""
    noise = np.random.default_rng(2).normal(size=(4, 8)) * size
    given_back = [_said(VARIES["whole"].astype("float32")), _said((VARIES["whole"] + noise).astype("float32"))]
    assert (fault(VARIES, [QUESTION] * 2, given_back, strict=False) is None) == holds


def test_one_number_that_changes_is_no_dropout():
    one = VARIES["whole"].astype("float32")
    other = one.copy()
    other[0, 0] += 5
    assert fault(VARIES, [QUESTION] * 2, [_said(one), _said(other)], strict=False)


EQUALS = {
    "kind": "equals", "answer": 0, "returns": "tensor", "expected": np.ones(2, "float32"), "rtol": 1e-4, "atol": 1e-5,
}  # fmt: skip
ONES = np.ones(2, "float32")


@pytest.mark.parametrize(
    ("notes", "kind"),
    [
        ({"after": [np.arange(3.0)], "again": ONES}, None),
        ({"after": [np.zeros(3)], "mutated": []}, "mutated"),
        ({"after": []}, "mutated"),
        ({"again": ONES + 1, "unstable": False}, "unstable"),
        ({"mutated": [0], "unstable": True, "new_weights": True, "returned": "NumPy array"}, None),  # only reports
    ],
)
def test_arguments_and_second_calls_are_compared_outside_and_reports_decide_nothing(notes, kind):
    found = fault(EQUALS, [QUESTION], [_said(ONES, **notes)], strict=False)
    assert (found and found.kind) == kind


def test_a_list_in_place_of_a_tensor_is_seen_in_the_value_for_any_report():
    assert fault(EQUALS, [QUESTION], [_said([1.0, 1.0], returned="tensor")], strict=False).kind == "type"


def test_a_students_own_kind_of_error_counts_as_the_error_that_it_extends():
    own = read({"status": "raised", "error": {"type": "TooLongError", "base": "ValueError"}}).failure
    assert own.kind == "ValueError" and is_a(own.kind, "ValueError") and not is_a(own.kind, "TypeError")
    assert is_a("UnicodeDecodeError", "ValueError") and not is_a("Exception", "ValueError")
    for says_nothing in ("Exception", CANARY, 3):
        assert read({"status": "raised", "error": {"type": CANARY, "base": says_nothing}}).failure.kind == "an error"


def test_a_known_mistake_that_raises_an_error_of_a_class_of_its_own_is_recognised():
    raised = {"status": "raised", "error": {"type": "ConfigError", "base": "ValueError", "message": "4 by 3 heads"}}
    known = {"status": "raised", "value": None, "error": without_code(raised["error"])}
    assert known["error"]["type"] == "ValueError" and same_outcome(known, raised)
    assert not same_outcome(known, {"status": "raised", "error": {"type": "ConfigError", "base": "TypeError"}})


HALF, THREE = np.array(0.5), np.array(3)


@pytest.mark.parametrize(
    ("known", "got", "same"),
    [
        (0.5, HALF, True), (HALF, 0.5, True), (0.5, HALF.astype("float32"), True), (3, THREE, True), (3.0, 3, True),
        (0.0, 1e-17, True), ((0.5, 1.0), (HALF, 1), True),
        (0.5, np.array(0.6), False), (3, np.array(4), False), (3, 3.0, False), (True, 1, False), (1.0, "1.0", False),
        (1e-5, 2e-5, False), (0.5, np.array([0.5]), False),
    ],
)  # fmt: skip
def test_a_known_number_is_recognised_in_another_type_of_number(known, got, same):
    assert same_value(known, got) == same


def test_the_code_of_a_message_does_not_depend_on_where_a_traced_function_is_installed():
    message = (
        'in user code:\n\n    File "{}", line 381, in None  *\n        function(batch)\n    RuntimeError: used twice'
    )
    codes = {
        answers.digest_of(message.format(path))
        for path in ("/home/ada/autograde/boundary/call_answer.py", "C:\\course\\probe.py")
    }
    assert len(codes) == 1
    assert answers.digest_of("RuntimeError: used once") not in codes
