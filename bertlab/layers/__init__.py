"""One layer for each component of the paper's encoder."""

from bertlab.layers.activations import gelu, gelu_sigmoid, gelu_tanh, get_activation, relu, silu
from bertlab.layers.attention import (
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    scaled_dot_product_attention,
)
from bertlab.layers.detection import DetectionHead
from bertlab.layers.dropout import Dropout
from bertlab.layers.embeddings import (
    BertEmbeddings,
    LearnedPositionEmbedding,
    SegmentEmbedding,
    SinusoidalPositionEmbedding,
    TokenEmbedding,
    sinusoids,
)
from bertlab.layers.encoder import Encoder, EncoderLayer
from bertlab.layers.factorised import FactorisedEmbeddings
from bertlab.layers.feed_forward import FeedForward
from bertlab.layers.gathering import gather_positions
from bertlab.layers.heads import ClassificationHead, MaskedLanguageModelHead, Pooler
from bertlab.layers.masks import arbitrary_mask, causal_mask, combine, packed_mask, padding_mask
from bertlab.layers.normalization import LayerNormalization
from bertlab.layers.shared_encoder import SharedEncoder

__all__ = [
    "BertEmbeddings",
    "ClassificationHead",
    "DetectionHead",
    "Dropout",
    "Encoder",
    "EncoderLayer",
    "FactorisedEmbeddings",
    "FeedForward",
    "LayerNormalization",
    "LearnedPositionEmbedding",
    "MaskedLanguageModelHead",
    "MultiHeadAttention",
    "Pooler",
    "SegmentEmbedding",
    "SharedEncoder",
    "SinusoidalPositionEmbedding",
    "TokenEmbedding",
    "arbitrary_mask",
    "attention_scores",
    "attention_weights",
    "causal_mask",
    "combine",
    "gather_positions",
    "gelu",
    "gelu_sigmoid",
    "gelu_tanh",
    "get_activation",
    "packed_mask",
    "padding_mask",
    "relu",
    "scaled_dot_product_attention",
    "silu",
    "sinusoids",
]
