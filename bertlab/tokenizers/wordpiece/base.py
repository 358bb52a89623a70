"""The common part of the tokenizers of every kind: packing, batches one text after the other, ids back to text."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bertlab.common.errors import ConfigError, DataError
from bertlab.common.files import read_json
from bertlab.tokenizers.token_table import TokenTable
from bertlab.tokenizers.wordpiece.encoding import Encoding, Ragged, RaggedEncoding, pack_one, pack_rows

COPY_IT = "copy the original again"  # the advice for a damaged file of a tokenizer


class Tokenizer(ABC):
    """Text into ids and back. In every method that reads text, `special_tokens=True` reads "[MASK]" as that token.

    A family names the kind of tokenizer that its checkpoints come with; `bertlab.checkpoints.load_tokenizer` chooses by
    it. A subclass sets `kind`, `SETTINGS` and in its constructor `vocabulary` and an attribute for each setting; it
    defines `encode`, `encode_with_offsets`, `_text_of`, `save` and `load`.

    Example:
        >>> from bertlab.checkpoints import load_tokenizer
        >>> tokenizer = load_tokenizer("bertlab-mini")
        >>> isinstance(tokenizer, Tokenizer)
        True
        >>> tokenizer.decode(tokenizer.encode("A small house."))
        'a small house.'
    """

    kind: ClassVar[str]  # a key of `bertlab.tokenizers.kinds`
    word_prefix: ClassVar[str] = ""  # before each of several words or sentences encoded one by one, save the first
    SETTINGS: ClassVar[tuple[str, ...]]  # names of the constructor's arguments after the vocabulary, in their order
    vocabulary: TokenTable

    def __reduce__(self):
        """Worker processes get the settings; each fills the tables of its own."""
        return type(self), (self.vocabulary, *self.settings().values())

    def settings(self) -> dict[str, Any]:
        """The arguments beside the vocabulary."""
        return {name: getattr(self, name) for name in self.SETTINGS}

    # === Text into ids ===

    @abstractmethod
    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        """The ids of the tokens of a text, without the special tokens around it (see `pack`)."""

    @abstractmethod
    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        """Ids, tokens, the characters (start, end) of each and the number of the word it belongs to."""

    def tokenize(self, text: str, special_tokens: bool = False) -> list[str]:
        """The tokens of a text."""
        return [self.vocabulary.pieces[number] for number in self.encode(text, special_tokens)]

    def encode_batch(self, texts: Iterable[str], special_tokens: bool = False) -> Ragged:
        """The ids of many texts: values (N,) int32 and row_splits (rows + 1,) int64."""
        return ragged(self.encode(text, special_tokens) for text in texts)

    def encode_targets(self, texts: Iterable[str]) -> Ragged:
        """The ids of many targets, as `encode_batch`; a tokenizer for translation cuts them in another way."""
        return self.encode_batch(texts)

    def encode_batch_with_offsets(self, texts: Iterable[str], special_tokens: bool = False) -> RaggedEncoding:
        """The same with offsets (N, 2) into each row's text and word_ids (N,)."""
        nothing = Encoding(np.zeros(0, np.int32), [], np.zeros((0, 2), np.int32), np.zeros(0, np.int32))
        rows = [nothing, *(self.encode_with_offsets(text, special_tokens) for text in texts)]
        ids, offsets, word_ids = (
            np.concatenate([getattr(row, name) for row in rows]) for name in ("ids", "offsets", "word_ids")
        )
        return RaggedEncoding(ids, np.cumsum([len(row.ids) for row in rows]).astype(np.int64), offsets, word_ids)

    # === Rows of a model's input ===

    def pack(self, ids_a: Sequence[int], ids_b: Sequence[int] | None = None, max_length: int | None = None) -> dict:
        """One row of the model's input, not padded: `[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]`.

        The special tokens are the vocabulary's own; RoBERTa's are `<s> a </s> </s> b </s>`.

        max_length: cut to it, special tokens included, from the end of the longer text (of b, if equally long).
        Returns input_ids, token_type_ids and attention_mask, each (T,) int32.
        """
        return pack_one(self.vocabulary, ids_a, ids_b, max_length)

    def encode_packed(
        self,
        texts: Iterable[str],
        texts_b: Iterable[str] | None = None,
        max_length: int | None = None,
        special_tokens: bool = False,
    ) -> dict[str, np.ndarray]:
        """The model's input for many texts or pairs of texts.

        max_length: rows are cut and padded to it; None: nothing is cut, rows are padded to the longest.
        Returns input_ids, token_type_ids and attention_mask, each (B, T) int32.
        """
        b = None if texts_b is None else self.encode_batch(texts_b, special_tokens)
        return pack_rows(self.vocabulary, self.encode_batch(texts, special_tokens), b, max_length)

    # === Ids into text ===

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        """Readable text; of a tokenizer for translation, that of a target.

        skip_special_tokens: leave out special tokens, such as padding and masks.
        Raises DataError for an id outside the vocabulary.
        """
        hidden, size = self._hidden_ids() if skip_special_tokens else (), len(self.vocabulary.targets)
        shown = []
        for number in map(int, ids):
            if not 0 <= number < size:
                raise DataError(f"id {number} is outside the vocabulary, whose ids are 0 to {size - 1}")
            if number not in hidden:
                shown.append(number)
        return self._text_of(shown)

    def _hidden_ids(self) -> set[int]:
        """The ids that `decode` leaves out: special tokens, without the unknown one, which stands for text."""
        shown = self.vocabulary.targets
        return shown.marker_ids - {shown.unk_id}

    @abstractmethod
    def _text_of(self, ids: list[int]) -> str:
        """The text of ids of the vocabulary."""

    # === In a graph, in a folder ===

    def graph(self, special_tokens: bool = False):
        """The in-graph form, for `tf.data` and SavedModel. Raises ConfigError, with advice, for a kind without one."""
        raise ConfigError(
            f"a SavedModel takes strings, which needs a tokenizer inside the graph; {self.kind} has none here: export "
            "with --onnx, which takes ids, and make them with this tokenizer"
        )

    @abstractmethod
    def save(self, folder: str | Path) -> None:
        """Writes the files from which `load` makes it again."""

    def save_vocabulary(self, folder: str | Path) -> None:
        """Writes the files that examples made with it need."""
        self.save(folder)


def ragged(rows: Iterable[Sequence[int]]) -> Ragged:
    """Rows of ids in one array."""
    values, splits = array("i"), array("q", [0])
    for row in rows:
        values.extend(row)
        splits.append(len(values))
    return Ragged(np.array(values, np.int32), np.array(splits, np.int64))


def read_config(path: Path) -> dict:
    """The object in a tokenizer_config.json; {} without the file. Raises ConfigError for other content."""
    return read_json(path, ConfigError, COPY_IT, dict) if path.exists() else {}
