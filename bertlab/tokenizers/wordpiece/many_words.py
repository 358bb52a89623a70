"""The tokens of many chunks that were not seen before, all at once: NumPy instead of a loop over words.

The same as `WordPieceTokenizer.words` and `split_word`, to the last code point; those are the readable form.

    characters    code points → their normal forms, from a table of all code points
    words         where each word starts and ends
    trie          each word follows the vocabulary's trie, one character per step, all words together

A word that cannot go on writes the longest token it has passed to the place where that token starts, and continues at
the token's end. So the tokens are in order when all words are done. Greedy longest match in a trie: Song et al. 2021,
"Fast WordPiece Tokenization", section 3; without its failure links, since a step costs little for many words at once.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from bertlab.tokenizers.wordpiece.characters import IN_CONTEXT, PlainCharacters
from bertlab.tokenizers.wordpiece.encoding import range_indices
from bertlab.tokenizers.wordpiece.longest_match import LongestMatch
from bertlab.tokenizers.wordpiece.unicode import (
    CASE_IGNORABLE,
    CASED,
    CJK_RANGES,
    COMBINING_CLASS,
    DROPPED,
    LOWERCASE,
    NONSPACING_MARKS,
    PUNCTUATION,
    WHITESPACE,
    decomposable,
)

SLICE_CHARS = 1 << 16  # worked through at once: the arrays stay in the processor's cache
FEW_WORDS = 32  # below it, plain Python is faster than NumPy
MAX_LETTERS = 4  # that one character becomes
CODE_BITS = 21  # a code point has at most 21 bits
LETTER, ALONE, SEVERAL, SIGMA, SPACE, EMPTY, CONTEXT, NOT_YET = range(8)  # what a character becomes
_FIRST, _LATER = 0, 1  # roots of the trie: of tokens that begin a word, and of those that continue it
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / golden ratio: spreads keys evenly (Knuth, TAOCP volume 3, section 6.4)


class ManyWords:
    """Chunks of text to tokens, for one tokenizer's rules."""

    def __init__(self, plain: PlainCharacters, match: LongestMatch, split_cjk: bool, pieces: Sequence[str]):
        self._forms = CharacterForms(plain, split_cjk)
        self._trie = Trie(pieces)
        self._match = match

    def ids(self, chunks: Sequence[str]) -> tuple[np.ndarray, np.ndarray, list[int]]:
        """The tokens of all chunks, (tokens,) int32; how many each has, (chunks,) int64; what is void of these.

        Void are the chunks in which a character's form depends on its neighbours: the readable form has to cut them.
        """
        codes = code_points(" ".join(chunks))  # (characters,)
        ends = np.cumsum(_lengths(chunks) + 1) - 1  # (chunks,)
        kinds = self._forms.kinds_of(codes)
        void = np.searchsorted(ends, np.flatnonzero(kinds == CONTEXT), "right")
        codes, kinds, sizes = self._forms.expand(codes, kinds)
        starts, word_ends = word_bounds(kinds)  # (words,)
        found = np.full(len(codes), -1, np.int32)  # at the first character of each token: its id
        self._cut(codes, starts, word_ends, found)
        indices = np.flatnonzero(found >= 0)  # (tokens,)
        last = np.cumsum(sizes)[ends - 1]  # (chunks,) where each chunk's characters end
        return found[indices], np.diff(np.searchsorted(indices, last), prepend=0), np.unique(void).tolist()

    def _cut(self, codes: np.ndarray, starts: np.ndarray, ends: np.ndarray, found: np.ndarray) -> None:
        """Writes the tokens of all words to `found`."""
        too_long = ends - starts > self._match.max_chars
        found[starts[too_long]] = self._match.unknown_id
        starts, ends = starts[~too_long], ends[~too_long]
        dead, rest = self._trie.walk(codes, starts, ends, found)
        found[range_indices(starts[dead], ends[dead] - starts[dead])] = -1
        found[starts[dead]] = self._match.unknown_id
        for start, end in zip(starts[rest].tolist(), ends[rest].tolist()):
            ids = self._match.ids("".join(map(chr, codes[start:end].tolist())))
            found[start:end] = -1
            found[start : start + len(ids)] = ids


def slices(chunks: list[str]) -> Iterator[list[str]]:
    """The chunks in parts of about SLICE_CHARS characters."""
    ends = np.cumsum(_lengths(chunks)) // SLICE_CHARS
    bounds = [0, *(np.flatnonzero(np.diff(ends)) + 1).tolist(), len(chunks)]
    return (chunks[start:end] for start, end in pairwise(bounds))


