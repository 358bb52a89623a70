"""The facts of a verdict as text: a call with its arguments, and its result or its error beside what was expected."""

import re
from dataclasses import replace

import numpy as np

from autograde.boundary.calls import REPEATED
from autograde.common.texts import row, short
from autograde.judging.answers import Answer, Failure
from autograde.judging.compare import Difference, Tolerance, compare, slice_around
from autograde.judging.verdict import Picture

_NOISE = (
    re.compile(r"\{\{function_node [^}]*\}\}\s*"),
    re.compile(r" on /job:localhost.*", re.DOTALL),
    re.compile(r"\s*\[Op:\w+\](?: name:.*)?"),
    re.compile(r"\x1b\[\d+m"),
    re.compile(r" You can attempt the following resolutions to the problem.*", re.DOTALL),
    re.compile(r"\s*; NodeDef: .*", re.DOTALL),
    re.compile(r"\s*If you are looking for numpy-related methods.*", re.DOTALL),
)
_MATMUL = re.compile(r"Matrix size-incompatible: In\[0\]: \[([\d,]+)\], In\[1\]: \[([\d,]+)\]")
_BROADCAST = re.compile(r"Incompatible shapes: \[([\d,]*)\] vs\. \[([\d,]*)\]")
SHOWN = 3  # number of arguments that are listed, if there are many, and all later numbers
_SHORT = (bool, int, float, type(None))
LONGEST_ARGUMENT = 160  # characters shown of a text, a list of texts or a dict


def call_text(names: list[str], question: dict) -> str:
    """The arguments with their shapes and dtypes: "q (2, 5, 16) float32, k …"."""
    if len(question.get("calls", ())) == 1:
        return call_text(names, question["calls"][0])
    if "calls" in question:
        return ", then ".join(call["probe"]["name"] for call in question["calls"])
    given = [*zip(names, question["arguments"]), *question["keywords"].items()]
    left_out = [pair for pair in given[SHOWN:] if type(pair[1]) not in _SHORT] if len(given) > SHOWN + 1 else []
    more = f" and {', '.join(name for name, _ in left_out)}" if left_out else ""
    given = [pair for pair in given if not any(pair is other for other in left_out)]
    config = question["probe"].get("config") or {}
    made = f"{question['probe']['name']}({', '.join(f'{k}={v}' for k, v in config.items())}) on " if config else ""
    calls = len(question["probe"].get("seeds", ()))
    chance = f", rng with {calls} seeds" if calls else ""
    is_second = "first" in question and question["probe"]["kind"] == "layer"
    before = ", after a call with other arguments" if is_second else ""
    graph = ", inside of tf.function" if question.get("graph") else ""
    graph += " with an unknown batch size" if question.get("unknown_batch") else ""
    return made + ", ".join(f"{name} {_kind_text(value)}" for name, value in given) + more + chance + before + graph


def _kind_text(value):
    if type(value) is np.ndarray:
        return f"{value.shape} {value.dtype.name}"
    if type(value) in (list, tuple) and _holds_arrays(value):
        kinds = [_kind_text(item) for item in value]
        if len(kinds) > 1 and len(set(kinds)) == 1:
            return f"{len(kinds)} × {kinds[0]}"
        return "[" + ", ".join(kinds[:SHOWN]) + (", …]" if len(kinds) > SHOWN else "]")
    if type(value) is dict and REPEATED in value:
        return f"{row(value[REPEATED])} × {value['times']:,}"
    if type(value) is dict and _holds_arrays(value):
        kinds = [f"{key} {_kind_text(item)}" for key, item in value.items()]
        return "{" + ", ".join(kinds[:2]) + (f" and {len(kinds) - 2} more" if len(kinds) > 2 else "") + "}"
    return short(value, LONGEST_ARGUMENT)


def _holds_arrays(value):
    if type(value) is dict:
        return any(map(_holds_arrays, value.values()))
    if type(value) in (list, tuple):
        return any(map(_holds_arrays, value))
    return type(value) is np.ndarray


