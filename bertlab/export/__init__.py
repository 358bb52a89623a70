"""Models for other programs: a TensorFlow SavedModel that takes strings, and ONNX files that take ids."""

from bertlab.export.encoder_decoder import export_encoder_decoder, quantize_encoder_decoder
from bertlab.export.int8 import OnnxModel, export_int8
from bertlab.export.onnx import export_onnx
from bertlab.export.saved_model import export_saved_model

__all__ = [
    "OnnxModel",
    "export_encoder_decoder",
    "export_int8",
    "export_onnx",
    "export_saved_model",
    "quantize_encoder_decoder",
]
