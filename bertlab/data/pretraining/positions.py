"""Short rows at random places: every position is trained, although no row is as long as the model allows.

A model with learned positions that has seen only rows of 16 tokens knows nothing of positions 16 … 63. Shifting each
row by a random offset trains them all, and what a head learns about neighbours holds anywhere (Kiyono et al. 2021,
"SHAPE: Shifted Absolute Position Embedding for Transformers").
"""


def with_shifted_positions(dataset, num_positions: int, seed: int, start_batch: int = 0):
    """Adds `position_ids` (B, T) to every batch: each row's 0 … T − 1 plus an offset of its own.

    dataset: a `tf.data.Dataset` of dicts with input_ids (B, T). num_positions: those of the model, at least T.
    start_batch: the number of the first batch. The offsets are a function of the seed and the batch's number.
    """
    import tensorflow as tf

    def shift(number, batch):
        rows, tokens = tf.unstack(tf.shape(batch["input_ids"], out_type=tf.int64))
        offsets = tf.random.stateless_uniform(
            (rows, 1), seed=(seed, number), maxval=num_positions - tokens + 1, dtype=tf.int64
        )
        positions = tf.cast(offsets + tf.range(tokens), tf.int32)
        return {**batch, "position_ids": tf.ensure_shape(positions, batch["input_ids"].shape)}

    return dataset.enumerate(start_batch).map(shift)
