"""The parts that all kinds of probe share: find the name, read the inputs, call. In the student's process."""

import contextlib
import logging
import sys
from collections.abc import Iterator

from autograde.boundary.plain_values import is_tensor, nested, to_plain, to_tensors
from autograde.common.errors import AutogradeError

# In the arguments of a composition's call:
RESULT = "result of"  # {RESULT: 0}: what its first call returned
REPEATED = "repeated"  # {REPEATED: [0, 1], "times": 3}: a list that is too long to be sent as it is
_USUAL = "float32"  # a check asks in it with any settings of Keras that the cells have changed


class RefusedError(AutogradeError):
    """A question that this code cannot answer; the message explains why. reason: of `answers.REASONS`."""

    def __init__(self, message: str, reason: str = ""):
        super().__init__(message)
        self.reason = reason


class MissingError(AutogradeError):
    """The requested name does not exist."""


def named(probe, namespace):
    """The function, class or value of the probe's name. Raises MissingError."""
    if probe["name"] not in namespace:
        raise MissingError(probe["name"])
    return namespace[probe["name"]]


def function_of(probe, namespace):
    """The probe's function. One that takes another function ("takes": its name) gets it with the arrays bound that are
    the question's first argument: `f(g, x)`, asked with ([a, b], x), is called with g = that function of (…, a, b)."""
    function = named(probe, namespace)
    if "takes" not in probe:
        return function
    taken = named({"name": probe["takes"]}, namespace)

    def call(bound, *arguments, **keywords):
        return function(lambda *own: taken(*own, *bound), *arguments, **keywords)

    return call


def inputs(probe, question):
    """(arguments, keywords) of a call: tensors, unless the probe asks for NumPy arrays."""
    convert = to_tensors if probe.get("tensors", True) else to_plain  # either way copies of their own
    return convert(list(question.get("arguments", []))), convert(dict(question.get("keywords", {})))


def with_results(value, results):
    """The value with the results of a composition's earlier calls in the places that name them (`spec.result_of`), and
    with the long lists of `spec.repeated`."""
    if type(value) is dict and RESULT in value:
        found = results[value[RESULT]]
        return found[value["item"]] if "item" in value else found
    if type(value) is dict and REPEATED in value:
        return value[REPEATED] * value["times"]
    if type(value) is dict:
        return {name: with_results(item, results) for name, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(with_results(item, results) for item in value)
    return value


def in_graph(wrapped, unknown_batch: bool = False):
    """The function or layer as Keras's `fit` calls it: inside of `tf.function` and without AutoGraph.

    There a tensor has a shape and a dtype, but no numbers yet. unknown_batch: the size of its first axis is not known
    either, if it is that of the first argument.
    """
    import tensorflow as tf

    def traced(*arguments, **keywords):
        if unknown_batch:
            batch = arguments[0].shape[0]

            def without_size(value):
                if is_tensor(value) and value.shape.rank and value.shape[0] == batch:
                    return tf.compat.v1.placeholder_with_default(value, (None, *value.shape[1:]))
                return value

            arguments, keywords = nested((arguments, keywords), without_size)
        return wrapped(*arguments, **keywords)

    function = tf.function(traced, autograph=False)

    def call(*arguments, **keywords):
        with _without_warnings():
            return function(*arguments, **keywords)

    return call


@contextlib.contextmanager
def _without_warnings():
    """Without TensorFlow's warnings that a function is compiled often: each question makes its own."""
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def call_with_notes(function, arguments, keywords, notes):
    """The result of a call; notes the arguments as they are afterwards."""
    result = function(*arguments, **keywords)
    notes["after"] = to_plain(arguments)
    return result


def changed_precision() -> list[str]:
    """The settings that are not the usual ones, as a student writes them; none where Keras is not loaded."""
    keras = sys.modules.get("keras")
    if keras is None:
        return []
    policy, numbers = keras.config.dtype_policy().name, keras.config.floatx()
    return [
        *([f"keras.config.set_dtype_policy({policy!r})"] if policy not in (_USUAL, numbers) else []),
        *([f"keras.config.set_floatx({numbers!r})"] if numbers != _USUAL else []),
    ]


@contextlib.contextmanager
def usual_settings() -> Iterator[None]:
    """Inside of it new layers and new tensors are float32, and errors stay as the student caused them: Keras adds a
    page of text to each that is raised inside a layer. Afterwards its settings are as before."""
    keras = sys.modules.get("keras")
    if keras is None:
        yield
        return
    policy, numbers = keras.config.dtype_policy(), keras.config.floatx()
    is_unusual, is_filtering = (policy.name, numbers) != (_USUAL, _USUAL), keras.config.is_traceback_filtering_enabled()
    if is_unusual:
        keras.config.set_floatx(_USUAL)
        keras.config.set_dtype_policy(_USUAL)
    if is_filtering:
        keras.config.disable_traceback_filtering()
    try:
        yield
    finally:
        if is_unusual:
            keras.config.set_floatx(numbers)
            keras.config.set_dtype_policy(policy)
        if is_filtering:
            keras.config.enable_traceback_filtering()
