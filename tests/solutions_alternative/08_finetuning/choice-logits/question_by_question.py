def choice_logits(hidden, v, choices):
    questions = []
    for start in range(0, hidden.shape[0], choices):
        cls = hidden[start : start + choices, 0]
        questions.append(ops.squeeze(ops.matmul(cls, ops.expand_dims(v, 1)), axis=1))
    return ops.stack(questions)
