"""The tokens of words that were not seen before, fast: dictionaries instead of a search through the vocabulary.

The same as `WordPieceTokenizer.split_word`, to the last code point; that is the readable form.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from bertlab.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary

FIRST_CHARS = 16  # for each token of the vocabulary: a trie pays only behind so many characters of new words
MOST_NODES = 1 << 17  # of a trie, about 40 MB; a larger one is made again from its roots
_ONE, _ONE_BEHIND = (1,), (3,)  # lengths of tokens of one character, without and with ##
_BEHIND_KEY = slice(4)  # "##ab"
_ROOT, _NO_TOKENS = ((), None, ()), ((), None, None)  # steps: see `GrowingTrie`


class LongestMatch:
    """Greedy longest match: the first words by the tokens' lengths, later ones by a trie, which is faster once grown.

    Args:
        vocabulary: the tokens.   max_chars: longer words are [UNK].

    Attributes:
        whole: word → its id, of the words that are one token.
    """

    def __init__(self, vocabulary: Vocabulary, max_chars: int):
        self.max_chars, self.unknown_id = max_chars, vocabulary.unk_id
        self._index = self.whole = vocabulary.ids
        if vocabulary.longest > max_chars:
            short = (piece for piece in vocabulary.pieces if len(piece) <= max_chars or piece in SPECIAL_TOKENS)
            self.whole = {piece: self._index[piece] for piece in short}
        self._first_chars = FIRST_CHARS * len(vocabulary)
        self._cutter: TokenLengths | GrowingTrie = TokenLengths(self._index)

    def ids(self, word: str) -> list[int]:
        """The ids of a word's tokens."""
        if (whole := self.whole.get(word)) is not None:
            return [whole]
        ids = []
        self.add(word, ids)
        return ids

    def add(self, word: str, ids: list[int]) -> None:
        """Adds the ids of the tokens of a word that is not in `whole` to a list."""
        before, chars = len(ids), len(word)
        if chars > self.max_chars:
            ids.append(self.unknown_id)
            return
        if self._first_chars >= 0:
            self._first_chars -= chars
            if self._first_chars < 0:
                self._cutter = GrowingTrie(self._index)
        if not self._cutter.add(word, ids):
            ids[before:] = [self.unknown_id]


class TokenLengths:
    """Cuts words with a table of the lengths of the tokens that begin with the same two characters.

    One pass over the vocabulary makes the table, so that the first words need not wait for a trie.

    Args:
        index: token → its id.
    """

    def __init__(self, index: Mapping[str, int]):
        self._index, self._lengths = index, token_lengths(index)
        longest = max((lengths[0] for lengths in self._lengths.values()), default=0)
        ends = range(max(longest, 3) + 1)
        # Made once: to make a slice takes as long as to cut by it.
        self._beginnings, self._rests = [slice(end) for end in ends], [slice(end, None) for end in ends]

    def add(self, word: str, ids: list[int]) -> bool:
        """Adds the ids of a word's tokens to a list; False, and perhaps some of them, if it has none."""
        index, beginnings, rests, lengths = self._index, self._beginnings, self._rests, self._lengths.get
        text, key, single, size = word, word[:2], _ONE, len(word)
        while True:
            for end in lengths(key, single):
                if end <= size and (piece := text[beginnings[end]]) in index:
                    break
            else:
                return False
            ids.append(index[piece])
            if end == size:
                return True
            text = "##" + text[rests[end]]
            key, single, size = text[_BEHIND_KEY], _ONE_BEHIND, len(text)


def token_lengths(index: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Two characters → the lengths of the tokens that begin so, and 1, the longest first; "##ab" → those behind ##."""
    bits: dict[str, int] = {}  # bit n of a number is 1 for a token of n characters
    for piece in index:
        behind = piece[:2] == "##"
        if (size := len(piece)) > (3 if behind else 1):
            key = piece[:4] if behind else piece[:2]
            bits[key] = bits.get(key, 1 << 3 if behind else 1 << 1) | 1 << size
    lengths = {number: tuple(_bits_downwards(number)) for number in set(bits.values())}
    return {key: lengths[number] for key, number in bits.items()}


def _bits_downwards(number: int) -> Iterator[int]:
    return (place for place in range(number.bit_length(), 0, -1) if number >> place & 1)


class GrowingTrie:
    """The vocabulary as a trie of dictionaries, which grows where words lead: a few look-ups for each character.

    A node is a dictionary. A character leads to the next node, or to a token's id where no longer token begins so; ""
    to the step for all other characters: (ids of the tokens that are complete then, the node to go on from, the ids if
    the word ends here instead). The last two are None where such a word has no tokens. A node that no word has reached
    is a tuple: (the tokens behind it in alphabetical order, how many of their characters lead to it).

    Song et al. 2021, "Fast WordPiece Tokenization", section 3: its failure links and failure pops, made when needed.

    Args:
        index: token → its id.
    """

    def __init__(self, index: Mapping[str, int]):
        self._index = index
        self._begin()

    def add(self, word: str, ids: list[int]) -> bool:
        """Adds the ids of a word's tokens to a list; False, and perhaps some of them, if it has none."""
        node = self._follow(word, self._start, ids)
        ending = node[""][2] if node is not None else None
        if ending is None:
            return False
        ids += ending
        return True

    def _follow(self, text: str, node: dict, ids: list[int]) -> dict | None:
        """The node behind a text, None if it has no tokens; adds the tokens that are complete before it."""
        after = self._after
        for char in text:
            while (child := node.get(char)) is None:
                tokens, node, _ = node[""]
                if node is None:
                    return None
                ids += tokens
            if child.__class__ is int:
                ids.append(child)
                node = after
                continue
            if child.__class__ is tuple:
                child = node[char] = self._grow(*child)
            node = child
        return node

    def _begin(self) -> None:
        """The two roots, of tokens that begin a word and of those that continue it, with their branches."""
        pieces = sorted(self._index)
        first, last = bisect_left(pieces, "##"), bisect_left(pieces, "#$")  # "$" is the character behind "#"
        self._nodes = 0
        self._start = {**self._branches(pieces[:first] + pieces[last:], 0), "": _ROOT}
        self._after = {**self._branches(pieces[first:last], len("##")), "": _ROOT}

    def _grow(self, texts: Sequence[str], depth: int) -> dict:
        """A node with its branches and its step."""
        if self._nodes > MOST_NODES:
            self._begin()
        node = self._branches(texts, depth)
        self._nodes += len(node)
        node[""] = self._step(texts[0][:depth])
        return node

    def _branches(self, texts: Sequence[str], depth: int) -> dict:
        """The branches of a node. texts: the tokens behind it, in alphabetical order."""
        branches = {}
        longer = texts[1:] if texts and len(texts[0]) == depth else texts
        for char, group in groupby(longer, itemgetter(depth)):
            those = list(group)
            is_last = len(those) == 1 and len(those[0]) == depth + 1  # a token that is the beginning of no other one
            branches[char] = self._index[those[0]] if is_last else (those, depth + 1)
        return branches

    def _step(self, text: str) -> tuple:
        """The step of the node of this beginning of a token."""
        shortest = 3 if text.startswith("##") else 1
        end = next((end for end in range(len(text), shortest - 1, -1) if text[:end] in self._index), 0)
        ids = [self._index[text[:end]]] if end else []
        node = self._follow(text[end:], self._after, ids) if end else None
        if node is None:
            return _NO_TOKENS
        ending = node[""][2]
        return tuple(ids), node, None if ending is None else (*ids, *ending)
