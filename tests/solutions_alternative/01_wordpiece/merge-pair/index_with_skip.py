def merge_pair(pair, spelled):
    new_piece = pair[0] + pair[1][2:]
    words = []
    for pieces, count in spelled:
        new, skip = [], False
        for i, piece in enumerate(pieces):
            if skip:
                skip = False
            elif i + 1 < len(pieces) and (piece, pieces[i + 1]) == pair:
                new.append(new_piece)
                skip = True
            else:
                new.append(piece)
        words.append((new, count))
    return words
