def truncate_pair(first, second, room):
    too_many = max(0, len(first) + len(second) - room)
    from_longer = min(too_many, abs(len(first) - len(second)))
    rest = too_many - from_longer
    cut_first = (from_longer if len(first) > len(second) else 0) + rest // 2
    cut_second = (from_longer if len(second) > len(first) else 0) + rest - rest // 2
    return first[: len(first) - cut_first], second[: len(second) - cut_second]
