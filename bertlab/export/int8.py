"""An ONNX file with int8 weights, and running ONNX files to measure what that costs.

ONNX Runtime's dynamic quantization stores every kernel and table as int8 with a scale (per column of a kernel), and
turns the inputs of each product into 8 bits with a scale of their own while it runs; LayerNorms, softmax and biases
stay float32. The weights use 7 of the 8 bits (`reduce_range`): on processors without VNNI the sum of two products would
not fit into 16 bits (https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html).

Letters: B batch, T tokens.
"""

from pathlib import Path

import numpy as np

from bertlab.common.errors import MissingDependencyError
from bertlab.common.files import write_atomically
from bertlab.export.onnx import export_onnx


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


def _onnxruntime(module: str):
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(f'int8 weights need onnxruntime ({error}): pip install "bertlab[onnx]"') from None
