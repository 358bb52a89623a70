"""The tokens of words that were not seen before, fast: dictionaries instead of a search through the vocabulary.

The same as `WordPieceTokenizer.words` and `split_word`, to the last code point; those are the readable form.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

from bertlab.wordpiece.special import SPECIAL_TOKENS
from bertlab.wordpiece.unicode import (
    CASE_IGNORABLE,
    CASED,
    COMBINING_CLASS,
    DROPPED,
    LOWERCASE,
    NONSPACING_MARKS,
    PUNCTUATION,
    WHITESPACE,
    decomposable,
    decompose,
    is_cjk,
)

_IDEOGRAPHS = range(0x4E00, 0x9FA6)  # assigned since Unicode 1.1, without case, marks or another normal form
_CHINESE = re.compile(f"[{chr(_IDEOGRAPHS[0])}-{chr(_IDEOGRAPHS[-1])}、。，：；？！ ]+")  # each but the space is a word
_SYLLABLES = range(0xAC00, 0xD7A4)  # Korean
_RULED = (
    WHITESPACE | DROPPED | PUNCTUATION | NONSPACING_MARKS | LOWERCASE.keys() | COMBINING_CLASS.keys() | decomposable()
)
_CAPITAL_SIGMA = "Σ"
_NOT_DECIDING = CASE_IGNORABLE | DROPPED
MOST_NODES = 1 << 17  # of a trie, about 40 MB; a larger one is made again from its roots
_ROOT, _NO_TOKENS = ((), None, ()), ((), None, None)  # steps: see `GrowingTrie`
IN_CONTEXT = "\0"  # stands for a character whose normal form depends on others; a text's own \0 is dropped


class LongestMatch:
    """Greedy longest match, by a trie.

    Args:
        pieces: the vocabulary's tokens, by id.   max_chars: longer words are [UNK].   unk_id: the id of [UNK].

    Attributes:
        whole: word → its id, of the words that are one token.
    """

    def __init__(self, pieces: Iterable[str], max_chars: int, unk_id: int):
        self.max_chars, self.unknown_id = max_chars, unk_id
        first = {piece: number for number, piece in enumerate(pieces)}  # text → id, of tokens that begin a word
        later = {piece[2:]: number for piece, number in first.items() if piece.startswith("##") and len(piece) > 2}
        self.whole = {
            piece: number for piece, number in first.items() if len(piece) <= max_chars or piece in SPECIAL_TOKENS
        }
        self._trie = GrowingTrie(first, later)

    def ids(self, word: str) -> list[int]:
        """The ids of a word's tokens."""
        if (whole := self.whole.get(word)) is not None:
            return [whole]
        ids = []
        self.add(word, ids)
        return ids

    def add(self, word: str, ids: list[int]) -> None:
        """Adds the ids of the tokens of a word that is not in `whole` to a list."""
        before = len(ids)
        if len(word) > self.max_chars or not self._trie.add(word, ids):
            ids[before:] = [self.unknown_id]


