"""Merging: the characters of a chunk become tokens by the learned merges, those learned first before the others.

h o u s e  →  h ou s e  →  h ou se  →  hou se  →  house        (Sennrich et al. 2016, section 3.2)
"""

import heapq
from collections.abc import Iterable, Sequence

NOWHERE = -1


class Merges:
    """The learned pairs in the order in which they were learned.

    Args:
        pairs: (left, right) tokens; what was learned first has rank 0.

    Example:
        >>> Merges([("o", "u"), ("s", "e"), ("h", "ou")]).apply("house")
        ['hou', 'se']
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]):
        self.pairs = tuple(pairs)
        self._ranks = {pair: rank for rank, pair in enumerate(self.pairs)}

    def apply(self, characters: Sequence[str]) -> list[str]:
        """The tokens of a chunk's characters. The pair of the lowest rank is merged first, of equal ones the leftmost.

        A queue holds the pairs, so that a chunk of n characters takes n · log n steps.
        """
        tokens = list(characters)
        after = [*range(1, len(tokens)), NOWHERE]  # of each token, the index of the next
        before = list(range(-1, len(tokens) - 1))  # and of the one before
        ranks = self._ranks
        queue = []
        for index, pair in enumerate(zip(tokens, tokens[1:])):
            if pair in ranks:
                queue.append((ranks[pair], index))
        heapq.heapify(queue)
        while queue:
            rank, index = heapq.heappop(queue)
            behind = after[index]
            if behind == NOWHERE or ranks.get((tokens[index], tokens[behind])) != rank:
                continue  # one of the two has been merged with another token since
            tokens[index] += tokens[behind]
            tokens[behind] = ""
            after[index], after[behind] = after[behind], NOWHERE
            if after[index] != NOWHERE:
                before[after[index]] = index
            for left in (before[index], index):
                right = after[left] if left != NOWHERE else NOWHERE
                if right != NOWHERE and (found := ranks.get((tokens[left], tokens[right]))) is not None:
                    heapq.heappush(queue, (found, left))
        return [token for token in tokens if token]

    def __len__(self) -> int:
        return len(self.pairs)

    def __eq__(self, other) -> bool:
        return isinstance(other, Merges) and self.pairs == other.pairs

    def __hash__(self) -> int:
        return hash(self.pairs)
