"""Models as ONNX files, for ONNX Runtime and everything built on it; with int8 weights, and what these cost.

tf2onnx makes the conversion. It supports Erf but not Erfc, which TensorFlow's exact GELU uses, so a handler adds
erfc(x) = 1 − erf(x). One of its optimizations is turned off: "remove_back_to_back" joins the
reshape at the end of a dense layer with the one that splits the heads, although the shape between them is still used,
and the file then fails at any length but the traced one (tf2onnx 1.17).

Letters: B batch, T tokens, S source tokens, U target tokens, H hidden size, V tokens that a target can have.
"""

import importlib
import json
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tensorflow import TensorSpec, function

from bertlab.common.errors import ConfigError, MissingDependencyError
from bertlab.common.files import write_atomically, write_bytes

INPUTS = ("input_ids", "token_type_ids", "attention_mask")
OUTPUTS = ("sequence_output", "pooled_output", "start_logits", "end_logits")
ENCODER_FILE, DECODER_FILE = "encoder_model.onnx", "decoder_model.onnx"


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
    first, _ = next(iter(inputs.values()))
    for tensor in (*converted.graph.input, *converted.graph.output):  # tf2onnx numbers the open axes
        names, _ = inputs.get(tensor.name, (first, None))
        for axis, name in zip(tensor.type.tensor_type.shape.dim, names):
            if axis.dim_value <= 0:
                axis.dim_param = str(name)
    for name, value in metadata.items():
        converted.metadata_props.add(key=name, value=json.dumps(value, ensure_ascii=False))
    write_bytes(path, converted.SerializeToString())
    return path


def export_encoder_decoder(model, folder: str | Path, start_id: int | None = None, end_id: int | None = None) -> Path:
    """Writes a `SequenceToSequenceModel` as two files with the names and types of Hugging Face's Optimum.

        encoder_model.onnx    input_ids, attention_mask (B, S) int64 → last_hidden_state (B, S, H)
        decoder_model.onnx    input_ids (B, U) int64, encoder_hidden_states (B, S, H), encoder_attention_mask (B, S)
                              int64 → logits (B, U, V), at each token of the target those of the next one

    Returns the folder. Source: https://huggingface.co/docs/optimum-onnx/onnx/usage_guides/export_a_model

    start_id, end_id: the tokens that begin and end a target, if they are known.

    The decoder keeps no keys and values: each call reads the whole target so far. Its metadata has what a program
    needs to choose the tokens, as JSON: "decoder_start_token_id" and "eos_token_id", "suppress_tokens", the ids that
    are never written, and "max_length", the largest number of tokens that each side can have.
    Raises ConfigError where the folder cannot be made; other errors as in `export_onnx`.

    Example:
        from bertlab import checkpoints

        model, tokenizer = checkpoints.load("run/checkpoint"), checkpoints.load_tokenizer("run/checkpoint")
        ends = tokenizer.vocabulary.targets
        export_encoder_decoder(model, "exported", start_id=ends.cls_id, end_id=ends.sep_id)
    """
    from bertlab.layers import padding_mask
    from bertlab.models.sequence_to_sequence import never_written

    def encode(inputs):
        return {"last_hidden_state": model.encode(inputs)[0]["sequence_output"]}

    def decode(inputs):
        mask = padding_mask(inputs["encoder_attention_mask"])
        decoded = model.read_target(inputs["input_ids"], inputs["encoder_hidden_states"], mask)  # (B, U, H)
        return {"logits": model.token_logits(decoded)}

    folder, config = _made(folder), model.config
    source = (("batch", "source_tokens"), "int64")
    vectors = ((*source[0], config.hidden_size), "float32")
    target = {"input_ids": (("batch", "target_tokens"), "int64"), "encoder_hidden_states": vectors,
              "encoder_attention_mask": source}  # fmt: skip
    ids = {"decoder_start_token_id": start_id, "eos_token_id": end_id}
    about = {name: number for name, number in ids.items() if number is not None} | {
        "suppress_tokens": [] if start_id is None else never_written(config, start_id),
        "max_length": config.max_tokens,
    }
    write_function(encode, {"input_ids": source, "attention_mask": source}, folder / ENCODER_FILE, {})
    write_function(decode, target, folder / DECODER_FILE, about)
    return folder