def without_list(claim: dict, question: dict, answer: Answer, difference: Difference):
    """(claim, answer, difference) for a reader. The list of a composition's results is left out if it has one."""
    if len(question.get("calls", ())) != 1 or claim["kind"] != "equals" or answer.status != "ok":
        return claim, answer, difference
    [expected], [value] = claim["expected"], answer.value
    alone = compare(expected, value, Tolerance(claim["rtol"], claim["atol"]))
    return claim | {"expected": expected}, replace(answer, value=value), alone or difference


def shape_facts(claim: dict, answer: Answer, difference: Difference) -> tuple[tuple[str, str], ...]:
    """Shape, dtype and values of a wrong answer, each with its mark; for an error, its message and line."""
    failure = answer.failure
    if answer.status == "refused":
        return ()  # the advice says why
    if claim["kind"] == "raises":
        return (("error", difference.message),)
    if answer.status != "ok":
        location = f"your line {failure.line}:  {failure.text}" if failure.line else ""
        return tuple((label, text) for label, text in (("error", f"{failure.type}: {plain_error(failure)}"),
                                                       ("where", location)) if text)  # fmt: skip
    value = answer.value
    if type(value) is not np.ndarray or claim["kind"] != "equals" or difference.kind == "type":
        return (("values", difference.message + _beside(claim.get("expected"), value, difference)),)
    if difference.kind == "shape":
        return (("shape", f"✗ {difference.message}"),)
    dtype = f"✗  expected {claim['expected'].dtype.name}" if difference.kind == "dtype" else "✓"
    facts = [("shape", f"{value.shape} ✓      dtype {value.dtype.name} {dtype}")]
    if difference.kind != "dtype":
        facts.append(("values", difference.message))
    return tuple(facts)


def _beside(expected, got, difference) -> str:
    """Both lists, one below the other, when lists of plain values differ in an item or in their length."""
    if type(expected) is dict and type(got) is dict:
        key = next((key for key in expected if compare(expected[key], got.get(key))), None)
        expected, got = expected.get(key), got.get(key)
    if not (_is_list(expected) and _is_list(got)) or difference.index is None:
        return ""
    index = min(len(got), len(expected))  # where one of them ends, if nothing differs before
    for step in difference.index:
        if not (_is_list(expected[step]) and _is_list(got[step])):
            index = step
            break
        expected, got = expected[step], got[step]
        index = min(len(got), len(expected))
    if _holds_arrays(expected) or _holds_arrays(got):
        return ""
    return f"\nyours     {row(got, index)}\nexpected  {row(expected, index)}"


def _is_list(value):
    return type(value) in (list, tuple)


def small_picture(difference: Difference) -> Picture | None:
    """A small slice of both around the first difference, when both are matrices of numbers and differ in values."""
    yours, expected = difference.yours, difference.expected
    if difference.kind not in ("values", "nan") or type(yours) is not np.ndarray or type(expected) is not np.ndarray:
        return None
    if yours.ndim < 2 or yours.dtype.kind not in "fiub" or not yours.size:
        return None
    index = difference.index[-yours.ndim :] if difference.index else (0,) * yours.ndim  # may be an item of a list
    shown = slice_around(yours.shape[-2:], index[-2:])
    matrices = (array[index[:-2]][shown].astype("float64").tolist() for array in (yours, expected))
    return Picture(*matrices, first=tuple(part.start for part in shown))


def plain_error(failure: Failure) -> str:
    """The message of an error without the library's internals."""
    message = failure.message
    for pattern in _NOISE:
        message = pattern.sub("", message)
    for pattern, words in (
        (_MATMUL, "matrix sizes do not match: ({}) and ({})"),
        (_BROADCAST, "shapes do not match: ({}) and ({})"),
    ):
        found = pattern.search(message)
        if found:
            return words.format(*(group.replace(",", ", ") for group in found.groups()))
    return message.strip()
