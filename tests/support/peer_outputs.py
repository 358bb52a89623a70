"""The outputs of a transformers model and of ours for the same inputs, as NumPy arrays; needs torch."""

import numpy as np

# The output of a model with several.
FIRST = ("logits", "prediction_logits", "masked_lm_logits", "last_hidden_state", "sequence_output")


def theirs_of(model, inputs: dict) -> np.ndarray:
    """The output of a model of transformers."""
    import torch

    with torch.no_grad():
        return output_of(model(**{name: torch.from_numpy(value) for name, value in inputs.items()}))


def ours_of(model, inputs: dict) -> np.ndarray:
    """The output of one of `bertlab.models`."""
    found = model({name: value.astype("int32") for name, value in inputs.items()})
    return output_of(found) if isinstance(found, dict) else np.asarray(found)


def output_of(found) -> np.ndarray:
    """The logits of starts and ends of a question-answering model, else the logits or the last hidden states."""
    if "start_logits" in found:
        return np.stack([np.asarray(found["start_logits"]), np.asarray(found["end_logits"])])
    return np.asarray(next(found[name] for name in FIRST if name in found))
