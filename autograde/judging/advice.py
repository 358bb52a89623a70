"""The advice of a verdict: the likely cause of an error or of a wrong result, and the way to mend it."""

import re

import numpy as np

from autograde.common.texts import article
from autograde.judging.answers import Answer
from autograde.judging.claims import ASKED_BY, KINDS
from autograde.judging.compare import Difference

_NUMPY = (
    "Expected a tensor, got a NumPy array. Compute with `keras.ops`: NumPy knows no gradients and does not work inside "
    "of `tf.function`. Where neither matters, `ops.convert_to_tensor(…)` makes a tensor of an array."
)
_NUMPY_BOOLEANS = "Expected a tensor of booleans, got NumPy's. Use `keras.ops`, or `ops.convert_to_tensor` at the end."
_NO_TENSORS = {
    "symbolic Keras tensor": (
        "Expected a tensor with values, got a symbolic tensor. Use the function's arguments, not `keras.Input`."
    ),
    "NumPy array": _NUMPY,
    "NumPy scalar": _NUMPY,
}

_ABOUT_LAYERS = ("no such weight", "shape of a weight", "not callable")
_SEQUENCES = ("tuple", "map", "filter", "zip", "dict_keys", "dict_values", "deque", "chain")

_NO_NUMBERS = (
    "Inside of `tf.function`, in which Keras trains a model, a tensor has a shape, but no numbers yet. So `if`, `for`, "
    "`len(...)`, `float(...)`, `.numpy()` and NumPy's functions cannot read it. Use `keras.ops`; instead of `if`, "
    "`ops.where`."
)
_NO_BATCH_SIZE = (
    "In Keras's `fit`, the batch size is not known in advance, and in this call it is not known either: `x.shape[0]` "
    "is None. Take sizes from `ops.shape(x)`."
)
ONLY_TOGETHER = (
    "Each call alone is right; called several times, or beside your other answers, a result changes: does a later call "
    "change what an earlier one returned, or do two layers share weights?"
)
_MEMORY = (
    "The computation needs more memory than this machine has. Print the shapes of what you compute: is there a product "
    "of two long axes, or an axis too many? A right answer needs a few megabytes here."
)
TOO_LONG = "did not end within"  # start of the message of a TimeoutError raised by `check` itself
_ENDLESS = (
    "Follow the loop by hand for a few iterations: which condition ends it, and does each iteration come closer? "
    "If your code is right and only slow here, `check(…, seconds=120)` waits longer."
)
_MATRIX_TIMES_VECTOR = (
    "`@` needs as many axes on both sides. For a matrix times a vector use `ops.matmul` or `ops.sum(a * v, axis=-1)`."
)
_WITHOUT_NUMBERS = re.compile(r"symbolic (tf\.)?Tensor|SymbolicTensor")
_NO_INDEX = re.compile(r"indices\[[\d, ]*\] = (-?\d+) is not in \[0, (\d+)\)")
# Part of an error's message → advice; where the message alone does not help.
_BY_MESSAGE = {
    "forgot to call `super().__init__()`": (
        "Call `super().__init__()` first in your `__init__`: Keras needs it to store the weights of a layer."
    ),
    "cannot add new elements of state": (
        "A layer gets a new weight, sub-layer or seed generator after it was built. Create them once, in `__init__` or "
        "`build`, and build each layer once: is the same layer in a list several times?"
    ),
    "Only input tensors may be passed as positional arguments": (
        "Keras layers take only tensors by position. Pass the others by name, such as `training=training`."
    ),
    "In[0] and In[1] has different ndims": _MATRIX_TIMES_VECTOR,
    "ndims must be >= 2": _MATRIX_TIMES_VECTOR,  # the same error of the kernels for processors with AVX-512
    "Attempt to convert a value (None)": (
        "Expected a tensor, got None. Is an argument missing in a call, or does one of your functions return nothing? "
        "The gradient of a weight is None if the loss does not use the weight."
    ),
    "'IndexedSlices'": (
        "The gradient of an embedding table is a list of rows, `IndexedSlices`. `tf.convert_to_tensor(gradient)` adds "
        "the rows of equal tokens and makes a tensor of it."
    ),
    "Value for attr 'Tidx' of float": (
        "The second argument of `ops.max`, `ops.sum` and the like is an axis. `ops.maximum(a, b)` compares element by "
        "element."
    ),
    "Value for attr 'Tshape' of float": "A size is a float here. `/` makes floats; divide sizes with `//`.",
    "Value for attr 'T' of bool": (
        'Booleans are used as numbers. Convert them with `ops.cast(mask, "float32")`, or choose with `ops.where`.'
    ),
    "Tensor' object does not support item assignment": (
        "A tensor cannot be changed in place. Compute a new one, for example with `ops.where(mask, a, b)`."
    ),
    "only integer scalar arrays can be converted to a scalar index": (
        "Several numbers are used as one index here. To choose by a mask use `ops.where(mask, a, b)`, to look up rows "
        "`ops.take`. A tensor cannot be changed in place."
    ),
    "looking for numpy-related methods": (
        "A tensor does not have NumPy's attributes and methods. Use `keras.ops`: `ops.swapaxes(x, -1, -2)` for `.T`, "
        "`ops.cast(x, ...)` for `.astype(...)`, `ops.reshape(x, ...)` for `.reshape(...)`."
    ),
    "must have compatible batch dimensions": (
        "The axes before the last two differ. `ops.transpose(x)` turns all axes around; `ops.swapaxes(x, -1, -2)` "
        "swaps the last two."
    ),
}
_MIXED = re.compile(r"was expected to be an? (\w+) tensor but is an? (\w+) tensor")


