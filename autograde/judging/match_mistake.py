"""Recognises a known mistake by its results: each misconception's code was run on the same inputs before."""

import math
from collections.abc import Callable

import numpy as np

from autograde.judging.answers import SHAPES, Answer, digest_of, kind_of_error, read


def match_mistake(plan: dict, answers: list[Answer], drawn: set[int], fails: Callable[[dict], bool]) -> dict | None:
    """The misconception that explains all answers, if no other does.

    Where dropout acts, two programs with the same mistake need not draw the same numbers. If no outcomes equal all
    answers, those without chance must explain a wrong answer, and be those of one misconception alone.

    drawn: the answers whose numbers depend on chance; fails: whether a claim does not hold for these answers.
    """
    everywhere = set(range(len(answers)))
    for certain, may_fail in ((everywhere, lambda claim: True), (everywhere - drawn, fails)):
        explaining = [mistake for mistake in plan["misconceptions"] if _explains(mistake, answers, certain)]
        if explaining and _is_shown(plan, answers, certain, explaining[0], may_fail):
            return explaining[0] if len(explaining) == 1 else None
    return None


def _explains(mistake, answers, certain) -> bool:
    """Whether the outcomes are these answers; where chance acts, whether both are results or both are errors."""
    return all(
        same_outcome(outcome, answer) if index in certain else outcome["status"] == answer.status
        for index, (outcome, answer) in enumerate(zip(mistake["outcomes"], answers))
    )


def _is_shown(plan, answers, certain, mistake, may_fail) -> bool:
    """Whether one of the certain answers is wrong, and more than the type of an error shows it.

    A call may raise an error of some type for many reasons: where all calls do, the words of the error decide.
    """
    claims = [claim for part in plan["parts"] for claim in part["claims"] if claim["answer"] in certain]
    if not any(_is_wrong(claim, answers[claim["answer"]], may_fail) for claim in claims):
        return False
    if any(answers[index].status == "ok" or answers[index].failure.shapes for index in certain):
        return True
    outcomes = [read(outcome) for outcome in mistake["outcomes"]]
    return all(outcomes[index].failure.digest == answers[index].failure.digest for index in certain)


def _is_wrong(claim, answer, may_fail) -> bool:
    if claim["kind"] == "equals" and answer.status == "ok":
        return not same_value(claim["expected"], answer.value)
    return may_fail(claim)  # an error, or a claim of which only the judge knows whether it holds


def same_outcome(known: dict | Answer, got: dict | Answer) -> bool:
    """Whether two answers are the same mistake: equal values, or errors of one type about the same shapes."""
    known, got = read(known), read(got)
    if known.status != got.status:
        return False
    if known.status == "ok":
        return same_value(known.value, got.value)
    return known.failure.signature == got.failure.signature


def without_code(error: dict | None) -> dict | None:
    """All of an error by which it is recognised: the line of code that raised it must not reach a student."""
    if not error:
        return None
    shapes = " ".join(SHAPES.findall(error["message"]))
    return {
        "type": kind_of_error(error),
        "message": shapes,
        "digest": error.get("digest") or digest_of(error["message"]),
        "reason": error.get("reason", ""),
    }


def same_value(known, got) -> bool:
    """Whether two plain values are the same; numbers of arrays nearly so."""
    if type(known) is not type(got):
        return False
    if type(known) in (list, tuple):
        return len(known) == len(got) and all(map(same_value, known, got))
    if type(known) is dict:
        return known.keys() == got.keys() and all(same_value(known[key], got[key]) for key in known)
    if type(known) is float:
        return math.isclose(known, got, rel_tol=1e-9) or math.isnan(known) and math.isnan(got)
    if type(known) is not np.ndarray:
        return known == got
    if known.shape != got.shape:
        return False
    if not {known.dtype.kind, got.dtype.kind}.isdisjoint("bU"):  # booleans and text are equal or not
        return bool(known.dtype == got.dtype and (known == got).all())
    if known.dtype.kind in "iu" and got.dtype.kind in "iu":  # so are whole numbers
        return bool((known == got).all())
    known, got = known.astype("float64"), got.astype("float64")
    return bool(np.allclose(got, known, rtol=1e-3, atol=1e-5 * max(1.0, _size(known)), equal_nan=True))


def _size(array):
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0
