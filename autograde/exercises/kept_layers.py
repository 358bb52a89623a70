"""Answers many questions about one layer without building it for each, which takes longer than to call it. The course's
own solutions and mistakes are asked thousands of times; a student's layer is built for each question."""

import contextlib
import random
import sys
from collections.abc import Iterator

from autograde.boundary import call_answer

SEED = 0


def answers(questions: list[dict], namespace: dict, kept: dict | None = None) -> list[dict]:
    """The namespace's answers. kept: layers built before, for further calls with the same namespace."""
    with kernels_kept():
        return list(each_answer(questions, namespace, kept))


def each_answer(questions: list[dict], namespace: dict, kept: dict | None = None) -> Iterator[dict]:
    """The same answers one after the other: a question is asked when its answer is wanted.

    A kept layer's dropout draws from the random state in which it was built, before any question sets a seed. The state
    is therefore the same at each start: otherwise two equal releases would differ.
    """
    kept = {} if kept is None else kept
    if "keras" in sys.modules:
        sys.modules["keras"].utils.set_random_seed(SEED)
    for question in questions:
        yield call_answer.answer([question], namespace, build=_builder(question, kept))[0]


def _builder(question: dict, kept: dict) -> call_answer.Build:
    """A `build` that returns the layer built before for the same kind of question.

    All questions of a kind set the same weights; the others keep their initial values. `training` does not matter: it
    acts when a layer is called. A question that only counts weights may have any layer that sets some. A layer that
    makes new weights when it is called is built again.
    """
    if question["probe"].get("values"):  # asks for the initial weights
        return _built_once

    def build(its_class, asked, arguments, keywords):
        others = {name: value for name, value in keywords.items() if name != "training"}
        made_as = repr((asked["name"], asked.get("config"), _shapes(arguments), _shapes(others)))
        layers = kept.setdefault(made_as, {})
        sets = tuple(sorted(question.get("weights", {})))
        key = next(iter(layers), sets) if question["probe"]["kind"] == "trainable" else sets
        layer, weights = layers.get(key, (None, None))
        if layer is None or len(layer.weights) != weights:
            layer = _built_once(its_class, asked, arguments, keywords)
            layers[key] = layer, len(getattr(layer, "weights", ()))
        return layer

    return build


def _built_once(its_class, asked, arguments, keywords):
    """The layer; its first call makes its weights. Keras would trace this call before, to find the same weights.

    The call is not one of training: a `keras.Sequential` inside of the layer would keep that for all later calls, which
    it does not when Keras traces the layer.
    """
    if "training" in keywords:
        keywords = keywords | {"training": None}
    with _without_tracing():
        return call_answer.build_layer(its_class, asked, arguments, keywords)


class NotTraced(Exception):
    """Tells Keras that a layer cannot be traced; it then lets the call itself make the weights."""


@contextlib.contextmanager
def _without_tracing():
    """Layers without a `build` of their own are not called on symbolic tensors before their first call."""
    backend = sys.modules["keras"].src.backend
    trace = backend.compute_output_spec

    def refuse(function, *arguments, **keywords):
        if any(isinstance(value, backend.KerasTensor) for value in (*arguments, *keywords.values())):
            return trace(function, *arguments, **keywords)  # a functional model is being made
        raise NotTraced

    backend.compute_output_spec = refuse
    try:
        yield
    finally:
        backend.compute_output_spec = trace


def _shapes(value):
    """The value with each tensor replaced by its shape and type."""
    if isinstance(value, dict):
        return {name: _shapes(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shapes(item) for item in value]
    return (tuple(value.shape), str(value.dtype)) if hasattr(value, "shape") else value


@contextlib.contextmanager
def kernels_kept() -> Iterator[None]:
    """Inside the block a seed empties TensorFlow's cache of kernels only after a kernel that counts was asked for.

    `tf.random.set_seed` empties the cache, because a kernel that draws random numbers counts what it has drawn; making
    all kernels again takes a third of the time of a plan with many seeded questions about a layer. Keras draws with
    operations that keep no count. Every operation that counts gets its seeds from `get_seed`. The first seed of the
    block empties the cache: nobody knows what ran before.
    """
    if "tensorflow" not in sys.modules:
        yield
        return
    import tensorflow as tf
    from tensorflow.python.eager.context import context
    from tensorflow.python.framework import random_seed

    set_seed, get_seed, counted = tf.random.set_seed, random_seed.get_seed, True

    def set_without_emptying(seed):
        nonlocal counted
        if counted:
            set_seed(seed)
            counted = False
        else:
            context()._seed, context()._rng = seed, random.Random(seed)

    def get_and_note(op_seed):
        nonlocal counted
        counted = True
        return get_seed(op_seed)

    tf.random.set_seed, random_seed.get_seed = set_without_emptying, get_and_note
    try:
        yield
    finally:
        tf.random.set_seed, random_seed.get_seed = set_seed, get_seed
