def merge_pair(pair, spelled):
    def merged(pieces):
        if len(pieces) < 2:
            return pieces
        if tuple(pieces[:2]) == pair:
            return [pair[0] + pair[1][2:]] + merged(pieces[2:])
        return pieces[:1] + merged(pieces[1:])

    return [(merged(pieces), count) for pieces, count in spelled]
