"""The heads on top of the encoder: poolers, pre-training heads and fine-tuning heads.

Letters: B batch, T tokens, P predictions, H hidden size, E width of the token table, V vocabulary, C classes.
Source: Devlin et al. 2019, sections 3.1 and 4, and appendix A; detection: Clark et al. 2020, "ELECTRA", section 2.
"""

import keras
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.layers.activations import gelu, get_activation
from bertlab.layers.base import Layer, dense_part
from bertlab.layers.dropout import Dropout
from bertlab.layers.gathering import last_real_vectors
from bertlab.layers.normalization import LayerNormalization


def _positive_tanh(x):
    return ops.relu(ops.tanh(x))


@keras.saving.register_keras_serializable("bertlab")
class Pooler(Layer):
    """tanh(W x₀ + b): one vector for the whole row, from its first token, [CLS].

    Args:
        initializer_range: as in `BertConfig`.   activation: tanh | relu | positive_tanh, which is max(0, tanh).

    Part: the Dense layer `dense`.

    Call: hidden (B, T, H) → (B, H).

    Example:
        >>> tuple(Pooler()(keras.random.normal((2, 5, 8))).shape)
        (2, 8)
    """

    def __init__(self, initializer_range: float = 0.02, activation: str = "tanh", **kwargs):
        super().__init__(**kwargs)
        self.initializer_range = initializer_range
        self.activation = activation

    def build(self, hidden_shape):
        batch, _, hidden_size = hidden_shape
        activation = _positive_tanh if self.activation == "positive_tanh" else self.activation
        shape = (batch, hidden_size)
        self.dense = dense_part(self, "dense", hidden_size, shape, self.initializer_range, activation=activation)

    def call(self, hidden):
        return self.dense(hidden[:, 0])


@keras.saving.register_keras_serializable("bertlab")
class LastTokenPooler(Pooler):
    """The same from the last token of each row that is not padding; the padding may be on any side.

    Arguments and part as in `Pooler`.

    Call: hidden (B, T, H), attention_mask (B, T), default 1; of (B, T, T) nothing is known about padding → (B, H).

    Example:
        >>> tuple(LastTokenPooler()(keras.random.normal((2, 5, 8))).shape)
        (2, 8)
    """

    reads = ("attention_mask",)
    needs_all = True

    def call(self, hidden, attention_mask=None):
        known = attention_mask is not None and len(attention_mask.shape) == 2
        return self.dense(last_real_vectors(hidden, attention_mask if known else None))


