"""The answers of untrusted code as trusted values: the one way from what a sandbox sends to what the grader uses.

An `Answer` holds numbers inside plain values, which are compared and never shown, and words from the closed lists
below, for which the grader has sentences of its own. A program that has seen hidden inputs can choose among these
words, but it can write none. Only on a student's own machine, where nothing is hidden, an answer also has the words
of the program itself (`own=True`: `Failure.message`, `.type`, `.text`, `Answer.type`).
"""

import builtins
import hashlib
import re
from dataclasses import dataclass, replace

STATUSES = ("ok", "raised", "missing", "not attempted", "refused")
ANOTHER_OBJECT, AN_ERROR = "another object", "an error"
FORBIDDEN_CALL = "ForbiddenCallError"  # raised by what an exercise forbids (see `bans`)
# The kinds of things that functions return (see `plain_values.describe`).
KINDS = (
    "tensor", "NumPy array", "NumPy scalar", "nothing", "...", "generator", "symbolic Keras tensor", "variable", "dict",
    "list", "tuple", "str", "int", "float", "bool", "complex", "bytes", "set", "frozenset", "range", "function", "type",
    "map", "filter", "zip", "enumerate", "reversed", "dict_keys", "dict_values", "dict_items", "deque", "chain",
    ANOTHER_OBJECT,
)  # fmt: skip
TENSORFLOW_ERRORS = ("InvalidArgumentError", "NotFoundError", "ResourceExhaustedError", "UnimplementedError")
_CLASSES = {name: obj for name, obj in vars(builtins).items() if isinstance(obj, type)}
ERRORS = (
    *sorted(name for name, obj in _CLASSES.items() if issubclass(obj, BaseException)),
    *TENSORFLOW_ERRORS, FORBIDDEN_CALL, AN_ERROR,
)  # fmt: skip
# Why a probe could not use what it found (see `probe.RefusedError`).
REASONS = (
    "no plain form", "too large", "not callable", "no such weight", "shape of a weight", "changed later", "ends", "",
)  # fmt: skip
MAX_LINES = 1000  # of a cell: no answer of the course is as long
_DIGEST = re.compile("[0-9a-f]{12}", re.ASCII)
_LONGEST = 600  # characters of a program's own message
_MAX_SHAPES, _MAX_AXES, _LARGEST_AXIS = 6, 8, 10**9
SHAPES = re.compile(r"[\[(]\s*\d+(?:\s*,\s*\d+)*,?\s*[\])]")


@dataclass(frozen=True)
class Failure:
    """Why an answer has no value. kind: of ERRORS; reason: of REASONS.

    shapes, digest: of the message, only to compare them with those of a known mistake. type, message, text: the
    program's own words and its line of code, on the student's own machine; "" for a sandbox.
    """

    kind: str = AN_ERROR
    line: int | None = None
    shapes: tuple[tuple[int, ...], ...] = ()
    digest: str = ""
    reason: str = ""
    type: str = ""
    message: str = ""
    text: str = ""

    @property
    def signature(self) -> tuple:
        """The values by which a mistake that raises an error is recognised."""
        return self.kind, self.shapes, self.reason


@dataclass(frozen=True)
class Answer:
    """One answer. status: of STATUSES; value: a plain value (see `values`); returned: of KINDS.

    after: the call's arguments after the call; again: the value of a second, equal call; each None where it was not
    asked for. watched: functions that ran, of those that the question named. late: no answer came in time.
    new_weights, no_gradient (None without gradients): hints on the cause of a wrong value. type: the name of the
    returned type, on the student's own machine.
    """

    status: str
    value: object = None
    returned: str = ANOTHER_OBJECT
    failure: Failure | None = None
    after: object = None
    again: object = None
    printed: bool = False
    watched: tuple[str, ...] = ()
    new_weights: bool = False
    no_gradient: bool | None = None
    late: bool = False
    type: str = ""


