def batches(examples, batch_size, seed):
    columns = {key: tf.data.Dataset.from_tensor_slices(array) for key, array in examples.items()}
    rows = tf.data.Dataset.zip(columns).cache()
    rows = rows.shuffle(buffer_size=10 * len(examples["input_ids"]), seed=seed, reshuffle_each_iteration=True)
    return rows.batch(batch_size, drop_remainder=True).repeat(None).prefetch(2)