def code_points(text: str) -> np.ndarray:
    """The code points of a text, (characters,) int32."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32)


def word_bounds(kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first place of each word, and the first one behind it, both (words,). kinds: LETTER, ALONE or SPACE, (n,)."""
    after_letter = np.concatenate([[False], kinds[:-1] == LETTER])
    before_letter = np.concatenate([kinds[1:] == LETTER, [False]])
    letter, alone = kinds == LETTER, kinds == ALONE
    return np.flatnonzero(alone | letter & ~after_letter), np.flatnonzero(alone | letter & ~before_letter) + 1


class CharacterForms:
    """The normal form of each code point: a table of all of them, filled when a character is first met.

    Only characters that some rule changes are asked about; the others are letters that stay as they are.
    """

    def __init__(self, plain: PlainCharacters, split_cjk: bool):
        self._plain = plain
        self._kinds = np.full(sys.maxunicode + 1, LETTER, np.uint8)
        self._codes = np.arange(sys.maxunicode + 1, dtype=np.int32)  # the normal form; of SEVERAL: a row of _several
        self._several = np.zeros((0, MAX_LETTERS), np.int32)  # normal forms, filled up with -1
        if split_cjk:
            for first, last in CJK_RANGES:
                self._kinds[first : last + 1] = ALONE
        changed = PUNCTUATION | NONSPACING_MARKS | LOWERCASE.keys() | COMBINING_CLASS.keys() | decomposable()
        for chars, kind in ((changed, NOT_YET), (WHITESPACE, SPACE), (DROPPED, EMPTY)):
            self._kinds[np.fromiter(map(ord, chars), np.int32, len(chars))] = kind

    def kinds_of(self, codes: np.ndarray) -> np.ndarray:
        """The kinds of these code points: (characters,) → (characters,) uint8."""
        kinds = self._kinds[codes]
        new = kinds == NOT_YET
        if not new.any():
            return kinds
        several = []
        for code in np.unique(codes[new]).tolist():
            self._kinds[code], letters = self._form(code)
            self._codes[code] = letters[0] if len(letters) == 1 else len(self._several) + len(several)
            if len(letters) > 1:
                several.append(letters + [-1] * (MAX_LETTERS - len(letters)))
        self._several = np.concatenate([self._several, np.array(several, np.int32).reshape(-1, MAX_LETTERS)])
        return self._kinds[codes]

    def _form(self, code: int) -> tuple[int, list[int]]:
        """The kind of one character, and the letters that it becomes."""
        form = self._plain[code]
        if chr(code) == "Σ" and form == IN_CONTEXT:
            return SIGMA, [ord("σ")]
        letters = [ord(char) for char in form if char != " "]
        if not letters:
            return EMPTY, letters
        if IN_CONTEXT in form or len(letters) > MAX_LETTERS or (len(letters) > 1 and " " in form):
            return CONTEXT, []
        if len(letters) > 1:
            return SEVERAL, letters
        return ALONE if " " in form else LETTER, letters

    def expand(self, codes: np.ndarray, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Codes and kinds, (n,) → those of the normal forms, (m,) twice; how many each character became, (n,)."""
        sizes = (kinds <= SPACE).astype(np.int64)  # (n,)
        several = np.flatnonzero(kinds == SEVERAL)
        letters = self._several[self._codes[codes[several]]]  # (several, MAX_LETTERS)
        sizes[several] = (letters >= 0).sum(axis=1)
        forms = self._codes[codes]  # (n,)
        if (kinds == SIGMA).any():
            forms[final_sigmas(codes, kinds)] = ord("ς")
        normal = np.repeat(forms, sizes)  # (m,)
        starts = np.cumsum(sizes) - sizes  # (n,)
        normal[range_indices(starts[several], sizes[several])] = letters[letters >= 0]
        is_letter = (kinds == SEVERAL) | (kinds == SIGMA)
        return normal, np.repeat(np.where(is_letter, np.uint8(LETTER), kinds), sizes), sizes


def final_sigmas(codes: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """The places of Σ at the end of a word, which become ς: see `bertlab.tokenizers.wordpiece.basic.lower_sigma`."""
    is_cased, is_ignored = _sigma_tables()
    indices = np.flatnonzero(~is_ignored[codes])  # characters that decide
    cased = np.concatenate([[False], is_cased[codes[indices]], [False]])
    sigmas = np.flatnonzero(kinds == SIGMA)
    before = np.searchsorted(indices, sigmas)  # 0: nothing before decides
    after = np.searchsorted(indices, sigmas, "right") + 1
    return sigmas[cased[before] & ~cased[after]]


@cache
def _sigma_tables() -> tuple[np.ndarray, np.ndarray]:
    """Two tables of all code points: which are cased, and which are ignored around a sigma."""
    tables = np.zeros((2, sys.maxunicode + 1), bool)
    for table, chars in zip(tables, (CASED, CASE_IGNORABLE | DROPPED)):
        table[np.fromiter(map(ord, chars), np.int32, len(chars))] = True
    return tables[0], tables[1]


class Trie:
    """The vocabulary as a trie: a state for every beginning of a token; a hash table leads from state to state.

    A key is a state and a character. Which slot of the table a key gets is decided by its hash; where several keys
    have the same one, they are in the slots behind it, at most `_probes` away.
    """

    def __init__(self, pieces: Sequence[str]):
        later = [number for number, piece in enumerate(pieces) if piece.startswith("##") and len(piece) > 2]
        texts = [*pieces, *(pieces[number][2:] for number in later)]
        ids = np.array([*range(len(pieces)), *later], np.int32)  # (texts,)
        states = np.repeat([_FIRST, _LATER], [len(pieces), len(later)])  # (texts,)
        lengths = _lengths(texts)
        codes, starts = code_points("".join(texts)), np.cumsum(lengths) - lengths
        keys, count = [], 2
        for depth in range(lengths.max()):
            longer = np.flatnonzero(lengths > depth)
            new, inverse = np.unique(_keys(states[longer], codes[starts[longer] + depth]), return_inverse=True)
            states[longer] = count + inverse
            keys.append(new)
            count += len(new)
        self._ids = np.full(count, -1, np.int32)  # the token that ends in a state
        self._ids[states] = ids
        self._fill(np.concatenate(keys))

    def _fill(self, keys: np.ndarray) -> None:
        """Puts the keys of the states 2, 3, … into the table."""
        bits = max(4, (8 * len(keys)).bit_length())
        self._shift = np.uint64(64 - bits)
        self._keys = np.full((1 << bits) + len(keys), -1, np.int64)
        self._next = np.zeros(len(self._keys), np.int32)
        rest, self._probes = np.arange(len(keys)), 0
        while len(rest):
            slots = self._slots(keys[rest]) + self._probes
            free = np.flatnonzero(self._keys[slots] < 0)
            slots, first = np.unique(slots[free], return_index=True)
            self._keys[slots] = keys[rest[free[first]]]
            self._next[slots] = rest[free[first]] + 2
            rest = np.delete(rest, free[first])
            self._probes += 1

    def _slots(self, keys: np.ndarray) -> np.ndarray:
        return (keys.view(np.uint64) * _MIX >> self._shift).view(np.int64)

    def step(self, states: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """The state behind each state and character, (words,); 0 where the trie has none."""
        keys = _keys(states, codes)
        slots = self._slots(keys)
        found = self._keys[slots]
        result = np.where(found == keys, self._next[slots], 0)
        rest = np.flatnonzero((found != keys) & (found >= 0))
        for _ in range(1, self._probes):
            if not len(rest):
                break
            slots[rest] += 1
            found = self._keys[slots[rest]]
            hit = found == keys[rest]
            result[rest[hit]] = self._next[slots[rest[hit]]]
            rest = rest[~hit & (found >= 0)]
        return result

    def walk(self, codes: np.ndarray, starts: np.ndarray, ends: np.ndarray, found: np.ndarray) -> tuple:
        """Cuts the words codes[starts:ends] into tokens, and writes each token's id to `found` where it starts.

        Returns the numbers of the words that have no tokens, and of those that were not finished because so few of
        them were left; what `found` holds for either is void.
        """
        words, dead = np.arange(len(starts)), []
        positions, begins, states = starts.copy(), starts.copy(), np.full(len(starts), _FIRST)
        ids, id_ends = np.full(len(starts), -1, np.int32), starts.copy()  # the longest token since `begins`
        while len(words) >= FEW_WORDS:
            states = self.step(states, codes[positions])
            positions += 1
            token = self._ids[states]
            longer = token >= 0
            ids[longer], id_ends[longer] = token[longer], positions[longer]
            stop = np.flatnonzero((states == 0) | (positions == ends))  # words whose longest token is known
            found[begins[stop]] = ids[stop]
            positions[stop] = begins[stop] = id_ends[stop]
            none = ids[stop] < 0
            dead.append(words[stop[none]])
            states[stop], ids[stop] = _LATER, -1
            over = stop[none | (id_ends[stop] == ends[stop])]
            if len(over):
                words, positions, begins, states, ids, id_ends, ends = (
                    np.delete(array, over) for array in (words, positions, begins, states, ids, id_ends, ends)
                )
        return np.concatenate([*dead, np.zeros(0, np.int64)]).astype(np.int64), words


def _keys(states: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return states.astype(np.int64) << CODE_BITS | codes


def _lengths(texts: Sequence[str]) -> np.ndarray:
    return np.fromiter(map(len, texts), np.int64, len(texts))