def error_advice(answer: Answer, question: dict, claim: dict) -> list[str]:
    """Advice about an error whose message alone does not help: a sandbox's answer has none. claim: the one that
    fails."""
    failure = answer.failure
    if failure is None:
        return []
    if claim["kind"] == "raises":
        return [
            f"This call must be refused, and another error came first. Compare the arguments at the start of your "
            f"function, and `raise {claim['error']}(…)` with both numbers in its message."
        ]
    if failure.kind == "TimeoutError" and failure.message.startswith(TOO_LONG):
        return [_ENDLESS]
    if failure.kind in ("ResourceExhaustedError", "MemoryError"):
        return [_MEMORY]
    known = next((advice for part, advice in _BY_MESSAGE.items() if part in failure.message), None)
    if known:
        return [known]
    no_index = _NO_INDEX.search(failure.message)
    if no_index:
        return [
            f"A look-up got the index {no_index[1]}; expected 0 to {int(no_index[2]) - 1}. Is it the right table, and "
            "the right axis? Is the number an index at all?"
        ]
    if question.get("unknown_batch") and "None" in failure.message:
        return [_NO_BATCH_SIZE]
    # A sandbox's error has no message: there it is the reason if the same code passed the questions before, outside.
    needs_numbers = failure.type == "OperatorNotAllowedInGraphError" or _WITHOUT_NUMBERS.search(failure.message)
    if needs_numbers or question.get("graph") and not failure.type:
        batch = question.get("unknown_batch") and not failure.type  # without a message it may be this as well
        return [_NO_NUMBERS, _NO_BATCH_SIZE] if batch else [_NO_NUMBERS]
    mixed = _MIXED.search(failure.message)
    if mixed:
        return [f"Two dtypes are mixed here, {mixed[1]} and {mixed[2]}. Convert one with `ops.cast(x, ...)`."]
    if failure.kind == "UnboundLocalError":
        return ["Your function uses a variable before it assigns a value to it."]
    return []


def result_advice(answer: Answer, plan: dict, claim: dict, difference: Difference) -> list[str]:
    """Advice about the kind of thing that was returned, about changed arguments, and about missing gradients."""
    name, returned, question = plan["exercise"]["names"][0], answer.returned, plan["questions"][claim["answer"]]
    wanted = "tensor" if claim["kind"] == "slopes" else claim["returns"]
    if answer.status not in ("ok", "refused"):
        return []
    if answer.status == "refused" and answer.failure.reason in _ABOUT_LAYERS:  # it was not called
        return [answer.failure.message or _refusal(answer, question)]
    if returned == "nothing":
        return [f"`{name}` returned None: did you forget `return`?"]
    if returned == "...":
        return [f"`{name}` returned `...`: replace it by your own expression."]
    if returned == "generator":
        return ["Your function returned a generator, because it uses `yield`. Collect the items and `return` them."]
    if wanted == "tensor" and returned in _NO_TENSORS:
        advice, has_booleans = _NO_TENSORS[returned], getattr(claim.get("expected"), "dtype", "") == np.bool_
        return [_NUMPY_BOOLEANS if advice is _NUMPY and has_booleans else advice]
    another_kind = returned != wanted != "anything" and answer.no_gradient is None
    if another_kind and (answer.status == "ok" or wanted != "tensor"):
        return [f"Expected {article(wanted)}, got {article(answer.type or returned)}.{_how(returned, wanted)}"]
    if answer.status == "refused":
        return [answer.failure.message or _refusal(answer, question)]
    if difference.kind == "mutated":
        return [
            "Your function changes one of its arguments, or a list inside it (`list(x)` copies only the outer list). "
            "The caller may still need it: make a new value instead."
        ]
    if answer.no_gradient:
        return [
            "A gradient is missing: something was computed without tensors (NumPy, `.numpy()`), is a constant, or its "
            "gradient was stopped (`ops.stop_gradient`)."
        ]
    if advice := KINDS[claim["kind"]].advice(claim, answer, difference):
        return advice
    if answer.new_weights:
        return ["A later call of your layer created new weights: create all weights once, in `__init__` or `build`."]
    if difference.kind == "unstable":
        if not trains(question):
            which = "as with dropout outside training"
        elif question["probe"].get("config", {}).get("dropout") == 0:
            which = "as where a rate of 0 is not passed on to a dropout"
        else:
            which = "because a dropout acts on something else. All that may be dropped is 0 in this call"
        return [f"Two equal calls gave different results: the result is random where it should not be, {which}."]
    asked_by = ASKED_BY.get(question["probe"]["kind"])
    if asked_by and (advice := asked_by.advice(claim, answer, difference)):
        return advice
    return _value_advice(answer.value, claim.get("expected"))


