def published_name(path):
    dense, norm = {"kernel": "weight", "bias": "bias"}, {"gamma": "weight", "beta": "bias"}
    table = {f"bert.embeddings.{a}": (f"bert.embeddings.{b}_embeddings", {"embeddings": "weight"})
             for a, b in (("token", "word"), ("position", "position"), ("segment", "token_type"))}  # fmt: skip
    table["bert.embeddings.norm"] = "bert.embeddings.LayerNorm", norm
    for i in range(100):
        mine, theirs = f"bert.encoder.layers_.{i}.", f"bert.encoder.layer.{i}."
        for name in ("query", "key", "value"):
            table[f"{mine}attention.{name}"] = f"{theirs}attention.self.{name}", dense
        table[mine + "attention.out"] = theirs + "attention.output.dense", dense
        table[mine + "attention_norm"] = theirs + "attention.output.LayerNorm", norm
        table[mine + "feed_forward.inner"] = theirs + "intermediate.dense", dense
        table[mine + "feed_forward.outer"] = theirs + "output.dense", dense
        table[mine + "output_norm"] = theirs + "output.LayerNorm", norm
    table["bert.pooler.dense"] = "bert.pooler.dense", dense
    table["mlm_head.dense"] = "cls.predictions.transform.dense", dense
    table["mlm_head.norm"] = "cls.predictions.transform.LayerNorm", norm
    table["mlm_head"] = "cls.predictions", dense
    table["nsp_head.dense"] = "cls.seq_relationship", dense
    part, last = path.rsplit(".", 1)
    name, words = table[part]
    return f"{name}.{words[last]}"
