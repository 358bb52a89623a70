"""Compiling a function of a model and tensors: once for each model; its weights are read again at every call."""

import sys
import weakref
from collections.abc import Callable

import keras

_COMPILED = weakref.WeakKeyDictionary()  # model → {what is compiled: the compiled function}


def can_compile() -> bool:
    """Whether the backend has a compiler here; PyTorch's needs one of C++ besides.

    Example:
        >>> can_compile()
        True
    """
    return keras.backend.backend() in ("tensorflow", "jax")


def compiled(model, function: Callable, *options) -> Callable:
    """`function(model, *options, *arguments)` as a function of the arguments, compiled for each of their shapes.

    function: of a module, not made again at every call; written with `keras.ops`.   options: hashable.
    arguments: tensors or arrays, lists and tuples of them, whose number of rows and of tokens, the first two axes, may
    differ from call to call. Where there is no compiler, the function is called as it is.
    """
    return _prepared(model, function, options, {"tensorflow": _with_xla, "jax": _with_jax})


def traced(model, function: Callable, *options) -> Callable:
    """The same with one graph of TensorFlow for all shapes: slower than `compiled`, but a new shape costs nothing.

    With other backends the function is called as it is.
    """
    return _prepared(model, function, options, {"tensorflow": _with_tensorflow})


def _prepared(model, function, options, makers: dict[str, Callable]) -> Callable:
    maker = makers.get(keras.backend.backend())
    if maker is None:
        return lambda *arguments: function(model, *options, *arguments)
    of_model, key = _COMPILED.setdefault(model, {}), (maker, function, options)
    if key not in of_model:
        of_model[key] = maker(weakref.ref(model), function, options)  # the dictionary must not keep the model alive
    return of_model[key]


def _with_xla(held, function, options):
    import tensorflow as tf

    # Keras's trainers too know that there is no XLA for Apple's GPUs (`model_supports_jit`).
    has_xla = sys.platform != "darwin" or not tf.config.list_physical_devices("GPU")
    return _with_tensorflow(held, function, options, jit_compile=has_xla)


def _with_tensorflow(held, function, options, jit_compile=False):
    import tensorflow as tf

    graph = None

    def call(*arguments):
        nonlocal graph
        if graph is None:
            graph = tf.function(
                lambda *given: function(held(), *options, *given),
                input_signature=tf.nest.map_structure(_of_any_length, arguments),
                jit_compile=jit_compile,
                autograph=False,  # `keras.ops` has its own loops; rewriting every function takes longer than tracing it
            )
        return graph(*arguments)

    return call


def _of_any_length(array):
    import tensorflow as tf

    array = tf.convert_to_tensor(array)
    return tf.TensorSpec([None] * min(2, len(array.shape)) + list(array.shape[2:]), array.dtype)


def _with_jax(held, function, options):
    import jax

    def pure(values, *arguments):
        model = held()
        with keras.StatelessScope(state_mapping=list(zip(model.variables, values))):
            return function(model, *options, *arguments)

    jitted = jax.jit(pure)
    return lambda *arguments: jitted([variable.value for variable in held().variables], *arguments)
