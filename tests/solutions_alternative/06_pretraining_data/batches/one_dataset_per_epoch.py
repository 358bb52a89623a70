def batches(examples, batch_size, seed):
    slices = tf.data.Dataset.from_tensor_slices(examples)
    count = slices.cardinality()

    def epoch(number):
        return slices.shuffle(count, seed=seed + number).batch(batch_size, drop_remainder=True)

    return tf.data.Dataset.counter().flat_map(epoch)
