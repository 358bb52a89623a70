import heapq


def fill_in(token_ids, logits, pieces, k=5):
    mask, probabilities = pieces.index("[MASK]"), ops.softmax(logits, axis=1)
    rows = [probabilities[t] for t in range(len(token_ids)) if token_ids[t] == mask]
    return [heapq.nlargest(k, ((piece, float(p)) for piece, p in zip(pieces, row)), key=lambda g: g[1]) for row in rows]
