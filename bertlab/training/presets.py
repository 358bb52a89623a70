"""The import path of the guides; the presets are in `bertlab.training.recipes.presets`."""

from bertlab.training.recipes.presets import PRECISIONS, PRESETS, PretrainingSettings, preset

__all__ = ["PRECISIONS", "PRESETS", "PretrainingSettings", "preset"]
