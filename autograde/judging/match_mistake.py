"""Recognises a known mistake by its results: each misconception's code was run on the same inputs before."""

import math
from collections.abc import Callable

import numpy as np

from autograde.judging.answers import SHAPES, Answer, digest_of, kind_of_error, read
from autograde.judging.compare import exactly_same, is_scalar


def match_mistake(plan: dict, answers: list[Answer], drawn: set[int], fails: Callable[[dict], bool]) -> dict | None:
    """The misconception that explains the answers, if no other does.

    First all answers must be those of the misconception. Then those that do not depend on chance: two programs with the
    same mistake need not draw the same numbers, so of the others only how they are distributed. Last the same for the
    first part that fails alone: another part may have another mistake.

    drawn: the answers whose numbers depend on chance; fails: whether a claim does not hold for these answers.
    """
    every = set(range(len(answers)))
    failing = next((part for part in plan["parts"] if any(map(fails, part["claims"]))), plan["parts"][0])
    of_part = {claim[name] for claim in failing["claims"] for name in ("answer", "other", "unlike") if name in claim}
    drawn = {index for index in drawn if answers[index].again is None or varies(answers[index])}
    for indices, by_chance, may_fail in (
        (every, set(), lambda claim: True),
        (every, drawn, fails),
        (of_part, drawn, fails),
    ):
        known = [mistake for mistake in plan["misconceptions"] if _explains(plan, mistake, answers, indices, by_chance)]
        if known and _is_shown(plan, answers, indices, known[0], may_fail):
            return known[0] if len(known) == 1 else None
    return None


def _explains(plan, mistake, answers, indices, by_chance) -> bool:
    """Whether these answers are those of the mistake; where chance acts, whether they are distributed like them."""
    outcomes = mistake["outcomes"]
    is_random = any(map(varies, outcomes))  # then so may its gradients be, and nothing marks them
    for index in indices:
        known, answer = outcomes[index], answers[index]
        if known["status"] != answer.status:
            return False
        if varies(known) or varies(answer):
            agree = varies(known) and varies(answer) and _alike(known["value"], answer.value)
        elif index in by_chance or is_random and plan["questions"][index]["probe"]["kind"] == "gradient":
            agree = _alike(known["value"], answer.value)
        else:
            agree = same_outcome(known, answer)
        if not agree:
            return False
    return True


def _alike(known, got) -> bool:
    """Whether two values may be drawn in the same way: by the spread of their numbers, zeros and negatives."""
    if type(known) is not type(got):
        return False
    if type(known) in (list, tuple):
        return len(known) == len(got) and all(map(_alike, known, got))
    if type(known) is dict:
        return known.keys() == got.keys() and all(_alike(known[key], got[key]) for key in known)
    if type(known) is not np.ndarray or known.dtype.kind != "f":
        return same_value(known, got)
    if known.shape != got.shape or got.dtype.kind != "f" or not known.size:
        return known.shape == got.shape
    chance = 5 * (2 * 0.25 / known.size) ** 0.5  # of the difference of two shares
    shares = (np.mean(known == 0) - np.mean(got == 0), np.mean(known < 0) - np.mean(got < 0))
    spreads = sorted((float(known.std()), float(got.std())))
    return max(map(abs, shares)) <= chance and spreads[1] <= (1 + chance + 0.1) * spreads[0] + 1e-6


def varies(answer: dict | Answer) -> bool:
    """Whether a second, equal call gave another result; of a known mistake's outcome, whether it is marked so."""
    if type(answer) is dict and "varies" in answer:
        return True
    answer = read(answer)
    return answer.again is not None and not exactly_same(answer.value, answer.again)


def outcome_of(answer: dict) -> dict:
    """All of a known mistake's answer by which it is recognised."""
    mark = {"varies": True} if varies(answer) else {}
    return {"status": answer["status"], "value": answer["value"], "error": without_code(answer["error"])} | mark


def _is_shown(plan, answers, indices, mistake, may_fail) -> bool:
    """Whether one of these answers is wrong, and more than the type of an error shows it: an error of some type may
    have many reasons, so where all calls raise one, its words decide."""

    def is_wrong(claim) -> bool:
        answer = answers[claim["answer"]]
        if claim["kind"] == "equals" and answer.status == "ok":
            return not same_value(claim["expected"], answer.value)
        return may_fail(claim)  # an error, or a claim of which only the judge knows whether it holds

    claims = [claim for part in plan["parts"] for claim in part["claims"] if claim["answer"] in indices]
    if not any(map(is_wrong, claims)):
        return False
    if any(answers[index].status == "ok" or answers[index].failure.shapes for index in indices):
        return True
    known = [read(outcome) for outcome in mistake["outcomes"]]
    return all(known[index].failure.digest == answers[index].failure.digest for index in indices)


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
    """Whether two plain values are the same, numbers of arrays nearly so, 1 and 1.0 or NumPy's 0.5 and Python's as in
    `compare`."""
    if type(known) is float and type(got) is int:
        got = float(got)
    elif is_scalar(known) and type(got) in (int, float) or is_scalar(got) and type(known) in (int, float):
        known, got = np.asarray(known), np.asarray(got)
    if type(known) is not type(got):
        return False
    if type(known) in (list, tuple):
        return len(known) == len(got) and all(map(same_value, known, got))
    if type(known) is dict:
        return known.keys() == got.keys() and all(same_value(known[key], got[key]) for key in known)
    if type(known) is float:
        return math.isclose(known, got, rel_tol=1e-9, abs_tol=1e-12) or math.isnan(known) and math.isnan(got)
    if type(known) is not np.ndarray:
        return known == got
    if known.shape != got.shape:
        return False
    if not {known.dtype.kind, got.dtype.kind}.isdisjoint("bU"):  # booleans and text are equal or not
        return bool(known.dtype == got.dtype and (known == got).all())
    if known.dtype.kind in "iu" and got.dtype.kind in "iu":  # so are whole numbers
        return bool((known == got).all())
    known, got = known.astype("float64"), got.astype("float64")
    largest = np.max(np.abs(known[np.isfinite(known)]), initial=1.0)
    return bool(np.allclose(got, known, rtol=1e-3, atol=1e-5 * largest, equal_nan=True))
