def learn_vocabulary(word_counts, size, min_count=2):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + alphabet(word_counts)
    words = [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        counts = count_pairs(words)
        scores = pair_scores(words)
        ranked = sorted((-scores[p], -counts[p], p) for p in counts if counts[p] >= min_count)
        if ranked == []:
            return pieces
        pair = ranked[0][2]
        words = merge_pair(pair, words)
        new = pair[0] + pair[1][2:]
        if new not in pieces:
            pieces = pieces + [new]
    return pieces


def alphabet(word_counts):
    return sorted(set("".join(word_counts))) + sorted({"##" + c for w in word_counts if len(w) > 1 for c in w})
