def masked_accuracy(logits, labels, weights):
    right = predictions = 0
    for place in np.ndindex(*labels.shape):
        if float(weights[place]) > 0:
            predictions += 1
            right += int(ops.argmax(logits[place])) == int(labels[place])
    return ops.convert_to_tensor(right / predictions, "float32")
