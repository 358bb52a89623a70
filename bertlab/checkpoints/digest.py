"""Short digests that show whether a model is still the one that a folder was started with."""

import hashlib
from collections.abc import Mapping

import numpy as np

from bertlab.checkpoints.kinds import variables_of
from bertlab.checkpoints.native import path_of_version_1


def weights_digest(weights: Mapping[str, np.ndarray]) -> str:
    """The digest of weights by their paths, in any order.

    The paths of version 1 are hashed, so that work which was started with it resumes.
    """
    renamed = {path_of_version_1(path): values for path, values in weights.items()}
    digest = hashlib.sha256()
    for path, values in sorted(renamed.items(), key=lambda item: item[0]):
        digest.update(path.encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:16]


def model_digests(model, tokenizer) -> dict[str, str]:
    """The digests of a model's weights and of its vocabulary, by these names."""
    from keras import ops

    weights = {path: ops.convert_to_numpy(variable) for path, variable in variables_of(model).items()}
    pieces = "\n".join(tokenizer.vocabulary.pieces)
    return {"weights": weights_digest(weights), "vocabulary": hashlib.sha256(pieces.encode()).hexdigest()[:16]}
