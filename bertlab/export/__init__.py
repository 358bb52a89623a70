"""Models for other programs: a TensorFlow SavedModel that takes strings, and ONNX files that take ids."""

from bertlab.export.onnx import (
    OnnxModel,
    export_encoder_decoder,
    export_int8,
    export_onnx,
    quantize_encoder_decoder,
)
from bertlab.export.saved_model import export_saved_model

__all__ = [
    "OnnxModel",
    "export_encoder_decoder",
    "export_int8",
    "export_onnx",
    "export_saved_model",
    "quantize_encoder_decoder",
]
