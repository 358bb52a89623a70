"""The senses of a word, layer by layer: is the nearest other example of the word one of the same sense?

Each example is a sentence in which the word is marked. Its vector is the mean of the word's tokens at a layer (Reif et
al. 2019, "Visualizing and Measuring the Geometry of BERT", section 4.1, classify senses by neighbours in this way).
Vectors of one word mostly point into the same direction, so their mean is subtracted before the cosine is taken.

At layer 0 a vector contains the word's position and nothing of its context: compare examples with equal positions.

Letters: L layers, N examples, H hidden size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.analysis.readings import read_text
from bertlab.common.errors import DataError
from bertlab.data.tasks.formats import read_lines
from bertlab.tokenizers.wordpiece.encoding import text_column

MARK = "*"
_ROUNDING = 1e-6  # of float32


@dataclass(frozen=True)
class SenseExample:
    """A sentence, the characters [start, end) of the word in it, and the name of its sense."""

    sense: str
    text: str
    start: int
    end: int

    @classmethod
    def marked(cls, sense: str, text: str) -> "SenseExample":
        """From a text with the word between asterisks. Raises DataError for a text without exactly one marked word.

        Example:
            >>> SenseExample.marked("river", "They sat on the *bank*.")
            SenseExample(sense='river', text='They sat on the bank.', start=16, end=20)
        """
        parts = text.split(MARK)
        if len(parts) != 3 or not parts[1].strip():
            raise DataError(f"expected one word between asterisks, such as *bank*, got {text!r}")
        return cls(sense, "".join(parts), len(parts[0]), len(parts[0]) + len(parts[1]))


def read_senses(path: str | Path) -> list[SenseExample]:
    """The examples of a text file: on each line a sense, a tab, and a sentence with the word between asterisks.

    Raises DataError, naming file and line: no such file, not UTF-8, no tab, not one marked word; and for a file with
    fewer than two examples.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file; give lines with a sense, a tab and a sentence with the word as *word*")
    examples = []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        sense, tab, text = line.partition("\t")
        if not tab or not sense.strip():
            raise DataError(f"{path} line {number}: expected a sense, a tab and a sentence, got {line!r}")
        try:
            examples.append(SenseExample.marked(sense.strip(), text.strip()))
        except DataError as error:
            raise DataError(f"{path} line {number}: {error}") from None
    if len(examples) < 2:
        raise DataError(f"{path}: expected at least two examples, got {len(examples)}")
    return examples


def sense_vectors(encoder, tokenizer, examples: Sequence[SenseExample]) -> np.ndarray:
    """The marked words' vectors at every layer, (L + 1, N, H) float32; layer 0 are the embeddings.

    encoder: a `Backbone`.   tokenizer: its tokenizer.
    Raises DataError for a text that is too long, or whose marked word has no token.
    """
    vectors, begin = [], text_column(tokenizer.vocabulary)
    for example in examples:
        offsets = np.asarray(tokenizer.encode_with_offsets(example.text, special_tokens=True).offsets).reshape(-1, 2)
        inside = (offsets[:, 0] < example.end) & (offsets[:, 1] > example.start)
        if not inside.any():
            word = example.text[example.start : example.end]
            raise DataError(f"{word!r} has no token in {example.text!r}; mark another word")
        states = read_text(encoder, tokenizer, example.text).states  # (L + 1, T, H)
        vectors.append(states[:, begin : begin + len(inside)][:, inside].mean(axis=1))
    return np.stack(vectors, axis=1)


def nearest_examples(vectors: np.ndarray) -> np.ndarray:
    """The most similar other example of each example, by centred cosine. vectors: (…, N, H) → (…, N) int64.

    Example:
        >>> nearest_examples(np.array([[2.0, 1.0], [2.0, 1.2], [-1.0, 1.0], [-1.0, 0.9]])).tolist()
        [1, 0, 3, 2]
    """
    return _cosines(vectors).argmax(axis=-1)


def sense_accuracy(vectors: np.ndarray, senses: Sequence[str]) -> np.ndarray:
    """The fraction of examples whose nearest other example has the same sense. vectors: (…, N, H) → (…) float64.

    Where several are equally near, as at layer 0 with equal positions, the fraction of them with that sense counts.
    """
    senses = np.asarray(senses)
    cosines = _cosines(vectors)  # (…, N, N)
    nearest = cosines >= cosines.max(axis=-1, keepdims=True) - _ROUNDING
    same = senses[:, None] == senses  # (N, N)
    return ((nearest & same).sum(axis=-1) / nearest.sum(axis=-1)).mean(axis=-1)


def _cosines(vectors: np.ndarray) -> np.ndarray:
    """Centred cosines, (…, N, N), −∞ for an example with itself; 0 for a vector that equals the mean."""
    vectors = np.asarray(vectors, "float64")
    centred = vectors - vectors.mean(axis=-2, keepdims=True)
    norms = np.linalg.norm(centred, axis=-1, keepdims=True)
    nothing = norms <= _ROUNDING * np.linalg.norm(vectors, axis=-1, keepdims=True)
    units = np.where(nothing, 0.0, centred / np.where(nothing, 1.0, norms))
    cosines = units @ np.swapaxes(units, -1, -2)
    itself = np.arange(vectors.shape[-2])
    cosines[..., itself, itself] = -np.inf
    return cosines


def plane(vectors: np.ndarray) -> np.ndarray:
    """The first two principal components, to draw. vectors: (N, H) → (N, 2); signs are arbitrary."""
    centred = vectors - vectors.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    points = np.zeros((len(vectors), 2))
    count = min(2, len(sizes))
    points[:, :count] = left[:, :count] * sizes[:count]
    return points
