import heapq


def learn_vocabulary(word_counts, size, min_count=2):
    pieces = "[PAD] [UNK] [CLS] [SEP] [MASK]".split()
    pieces.extend(sorted({c for word in word_counts for c in word}))
    pieces.extend("##" + c for c in sorted({c for word in word_counts if len(word) >= 2 for c in word}))
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    for _ in range(size):
        if len(pieces) >= size:
            break
        counts, scores = count_pairs(spelled), pair_scores(spelled)
        heap = [(-scores[pair], -count, pair) for pair, count in counts.items() if not count < min_count]
        heapq.heapify(heap)
        if not heap:
            break
        pair = heapq.heappop(heap)[-1]
        spelled = merge_pair(pair, spelled)
        merged = pair[0] + pair[1][len("##") :]
        pieces += [merged] if merged not in pieces else []
    return pieces
