def truncate_pair(first, second, room):
    if len(first) + len(second) <= room:
        return list(first), list(second)
    return (
        truncate_pair(first[:-1], second, room) if len(first) > len(second) else truncate_pair(first, second[:-1], room)
    )
