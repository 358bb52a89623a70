def truncate_pair(first, second, room):
    lists = [[0, list(first)], [1, list(second)]]
    for _ in range(len(first) + len(second) - room):
        max(lists, key=lambda item: (len(item[1]), item[0]))[1].pop()
    return lists[0][1], lists[1][1]