def read(raw, question: dict | None = None, own: bool = False) -> Answer:
    """The answer that any plain value `raw` is: what does not belong into an answer is left out.

    own: on the student's own machine, where the program's own words may be shown.
    """
    if isinstance(raw, Answer):
        return raw
    raw = raw if type(raw) is dict else {}
    notes, error = (raw.get(key) if type(raw.get(key)) is dict else {} for key in ("notes", "error"))
    status = _one_of(STATUSES, raw.get("status"), "refused")
    lists = {key: notes[key] if type(notes[key]) is list else [] for key in ("watched", "no_gradient") if key in notes}
    ran = {name for name in lists.get("watched", ()) if type(name) is str}
    return Answer(
        status=status,
        value=raw.get("value") if status == "ok" else None,
        returned=_one_of(KINDS, notes.get("returned"), ANOTHER_OBJECT),
        failure=None if status == "ok" else _failure(error, own),
        after=notes.get("after"),
        again=notes.get("again"),
        printed=type(notes.get("printed")) is int and notes["printed"] > 0,
        watched=tuple(name for name in (question or {}).get("watch", ()) if name in ran),
        new_weights=notes.get("new_weights") is True,
        no_gradient=len(lists["no_gradient"]) > 0 if "no_gradient" in lists else None,
        type=_own_words(notes.get("returned")) if own else "",
    )


def too_late() -> Answer:
    """The answer that did not come in time."""
    return Answer("raised", failure=Failure("TimeoutError"), late=True)


def _failure(error: dict, own: bool) -> Failure:
    message, code = _own_words(error.get("message")), error.get("digest")  # the latter of a known mistake in a plan
    failure = Failure(
        kind=kind_of_error(error),
        line=_line(error.get("line")),
        shapes=_shapes(message),
        digest=code if type(code) is str and _DIGEST.fullmatch(code) else digest_of(message),
        reason=_one_of(REASONS, error.get("reason"), ""),
    )
    if not own:
        return failure
    return replace(failure, type=_own_words(error.get("type")), message=message, text=_own_words(error.get("text")))


def kind_of_error(error: dict) -> str:
    """One of ERRORS: the error's own type, or Python's own class that it extends, unless that is just "an error"."""
    kind = _one_of(ERRORS, error.get("type"), AN_ERROR)
    base = _one_of(ERRORS, error.get("base"), AN_ERROR)
    return base if kind == AN_ERROR and base not in ("Exception", "BaseException") else kind


def is_a(kind: str, expected: str) -> bool:
    """Whether an error of this kind is one of the expected kind: a UnicodeError is a ValueError."""
    error, base = _CLASSES.get(kind), _CLASSES.get(expected)
    return kind == expected or (error is not None and base is not None and issubclass(error, base))


def digest_of(message: str) -> str:
    """A short code for an error's message without quoted names, numbers and paths of files: Keras counts layers (dense,
    dense_1), and TensorFlow names the files of functions that it traces, which are elsewhere on another machine."""
    plain = re.sub(r"""_?\d+|'[^']*'|`[^`]*`|File "[^"]*\"""", "", message)
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:12]


def _one_of(words: tuple[str, ...], word, otherwise: str) -> str:
    return next((listed for listed in words if type(word) is str and listed == word), otherwise)


def _line(number) -> int | None:
    return number if type(number) is int and 1 <= number <= MAX_LINES else None


def _own_words(text) -> str:
    return text[:_LONGEST] if type(text) is str else ""


def _shapes(message: str) -> tuple[tuple[int, ...], ...]:
    """The shapes that a message names, such as (2, 5) and [3]."""
    shapes = [[int(size[:12]) for size in re.findall(r"\d+", shape)] for shape in SHAPES.findall(message)]
    return tuple(tuple(min(size, _LARGEST_AXIS) for size in shape[:_MAX_AXES]) for shape in shapes[:_MAX_SHAPES])


# --- cells ---


@dataclass(frozen=True)
class CellOutcome:
    """A cell's outcome. status: "ok", "failed" or "late"; kind: of ERRORS; line: of this cell, where it is known."""

    status: str
    kind: str = AN_ERROR
    line: int | None = None


def cell_outcome(result, source: str) -> CellOutcome:
    """The outcome that a sandbox's `CellResult` tells; nothing else of it is for the grader."""
    if result.limit == "wall clock":
        return CellOutcome("late")
    if result.error is None:
        return CellOutcome("ok")
    line = _line(result.error.line) if result.error.cell == result.index else None
    inside = line is not None and line <= source.count("\n") + 1
    return CellOutcome("failed", _one_of(ERRORS, result.error.name, AN_ERROR), line if inside else None)
