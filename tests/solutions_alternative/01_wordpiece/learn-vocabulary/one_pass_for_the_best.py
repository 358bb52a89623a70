SPECIAL_PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK]".split()


def better(one, other, scores, counts):
    if scores[one] != scores[other]:
        return scores[one] > scores[other]
    if counts[one] != counts[other]:
        return counts[one] > counts[other]
    return one < other


def learn_vocabulary(word_counts, size, min_count=2):
    characters = sorted({c for word in word_counts for c in word})
    joined = sorted({c for word in word_counts for c in word if len(word) > 1})
    pieces = SPECIAL_PIECES + characters + ["##" + c for c in joined]
    spelled = [(spell(word), word_counts[word]) for word in word_counts]
    while len(pieces) < size:
        counts, scores, best = count_pairs(spelled), pair_scores(spelled), None
        for pair in counts:
            if counts[pair] >= min_count and (best is None or better(pair, best, scores, counts)):
                best = pair
        if best is None:
            break
        spelled = merge_pair(best, spelled)
        if best[0] + best[1][2:] not in pieces:
            pieces.append(best[0] + best[1][2:])
    return pieces
