"""A report on how well a vocabulary fits a text: three numbers per vocabulary, and a plot of them against its size.

    coverage    fraction of the text's words that are one token
    fertility   tokens per word; 1 would be a vocabulary of all words (the term is that of Ács 2019 and Rust et al.
                2021, "How Good is Your Tokenizer?", section 3)
    unknown     fraction of the words that become [UNK], because a character is in no token

Words are counted as often as they occur, and [UNK] is one token.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.common.errors import DataError
from bertlab.tokenizers.wordpiece.learner import LearnedPieces
from bertlab.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
from bertlab.tokenizers.wordpiece.vocabulary import UNK, Vocabulary

_ROUND_SIZES = [digit * 10**power for power in range(1, 7) for digit in (1, 2, 5)]


@dataclass(frozen=True)
class VocabularyReport:
    """One vocabulary measured on one text."""

    size: int  # tokens in the vocabulary
    words: int  # words in the text
    coverage: float  # 0 … 1
    fertility: float  # tokens per word
    unknown: float  # 0 … 1


def measure(vocabulary: Vocabulary, word_counts: Mapping[str, int]) -> VocabularyReport:
    """Measures a vocabulary on words and their counts (see `count_words`). Raises DataError if there are no words."""
    words = sum(word_counts.values())
    if not words:
        raise DataError("expected a text with at least one word to measure on")
    split = WordPieceTokenizer(vocabulary).split_word
    pieces = whole = unknown = 0
    for word, count in word_counts.items():
        found = split(word)
        pieces += count * len(found)
        unknown += count * (found == [UNK])
        whole += count * (found == [word])
    return VocabularyReport(len(vocabulary), words, whole / words, pieces / words, unknown / words)


def measure_sizes(learned: LearnedPieces, word_counts: Mapping[str, int]) -> list[VocabularyReport]:
    """Measures vocabularies cut from one run of the learner, from the bare alphabet to all tokens.

    Each size is about the same factor larger than the one before.
    """
    sizes = np.geomspace(learned.smallest, len(learned.pieces), 12)
    return [measure(learned.vocabulary(size), word_counts) for size in sorted({round(size) for size in sizes})]


def plot_sizes(curves: Mapping[str, list[VocabularyReport]], path: str | Path, text_name: str) -> None:
    """Draws coverage and fertility against vocabulary size into a file; its suffix (.png, .svg, .pdf) says how.

    curves: name in the legend → reports in order of size. text_name: what was measured on, for the title.
    """
    from matplotlib.figure import Figure  # not pyplot: needs no display and leaves the user's figures alone

    figure = Figure(figsize=(7, 7), layout="constrained")
    coverage, fertility = figure.subplots(2, 1, sharex=True)
    styles = itertools.cycle(["o-", "s--", "^:", "v-."])  # told apart without colours, too
    for (name, reports), style in zip(curves.items(), styles):
        sizes = [report.size for report in reports]
        coverage.plot(sizes, [100 * report.coverage for report in reports], style, markersize=4, label=name)
        fertility.plot(sizes, [report.fertility for report in reports], style, markersize=4, label=name)
    coverage.set(ylabel="coverage: words that are one token (%)", ylim=(0, 100))
    fertility.set(ylabel="fertility: tokens per word", xlabel="vocabulary size (tokens)", xscale="log")
    fertility.set_ylim(bottom=1)
    first, last = fertility.get_xlim()
    ticks = [tick for tick in _ROUND_SIZES if first <= tick <= last]
    fertility.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    fertility.set_xticks([], minor=True)
    for axes in (coverage, fertility):
        axes.grid(alpha=0.3)
    coverage.legend()
    coverage.set_title(f"Vocabularies measured on {text_name}")
    figure.savefig(path, dpi=120)
