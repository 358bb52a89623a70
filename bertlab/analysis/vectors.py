"""Vectors out of a BERT: any layer, pooled to one per text or one per piece.

Letters: B batch, T tokens, H hidden size.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from bertlab.errors import DataError
from bertlab.progress import bar

POOLINGS = ("mean", "cls", "max", "pooler", "none")


def encode_texts(
    encoder,
    tokenizer,
    texts: Sequence[str],
    *,
    layer: int = -1,
    pooling: str = "mean",
    normalise: bool = False,
    batch_size: int = 32,
    truncate: bool = False,
) -> np.ndarray | list[np.ndarray]:
    """One vector per text, (texts, H) float32; with pooling="none" one array (pieces, H) per text, [CLS] … [SEP].

    Args:
        encoder: a `BertEncoder`.   tokenizer: its `WordPieceTokenizer`.
        layer: 0 for the embeddings, i for what layer i gives, −1 for the last.
        pooling: mean (over the real tokens) | cls | max | pooler (tanh of the last layer's [CLS]) | none.
        normalise: scale each vector to length 1.
        truncate: cut a text with too many pieces instead of raising.

    Raises DataError for an unknown layer or pooling, and for a text that does not fit the model.
    """
    _check(encoder, layer, pooling)
    rows = _packed(tokenizer, texts, encoder.config.max_position_embeddings, truncate)
    order = np.argsort([len(row) for row in rows], kind="stable")  # like lengths together: little padding
    vectors: list = [None] * len(rows)
    with bar("Encoding", len(rows)) as running:
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            for i, vector in zip(
                chosen, _encode_batch(encoder, [rows[i] for i in chosen], layer, pooling), strict=True
            ):
                vectors[i] = vector / np.linalg.norm(vector, axis=-1, keepdims=True) if normalise else vector
            running.advance(len(chosen))
    return vectors if pooling == "none" else np.array(vectors, "float32").reshape(len(rows), -1)


def _check(encoder, layer: int, pooling: str) -> None:
    num_layers = encoder.config.num_layers
    if pooling not in POOLINGS:
        raise DataError(f"there is no pooling {pooling!r}; choose one of {', '.join(POOLINGS)}")
    if not -num_layers - 1 <= layer <= num_layers:
        raise DataError(f"there is no layer {layer}; choose 0 (embeddings) to {num_layers}, or −1 for the last")
    if pooling == "pooler" and encoder.pooler is None:
        raise DataError("this model has no pooler; choose another pooling")


def _packed(tokenizer, texts: Sequence[str], limit: int, truncate: bool) -> list[list[int]]:
    """[CLS] pieces [SEP] of every text, at most `limit` ids."""
    values, splits = tokenizer.encode_batch(texts)
    rows = []
    for i in range(len(texts)):
        pieces = values[splits[i] : splits[i + 1]].tolist()
        if len(pieces) + 2 > limit and not truncate:
            raise DataError(
                f"text {i + 1} has {len(pieces)} pieces; with [CLS] and [SEP] only {limit - 2} fit the model: "
                "split it, or allow truncation"
            )
        rows.append([tokenizer.vocabulary.cls_id, *pieces[: limit - 2], tokenizer.vocabulary.sep_id])
    return rows


def _encode_batch(encoder, rows: list[list[int]], layer: int, pooling: str) -> Iterator[np.ndarray]:
    from keras import ops

    longest = max(len(row) for row in rows)
    ids = np.full((len(rows), longest), encoder.config.pad_token_id, "int32")  # (B, T)
    mask = np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)] = row, 1
    outputs = encoder({"input_ids": ids, "attention_mask": mask}, training=False, return_all=True)
    if pooling == "pooler":
        yield from ops.convert_to_numpy(ops.cast(outputs["pooled_output"], "float32"))
        return
    states = ops.convert_to_numpy(ops.cast(outputs["hidden_states"][layer], "float32"))  # (B, T, H)
    pool = {"mean": lambda x: x.mean(0), "cls": lambda x: x[0], "max": lambda x: x.max(0), "none": lambda x: x}
    for row, state in zip(rows, states, strict=True):
        yield pool[pooling](state[: len(row)])
