"""WordPiece: words into the longest tokens the vocabulary has, from left to right.

    unaffable → un ##aff ##able

Tokens that continue a word begin with ##. A word of which any part has no token is [UNK] as a whole (Wu et al. 2016,
"Google's Neural Machine Translation System", section 4.1; `WordpieceTokenizer` in google-research/bert).

This module is the readable form. `fast` does the same fast, `graph` inside a TensorFlow graph.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import NoneType

from bertlab.common.errors import ConfigError, VocabularyError
from bertlab.tokenizers.wordpiece.added import (
    WholeTokens,
    added_tokens,
    in_config,
    read_added,
    remove_other_files,
    with_added,
)
from bertlab.tokenizers.wordpiece.base import TOKENIZER_JSON, Tokenizer, read_config, read_settings, write_config
from bertlab.tokenizers.wordpiece.basic import BasicTokenizer, Word
from bertlab.tokenizers.wordpiece.encoding import Encoding, Ragged, RaggedEncoding
from bertlab.tokenizers.wordpiece.fast import BatchTokenizer
from bertlab.tokenizers.wordpiece.unicode import is_cjk
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, UNK, Vocabulary

# Our names of the settings → Hugging Face's in tokenizer_config.json.
CONFIG_NAMES = {
    "lowercase": "do_lower_case",
    "strip_accents": "strip_accents",
    "split_cjk": "tokenize_chinese_chars",
    "max_chars_per_word": "max_input_chars_per_word",
}
_BEFORE_CLOSING = re.compile(r" +([.,!?;:%)\]}”’…])")  # "word ." → "word."
_AFTER_OPENING = re.compile(r"([(\[{“]) +")  # "( word" → "(word"
_CONTRACTION = re.compile(r"(?<=\w) ?(['’]) ?(s|t|d|m|re|ve|ll)\b", re.IGNORECASE)  # "don ' t" → "don't"


@dataclass(eq=False)
class WordPieceTokenizer(Tokenizer):
    """BERT's tokenizer, the same to the last code point as the published one.

    Every method that reads text takes `special_tokens`: False, and "[MASK]" in a text is two brackets and a word;
    True, and it is the special token. Tokens that were added to the vocabulary are always read as a whole.

    Example:
        >>> tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, "un", "##aff", "##able", "!"]))
        >>> tokenizer.tokenize("Unaffable!"), tokenizer.encode("Unaffable!")
        (['un', '##aff', '##able', '!'], [5, 6, 7, 8])
        >>> tokenizer.decode([5, 6, 7, 8])
        'unaffable!'
    """

    vocabulary: Vocabulary
    lowercase: bool = True  # for uncased vocabularies
    strip_accents: bool | None = None  # drop accents; None: the same as `lowercase`
    max_chars_per_word: int = 200  # longer words are [UNK]; 100 in Hugging Face's tokenizers
    split_cjk: bool = True  # make every Chinese character a word

    kind = "WordPiece"

    def __post_init__(self):
        if self.max_chars_per_word < 1:
            raise ConfigError(f"max_chars_per_word must be at least 1, not {self.max_chars_per_word}")
        self.basic = BasicTokenizer(self.lowercase, self.strip_accents, self.split_cjk)
        self.whole = WholeTokens(self.vocabulary.added, SPECIAL_TOKENS, self.basic.normal_form)
        self._whole_texts = {*SPECIAL_TOKENS, *(token.text for token in self.vocabulary.added)}

    @cached_property
    def _batch(self) -> BatchTokenizer:
        return BatchTokenizer(self)

    # === One text ===

    def tokenize(self, text: str, special_tokens: bool = False) -> list[str]:
        return [piece for word in self.words(text, special_tokens) for piece in self.split_word(word.text)]

    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        return [self.vocabulary.index(piece) for piece in self.tokenize(text, special_tokens)]

    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        ids, offsets, word_ids = [], [], []
        for word_id, word in enumerate(self.words(text, special_tokens)):
            for piece, start, end in self.split_word_with_spans(word):
                ids.append(self.vocabulary.index(piece))
                offsets.append((start, end))
                word_ids.append(word_id)
        return Encoding.of(ids, self.vocabulary.pieces, offsets, word_ids)

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
        return self._batch.encode(texts, special_tokens)

    def encode_batch_with_offsets(self, texts: Iterable[str], special_tokens: bool = False) -> RaggedEncoding:
        return self._batch.encode_with_offsets(texts, special_tokens)

    # === Back to text ===

    def _text_of(self, ids: list[int]) -> str:
        """Tokens of a word joined: don ' t em ##bed . → "don't embed.". Normalizing is not undone.

        WordPiece forgets where the blanks were around punctuation, so these are rules of English typography.
        """
        text = ""
        for piece in (self.vocabulary.pieces[number] for number in ids):
            if piece.startswith("##") and text:
                text += piece[2:]
            elif text and is_cjk(text[-1]) and is_cjk(piece[0]):
                text += piece
            else:
                text += " " + piece if text else piece
        text = _CONTRACTION.sub(r"\1\2", text)
        return _AFTER_OPENING.sub(r"\1", _BEFORE_CLOSING.sub(r"\1", text))

    # === In a graph, in a folder ===

    def save_vocabulary(self, folder: str | Path) -> None:
        """Writes the files that examples made with it need: vocab.txt alone, since the manifest has the settings.

        Which of its tokens were added is in tokenizer_config.json.
        """
        if self.vocabulary.added:
            self.save(folder)
        else:
            self.vocabulary.save(Path(folder) / Vocabulary.file)

    def graph(self, special_tokens: bool = False):
        """The in-graph form, a `GraphTokenizer`, for `tf.data` and SavedModel. Needs TensorFlow Text."""
        from bertlab.tokenizers.wordpiece.graph import GraphTokenizer

        return GraphTokenizer(self, special_tokens)

    def _write(self, folder: Path) -> None:
        self.vocabulary.save(folder / Vocabulary.file)
        settings = {theirs: getattr(self, ours) for ours, theirs in CONFIG_NAMES.items()}
        write_config(folder, {"tokenizer_class": "BertTokenizer", **settings, **in_config(self.vocabulary)})
        remove_other_files(folder)

    @classmethod
    def load(cls, folder: str | Path, **settings) -> "WordPieceTokenizer":
        """Reads a folder that `save` or Hugging Face wrote; a setting that no file has gets its default.

        vocab.txt               the vocabulary; without it, that in tokenizer.json
        tokenizer_config.json   the settings by Hugging Face's names; what it lacks is taken from tokenizer.json
        tokenizer.json          Hugging Face's one file for all of it; all that transformers 5 writes

        settings: arguments of the constructor that override the folder's.
        Raises VocabularyError or ConfigError if a file cannot be used.
        """
        folder = Path(folder)
        vocabulary, one_file = read_vocabulary(folder), folder / TOKENIZER_JSON
        in_one_file = _read_one_file(one_file)[1] if one_file.exists() else {}
        in_config_file = read_settings(folder, CONFIG_NAMES, max_chars_per_word=(int,), strip_accents=(bool, NoneType))
        return cls(vocabulary, **{**in_one_file, **in_config_file, **settings})


def read_vocabulary(folder: Path) -> Vocabulary:
    """The vocabulary in a folder with its added tokens. Raises VocabularyError, naming the file."""
    path, where = folder / Vocabulary.file, f"{folder / Vocabulary.file} line"
    if path.exists() or not (folder / TOKENIZER_JSON).exists():
        pieces = Vocabulary.lines_of(path)
    else:
        path, where = folder / TOKENIZER_JSON, f"{folder / TOKENIZER_JSON}, token"
        pieces = _pieces(_read_one_file(path)[0].get("vocab"), path)
    entries = read_added(folder)
    return Vocabulary(with_added(pieces, entries, path), where, added_tokens(entries, SPECIAL_TOKENS, path))


def _read_one_file(path: Path) -> tuple[dict, dict]:
    """The model in a tokenizer.json, and the settings. Raises VocabularyError for a tokenizer of another type."""
    values = read_config(path)
    model, normalizer = values.get("model"), values.get("normalizer")
    if not isinstance(model, dict) or model.get("type") != "WordPiece":
        raise VocabularyError(f"{path}: expected a tokenizer of type 'WordPiece' with its vocabulary")
    if (prefix := model.get("continuing_subword_prefix", "##")) != "##":
        raise VocabularyError(f"{path}: tokens that continue a word begin with {prefix!r}; only '##' is supported")
    if not isinstance(normalizer, dict) or normalizer.get("type") != "BertNormalizer":
        raise VocabularyError(f"{path}: expected a normalizer of type 'BertNormalizer', found {normalizer!r:.60}")
    return model, {
        "lowercase": normalizer.get("lowercase", True),
        "strip_accents": normalizer.get("strip_accents"),
        "split_cjk": normalizer.get("handle_chinese_chars", True),
        "max_chars_per_word": model.get("max_input_chars_per_word", 100),
    }


def _pieces(numbers, path: Path) -> list[str]:
    """The tokens in a tokenizer.json, in the order of their ids.

    The published Chinese list has lines that are white space to transformers, which leaves their ids without a token
    or gives them an empty one: a name that no text contains stands for these.
    """
    if not isinstance(numbers, dict) or not all(type(number) is int for number in numbers.values()) or not numbers:
        raise VocabularyError(f"{path}: expected a tokenizer of type 'WordPiece' with its vocabulary")
    size = max(numbers.values()) + 1
    if len({*numbers.values()}) < len(numbers) or min(numbers.values()) < 0 or size > 2 * len(numbers):
        raise VocabularyError(f"{path}: the ids of the vocabulary are not 0 to {len(numbers) - 1}, each once")
    pieces = [f"[no token {number}]" for number in range(size)]
    for piece, number in numbers.items():
        if piece.strip():
            pieces[number] = piece
    return pieces