def _refusal(answer, question) -> str:
    """Why an answer of a sandbox could not be used, in words of the grader's own."""
    probe = question["probe"].get("of", question["probe"])
    names = ", ".join(f"`{paths[0]}`" for paths in probe.get("roles", {}).values())
    return {
        "no such weight": f"A weight of your layer was not found. The grader sets these: {names}.",
        "shape of a weight": f"A weight of your layer has another shape than expected. The grader sets these: {names}.",
        "not callable": "Your class makes something that cannot be called: expected a layer.",
        "changed later": "A later call of your function changes what an earlier call returned.",
        "ends": "Your data set ends; expected one without end.",
        "too large": "Your result is too large to be checked.",
        "no plain form": "Your result has a type that cannot be checked: expected tensors or plain Python values.",
    }.get(answer.failure.reason, "Your result could not be checked.")


def _how(returned, wanted):
    """A sentence on how to convert the returned value into the expected type."""
    if wanted == "tensor" and returned in ("float", "int", "bool"):
        return " A plain number has no gradient: compute it from the arguments with `keras.ops`."
    if wanted == "tensor":
        return " Join the parts with `ops.stack` or `ops.concatenate`."
    if wanted == "int" and returned == "float":
        return " A number with a point, such as 4.0, is a `float`: use `//` or `int(...)`."
    if wanted == "int" and returned == "NumPy scalar":
        return " `np.round` and NumPy's other functions return it: use Python's `round`, or convert it with `int(...)`."
    return " Convert it with `list(...)`." if wanted == "list" and returned in _SEQUENCES else ""


def trains(question: dict) -> bool:
    """Whether a call is made with `training=True`."""
    return question.get("keywords", {}).get("training") is True


def _about_dtype(got: np.dtype, expected: np.dtype) -> str:
    """A sentence on how to get the expected kind of numbers; "" where both are of one kind."""
    if expected.kind == "b" and got.kind != "b":
        return (
            f"Expected booleans (dtype bool), got {got.name}. Return the result of a comparison, such as "
            '`ops.equal(x, 1)`, or convert it with `ops.cast(x, "bool")`.'
        )
    if got.kind == "b" and expected.kind != "b":
        return f'Expected {expected.name}, got booleans. Convert them with `ops.cast(x, "{expected.name}")`.'
    if expected.kind == "i" and got != expected:
        return f'Expected {expected.name}, got {got.name}. Convert the result with `ops.cast(x, "{expected.name}")`.'
    return ""


def _has_nan(value) -> bool:
    if type(value) in (list, tuple):
        return any(map(_has_nan, value))
    if type(value) is np.ndarray:
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    return type(value) is float and value != value


def _value_advice(value, expected):
    if type(value) is dict and type(expected) is dict:
        return next((said for name in expected if (said := _value_advice(value.get(name), expected[name]))), [])
    if _has_nan(value):
        if type(value) is float:  # a number that was computed without tensors
            return [
                "The result has NaN. Is there 0/0, for example because all numbers are equal? Or the root of a number "
                "below 0, for example after an overflow of integers?"
            ]
        return [
            "The result has NaN. Does exp of a large number give ∞? Then ∞/∞, ∞ − ∞ and 0 · ∞ are NaN. Or is there "
            "0/0, for example because every exp of a row is 0, all numbers are equal, or it is the mean of no numbers?"
        ]
    if type(value) in (float, int) and type(expected) is np.ndarray:
        return [f"Expected a tensor, got a plain number.{_how(type(value).__name__, 'tensor')}"]
    if type(value) is not np.ndarray:
        return []
    if type(expected) is np.ndarray and (said := _about_dtype(value.dtype, expected.dtype)):
        return [said]
    if value.dtype.name == "float64" and type(expected) is np.ndarray and expected.dtype != value.dtype:
        return [
            "The result is float64, which comes from NumPy, `float(...)` or a cast. Return the tensor itself, or "
            "convert it with `ops.cast`."
        ]
    return []
