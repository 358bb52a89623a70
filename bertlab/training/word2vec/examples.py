"""From documents to batches: frequent words thinned out, a window around each position, negatives drawn.

Documents of any size become one file of ids, which is then read in parts of about a million words:

    FOLDER/ids.bin        int32: the ids of the words in their order, −1 between two paragraphs
    FOLDER/words.json     the words, most frequent first, and how often each is in the text
    FOLDER/left_out.json  reason → number of texts that could not be read

Rare words are left out, as in word2vec's program: the words on both sides of one become neighbours. Each draw follows
from the seed, the epoch, the part and the batch alone, so that a run that was killed sees the same batches again.

Letters: N words of a part, P positions of a batch, W the largest window, K negatives, V vocabulary.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.common.errors import DataError
from bertlab.common.files import read_json, remove_files, write_atomically, write_json
from bertlab.data.documents import Document
from bertlab.tokenizers.wordpiece.basic import BasicTokenizer
from bertlab.tokenizers.wordpiece.fast import ChunkTable, FastWords, chunks_of
from bertlab.training.word2vec.settings import Word2VecSettings

IDS, WORDS, RAW, LEFT_OUT = "ids.bin", "words.json", "raw.bin", "left_out.json"
BREAK = -1  # between two paragraphs: no window reaches across it
_RARE = -2
WORDS_BATCH_SIZE = 1 << 20

# === The stored text ===


@dataclass(frozen=True)
class StoredText:
    """A text as ids. words: V of them. counts: (V,) int64, how often each is in `ids`. ids: int32, on the disk."""

    words: list[str]
    counts: np.ndarray
    ids: np.ndarray


def store_text(documents: Iterable[Document], folder: Path, settings: Word2VecSettings, advance=lambda: None) -> None:
    """Writes the ids and words of documents. advance: called after each document.

    Raises DataError for a text with fewer than two words that are frequent enough.
    """
    folder.mkdir(parents=True, exist_ok=True)
    raw = folder / RAW
    counts = _write_all(documents, raw, BasicTokenizer(settings.lowercase), advance)
    kept = [pair for pair in counts.most_common(settings.most_words) if pair[1] >= settings.min_count]
    if len(kept) < 2:
        raise DataError(
            f"expected at least two words that are in the text {settings.min_count} times, got {len(kept)} of "
            f"{len(counts):,} words; give more text, or a lower min_count"
        )
    new_ids = np.full(len(counts) + 1, _RARE, "int32")  # by number of first appearance; the last is that of −1
    new_ids[BREAK] = BREAK
    numbers = {word: number for number, word in enumerate(counts)}
    new_ids[[numbers[word] for word, _ in kept]] = np.arange(len(kept))

    def write(partial: Path) -> None:
        with open(raw, "rb") as source, open(partial, "wb") as file:
            while len(part := np.fromfile(source, "int32", WORDS_BATCH_SIZE)):
                ids = new_ids[part]
                ids[ids != _RARE].tofile(file)

    write_atomically(folder / IDS, write)
    raw.unlink()
    write_json(folder / WORDS, kept)


def open_text(folder: Path) -> StoredText:
    """The text that `store_text` has written."""
    words, counts = zip(*read_json(folder / WORDS))
    return StoredText(list(words), np.array(counts, "int64"), np.memmap(folder / IDS, "int32", "r"))


def remove_text(folder: Path) -> None:
    """Deletes the files of a stored text, and the folder unless it holds anything else."""
    names = (RAW, IDS, WORDS, LEFT_OUT)
    remove_files(folder, (*names, *(f".{name}.*.partial" for name in names)))


def _write_all(documents: Iterable[Document], path: Path, basic: BasicTokenizer, advance) -> Counter:
    """Writes the number of every word, by first appearance; returns the words' counts in this order."""
    counts: Counter = Counter()
    numbers: dict[str, int] = {}
    words_of = ChunkTable(FastWords(basic))
    with open(path, "wb") as file:
        for document in documents:
            ids = array("i")
            for paragraph in document.paragraphs:
                for chunk in chunks_of(" ".join(paragraph)):
                    for word in words_of[chunk]:
                        counts[word] += 1
                        ids.append(numbers.setdefault(word, len(numbers)))
                ids.append(BREAK)
            ids.tofile(file)
            advance()
    return counts


# === The batches ===


def keep_probabilities(counts: np.ndarray, subsampling: float) -> np.ndarray:
    """The probability that each word is read: min(1, √(t / f)) for a word of frequency f. (V,) → (V,).

    t, the subsampling: Mikolov et al. 2013b, section 2.3, equation 5; 0 reads every word.

    Example:
        >>> keep_probabilities(np.array([75, 25]), 0.25).round(3).tolist()
        [0.577, 1.0]
    """
    if not subsampling:
        return np.ones(len(counts))
    return np.minimum(1.0, np.sqrt(subsampling * counts.sum() / counts))


