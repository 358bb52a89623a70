"""Checkpoints: loading and saving weights.

Three formats are read: Hugging Face's, the original TensorFlow 1 checkpoints of google-research/bert, and BertLab's.
Two are written: Hugging Face's and BertLab's. Every tensor's name, shape and content is checked before the first
variable is changed, and nothing is ever unpickled.
"""

from bertlab.checkpoints.loading import LoadReport, load, load_into, read_config
from bertlab.checkpoints.packaged import packaged
from bertlab.checkpoints.saving import save
from bertlab.checkpoints.tokenizers import has_tokenizer, load_tokenizer

__all__ = ["LoadReport", "has_tokenizer", "load", "load_into", "load_tokenizer", "packaged", "read_config", "save"]
