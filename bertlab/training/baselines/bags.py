"""A bag of words: a linear model of which words a text contains, and how often. Their order is thrown away.

A row of V counts is nearly all zeros, so it is never made. The logits are Σ_w x_w W_w over the words w of the text:
the rows of W at the text's own tokens, weighed and added up. With C classes that is V · C weights, and nothing else.

tf-idf weighs a word's count by how few rows contain it, and scales each text to length 1 (Spärck Jones 1972; the
formula is that of scikit-learn's `TfidfVectorizer`).

Letters: B batch, T tokens, V vocabulary, F features of a word, C outputs.
"""

import keras
from keras import ops

from bertlab.training.baselines.texts import pair_features


@keras.saving.register_keras_serializable("bertlab")
class BagOfWords(keras.layers.Layer):
    """The logits of a text, or of a pair: x W + b for its counts, or its tf-idf weights.

    Args:
        vocab_size: V.   outputs: C.
        pair: two texts: the features of a word are those of `pair_features`, from its weights in both.
        tfidf: weigh the counts by `idf` (V,), a weight that is set and not trained, and scale to length 1.

    Weights: `table` (V, F, C) and `bias` (C,), both zero at first, as a linear model needs no random start.

    Call: ids, is_real (B, T), of a pair also those of the second text → (B, C).

    Example:
        >>> bag = BagOfWords(vocab_size=9, outputs=2)
        >>> tuple(bag(ops.array([[5, 6, 5]]), ops.array([[1, 1, 1]])).shape)
        (1, 2)
    """

    def __init__(self, vocab_size: int, outputs: int, pair: bool = False, tfidf: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size, self.outputs, self.pair, self.tfidf = vocab_size, outputs, pair, tfidf
        features = 4 if pair else 1
        self.table = self.add_weight(name="table", shape=(vocab_size, features, outputs), initializer="zeros")
        self.bias = self.add_weight(name="bias", shape=(outputs,), initializer="zeros")
        self.idf = None
        if tfidf:
            self.idf = self.add_weight(name="idf", shape=(vocab_size,), initializer="ones", trainable=False)

    def call(self, ids, is_real, ids_b=None, is_real_b=None):
        if not self.pair:
            words, real = ids, is_real
            features = self.weights_of(words, ids, is_real)[..., None]  # (B, T, 1)
        else:
            words = ops.concatenate([ids, ids_b], axis=1)  # (B, 2·T): every word of either text
            real = ops.concatenate([is_real, is_real_b], axis=1)
            u = self.weights_of(words, ids, is_real)[..., None]
            v = self.weights_of(words, ids_b, is_real_b)[..., None]
            features = pair_features(u, v)  # (B, 2·T, 4)
        times = counts(words, words, real)  # a word that is there twice would be added twice
        share = ops.cast(real, "float32") / ops.maximum(times, 1.0)
        rows = ops.take(ops.cast(self.table, "float32"), words, axis=0)  # (B, T, F, C)
        return ops.einsum("bt,btf,btfc->bc", share, features, rows) + ops.cast(self.bias, "float32")

    def weights_of(self, words, ids, is_real):
        """The weight of each of the words in the text (ids, is_real): its count, or its tf-idf. All (B, T)."""
        weights = counts(words, ids, is_real)
        if self.idf is None:
            return weights
        length = ops.sum(self._of_idf(ids, counts(ids, ids, is_real)) * self._of_idf(ids, is_real), axis=1)
        return self._of_idf(words, weights) / ops.sqrt(ops.maximum(length, 1e-12))[:, None]

    def _of_idf(self, ids, weights):
        return ops.cast(weights, "float32") * ops.take(ops.cast(self.idf, "float32"), ids, axis=0)

    def get_config(self):
        own = {"vocab_size": self.vocab_size, "outputs": self.outputs, "pair": self.pair, "tfidf": self.tfidf}
        return super().get_config() | own


def counts(words, ids, is_real):
    """The count of each word in a text. words (B, S); the text's ids and is_real (B, T) → (B, S) float32.

    Example:
        >>> text = ops.array([[5, 6, 5, 0]])
        >>> ops.convert_to_numpy(counts(text, text, ops.array([[1, 1, 1, 0]]))).tolist()
        [[2.0, 1.0, 2.0, 0.0]]
    """
    same = ops.cast(ops.equal(words[:, :, None], ids[:, None, :]), "float32")  # (B, S, T)
    return ops.sum(same * ops.cast(is_real, "float32")[:, None, :], axis=2)
