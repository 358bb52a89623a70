def batches(examples, batch_size, seed):
    count = len(examples["input_ids"])

    def endless():
        rng = np.random.default_rng(seed)
        while True:
            order = rng.permutation(count)
            for start in range(0, count - batch_size + 1, batch_size):
                rows = order[start : start + batch_size]
                yield {key: array[rows] for key, array in examples.items()}

    kinds = {key: tf.TensorSpec((batch_size, *a.shape[1:]), a.dtype) for key, a in examples.items()}
    return tf.data.Dataset.from_generator(endless, output_signature=kinds)
