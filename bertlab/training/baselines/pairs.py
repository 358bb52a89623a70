"""The features of a pair of texts: how their two vectors differ and what they share.

Source: Conneau et al. 2017, "Supervised Learning of Universal Sentence Representations from Natural Language
Inference Data" (InferSent), section 3.1.
"""

from keras import ops


def pair_features(u, v):
    """[u; v; |u − v|; u · v], the last one element by element. (…, D) and (…, D) → (…, 4 · D).

    Example:
        >>> ops.convert_to_numpy(pair_features(ops.array([[1.0]]), ops.array([[3.0]]))).tolist()
        [[1.0, 3.0, 2.0, 3.0]]
    """
    return ops.concatenate([u, v, ops.abs(u - v), u * v], axis=-1)
