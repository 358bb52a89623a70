SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def learn_vocabulary(word_counts, size, min_count=2):
    pieces = dict.fromkeys(SPECIAL_PIECES)
    pieces.update(dict.fromkeys(sorted({c for word in word_counts for c in word})))
    pieces.update(dict.fromkeys("##" + c for c in sorted({c for word in word_counts if word[1:] for c in word})))
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        counts, scores = count_pairs(spelled), pair_scores(spelled)
        pairs = sorted(pair for pair, count in counts.items() if count >= min_count)
        pairs.sort(key=counts.get, reverse=True)
        pairs.sort(key=scores.get, reverse=True)
        if not pairs:
            break
        spelled = merge_pair(pairs[0], spelled)
        pieces[pairs[0][0] + pairs[0][1].removeprefix("##")] = None
    return list(pieces)
