"""Learns a WordPiece vocabulary: start from single characters, merge the best pair of neighbours, repeat.

The algorithm is that of Schuster and Nakajima 2012, "Japanese and Korean Voice Search", section 3, in the count form
in which it is usually taught: every word is spelled in characters ("hug" → h ##u ##g), then the neighbouring pair
with the highest score

    wordpiece   count(ab) / (count(a) · count(b))      how much more often a meets b than chance would have it
    frequency   count(ab)                              byte-pair encoding's choice (Sennrich et al. 2016)

becomes one token, everywhere, until the vocabulary is full. The learner that made BERT's own vocabularies was never
published. Its counting is in `learner_counting`, its merging in `learner_merges`.

**Why the plain ratio needs `min_frequency`.** Two characters that occur once in the whole corpus, side by side, score 1
/ (1 · 1) = 1, the highest score there is; "t" + "##h", seen a million times among many other t's and h's, scores about
one in a million. Left alone, the ratio spends the vocabulary on the rarest words: on 43 MB of novels its first merges
are the digits of years, and 8,000 tokens need 2.9 tokens per word where the frequency needs 1.13
(`benchmarks/tokenizers/vocabulary.py`). `min_frequency` leaves out all pairs seen less often. Too low, and rare pairs
win; too high, and no pair is left before the vocabulary is full. So by default it falls: it starts at the count of the
most frequent pair and is halved whenever no pair reaches it. Pairs of about the same frequency are then ranked by the
ratio, and the vocabulary fits within 1% as well as the frequency's (1.14 tokens per word).
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

from bertlab.common.errors import ConfigError, DataError
from bertlab.common.progress import bar
from bertlab.tokenizers.wordpiece.learner_counting import count_words, read_texts
from bertlab.tokenizers.wordpiece.learner_merges import JOINER, SCORES, Merger
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary

MIN_FREQUENCY = 2  # where a falling min_frequency ends

__all__ = ["LearnedPieces", "count_words", "learn_from_counts", "learn_pieces", "learn_vocabulary", "read_texts"]


@dataclass(frozen=True)
class LearnedPieces:
    """The result of one run of the learner. A smaller vocabulary is a shorter part of the same run."""

    fixed: tuple[str, ...]  # special tokens, then [unused0] …
    alphabet: tuple[str, ...]  # characters, then characters with ##; each by code point
    merges: tuple[tuple[str, str], ...]  # the two tokens that became one, in the order of merging
    pieces: tuple[str, ...]  # fixed + alphabet + every merge's result, each once: a vocabulary's ids

    @property
    def smallest(self) -> int:
        """The size of the smallest vocabulary, which has no merges."""
        return len(self.fixed) + len(self.alphabet)

    def vocabulary(self, size: int | None = None) -> Vocabulary:
        """The vocabulary that learning would have given for `size` tokens, or for all.

        Raises ConfigError if that is fewer than special tokens and alphabet need.
        """
        size = len(self.pieces) if size is None else size
        _check_size(size, self.smallest)
        return Vocabulary(self.pieces[:size])


def learn_vocabulary(
    texts: Iterable[str],
    size: int,
    *,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    workers: int = 1,
    max_words: int | None = None,
    progress: bool = True,
    **settings,
) -> Vocabulary:
    """Learns a vocabulary of `size` tokens from text.

    texts: any iterable of strings, read once; for files ``learn_vocabulary(read_texts(paths), 8000)``.
    lowercase, strip_accents, workers, max_words: see `count_words`.
    settings: see `learn_pieces`.
    Returns a Vocabulary: special tokens, reserved tokens, alphabet, then the merges' results in order, intermediate
    ones included ("th" stays when "the" is made of it). Where the corpus has too few pairs it is smaller than `size`.
    """
    counting = dict(lowercase=lowercase, strip_accents=strip_accents, workers=workers, max_words=max_words)
    counts = count_words(texts, progress=progress, **counting)
    return learn_from_counts(counts, size, progress=progress, **settings)


def learn_from_counts(word_counts: Mapping[str, int], size: int, **settings) -> Vocabulary:
    """Learns a vocabulary from words and their counts, as `count_words` gives them. settings: see `learn_pieces`."""
    return learn_pieces(word_counts, size, **settings).vocabulary()


def learn_pieces(
    word_counts: Mapping[str, int],
    size: int,
    *,
    score: str = "wordpiece",
    min_frequency: int | None = None,
    alphabet_limit: int = 1000,
    special_tokens: tuple[str, ...] = SPECIAL_TOKENS,
    reserved: int = 0,
    max_chars_per_word: int = 200,
    progress: bool = True,
) -> LearnedPieces:
    """Learns the tokens of a vocabulary and keeps the merges, so that smaller vocabularies can be cut from it.

    word_counts: word → count, words as the basic tokenizer gives them (no "#" together with other characters).
    size: tokens wanted, special and reserved tokens included.
    score: "wordpiece" or "frequency"; see this module's first lines. Scores are float64 (two ratios that agree to
        16 digits count as equal). Of equal scores the pair seen more often wins, then the one that comes first when
        (left, right) are compared code point by code point.
    min_frequency: pairs seen fewer times are never merged. None: it falls, as described at the top of this module, down
        to 2; with score "frequency" that is the same as 2.
    alphabet_limit: characters kept, the most frequent ones (of equal ones the lower code point). A word with any
        other character takes no part, as the tokenizer will turn it into [UNK] as a whole.
    reserved: number of [unused0], [unused1] … after the special tokens, places to fill later.
    max_chars_per_word: longer words take no part; they are [UNK] for the tokenizer as well.
    Raises ConfigError for settings that contradict one another, DataError for a word that holds "#" and more.
    """
    _check_settings(score, min_frequency, alphabet_limit, reserved)
    fixed = (*special_tokens, *(f"[unused{number}]" for number in range(reserved)))
    words = {word: count for word, count in word_counts.items() if 0 < len(word) <= max_chars_per_word and count > 0}
    _check_words(words)
    alphabet, words = _limit_alphabet(words, alphabet_limit)
    pieces = dict.fromkeys((*fixed, *alphabet))
    _check_size(size, len(pieces))
    merges = []
    merger = Merger(words, alphabet, score)
    best_pairs = _best_pairs(merger, min_frequency)
    with bar("Merging pairs", total=size, start=len(pieces)) if progress else nullcontext() as running:
        while len(pieces) < size and (pair := next(best_pairs, None)) is not None:
            merges.append(merger.pieces_of(pair))
            before, piece = len(pieces), merger.merge(pair)
            pieces.setdefault(piece)
            if running:
                running.advance(len(pieces) - before, note=piece)
    return LearnedPieces(fixed, tuple(alphabet), tuple(merges), tuple(pieces))


def _best_pairs(merger: Merger, min_frequency: int | None) -> Iterator[int]:
    """Yields the pair to merge now, as long as there is one; the caller merges it before asking for the next."""
    threshold = max(merger.highest_count(), MIN_FREQUENCY) if min_frequency is None else min_frequency
    merger.require(threshold)
    while True:
        if (pair := merger.best_pair()) is not None:
            yield pair
        elif min_frequency is None and threshold > MIN_FREQUENCY:
            threshold = max(threshold // 2, MIN_FREQUENCY)
            merger.require(threshold)
        else:
            return


def _limit_alphabet(words: dict[str, int], limit: int) -> tuple[list[str], dict[str, int]]:
    """Returns the tokens of one character, and the words that can be spelled in them.

    A character gets its form with ## if it was ever seen in a word of two or more characters; one that always is
    alone (punctuation, a Chinese character) does not need it. Every kept character gets its bare form.
    """
    counts, in_company = {}, set()
    for word, count in words.items():
        for character in word:
            counts[character] = counts.get(character, 0) + count
        if len(word) > 1:
            in_company.update(word)
    kept = set(sorted(counts, key=lambda character: (-counts[character], character))[:limit])
    alphabet = sorted(kept) + [JOINER + character for character in sorted(kept & in_company)]
    return alphabet, {word: count for word, count in words.items() if kept.issuperset(word)}


# --- checks ---


def _check_words(words: Iterable[str]) -> None:
    for word in words:
        if JOINER[0] in word and len(word) > 1:
            raise DataError(
                f"word {word!r}: expected words without #: the basic tokenizer splits at #, because ## marks "
                "tokens that continue a word; count words with count_words"
            )


def _check_settings(score: str, min_frequency: int | None, alphabet_limit: int, reserved: int) -> None:
    if score not in SCORES:
        raise ConfigError(f"unknown score {score!r}; choose one of {', '.join(SCORES)}")
    for name, value, least in (
        ("min_frequency", MIN_FREQUENCY if min_frequency is None else min_frequency, 1),
        ("alphabet_limit", alphabet_limit, 1),
        ("reserved", reserved, 0),
    ):
        if value < least:
            raise ConfigError(f"{name} must be at least {least}, not {value}")


def _check_size(size: int, smallest: int) -> None:
    if size < smallest:
        raise ConfigError(
            f"size must be at least {smallest} (the special tokens and the alphabet), not {size}: "
            "choose a larger size or a smaller alphabet_limit"
        )
