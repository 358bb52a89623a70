def truncate_pair(first, second, room):
    kept_second = min(len(second), max(room // 2, room - len(first)))
    kept_first = min(len(first), room - kept_second)
    return first[:kept_first], second[:kept_second]
