def batches(examples, batch_size, seed):
    tensors = {key: tf.constant(array) for key, array in examples.items()}
    count = len(examples["input_ids"])
    numbers = tf.data.Dataset.range(count).shuffle(count, seed=seed).batch(batch_size, drop_remainder=True)
    return numbers.map(lambda rows: {key: tf.gather(tensor, rows) for key, tensor in tensors.items()}).repeat()
