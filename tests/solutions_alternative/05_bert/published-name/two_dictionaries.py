OUTSIDE = dict(zip(
    "bert.embeddings.token bert.embeddings.position bert.embeddings.segment bert.embeddings.norm bert.pooler.dense "
    "mlm_head mlm_head.dense mlm_head.norm nsp_head.dense".split(),
    "bert.embeddings.word_embeddings bert.embeddings.position_embeddings bert.embeddings.token_type_embeddings "
    "bert.embeddings.LayerNorm bert.pooler.dense cls.predictions cls.predictions.transform.dense "
    "cls.predictions.transform.LayerNorm cls.seq_relationship".split(),
))  # fmt: skip
INSIDE = dict(
    query="attention.self.query", key="attention.self.key", value="attention.self.value",
    out="attention.output.dense", attention_norm="attention.output.LayerNorm", inner="intermediate.dense",
    outer="output.dense", output_norm="output.LayerNorm",
)  # fmt: skip


def published_name(path):
    part, _, weight = path.rpartition(".")
    last = {"beta": "bias", "bias": "bias"}.get(weight, "weight")
    if part in OUTSIDE:
        return OUTSIDE[part] + "." + last
    words = part.split(".")
    return ".".join(["bert", "encoder", "layer", words[3], INSIDE[words[-1]], last])
