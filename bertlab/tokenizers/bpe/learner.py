"""Learns a byte-level BPE: start from 256 bytes, merge the most frequent pair of neighbours, repeat.

Sources: Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units", section 3.2, on bytes and
chunks as in Radford et al. 2019, section 2.2. The package `tokenizers` merges; of equally frequent pairs the one whose
tokens are older.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bertlab.common.errors import ConfigError, DataError
from bertlab.common.progress import bar
from bertlab.tokenizers.bpe.tokenizer import package
from bertlab.tokenizers.bpe.vocabulary import BytePairVocabulary, SpecialTokens, byte_characters
from bertlab.tokenizers.wordpiece.base import as_utf8

MIN_FREQUENCY = 2


def count_chunks(texts: Iterable[str]) -> Counter:
    """Counts how often each chunk, a word with its space, occurs in some texts, read once.

    Raises DataError for items that are no strings, MissingDependencyError without the package.

    Example:
        >>> count_chunks(["low lower", "low"])
        Counter({'low': 2, ' lower': 1})
    """
    if isinstance(texts, str):
        raise ConfigError("texts must be an iterable of strings, not one string: wrap it in a list")
    counts, cut = Counter(), package().pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str
    with bar("Counting") as running:
        for text in texts:
            if not isinstance(text, str):
                raise DataError(f"expected strings, got {type(text).__name__}")
            text = as_utf8(text)
            counts.update([text[start:end] for _, (start, end) in cut(text)])
            running.advance()
    return counts


def learn(texts: Iterable[str], size: int, **settings) -> BytePairVocabulary:
    """Learns a vocabulary of `size` tokens from texts. settings: see `learn_from_counts`."""
    return learn_from_counts(count_chunks(texts), size, **settings)


def learn_from_counts(
    counts: Mapping[str, int],
    size: int,
    min_frequency: int = MIN_FREQUENCY,
    special: SpecialTokens | None = None,
) -> BytePairVocabulary:
    """Learns a vocabulary from chunks and their counts (`count_chunks`).

    size: tokens wanted: 5 special tokens, 256 bytes, and the merges' results. Where the text has too few pairs, there
        are fewer tokens.
    min_frequency: pairs seen fewer times are not merged.
    Returns the vocabulary: `<s> <pad> </s> <unk>` with ids 0 to 3, as RoBERTa has them, bytes, merges, then `<mask>`.
    Raises ConfigError for a size that is too small for the special tokens and bytes.
    """
    special = special or SpecialTokens()
    front = [special.cls, special.pad, special.sep, special.unk]
    smallest = len(front) + 256 + 1
    if size < smallest:
        raise ConfigError(f"expected a size of at least {smallest}, for special tokens and 256 bytes; got {size}")
    if min_frequency < 1:
        raise ConfigError(f"min_frequency must be at least 1, not {min_frequency}")
    library = package()
    learner = library.Tokenizer(library.models.BPE())
    learner.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = library.trainers.BpeTrainer(
        vocab_size=size - 1, min_frequency=min_frequency, special_tokens=front, show_progress=False,
        initial_alphabet=list(byte_characters()),
    )  # fmt: skip
    learner.train_from_iterator(Counter(counts).elements(), trainer)
    model = json.loads(learner.to_str())["model"]
    return BytePairVocabulary([*sorted(model["vocab"], key=model["vocab"].get), special.mask], model["merges"], special)


@dataclass(frozen=True)
class Fit:
    """The fit of a vocabulary to a text: the text's chunks (words with their space), tokens and bytes of UTF-8."""

    chunks: int
    tokens: int
    bytes: int

    def sentence(self) -> str:
        """One sentence for a terminal."""
        per_chunk, per_token = self.tokens / max(self.chunks, 1), self.bytes / max(self.tokens, 1)
        return f"On {self.chunks:,} chunks of text: {per_chunk:.3f} tokens per chunk, {per_token:.2f} bytes per token"


def measure(tokenizer, counts: Mapping[str, int]) -> Fit:
    """Measures how well a `BytePairTokenizer` fits chunks and their counts (`count_chunks`)."""
    tokens = sum(len(tokenizer.encode(chunk)) * count for chunk, count in counts.items())
    size = sum(len(chunk.encode()) * count for chunk, count in counts.items())
    return Fit(sum(counts.values()), tokens, size)
