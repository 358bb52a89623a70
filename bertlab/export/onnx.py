"""An encoder, a left-to-right model or a fine-tuned one as an ONNX file, for ONNX Runtime and everything built on it.

tf2onnx makes the conversion. It supports Erf but not Erfc, which TensorFlow's exact GELU uses, so a handler adds
erfc(x) = 1 − erf(x). One of its optimizations is turned off: "remove_back_to_back" joins the
reshape at the end of a dense layer with the one that splits the heads, although the shape between them is still used,
and the file then fails at any length but the traced one (tf2onnx 1.17).
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tensorflow import TensorSpec, function

from bertlab.common.errors import ConfigError, MissingDependencyError
from bertlab.common.files import write_bytes

INPUTS = ("input_ids", "token_type_ids", "attention_mask")
OUTPUTS = ("sequence_output", "pooled_output", "start_logits", "end_logits")


def export_onnx(model, path: str | Path, labels: Sequence[str] = ()) -> Path:
    """Writes a `Backbone`, a left-to-right model, or one with a fine-tuned head as an ONNX file. Returns the path.

    Inputs: input_ids, token_type_ids, attention_mask, each (batch, tokens) int32; of multiple choice (batch, choices,
    tokens). Outputs, float32: of a backbone sequence_output (batch, tokens, H) and, if there is a pooler, pooled_output
    (batch, H); of a left-to-right model logits (batch, tokens, V), at each token those of the next one; of a classifier
    logits (batch, C); of tagging logits (batch, tokens, C); of multiple choice logits (batch, choices); of questions
    start_logits and end_logits (batch, tokens).

    labels: names of the classes, kept in the file's metadata as JSON under "labels".
    Raises MissingDependencyError without the optional package tf2onnx, ConfigError with another Keras backend.

    Example:
        from bertlab import checkpoints

        export_onnx(checkpoints.load("bertlab-mini", "encoder"), "encoder.onnx")
    """
    from bertlab.models import MultipleChoiceClassifier

    axes = ("batch", "choices", "tokens") if isinstance(model, MultipleChoiceClassifier) else ("batch", "tokens")

    def call(inputs):
        outputs = model(inputs, training=False)
        if not isinstance(outputs, dict):
            return {"logits": outputs}
        if "masked_lm_logits" in outputs:
            return {"logits": outputs["masked_lm_logits"]}
        return {name: outputs[name] for name in OUTPUTS if name in outputs}

    metadata = {"labels": list(labels)} if labels else {}
    return write_function(call, {name: (axes, "int32") for name in INPUTS}, path, metadata)


def write_function(call, inputs: Mapping[str, tuple[tuple, str]], path: str | Path, metadata: Mapping) -> Path:
    """Writes a function (dict of tensors → dict of tensors) as an ONNX file. Returns the path.

    inputs: name → its shape, with a name for an axis of any length, and dtype. The open axis i of
    an output has the name of the first input's axis i.   metadata: kept in the file, each as JSON.
    Errors as in `export_onnx`.
    """
    import keras

    path = Path(path)
    if keras.backend.backend() != "tensorflow":
        raise ConfigError(f"exporting to ONNX needs KERAS_BACKEND=tensorflow, not {keras.backend.backend()}")
    _register_erfc()
    import tf2onnx

    open_axes = {
        name: [None if isinstance(size, str) else size for size in shape] for name, (shape, _) in inputs.items()
    }
    signature = [{name: TensorSpec(open_axes[name], dtype, name=name) for name, (_, dtype) in inputs.items()}]
    with _without_optimization("remove_back_to_back"):
        traced = function(call, input_signature=signature)
        converted = tf2onnx.convert.from_function(traced, input_signature=signature, opset=17)[0]
    _name_axes(converted.graph, {name: shape for name, (shape, _) in inputs.items()})
    for name, value in metadata.items():
        converted.metadata_props.add(key=name, value=json.dumps(value, ensure_ascii=False))
    write_bytes(path, converted.SerializeToString())
    return path


def _name_axes(graph, shapes: Mapping[str, tuple]) -> None:
    """Gives the open axes of inputs and outputs their names; tf2onnx numbers them."""
    first = next(iter(shapes.values()))
    for tensor in (*graph.input, *graph.output):
        for axis, name in zip(tensor.type.tensor_type.shape.dim, shapes.get(tensor.name, first)):
            if axis.dim_value <= 0:
                axis.dim_param = str(name)


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
