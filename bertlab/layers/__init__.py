"""One layer for each component of the paper's encoder. The names below are imported when first used."""

from bertlab.common.lazy import imported_when_used

__all__, __getattr__ = imported_when_used(
    __name__,
    {
        "bertlab.layers.activations": ("gelu", "gelu_sigmoid", "gelu_tanh", "get_activation"),
        "bertlab.layers.attention": (
            "MultiHeadAttention", "attention_scores", "attention_weights", "scaled_dot_product_attention",
        ),
        "bertlab.layers.bilm": (
            "BiLMEmbeddings", "BiLMEncoder", "BiLMHead", "BiLMLayer", "BothEndsVector", "ProjectedLSTM",
        ),
        "bertlab.layers.characters": ("CharacterCNN", "Highway", "character_ids"),
        "bertlab.layers.decoder": ("Decoder", "DecoderLayer"),
        "bertlab.layers.dropout": ("Dropout", "row_keys_of", "sample_tokens"),
        "bertlab.layers.embeddings": (
            "BertEmbeddings", "FactorisedEmbeddings", "SegmentEmbedding", "SinusoidalPositionEmbedding",
            "TokenEmbedding", "sinusoids",
        ),
        "bertlab.layers.encoder": ("Encoder", "EncoderLayer", "SharedEncoder"),
        "bertlab.layers.feed_forward": ("FeedForward", "GatedFeedForward"),
        "bertlab.layers.gathering": ("gather_positions", "last_real_vectors", "put_at_positions"),
        "bertlab.layers.heads": (
            "ClassificationHead", "DetectionHead", "HeadTransform", "LanguageModelHead", "LastTokenPooler",
            "LastTokenVector", "MaskedLanguageModelHead", "Pooler", "TransformPooler",
        ),
        "bertlab.layers.masks": (
            "causal_mask", "combine", "order_mask", "packed_mask", "padding_mask", "window_mask",
        ),
        "bertlab.layers.normalization": ("LayerNormalization",),
        "bertlab.layers.relative": (
            "RelativeAttention", "RelativeEncoderLayer", "TwoStreamEncoder", "distance_vectors", "next_memory",
        ),
        "bertlab.layers.rotary": ("RotaryAttention", "RotaryEncoder", "RotaryEncoderLayer", "rotate", "rotation"),
        "bertlab.layers.scalar_mix": ("ScalarMix",),
    },
)  # fmt: skip
