"""WordPiece: words into the longest tokens the vocabulary has, from left to right.

    unaffable → un ##aff ##able

Tokens that continue a word begin with ##. A word of which any part has no token is [UNK] as a whole (Wu et al. 2016,
"Google's Neural Machine Translation System", section 4.1; `WordpieceTokenizer` in google-research/bert).

This module is the readable form. `batch` does the same fast, `graph` inside a TensorFlow graph.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from bertlab.common.errors import ConfigError, VocabularyError
from bertlab.common.files import write_text
from bertlab.tokenizers.wordpiece.added import WholeTokens, in_config, remove_other_files
from bertlab.tokenizers.wordpiece.base import Tokenizer
from bertlab.tokenizers.wordpiece.basic import BasicTokenizer, Word
from bertlab.tokenizers.wordpiece.batch import BatchTokenizer
from bertlab.tokenizers.wordpiece.encoding import Encoding, Ragged, RaggedEncoding
from bertlab.tokenizers.wordpiece.folder import CONFIG_NAMES, read_settings, read_vocabulary
from bertlab.tokenizers.wordpiece.readable import join_pieces
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, UNK, Vocabulary

VOCABULARY_FILE = "vocab.txt"
CONFIG_FILE = "tokenizer_config.json"


class WordPieceTokenizer(Tokenizer):
    """BERT's tokenizer, the same to the last code point as the published one.

    vocabulary: the tokens and their ids.
    lowercase: True for uncased vocabularies, False for cased ones.
    strip_accents: drop accents; None: the same as `lowercase`.
    max_chars_per_word: longer words are [UNK]; 200 in google-research/bert, 100 in Hugging Face's tokenizers.
    split_cjk: make every Chinese character a word.

    Every method that reads text takes `special_tokens`: False, and "[MASK]" in a text is two brackets and a word;
    True, and it is the special token. Tokens that were added to the vocabulary are always read as a whole.

    Example:
        >>> tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, "un", "##aff", "##able", "!"]))
        >>> tokenizer.tokenize("Unaffable!"), tokenizer.encode("Unaffable!")
        (['un', '##aff', '##able', '!'], [5, 6, 7, 8])
        >>> tokenizer.decode([5, 6, 7, 8])
        'unaffable!'
    """

    kind = "WordPiece"
    SETTINGS = ("lowercase", "strip_accents", "max_chars_per_word", "split_cjk")

    def __init__(
        self,
        vocabulary: Vocabulary,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        max_chars_per_word: int = 200,
        split_cjk: bool = True,
    ):
        if max_chars_per_word < 1:
            raise ConfigError(f"max_chars_per_word must be at least 1, not {max_chars_per_word}")
        self.vocabulary = vocabulary
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.max_chars_per_word = max_chars_per_word
        self.split_cjk = split_cjk
        self.basic = BasicTokenizer(lowercase, strip_accents, split_cjk)
        self.whole = WholeTokens(vocabulary.added, SPECIAL_TOKENS, self.basic.normal_form)
        self._whole_texts = {*SPECIAL_TOKENS, *(token.text for token in vocabulary.added)}

    @cached_property
    def _batch(self) -> BatchTokenizer:
        return BatchTokenizer(self)

    # === One text ===

    def tokenize(self, text: str, special_tokens: bool = False) -> list[str]:
        """The tokens of a text: "Unaffable!" → ["un", "##aff", "##able", "!"]."""
        return [piece for word in self.words(text, special_tokens) for piece in self.split_word(word.text)]

    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        """The ids of the tokens of a text, without [CLS] and [SEP] (see `pack`)."""
        return [self.vocabulary.index(piece) for piece in self.tokenize(text, special_tokens)]

    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        """Ids, tokens, the characters of the original text that each token came from, and the word it belongs to."""
        pieces, offsets, word_ids = [], [], []
        for word_id, word in enumerate(self.words(text, special_tokens)):
            for piece, start, end in self.split_word_with_spans(word):
                pieces.append(piece)
                offsets.append((start, end))
                word_ids.append(word_id)
        ids = [self.vocabulary.index(piece) for piece in pieces]
        return Encoding(
            np.array(ids, np.int32), pieces, np.array(offsets, np.int32).reshape(-1, 2), np.array(word_ids, np.int32)
        )

    def words(self, text: str, special_tokens: bool = False) -> list[Word]:
        """The words that are cut into tokens: normalized, with their characters' positions in the text."""
        if not special_tokens and not self.whole:
            return self.basic.words(text)
        words = []
        for part, start, token in self.whole.split(text, special_tokens):
            found = self.basic.words(part) if token is None else [Word(token, list(range(len(part))))]
            words += [Word(word.text, [start + position for position in word.positions]) for word in found]
        return words

    def split_word(self, word: str, continues: bool = False) -> list[str]:
        """Greedy longest match: the longest token that begins the word, then the longest that continues it, …

        continues: `word` is the rest of a word, so that its first token begins with ##, too.
        """
        if word in self._whole_texts:  # a special one only with special_tokens=True: else a bracket is a separate word
            return [word]
        if len(word) > self.max_chars_per_word:
            return [UNK]
        pieces, start, own = [], 0, self.vocabulary.own
        while start < len(word):
            prefix = "##" if start or continues else ""
            end = min(len(word), start + own.longest)
            while end > start and prefix + word[start:end] not in own:
                end -= 1
            if end == start:
                return [UNK]
            pieces.append(prefix + word[start:end])
            start = end
        return pieces

    def split_word_with_spans(self, word: Word) -> Iterator[tuple[str, int, int]]:
        """(token, start, end) with start and end in the original text; [UNK] spans its word."""
        start = 0
        pieces = self.split_word(word.text)
        for index, piece in enumerate(pieces):
            length = len(piece) - (2 if index else 0)
            positions = word.positions if len(pieces) == 1 else word.positions[start : start + length]
            yield piece, min(positions), max(positions) + 1
            start += length

    # === Many texts ===

    def encode_batch(self, texts: Iterable[str], special_tokens: bool = False) -> Ragged:
        """The ids of many texts: values (N,) int32 and row_splits (rows + 1,) int64. Much faster than `encode`."""
        return self._batch.encode(texts, special_tokens)

    def encode_batch_with_offsets(self, texts: Iterable[str], special_tokens: bool = False) -> RaggedEncoding:
        """The same with offsets (N, 2) into each row's text and word_ids (N,)."""
        return self._batch.encode_with_offsets(texts, special_tokens)

    # === Back to text ===

    def _text_of(self, ids: list[int]) -> str:
        """Tokens of a word joined, no space before a comma. Normalizing is not undone."""
        return join_pieces([self.vocabulary.pieces[number] for number in ids])

    # === In a graph, in a folder ===

    def save_vocabulary(self, folder: str | Path) -> None:
        """Writes the files that examples made with it need: vocab.txt alone, since the manifest has the settings.

        Which of its tokens were added is in tokenizer_config.json.
        """
        if self.vocabulary.added:
            self.save(folder)
        else:
            self.vocabulary.save(Path(folder) / VOCABULARY_FILE)

    def graph(self, special_tokens: bool = False):
        """The in-graph form, a `GraphTokenizer`, for `tf.data` and SavedModel. Needs TensorFlow Text."""
        from bertlab.tokenizers.wordpiece.graph import GraphTokenizer

        return GraphTokenizer(self, special_tokens)

    def save(self, folder: str | Path) -> None:
        """Writes vocab.txt and tokenizer_config.json, which Hugging Face's BertTokenizer reads, too."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.vocabulary.save(folder / VOCABULARY_FILE)
        settings = {theirs: getattr(self, ours) for ours, theirs in CONFIG_NAMES.items()}
        added = in_config(self.vocabulary.added, self.vocabulary.index)
        config = {"tokenizer_class": "BertTokenizer", **settings, **added}
        write_text(folder / CONFIG_FILE, json.dumps(config, indent=2) + "\n", VocabularyError)
        remove_other_files(folder)

    @classmethod
    def load(cls, folder: str | Path, **settings) -> "WordPieceTokenizer":
        """Reads a folder that `save` or Hugging Face wrote; a setting that no file has gets its default.

        settings: arguments of the constructor that override the folder's.
        Raises VocabularyError or ConfigError if a file cannot be used.
        """
        folder = Path(folder)
        return cls(read_vocabulary(folder), **{**read_settings(folder), **settings})
