from collections import deque


def best_span(start, end, first, last, longest, threshold=0.0):
    """One pass over the ends, with the best of the last `longest` starts at the head of a queue."""
    queue, best, span = deque(), start[0] + end[0] + threshold, (0, 0)
    for j in range(first, last + 1):
        while queue and start[queue[-1]] <= start[j]:
            queue.pop()
        queue.append(j)
        if queue[0] <= j - longest:
            queue.popleft()
        if start[queue[0]] + end[j] > best:
            best, span = start[queue[0]] + end[j], (queue[0], j)
    return span
