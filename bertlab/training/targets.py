"""Targets for a left-to-right model: at every token, the next one (Devlin et al. 2019, section 5.1, "LTR").

Letters: B batch, T tokens, P predictions.
"""


def with_next_tokens(dataset):
    """Batches of masked rows → batches of whole rows that ask for every token's successor.

    dataset: a `tf.data.Dataset` of dicts with input_ids (B, T), masked_lm_positions, masked_lm_ids and
    masked_lm_weights (B, P). Returns one in which what was masked is put back, there are no masked_lm_positions,
    masked_lm_ids (B, T) are the next tokens and masked_lm_weights (B, T) are 1 where there is one: not at the last
    token, nor at padding, nor at the end of an example in a packed row.
    """
    return dataset.map(_next_tokens)


def _next_tokens(batch: dict) -> dict:
    import tensorflow as tf

    ids = unmasked(batch)  # (B, T)
    numbers = batch.get("sequence_ids")  # which example of a packed row a token belongs to, 0 for padding
    if numbers is None:
        numbers = batch["attention_mask"]  # 1, and 0 for padding
    has_next = tf.logical_and(numbers[:, 1:] == numbers[:, :-1], numbers[:, :-1] > 0)  # (B, T − 1)
    kept = {
        name: value
        for name, value in batch.items()
        if not name.startswith("masked_lm_") and name != "next_sentence_labels"
    }
    return kept | {
        "input_ids": ids,
        "masked_lm_ids": tf.pad(ids[:, 1:], [[0, 0], [0, 1]]),
        "masked_lm_weights": tf.pad(tf.cast(has_next, tf.float32), [[0, 0], [0, 1]]),
    }


def unmasked(batch: dict):
    """input_ids (B, T) with every predicted token put back. Padded predictions change nothing."""
    import tensorflow as tf

    ids, positions = batch["input_ids"], batch["masked_lm_positions"]  # (B, T), (B, P)
    real = batch["masked_lm_weights"] > 0
    values = tf.where(real, batch["masked_lm_ids"], 0)  # (B, P)
    places = tf.one_hot(positions, tf.shape(ids)[1], dtype=ids.dtype) * tf.cast(real, ids.dtype)[..., None]  # (B, P, T)
    return ids * (1 - tf.reduce_sum(places, axis=1)) + tf.reduce_sum(places * values[..., None], axis=1)