def negative_probabilities(counts: np.ndarray, power: float) -> np.ndarray:
    """The probability that each word is drawn as a negative, by count^power (section 2.2 there: 3/4). (V,) → (V,).

    Example:
        >>> negative_probabilities(np.array([16, 1]), 0.75).round(3).tolist()
        [0.889, 0.111]
    """
    weights = counts.astype("float64") ** power
    return weights / weights.sum()


class Examples:
    """The batches of a text.

    A batch has the words around each position and the words to score:
        context (P, 2W) int32, context_weights (P, 2W) float32: 1 for a word of the window;
        targets (P, 1 + K) int32: the word at the position, then negatives; target_weights (P, 1 + K) float32: 0 for a
        negative that is the word itself, which is no mistake.
    The last batch of a part is filled up with positions whose weights are 0. The words of a window share the
    position's negatives (Ji et al. 2016, "Parallelizing Word2Vec in Shared and Distributed Memory"): the expected loss
    is that of negatives drawn for each pair, and fewer vectors are read.
    """

    def __init__(self, text: StoredText, settings: Word2VecSettings, words_together: int = WORDS_BATCH_SIZE):
        self.text, self.settings, self.words_together = text, settings, words_together
        self.keep = keep_probabilities(text.counts, settings.subsampling)
        self._up_to = np.cumsum(negative_probabilities(text.counts, settings.power))
        self._up_to[-1] = 1.0  # in spite of rounding

    @property
    def parts(self) -> int:
        """The number of parts."""
        return -(-len(self.text.ids) // self.words_together)

    def part(self, epoch: int, number: int) -> "Part":
        """A part of the text with its draws, for an epoch counted from 0."""
        return Part(self, epoch, number)

    def negatives(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Words drawn by `negative_probabilities`, int32."""
        return np.searchsorted(self._up_to, rng.random(shape), side="right").astype("int32")


class Part:
    """One part: its words that are read, in their order; its positions, in a random one."""

    def __init__(self, examples: Examples, epoch: int, number: int):
        self.examples, settings = examples, examples.settings
        self._seed = (settings.seed, epoch, number)
        rng = np.random.default_rng(self._seed)
        start = number * examples.words_together
        ids = np.array(examples.text.ids[start : start + examples.words_together])  # (N,)
        is_read = (ids == BREAK) | (rng.random(len(ids)) < examples.keep[ids])
        self.ids = ids[is_read]
        self.paragraphs = np.cumsum(self.ids == BREAK)
        self.order = rng.permutation(np.flatnonzero(self.ids != BREAK))

    @property
    def batches(self) -> int:
        """The number of batches."""
        return -(-len(self.order) // self.examples.settings.batch_size)

    def from_batch(self, first: int) -> Iterator[dict[str, np.ndarray]]:
        """The batches from this one on."""
        for number in range(first, self.batches):
            yield self.batch(number)

    def batch(self, number: int) -> dict[str, np.ndarray]:
        """The batch of this number: see `Examples`."""
        settings = self.examples.settings
        rng = np.random.default_rng((*self._seed, number + 1))  # a 0 at the end would repeat the part's own draws
        size = settings.batch_size
        at = self.order[number * size : (number + 1) * size]
        at, is_filled = np.pad(at, (0, size - len(at))), np.arange(size) >= len(at)
        context, weights = self._windows(at, rng.integers(1, settings.window + 1, size))
        weights[is_filled] = 0
        words = self.ids[at][:, None]  # (P, 1)
        negatives = self.examples.negatives(rng, (size, settings.negatives))
        targets = np.concatenate([words, negatives], axis=1)
        is_counted = np.concatenate([np.ones_like(words), negatives != words], axis=1)
        return {
            "context": context, "context_weights": weights, "targets": targets,
            "target_weights": is_counted.astype("float32"),
        }  # fmt: skip

    def _windows(self, at: np.ndarray, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The words at most `reach` (P,) away from `at` (P,), in the same paragraph: ids and weights, (P, 2W) each."""
        widest = self.examples.settings.window
        steps = np.concatenate([np.arange(-widest, 0), np.arange(1, widest + 1)])
        positions = at[:, None] + steps  # (P, 2W)
        inside = np.clip(positions, 0, len(self.ids) - 1)
        is_context = (positions == inside) & (np.abs(steps) <= reach[:, None])
        is_context &= (self.ids[inside] != BREAK) & (self.paragraphs[inside] == self.paragraphs[at][:, None])
        return np.where(is_context, self.ids[inside], 0), is_context.astype("float32")
