def fill_in(token_ids, logits, pieces, k=5):
    lists = []
    for token, row in zip(token_ids, ops.softmax(logits).numpy().tolist()):
        if pieces[token] == "[MASK]":
            pairs = sorted(zip(pieces, row), key=lambda pair: pair[1], reverse=True)
            lists.append(pairs[:k])
    return lists
