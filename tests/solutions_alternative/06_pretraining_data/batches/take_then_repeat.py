def batches(examples, batch_size, seed):
    count = len(examples["input_ids"])
    whole = count // batch_size * batch_size
    dataset = tf.data.Dataset.from_tensor_slices(dict(examples))
    return dataset.shuffle(count, seed=seed).take(whole).repeat().batch(batch_size)
