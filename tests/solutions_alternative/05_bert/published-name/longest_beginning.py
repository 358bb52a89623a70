WORDS = {
    "": "", "kernel": "weight", "gamma": "weight", "beta": "bias", "bias": "bias", "embeddings": "weight",
    "bert.embeddings.token": "bert.embeddings.word_embeddings",
    "bert.embeddings.position": "bert.embeddings.position_embeddings",
    "bert.embeddings.segment": "bert.embeddings.token_type_embeddings",
    "bert.embeddings.norm": "bert.embeddings.LayerNorm",
    "bert.encoder.layers_": "bert.encoder.layer", "bert.pooler.dense": "bert.pooler.dense",
    "attention.query": "attention.self.query", "attention.key": "attention.self.key",
    "attention.value": "attention.self.value", "attention.out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm", "feed_forward.inner": "intermediate.dense",
    "feed_forward.outer": "output.dense", "output_norm": "output.LayerNorm", "mlm_head": "cls.predictions",
    "mlm_head.dense": "cls.predictions.transform.dense", "mlm_head.norm": "cls.predictions.transform.LayerNorm",
    "nsp_head.dense": "cls.seq_relationship",
}  # fmt: skip


def published_name(path):
    words = path.split(".")
    for end in range(len(words), 0, -1):
        first = ".".join(words[:end])
        if first in WORDS or first.isdigit():
            rest = words[end:]
            return ".".join([WORDS.get(first, first), *([published_name(".".join(rest))] if rest else [])])
    raise KeyError(path)
