from collections import deque


def merge_pair(pair, spelled):
    result = []
    for pieces, count in spelled:
        waiting, done = deque(pieces), []
        while waiting:
            piece = waiting.popleft()
            if piece == pair[0] and waiting and waiting[0] == pair[1]:
                piece += waiting.popleft().removeprefix("##")
            done.append(piece)
        result.append((done, count))
    return result
