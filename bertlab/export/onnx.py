"""The encoder as an ONNX file, for ONNX Runtime and everything built on it.

tf2onnx makes the conversion. It supports Erf but not Erfc, which TensorFlow's exact GELU uses, so a handler adds
erfc(x) = 1 − erf(x). One of its optimizations is turned off: "remove_back_to_back" joins the
reshape at the end of a dense layer with the one that splits the heads, although the shape between them is still used,
and the file then fails at any length but the traced one (tf2onnx 1.17).
"""

from contextlib import contextmanager
from pathlib import Path

from bertlab.errors import ConfigError, MissingDependencyError
from bertlab.files import write_atomically

INPUTS = ("input_ids", "token_type_ids", "attention_mask")


def export_onnx(encoder, path: str | Path) -> Path:
    """Writes a `Backbone` as an ONNX file. Returns the path.

    Inputs: input_ids, token_type_ids, attention_mask, each (batch, tokens) int32. Outputs: sequence_output (batch,
    tokens, H) and, if there is a pooler, pooled_output (batch, H), float32.
    Raises MissingDependencyError without the optional package tf2onnx, ConfigError with another Keras backend.
    """
    import keras

    path = Path(path)
    if keras.backend.backend() != "tensorflow":
        raise ConfigError(f"exporting to ONNX needs KERAS_BACKEND=tensorflow, not {keras.backend.backend()}")
    _register_erfc()
    from tensorflow import TensorSpec, function, int32

    signature = [{name: TensorSpec([None, None], int32, name=name) for name in INPUTS}]

    @function(input_signature=signature)
    def call(inputs):
        outputs = encoder(inputs, training=False)
        return {name: outputs[name] for name in ("sequence_output", "pooled_output") if name in outputs}

    import tf2onnx

    with _without_optimization("remove_back_to_back"):
        content = tf2onnx.convert.from_function(call, input_signature=signature, opset=17)[0].SerializeToString()
    write_atomically(path, lambda partial: partial.write_bytes(content))
    return path


@contextmanager
def _without_optimization(name: str):
    """Removes an entry from tf2onnx's table of optimizations temporarily; `from_function` has no argument for it."""
    from tf2onnx.optimizer import _optimizers

    table = dict(_optimizers)
    del _optimizers[name]
    try:
        yield
    finally:
        _optimizers.clear()
        _optimizers.update(table)


def _register_erfc() -> None:
    try:
        import numpy as np
        from tf2onnx.handler import tf_op
    except ImportError as error:
        raise MissingDependencyError(
            f"an ONNX file needs tf2onnx ({error}): pip install tf2onnx onnx; a SavedModel needs nothing more"
        ) from error

    @tf_op("Erfc")
    class Erfc:
        """erfc(x) = 1 − erf(x)."""

        @classmethod
        def version_9(cls, graph, node, **options):
            shapes, types, name, outputs = node.output_shapes, node.output_dtypes, node.name, node.output
            one = graph.make_const(f"{name}/one", np.ones((), np.float32)).output[0]
            erf = graph.make_node("Erf", [node.input[0]], name=f"{name}/erf").output[0]
            graph.remove_node(name)
            graph.make_node("Sub", [one, erf], name=name, outputs=outputs, shapes=shapes, dtypes=types)
