import re

RULES = [
    (r"(kernel|embeddings|gamma)$", "weight"),
    (r"beta$", "bias"),
    (r"layers_\.", "layer."),
    (r"attention\.(query|key|value)", r"attention.self.\1"),
    (r"attention\.out\b", "attention.output.dense"),
    (r"attention_norm", "attention.output.LayerNorm"),
    (r"feed_forward\.inner", "intermediate.dense"),
    (r"feed_forward\.outer", "output.dense"),
    (r"output_norm", "output.LayerNorm"),
    (r"embeddings\.token\b", "embeddings.word_embeddings"),
    (r"embeddings\.position\b", "embeddings.position_embeddings"),
    (r"embeddings\.segment\b", "embeddings.token_type_embeddings"),
    (r"\bnorm\b", "LayerNorm"),
    (r"^mlm_head\.(dense|LayerNorm)", r"cls.predictions.transform.\1"),
    (r"^mlm_head", "cls.predictions"),
    (r"^nsp_head\.dense", "cls.seq_relationship"),
]


def published_name(path):
    for pattern, words in RULES:
        path = re.sub(pattern, words, path)
    return path