@keras.saving.register_keras_serializable("bertlab")
class MaskedLanguageModelHead(Layer):
    """Scores every token of the vocabulary: LN(act(x W + b)) E + bias.

    Tied, as in BERT, E is the transposed token table, passed at every call; untied (the algorithm's W_u) the head
    owns it. Run it only on the gathered masked positions: over whole rows it costs as much as several layers.

    Args:
        vocab_size: V.   activation, layer_norm_eps, initializer_range: as in `BertConfig`.
        tied: whether the token table is the output matrix.
        width: E, of the token table and of the head's inner layer; None: H.
        transformed: False leaves out the inner layer and its LayerNorm: x E + bias; then E must be H.
        inner_biases: whether `dense` and `norm` have biases.

    Parts: `dense`, `norm` (if transformed), `bias`; untied also `unembedding`.

    Call: hidden (B, P, H); table (V, E), if tied → (B, P, V).

    Example:
        >>> head = MaskedLanguageModelHead(vocab_size=11)
        >>> table = keras.random.normal((11, 8))
        >>> tuple(head(keras.random.normal((2, 5, 8)), table).shape)
        (2, 5, 11)
    """

    def __init__(
        self,
        vocab_size: int,
        activation: str = "gelu",
        layer_norm_eps: float = 1e-12,
        initializer_range: float = 0.02,
        tied: bool = True,
        width: int | None = None,
        transformed: bool = True,
        inner_biases: bool = True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.width = width
        self.transformed = transformed
        self.inner_biases = inner_biases
        self.activation = activation
        self.layer_norm_eps = layer_norm_eps
        self.initializer_range = initializer_range
        self.tied = tied

    def build(self, hidden_shape, table_shape=None):
        width = self.width or hidden_shape[-1]
        initializer = keras.initializers.TruncatedNormal(stddev=self.initializer_range)
        if self.transformed:
            options = dict(activation=get_activation(self.activation), use_bias=self.inner_biases)
            self.dense = dense_part(self, "dense", width, hidden_shape, self.initializer_range, **options)
            self.norm = LayerNormalization(self.layer_norm_eps, self.inner_biases, dtype=self.dtype_policy, name="norm")
            self.norm.build((*hidden_shape[:-1], width))
        self._products = width * ((hidden_shape[-1] if self.transformed else 0) + self.vocab_size)
        if not self.tied:
            shape = (width, self.vocab_size)
            self.unembedding = self.add_weight(shape=shape, initializer=initializer.clone(), name="unembedding")
        self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros", name="bias")

    def call(self, hidden, table=None):
        x = self.norm(self.dense(hidden)) if self.transformed else hidden  # (B, P, E)
        unembedding = ops.transpose(table) if self.tied else self.unembedding  # (E, V)
        return ops.matmul(x, ops.cast(unembedding, x.dtype)) + ops.cast(self.bias, x.dtype)

    def flops(self, predictions: int) -> int:
        """Operations of the products for so many predictions."""
        return 2 * predictions * self._products


@keras.saving.register_keras_serializable("bertlab")
class LanguageModelHead(Layer):
    """Scores every token of the vocabulary as the next one: x E, and nothing else (Radford et al. 2018), or x E + b.

    Args:
        vocab_size: V.   initializer_range: as in `BertConfig`.   bias: whether there is b.
        tied: whether E is the transposed token table, passed at every call; untied the head owns it.

    Parts: untied, the matrix `unembedding` (H, V); with a bias, `bias` (1, V), the shape it has in published files.

    Call: hidden (B, T, H); table (V, H), if tied → (B, T, V).

    Example:
        >>> table = keras.random.normal((11, 8))
        >>> tuple(LanguageModelHead(vocab_size=11)(keras.random.normal((2, 5, 8)), table).shape)
        (2, 5, 11)
    """

    def __init__(
        self, vocab_size: int, initializer_range: float = 0.02, tied: bool = True, bias: bool = False, **kwargs
    ):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.initializer_range = initializer_range
        self.tied = tied
        self.has_bias = bias

    def build(self, hidden_shape, table_shape=None):
        self.width = hidden_shape[-1]
        if not self.tied:
            initializer = keras.initializers.TruncatedNormal(stddev=self.initializer_range)
            shape = (self.width, self.vocab_size)
            self.unembedding = self.add_weight(shape=shape, initializer=initializer, name="unembedding")
        if self.has_bias:
            self.bias = self.add_weight(shape=(1, self.vocab_size), initializer="zeros", name="bias")

    def call(self, hidden, table=None):
        unembedding = ops.transpose(table) if self.tied else self.unembedding  # (H, V)
        logits = ops.matmul(hidden, ops.cast(unembedding, hidden.dtype))
        return logits + ops.cast(self.bias, logits.dtype) if self.has_bias else logits

    def flops(self, predictions: int) -> int:
        """Operations of the product for so many predictions."""
        return 2 * predictions * self.width * self.vocab_size


@keras.saving.register_keras_serializable("bertlab")
class ClassificationHead(Layer):
    """Dropout and one linear layer on the last axis: every fine-tuning head, and next-sentence prediction.

    On the pooled vector (B, H) it gives the classes of a text or pair (C = 1: a regression, or the score of one of
    several choices); on the sequence (B, T, H) a tag for each token, or with C = 2 the start and end of a span.

    Args:
        num_outputs: C.   dropout: fraction of the input set to zero in training.
        initializer_range: as in `BertConfig`.   bias: whether the linear layer has one.

    Call: x (…, H) → (…, C).

    Example:
        >>> tuple(ClassificationHead(num_outputs=3)(keras.random.normal((2, 8))).shape)
        (2, 3)
    """

    def __init__(
        self, num_outputs: int, dropout: float = 0.0, initializer_range: float = 0.02, bias: bool = True, **kwargs
    ):
        super().__init__(**kwargs)
        self.has_bias = bias
        self.num_outputs = num_outputs
        self.dropout = dropout
        self.initializer_range = initializer_range

    def build(self, input_shape):
        self.input_dropout = Dropout(self.dropout, dtype=self.dtype_policy, name="dropout")
        deviation, biases = self.initializer_range, self.has_bias
        self.dense = dense_part(self, "dense", self.num_outputs, input_shape, deviation, use_bias=biases)

    def call(self, x, training=False):
        return self.dense(self.input_dropout(x, training=training))


@keras.saving.register_keras_serializable("bertlab")
class DetectionHead(Layer):
    """act(x W + b) w + c: one score for each token.

    Args:
        activation, initializer_range: as in `BertConfig`.

    Parts: the Dense layers `dense` (H → H) and `score` (H → 1).

    Call: hidden (B, T, H) → (B, T).

    Example:
        >>> tuple(DetectionHead()(keras.random.normal((2, 5, 8))).shape)
        (2, 5)
    """

    def __init__(self, activation: str = "gelu", initializer_range: float = 0.02, **kwargs):
        super().__init__(**kwargs)
        self.activation = activation
        self.initializer_range = initializer_range

    def build(self, hidden_shape):
        deviation, activation = self.initializer_range, get_activation(self.activation)
        self.dense = dense_part(self, "dense", hidden_shape[-1], hidden_shape, deviation, activation=activation)
        self.score = dense_part(self, "score", 1, hidden_shape, deviation)

    def call(self, hidden):
        return self.score(self.dense(hidden))[..., 0]  # (B, T)

    def flops(self, tokens: int) -> int:
        """Operations of the two products for so many tokens."""
        hidden_size = self.dense.kernel.shape[0]
        return 2 * tokens * hidden_size * (hidden_size + 1)


@keras.saving.register_keras_serializable("bertlab")
class HeadTransform(Layer):
    """LN(GELU(x W)), without biases.

    Args:
        layer_norm_eps, initializer_range: as in `BertConfig`.

    Parts: the Dense layer `dense`, and `norm`.

    Call: x (…, H) → (…, H).

    Example:
        >>> tuple(HeadTransform()(keras.random.normal((2, 5, 8))).shape)
        (2, 5, 8)
    """

    def __init__(self, layer_norm_eps: float = 1e-5, initializer_range: float = 0.02, **kwargs):
        super().__init__(**kwargs)
        self.layer_norm_eps = layer_norm_eps
        self.initializer_range = initializer_range

    def build(self, input_shape):
        options = dict(activation=gelu, use_bias=False)
        self.dense = dense_part(self, "dense", input_shape[-1], input_shape, self.initializer_range, **options)
        self.norm = LayerNormalization(self.layer_norm_eps, bias=False, dtype=self.dtype_policy, name="norm")
        self.norm.build(input_shape)

    def call(self, x):
        return self.norm(self.dense(x))


@keras.saving.register_keras_serializable("bertlab")
class TransformPooler(HeadTransform):
    """One transformed vector for the whole row: of its first token, [CLS], or the mean over its real tokens.

    Args:
        pooling: cls | mean. The others as in `HeadTransform`.

    Call: hidden (B, T, H); attention_mask (B, T) int, 1 for a real token, default all → (B, H).

    Example:
        >>> tuple(TransformPooler("mean")(keras.random.normal((2, 5, 8))).shape)
        (2, 8)
    """

    reads = ("attention_mask",)

    def __init__(self, pooling: str = "cls", **kwargs):
        super().__init__(**kwargs)
        self.pooling = pooling

    @property
    def needs_all(self) -> bool:
        """Whether the vectors of all tokens are needed, not only that of [CLS]."""
        return self.pooling == "mean"

    def call(self, hidden, attention_mask=None):
        if self.pooling == "cls":
            return super().call(hidden[:, 0])
        _check_rows(attention_mask)
        if attention_mask is None:
            return super().call(ops.mean(hidden, axis=1))
        weights = ops.cast(attention_mask, "float32")  # (B, T)
        total = ops.einsum("bth,bt->bh", ops.cast(hidden, "float32"), weights)
        return super().call(ops.cast(total / ops.sum(weights, axis=1, keepdims=True), hidden.dtype))


@keras.saving.register_keras_serializable("bertlab")
class LastTokenVector(Layer):
    """The vector of a row's last real token, the only one that has seen the whole row in a left-to-right model.

    Call: hidden (B, T, H); attention_mask (B, T) int, 1 for a real token, default all → (B, H).

    Example:
        >>> hidden = keras.random.normal((2, 5, 8))
        >>> mask = ops.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
        >>> bool(ops.all(LastTokenVector()(hidden, attention_mask=mask)[1] == hidden[1, 1]))
        True
    """

    reads = ("attention_mask",)
    needs_all = True

    def call(self, hidden, attention_mask=None):
        _check_rows(attention_mask)
        return last_real_vectors(hidden, attention_mask)


def _check_rows(attention_mask) -> None:
    if attention_mask is not None and len(attention_mask.shape) != 2:
        raise ConfigError(
            f"attention_mask has {len(attention_mask.shape)} axes; a vector of the real tokens needs (batch, tokens)"
        )
