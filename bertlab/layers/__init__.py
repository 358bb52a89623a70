"""One layer for each component of the paper's encoder. Importing them tells Keras how to load models that have them."""

from bertlab.layers.activations import gelu, gelu_sigmoid, gelu_tanh, get_activation
from bertlab.layers.attention import (
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    scaled_dot_product_attention,
)
from bertlab.layers.bilm import BiLMEmbeddings, BiLMEncoder, BiLMHead, BiLMLayer, BothEndsVector, ProjectedLSTM
from bertlab.layers.characters import CharacterCNN, Highway, character_ids
from bertlab.layers.decoder import Decoder, DecoderLayer
from bertlab.layers.dropout import Dropout, row_keys_of, sample_tokens
from bertlab.layers.embeddings import (
    BertEmbeddings,
    FactorisedEmbeddings,
    SegmentEmbedding,
    SinusoidalPositionEmbedding,
    TokenEmbedding,
    sinusoids,
)
from bertlab.layers.encoder import Encoder, EncoderLayer, SharedEncoder
from bertlab.layers.feed_forward import FeedForward, GatedFeedForward
from bertlab.layers.gathering import gather_positions, last_real_vectors, put_at_positions
from bertlab.layers.heads import (
    ClassificationHead,
    DetectionHead,
    HeadTransform,
    LanguageModelHead,
    LastTokenPooler,
    LastTokenVector,
    MaskedLanguageModelHead,
    Pooler,
    TransformPooler,
)
from bertlab.layers.masks import causal_mask, combine, order_mask, packed_mask, padding_mask, window_mask
from bertlab.layers.normalization import LayerNormalization
from bertlab.layers.relative import (
    RelativeAttention,
    RelativeEncoderLayer,
    TwoStreamEncoder,
    distance_vectors,
    next_memory,
)
from bertlab.layers.rotary import RotaryAttention, RotaryEncoder, RotaryEncoderLayer, rotate, rotation
from bertlab.layers.scalar_mix import ScalarMix

__all__ = [
    "BertEmbeddings", "BiLMEmbeddings", "BiLMEncoder", "BiLMHead", "BiLMLayer", "BothEndsVector", "CharacterCNN",
    "ClassificationHead", "Decoder", "DecoderLayer", "DetectionHead", "Dropout", "Encoder", "EncoderLayer",
    "FactorisedEmbeddings", "FeedForward", "GatedFeedForward", "HeadTransform", "Highway", "LanguageModelHead",
    "LastTokenPooler", "LastTokenVector", "LayerNormalization", "MaskedLanguageModelHead", "MultiHeadAttention",
    "Pooler", "ProjectedLSTM", "RelativeAttention", "RelativeEncoderLayer", "RotaryAttention", "RotaryEncoder",
    "RotaryEncoderLayer", "ScalarMix", "SegmentEmbedding", "SharedEncoder", "SinusoidalPositionEmbedding",
    "TokenEmbedding", "TransformPooler", "TwoStreamEncoder", "attention_scores", "attention_weights", "causal_mask",
    "character_ids", "combine", "distance_vectors", "gather_positions", "gelu", "gelu_sigmoid", "gelu_tanh",
    "get_activation", "last_real_vectors", "next_memory", "order_mask", "packed_mask", "padding_mask",
    "put_at_positions", "rotate", "rotation", "row_keys_of", "sample_tokens", "scaled_dot_product_attention",
    "sinusoids", "window_mask",
]  # fmt: skip
