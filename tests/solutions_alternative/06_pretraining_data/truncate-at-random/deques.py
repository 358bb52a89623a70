from collections import deque


def truncate_at_random(first, second, room, rng):
    queues = deque(first), deque(second)
    for _ in range(len(first) + len(second) - room):
        longer = queues[0] if len(queues[0]) > len(queues[1]) else queues[1]
        (longer.popleft if rng.random() < 0.5 else longer.pop)()
    return list(queues[0]), list(queues[1])
