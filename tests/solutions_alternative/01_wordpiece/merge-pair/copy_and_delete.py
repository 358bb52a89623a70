def merge_pair(pair, spelled):
    result = [(list(pieces), count) for pieces, count in spelled]
    for pieces, _ in result:
        i = 0
        while i < len(pieces) - 1:
            if pieces[i] == pair[0] and pieces[i + 1] == pair[1]:
                pieces[i] += pieces.pop(i + 1)[2:]
            i += 1
    return result
