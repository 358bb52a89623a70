def published_name(path):
    last = "weight" if path.endswith(("kernel", "gamma", "embeddings")) else "bias"
    words = path.split(".")[:-1]
    if words[0] == "nsp_head":
        return "cls.seq_relationship." + last
    if words[0] == "mlm_head":
        inner = {"dense": "transform.dense.", "norm": "transform.LayerNorm."}[words[1]] if len(words) > 1 else ""
        return "cls.predictions." + inner + last
    if words[1] == "pooler":
        return f"bert.pooler.dense.{last}"
    if words[1] == "embeddings":
        if words[2] == "norm":
            return f"bert.embeddings.LayerNorm.{last}"
        if words[2] == "token":
            return "bert.embeddings.word_embeddings.weight"
        if words[2] == "segment":
            return "bert.embeddings.token_type_embeddings.weight"
        return "bert.embeddings.position_embeddings.weight"
    start, inside = "bert.encoder.layer." + words[3], words[4:]
    if inside[0] == "attention":
        where = "output.dense" if inside[1] == "out" else "self." + inside[1]
        return f"{start}.attention.{where}.{last}"
    if inside[0] == "attention_norm":
        return f"{start}.attention.output.LayerNorm.{last}"
    if inside[0] == "feed_forward":
        return f"{start}.{'intermediate' if inside[1] == 'inner' else 'output'}.dense.{last}"
    return f"{start}.output.LayerNorm.{last}"
