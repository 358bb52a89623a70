"""One layer for each component of the paper's encoder."""

from bertlab.layers.activations import gelu, gelu_sigmoid, gelu_tanh, get_activation, relu, silu
from bertlab.layers.attention import (
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    scaled_dot_product_attention,
)
from bertlab.layers.bilm import (
    BiLMEmbeddings,
    BiLMEncoder,
    BiLMHead,
    BiLMLayer,
    BothEndsVector,
)
from bertlab.layers.characters import CharacterCNN, Highway, character_ids
from bertlab.layers.decoder import Decoder, DecoderLayer
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
from bertlab.layers.feed_forward import FeedForward, GatedFeedForward
from bertlab.layers.gathering import gather_positions, last_real_vectors, put_at_positions
from bertlab.layers.heads import (
    ClassificationHead,
    LanguageModelHead,
    LastTokenPooler,
    MaskedLanguageModelHead,
    Pooler,
)
from bertlab.layers.masks import (
    arbitrary_mask,
    causal_mask,
    combine,
    order_mask,
    packed_mask,
    padding_mask,
    window_mask,
)
from bertlab.layers.normalization import LayerNormalization
from bertlab.layers.projected_lstm import ProjectedLSTM
from bertlab.layers.relative import (
    RelativeAttention,
    RelativeEncoderLayer,
    TwoStreamEncoder,
    distance_vectors,
    next_memory,
)
from bertlab.layers.rotary import RotaryAttention, rotate, rotation
from bertlab.layers.rotary_encoder import RotaryEncoder, RotaryEncoderLayer
from bertlab.layers.sampling import drawn_row_keys, row_keys_of, sample_tokens
from bertlab.layers.scalar_mix import ScalarMix
from bertlab.layers.shared_encoder import SharedEncoder
from bertlab.layers.transforms import HeadTransform, LastTokenVector, TransformPooler

__all__ = [
    "BertEmbeddings",
    "BothEndsVector",
    "CharacterCNN",
    "ClassificationHead",
    "Decoder",
    "DecoderLayer",
    "DetectionHead",
    "BiLMEmbeddings",
    "BiLMEncoder",
    "BiLMHead",
    "BiLMLayer",
    "Dropout",
    "Encoder",
    "EncoderLayer",
    "FactorisedEmbeddings",
    "FeedForward",
    "GatedFeedForward",
    "HeadTransform",
    "Highway",
    "LanguageModelHead",
    "LastTokenPooler",
    "LastTokenVector",
    "LayerNormalization",
    "LearnedPositionEmbedding",
    "MaskedLanguageModelHead",
    "MultiHeadAttention",
    "Pooler",
    "ProjectedLSTM",
    "RelativeAttention",
    "RelativeEncoderLayer",
    "RotaryAttention",
    "RotaryEncoder",
    "RotaryEncoderLayer",
    "ScalarMix",
    "SegmentEmbedding",
    "SharedEncoder",
    "SinusoidalPositionEmbedding",
    "TokenEmbedding",
    "TransformPooler",
    "TwoStreamEncoder",
    "arbitrary_mask",
    "attention_scores",
    "attention_weights",
    "causal_mask",
    "character_ids",
    "combine",
    "distance_vectors",
    "drawn_row_keys",
    "gather_positions",
    "gelu",
    "gelu_sigmoid",
    "gelu_tanh",
    "get_activation",
    "last_real_vectors",
    "next_memory",
    "order_mask",
    "packed_mask",
    "padding_mask",
    "put_at_positions",
    "relu",
    "rotate",
    "rotation",
    "row_keys_of",
    "sample_tokens",
    "scaled_dot_product_attention",
    "silu",
    "sinusoids",
    "window_mask",
]
