SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def learn_vocabulary(word_counts, size, min_count=2):
    one = set().union(*word_counts)
    more = set().union(*(word for word in word_counts if len(word) > 1))
    start = SPECIAL_PIECES + sorted(one) + ["##" + c for c in sorted(more)]
    return grown(start, [(spell(w), n) for w, n in word_counts.items()], size, min_count)


def grown(pieces, spelled, size, min_count):
    counts, scores = count_pairs(spelled), pair_scores(spelled)
    often = [pair for pair in counts if counts[pair] >= min_count]
    if len(pieces) >= size or not often:
        return pieces
    highest = max(scores[pair] for pair in often)
    often = [pair for pair in often if scores[pair] == highest]
    most = max(counts[pair] for pair in often)
    pair = min(pair for pair in often if counts[pair] == most)
    new = pair[0] + pair[1][2:]
    return grown(pieces if new in pieces else [*pieces, new], merge_pair(pair, spelled), size, min_count)
