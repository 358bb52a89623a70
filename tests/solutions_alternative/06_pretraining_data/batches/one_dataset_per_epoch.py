def batches(examples, batch_size, seed):
    tensors = {key: tf.constant(array) for key, array in examples.items()}
    rows = tf.range(len(examples["input_ids"]))

    def epoch(number):
        order = tf.random.experimental.stateless_shuffle(rows, seed=(seed, number))
        shuffled = {key: tf.gather(tensor, order) for key, tensor in tensors.items()}
        return tf.data.Dataset.from_tensor_slices(shuffled).batch(batch_size, drop_remainder=True)

    return tf.data.Dataset.counter().flat_map(epoch)
