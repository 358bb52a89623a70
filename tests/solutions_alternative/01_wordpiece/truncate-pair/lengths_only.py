def truncate_pair(first, second, room):
    keep_first, keep_second = len(first), len(second)
    while keep_first + keep_second > room:
        if keep_first > keep_second:
            keep_first -= 1
        else:
            keep_second -= 1
    return first[:keep_first], second[:keep_second]