class GrowingTrie:
    """The vocabulary as a trie of dictionaries, which grows where words lead: a few look-ups for each character.

    A node is a dictionary. A character leads to the next node, or to a token's id where no longer token begins so; ""
    to the step for all other characters: (ids of the tokens that are complete then, the node to go on from, the ids if
    the word ends here instead). The last two are None where such a word has no tokens. A node that no word has reached
    has only "texts": (the tokens behind it, its depth, their table).

    Song et al. 2021, "Fast WordPiece Tokenization", section 3: its failure links and failure pops, made when needed.

    Args:
        first, later: text → id, of tokens that begin a word and of those that continue it.
    """

    def __init__(self, first: dict[str, int], later: dict[str, int]):
        self._first, self._later = first, later
        self._begin()

    def add(self, word: str, ids: list[int]) -> bool:
        """Adds the ids of a word's tokens to a list; False, and perhaps some of them, if it has none."""
        node = self._follow(word, self._start, ids)
        ending = self._step_of(node)[2] if node is not None else None
        if ending is None:
            return False
        ids += ending
        return True

    def _follow(self, text: str, node: dict, ids: list[int]) -> dict | None:
        """The node behind a text, None if it has no tokens; adds the tokens that are complete before it."""
        after = self._after
        for char in text:
            while (child := node.get(char)) is None:
                if "" not in node:
                    self._grow(node)
                    continue
                tokens, node, _ = node[""]
                if node is None:
                    return None
                ids += tokens
            if child.__class__ is int:
                ids.append(child)
                node = after
            else:
                node = child
        return node

    def _step_of(self, node: dict) -> tuple:
        """The step of a node for a text whose next character it does not have."""
        if "" not in node:
            self._grow(node)
        return node[""]

    def _begin(self) -> None:
        """The two roots, of tokens that begin a word and of those that continue it, with their branches."""
        self._nodes, self._start, self._after = 0, {"": _ROOT}, {"": _ROOT}
        self._branch(self._start, self._first, 0, self._first)
        self._branch(self._after, self._later, 0, self._later)

    def _grow(self, node: dict) -> None:
        """Gives a node its branches and its step."""
        if self._nodes > MOST_NODES:
            self._begin()
        texts, depth, table = node["texts"]
        self._branch(node, texts, depth, table)
        node[""] = self._step(texts[0][:depth], table)  # behind the rest: an interrupted node grows again
        del node["texts"]

    def _branch(self, node: dict, texts: Iterable[str], depth: int, table: dict[str, int]) -> None:
        """Adds what is behind a node. texts: the tokens behind it."""
        longer: dict[str, list[str]] = {}
        for text in texts:
            if len(text) > depth:
                longer.setdefault(text[depth], []).append(text)
        for char, those in longer.items():
            if len(those) == 1 and len(those[0]) == depth + 1:  # a token that is the beginning of no other one
                node[char] = table[those[0]]
            else:
                node[char] = {"texts": (those, depth + 1, table)}
        self._nodes += len(longer) if depth else 0

    def _step(self, text: str, table: dict[str, int]) -> tuple:
        """The step of the node of this beginning of a token."""
        end = next((end for end in range(len(text), 0, -1) if text[:end] in table), 0)
        ids = [table[text[:end]]] if end else []
        node = self._follow(text[end:], self._after, ids) if end else None
        if node is None:
            return _NO_TOKENS
        ending = self._step_of(node)[2]
        return tuple(ids), node, None if ending is None else (*ids, *ending)


class PlainCharacters(dict):
    """For `str.translate`: a character's normal form, with spaces around what is a word by itself.

    Filled when a character is first met, by the readable form if any of its rules applies; all Chinese characters or
    all Korean syllables together. A character whose normal form depends on its neighbours (a mark that is sorted among
    others) becomes `IN_CONTEXT`.
    """

    def __init__(self, basic):
        super().__init__()
        self._basic = basic

    def words(self, text: str) -> list[str] | None:
        """The words of a text; None where the readable form must decide."""
        if self._basic.split_cjk and _CHINESE.fullmatch(text):
            return list(text.replace(" ", ""))
        if _CAPITAL_SIGMA in text and self._basic.lowercase:
            text = _with_small_sigmas(text)
        translated = text.translate(self)
        return None if IN_CONTEXT in translated else translated.split()

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if code in _IDEOGRAPHS:
            alone = self._basic.split_cjk
            self.update((other, f" {chr(other)} " if alone else chr(other)) for other in _IDEOGRAPHS)
        elif code in _SYLLABLES:
            cut = self._basic.strip_accents
            self.update((other, decompose(chr(other)) if cut else chr(other)) for other in _SYLLABLES)
        elif char in WHITESPACE:
            self[code] = " "
        else:
            self[code] = self._form(char) if char in _RULED or is_cjk(char) else char
        return self[code]

    def _form(self, char: str) -> str:
        words = [word.text for word in self._basic.words(char)]
        text = "".join(words)
        is_sorted = self._basic.strip_accents and any(COMBINING_CLASS.get(part, 0) for part in text)
        if is_sorted or (self._basic.lowercase and char == _CAPITAL_SIGMA) or any(map(str.isspace, text)):
            return IN_CONTEXT
        alone = self._basic.split_cjk and is_cjk(char)
        return "".join(f" {word} " if alone or word in PUNCTUATION else word for word in words)


def _with_small_sigmas(text: str) -> str:
    """Each Σ as ς or σ where its two neighbours decide (see `basic.lower_sigma`), else as it is."""
    parts = text.split(_CAPITAL_SIGMA)
    last = len(parts) - 2
    found = [parts[0]]
    for place, (before, behind) in enumerate(pairwise(parts)):
        one_before = before[-1:] or (_CAPITAL_SIGMA if place else "")
        one_behind = behind[:1] or (_CAPITAL_SIGMA if place < last else "")
        found += [_small_sigma(one_before, one_behind), behind]
    return "".join(found)


def _small_sigma(before: str, behind: str) -> str:
    """ς or σ between two characters, or Σ if they do not decide; an empty one is an end of the text."""
    if before in _NOT_DECIDING or behind in _NOT_DECIDING:
        return _CAPITAL_SIGMA
    return "ς" if before in CASED and behind not in CASED else "σ"
