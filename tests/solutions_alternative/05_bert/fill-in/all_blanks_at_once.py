def fill_in(token_ids, logits, pieces, k=5):
    blanks = [t for t, token in enumerate(token_ids) if token == pieces.index("[MASK]")]
    if not blanks:
        return []
    shares, best = ops.top_k(ops.softmax(ops.take(logits, ops.convert_to_tensor(blanks), axis=0)), k)
    names = np.array(pieces)[np.array(best)].tolist()
    return [list(zip(words, numbers)) for words, numbers in zip(names, np.array(shares).tolist())]
