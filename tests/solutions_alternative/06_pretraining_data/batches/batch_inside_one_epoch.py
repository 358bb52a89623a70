def batches(examples, batch_size, seed):
    count = len(examples["input_ids"])
    one_epoch = tf.data.Dataset.from_tensor_slices(examples).shuffle(count, seed)
    return one_epoch.batch(batch_size, True).repeat()
