def published_name(path):
    *part, last = path.split(".")
    match part:
        case ["bert", "embeddings", "norm"]:
            name = "bert.embeddings.LayerNorm"
        case ["bert", "embeddings", table]:
            name = f"bert.embeddings.{dict(token='word', segment='token_type').get(table, table)}_embeddings"
        case ["bert", "encoder", "layers_", number, "attention", "out"]:
            name = f"bert.encoder.layer.{number}.attention.output.dense"
        case ["bert", "encoder", "layers_", number, "attention", projection]:
            name = f"bert.encoder.layer.{number}.attention.self.{projection}"
        case ["bert", "encoder", "layers_", number, "attention_norm"]:
            name = f"bert.encoder.layer.{number}.attention.output.LayerNorm"
        case ["bert", "encoder", "layers_", number, "feed_forward", "inner"]:
            name = f"bert.encoder.layer.{number}.intermediate.dense"
        case ["bert", "encoder", "layers_", number, "feed_forward", "outer"]:
            name = f"bert.encoder.layer.{number}.output.dense"
        case ["bert", "encoder", "layers_", number, "output_norm"]:
            name = f"bert.encoder.layer.{number}.output.LayerNorm"
        case ["mlm_head"]:
            name = "cls.predictions"
        case ["mlm_head", inner]:
            name = f"cls.predictions.transform.{'LayerNorm' if inner == 'norm' else inner}"
        case ["nsp_head", _]:
            name = "cls.seq_relationship"
        case _:
            name = ".".join(part)
    return name + (".bias" if last in ("bias", "beta") else ".weight")
