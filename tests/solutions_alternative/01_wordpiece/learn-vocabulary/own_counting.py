from collections import Counter
from fractions import Fraction


def learn_vocabulary(word_counts, size, min_count=2):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += sorted(set("".join(word_counts)))
    pieces += ["##" + c for c in sorted(set("".join(w for w in word_counts if len(w) > 1)))]
    words = {word: [word[0]] + ["##" + c for c in word[1:]] for word in word_counts}
    while len(pieces) < size:
        single, pairs = Counter(), Counter()
        for word, spelling in words.items():
            for i, piece in enumerate(spelling):
                single[piece] += word_counts[word]
                if i:
                    pairs[spelling[i - 1], piece] += word_counts[word]
        ranked = [(Fraction(-n, single[a] * single[b]), -n, a, b) for (a, b), n in pairs.items() if n >= min_count]
        if not ranked:
            break
        _, _, left, right = min(ranked)
        merged = left + right[2:]
        for spelling in words.values():
            i = 0
            while i + 1 < len(spelling):
                if spelling[i] == left and spelling[i + 1] == right:
                    spelling[i : i + 2] = [merged]
                i += 1
        if merged not in pieces:
            pieces.append(merged)
    return pieces
