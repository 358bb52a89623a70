"""The tokens of words that were not seen before, fast: dictionaries instead of a search through the vocabulary.

The same as `WordPieceTokenizer.split_word`, to the last code point; that is the readable form.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary

FIRST_CHARS = 16  # for each token of the vocabulary: a trie pays only behind so many characters of new words
MAX_NODES = 1 << 17  # of a trie, about 40 MB; a larger one is made again from its roots
_ROOT, _NO_TOKENS = ((), None, ()), ((), None, None)  # steps: see `GrowingTrie`


class LongestMatch:
    """Greedy longest match: the first words by the tokens' beginnings, later ones by a trie, faster once it has grown.

    Args:
        vocabulary: the tokens.   max_chars: longer words are [UNK].
    """

    def __init__(self, vocabulary: Vocabulary, max_chars: int):
        self.max_chars, self.unknown_id = max_chars, vocabulary.unk_id
        self._index = self._whole = vocabulary.ids
        if vocabulary.longest > max_chars:
            short = (piece for piece in vocabulary.pieces if len(piece) <= max_chars or piece in SPECIAL_TOKENS)
            self._whole = {piece: self._index[piece] for piece in short}
        self._first_chars = FIRST_CHARS * len(vocabulary)
        self._cutter: TokenBeginnings | GrowingTrie = TokenBeginnings(self._index)

    def ids(self, word: str) -> list[int]:
        """The ids of a word's tokens."""
        ids = []
        self.add([word], ids)
        return ids

    def add(self, words: list[str], ids: list[int]) -> None:
        """Adds the ids of the words' tokens to a list. A table of other words would cost more than to cut them."""
        whole, cut, max_chars, cut_chars = self._whole, self._cutter.add, self.max_chars, 0
        for word in words:
            if (number := whole.get(word)) is not None:
                ids.append(number)
            elif (chars := len(word)) > max_chars:
                ids.append(self.unknown_id)
            else:
                before = len(ids)
                if not cut(word, ids):
                    ids[before:] = [self.unknown_id]
                cut_chars += chars
        if cut_chars and self._first_chars >= 0:
            self._first_chars -= cut_chars
            if self._first_chars < 0:
                self._cutter = GrowingTrie(self._index)


class TokenBeginnings:
    """Cuts words with tables of the two characters that tokens begin with: most tokens need no more look-ups.

    One pass over the vocabulary makes the tables, so that the first words need not wait for a trie.

    Args:
        index: token → its id.
    """

    def __init__(self, index: Mapping[str, int]):
        self._index = index
        self._first, self._after, self._single = token_beginnings(index)

    def add(self, word: str, ids: list[int]) -> bool:
        """Adds the ids of a word's tokens to a list; False, and perhaps some of them, if it has none."""
        index, start, chars = self._index, 0, len(word)
        pairs, single, mark = self._first, index, ""
        while start < chars:
            if (found := pairs.get(word[start : start + 2])) is None:
                number, size = single.get(word[start]), 1
            else:
                sizes, number, size = found
                for longer in sizes:  # behind the word's end a slice is the rest of the word, which may be a token
                    if (other := index.get(mark + word[start : start + longer])) is not None:
                        number, size = other, longer
                        break
            if number is None:
                return False
            ids.append(number)
            start += size
            pairs, single, mark = self._after, self._single, "##"
        return True


def token_beginnings(index: Mapping[str, int]) -> tuple[dict[str, tuple], dict[str, tuple], dict[str, int]]:
    """Three tables: of tokens that begin a word, of those that continue it, and the latter's of one character → id.

    The first two: two characters → (sizes of the tokens of three characters or more that begin so, the longest first;
    id and size of the token to take if none of these fits, which has two characters or one, None if there is none).
    """
    first: dict[str, int] = {}  # bit n of a number is 1 for a token of n characters
    after: dict[str, int] = {}
    single: dict[str, int] = {}
    for piece, number in index.items():
        size = len(piece)
        if piece[:2] != "##":
            if size > 1:
                key = piece[:2]
                first[key] = first.get(key, 0) | 1 << size
        elif size > 3:
            key = piece[2:4]
            after[key] = after.get(key, 0) | 1 << size - 2
        elif size == 3:
            single[piece[2]] = number
    sizes = {bits: tuple(_sizes_downwards(bits)) for bits in {*first.values(), *after.values()}}
    two = 1 << 2
    return (
        {
            key: (sizes[bits], index[key], 2) if bits & two else (sizes[bits], index.get(key[0]), 1)
            for key, bits in first.items()
        },
        {
            key: (sizes[bits], index["##" + key], 2) if bits & two else (sizes[bits], single.get(key[0]), 1)
            for key, bits in after.items()
        },
        single,
    )


def _sizes_downwards(bits: int) -> Iterator[int]:
    return (size for size in range(bits.bit_length(), 2, -1) if bits >> size & 1)


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
        if self._nodes > MAX_NODES:
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