def quantize_encoder_decoder(full: str | Path, folder: str | Path) -> Path:
    """Writes both files of the folder `full` with int8 weights into another folder, and returns it.

    Errors as in `quantize_int8` and `export_encoder_decoder`.

    Example:
        full = export_encoder_decoder(model, "exported")
        quantize_encoder_decoder(full, "exported-int8")
    """
    full, folder = Path(full), _made(folder)
    for name in (ENCODER_FILE, DECODER_FILE):
        quantize_int8(full / name, folder / name)
    return folder


def _made(folder: str | Path) -> Path:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{folder}: cannot be made ({error.strerror}); expected a folder for {ENCODER_FILE} and {DECODER_FILE}"
        ) from None
    return Path(folder)


# === int8 ===


def export_int8(model, path: str | Path, full: str | Path, labels=()) -> Path:
    """Writes a model as an ONNX file with int8 weights. Returns the path.

    full: the file with float32 weights, which is written first and stays. Other arguments and errors as in
    `export_onnx`; raises MissingDependencyError without the optional package onnxruntime, too.

    Example:
        from bertlab import checkpoints

        model = checkpoints.load("bertlab-mini", "encoder")
        export_int8(model, "encoder-int8.onnx", full="encoder.onnx")
    """
    _onnxruntime("onnxruntime.quantization")  # which may be missing, before the work
    return quantize_int8(export_onnx(model, full, labels), path)


def quantize_int8(full: str | Path, path: str | Path) -> Path:
    """Writes an ONNX file `full` with int8 weights as `path`. Returns the path.

    ONNX Runtime's dynamic quantization stores every kernel and table as int8 with a scale (per column of a kernel), and
    turns the inputs of each product into 8 bits with a scale of their own while it runs; LayerNorms, softmax and biases
    stay float32. The weights use 7 of the 8 bits (`reduce_range`): on processors without VNNI the sum of two products
    would not fit into 16 bits (https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html).

    Raises MissingDependencyError without the optional package onnxruntime.
    """
    quantization = _onnxruntime("onnxruntime.quantization")
    shapes = _onnxruntime("onnxruntime.quantization.shape_inference")

    def write(partial: Path) -> None:
        shapes.quant_pre_process(full, partial, skip_optimization=True, skip_symbolic_shape=True)  # adds shapes alone
        quantization.quantize_dynamic(
            partial, partial, weight_type=quantization.QuantType.QInt8, per_channel=True, reduce_range=True
        )

    write_atomically(Path(path), write)
    return Path(path)


class OnnxModel:
    """An ONNX file of `export_onnx` or `export_int8` in the place of the model that it was made from.

    Args:
        path: the file.   config: the model's configuration.

    Raises MissingDependencyError without the optional package onnxruntime.

    Example:
        from bertlab import checkpoints

        model, tokenizer = checkpoints.load("bertlab-mini", "encoder"), checkpoints.load_tokenizer("bertlab-mini")
        small = OnnxModel(export_int8(model, "encoder-int8.onnx", full="encoder.onnx"), model.config)
        outputs = small.predict_on_batch(tokenizer.encode_packed(["A small house.", "A dog."]))
        print(outputs["sequence_output"].shape)
    """

    def __init__(self, path: str | Path, config):
        self.config = config
        self._session = _onnxruntime("onnxruntime").InferenceSession(str(path))
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._outputs = [each.name for each in self._session.get_outputs()]

    def compile(self, **options) -> None:
        """Nothing: the file is run as it is."""

    def predict_on_batch(self, inputs: dict) -> dict | np.ndarray:
        """The outputs for a batch, float32: of one output an array, of several a dict. inputs: (B, T) integers each."""
        given = {name: np.asarray(values, "int32") for name, values in inputs.items() if name in self._inputs}
        outputs = dict(zip(self._outputs, self._session.run(None, given)))
        return outputs["logits"] if list(outputs) == ["logits"] else outputs


# === The packages ===


def _onnxruntime(module: str):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(f'int8 weights need onnxruntime ({error}): pip install "bertlab[onnx]"') from None


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
