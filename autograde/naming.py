"""Recognises a known mistake by its results: each misconception's code was run on the same inputs before."""

import math

import numpy as np

from autograde.answers import SHAPES, Answer, read


def recognise(plan: dict, answers: list[Answer]) -> dict | None:
    """The misconception whose outcomes equal these answers, on every question or, failing that, on the first part's.

    The second try helps when a student's code differs in something else as well; it must leave exactly one candidate.
    """
    known = plan["misconceptions"]
    everywhere = range(len(answers))
    for mistake in known:
        if all(same_outcome(mistake["outcomes"][index], answers[index]) for index in everywhere):
            return mistake
    first_part = [claim["answer"] for claim in plan["parts"][0]["claims"]]
    right = {claim["answer"]: claim for claim in plan["parts"][0]["claims"] if claim["kind"] == "equals"}
    near = [
        mistake
        for mistake in known
        if all(same_outcome(mistake["outcomes"][index], answers[index]) for index in first_part)
        and not all(same_value(claim["expected"], answers[index].value) for index, claim in right.items())
    ]
    return near[0] if len(near) == 1 else None


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
    return {"type": error["type"], "message": " ".join(SHAPES.findall(error["message"]))}


def same_value(known, got) -> bool:
    """Whether two plain values are the same; numbers of arrays nearly so."""
    if type(known) is not type(got):
        return False
    if type(known) in (list, tuple):
        return len(known) == len(got) and all(map(same_value, known, got))
    if type(known) is dict:
        return known.keys() == got.keys() and all(same_value(known[key], got[key]) for key in known)
    if type(known) is float:
        return math.isclose(known, got, rel_tol=1e-9)
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
