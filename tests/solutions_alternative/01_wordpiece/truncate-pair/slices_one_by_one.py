def truncate_pair(first, second, room):
    while len(first) + len(second) > room:
        if len(first) > len(second):
            first = first[:-1]
        else:
            second = second[:-1]
    return first[:], second[:]
