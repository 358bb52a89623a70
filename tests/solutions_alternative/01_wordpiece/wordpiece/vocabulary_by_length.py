def wordpiece(word, vocabulary):
    beginnings = sorted((p for p in vocabulary if p[:2] != "##" or len(p) == 2), key=len, reverse=True)
    later = sorted((p[2:] for p in vocabulary if p[:2] == "##" and len(p) > 2), key=len, reverse=True)
    pieces, rest = [], word
    while rest and len(word) <= 200:
        candidates = later if pieces else beginnings
        best = next((piece for piece in candidates if rest.startswith(piece)), None)
        if best is None:
            break
        pieces.append("##" + best if pieces else best)
        rest = rest[len(best) :]
    return ["[UNK]"] if rest else pieces
