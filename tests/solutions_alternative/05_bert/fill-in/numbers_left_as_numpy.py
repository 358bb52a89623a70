def fill_in(token_ids, logits, pieces, k=5):
    mask = pieces.index("[MASK]")
    shares, best = ops.top_k(ops.softmax(logits), k)
    lists = []
    for token, numbers, places in zip(token_ids, np.array(shares), np.array(best)):
        if token == mask:
            lists.append([(pieces[place], number) for number, place in zip(numbers, places)])
    return lists
