def mlm_loss(logits, labels, weights):
    total, count = 0.0, 1e-5
    for row, ids, counts in zip(logits, labels, weights):
        for prediction, label, weight in zip(row, ids, counts):
            total = total - weight * ops.log_softmax(prediction)[int(label)]
            count = count + weight
    return total / count
