"""SentencePiece for translation: one model cuts sources, another targets; a table numbers the tokens of both, or each
side has a table.

    source.spm, target.spm     the two models
    vocab.json                 token → id; a token of a model that is not in it is <unk>
    target_vocab.json          the same for targets, if they have a table of their own
    tokenizer_config.json      separate_vocabs: whether they have

A source may begin with the language that it is translated into, such as >>fr<<, which is one token. Nothing is done to
the text before (transformers has a function for punctuation here, which it does not call either).

Source: `MarianTokenizer` of transformers, `tokenization_marian.py`.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.common.files import read_json, write_bytes, write_text
from bertlab.tokenizers.sentence_pieces import WORD_BEGIN, processor_of
from bertlab.tokenizers.wordpiece.base import (
    CONFIG_FILE,
    COPY_IT,
    Tokenizer,
    TokenTable,
    as_utf8,
    byte_content,
    pieces_in_order,
    ragged,
    read_config,
    write_config,
)
from bertlab.tokenizers.wordpiece.encoding import Encoding, Ragged

SOURCE_FILE, TARGET_FILE = "source.spm", "target.spm"
TABLE_FILE, TARGET_TABLE_FILE = "vocab.json", "target_vocab.json"
PAD, UNKNOWN, END = "<pad>", "<unk>", "</s>"
_SEPARATE = "separate_vocabs"  # in tokenizer_config.json: a table of its own for targets


class PieceTable(TokenTable):
    """A table of tokens with </s>, <unk> and <pad> among them.

    numbers: token → id.   where: its file, for messages.
    A source ends with `sep_id`, </s>; a target begins with `cls_id`, which is padding, and ends with </s>. There is no
    mask: `mask_id` is <unk>.
    Raises VocabularyError for ids that are not 0, 1, 2 …, or a missing special token.
    """

    file = TABLE_FILE
    word_begin = WORD_BEGIN

    def __init__(self, numbers: Mapping[str, int], where: Path):
        self.pieces = tuple(pieces_in_order(numbers, where))
        self._index = dict(numbers)
        self._set_special_ids((PAD, UNKNOWN, PAD, END, UNKNOWN), where)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(json.dumps(self.pieces).encode()).hexdigest()


class TranslationVocabulary(PieceTable):
    """The table of tokens, that of targets if they have one of their own, and the two models.

    numbers: token → id.   source, target: the contents of source.spm and target.spm.   where: the folder, for messages.
    target_numbers: token → id of targets; None: as `numbers`.
    Raises VocabularyError as `PieceTable`, and for bytes of something else.
    """

    def __init__(
        self,
        numbers: Mapping[str, int],
        source: bytes,
        target: bytes,
        where: str | Path = "",
        target_numbers: Mapping[str, int] | None = None,
    ):
        folder = Path(where)
        super().__init__(numbers, folder / TABLE_FILE)
        self.own_targets = None if target_numbers is None else PieceTable(target_numbers, folder / TARGET_TABLE_FILE)
        self.source, self.target = source, target
        self.source_processor = processor_of(source, str(folder / SOURCE_FILE))
        self.target_processor = processor_of(target, str(folder / TARGET_FILE))

    @property
    def targets(self) -> PieceTable:
        return self if self.own_targets is None else self.own_targets

    def __reduce__(self):
        target_numbers = None if self.own_targets is None else self.own_targets.ids
        return TranslationVocabulary, (self.ids, self.source, self.target, "", target_numbers)

    @cached_property
    def sha256(self) -> str:
        digest = hashlib.sha256(json.dumps(self.pieces).encode())
        if self.own_targets is not None:
            digest.update(hashlib.sha256(json.dumps(self.own_targets.pieces).encode()).digest())
        for model in (self.source, self.target):
            digest.update(hashlib.sha256(model).digest())
        return digest.hexdigest()


@dataclass(eq=False)
class TranslationTokenizer(Tokenizer):
    """Cuts sources, and writes the text of targets. "[MASK]" in a text is text: there is no mask.

    vocabulary: the tables and both models. Where sources and targets have a table each, `decode` reads ids of targets.
    """

    vocabulary: TranslationVocabulary

    kind = "SentencePiece for translation"

    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        """The ids of a source, without the </s> behind it."""
        return _ids(self.vocabulary, self.vocabulary.source_processor, text)

    def encode_target(self, text: str) -> list[int]:
        """The ids of a target, without the </s> behind it."""
        return _ids(self.vocabulary.targets, self.vocabulary.target_processor, text)

    def encode_targets(self, texts: Iterable[str]) -> Ragged:
        return ragged(map(self.encode_target, texts))

    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        """The characters of a token are those without the space before it."""
        text = as_utf8(text)
        begin = _language_end(text)
        found = [(text[:begin], 0, begin)] if begin else []
        cut = self.vocabulary.source_processor.encode_as_offset_mapping(text[begin:])
        for piece, (start, end) in zip(cut["pieces"], cut["offsets"]):
            while start < end and text[begin + start].isspace():
                start += 1
            found.append((piece, begin + start, begin + end))
        ids, words, word = [], [], -1
        for piece, _, _ in found:
            ids.append(self.vocabulary.ids.get(piece, self.vocabulary.unk_id))
            word += piece.startswith((WORD_BEGIN, ">>")) or word < 0
            words.append(word)
        return Encoding.of(ids, self.vocabulary.pieces, [span for _, *span in found], words)

    def _text_of(self, ids: list[int]) -> str:
        pieces = [self.vocabulary.targets.pieces[number] for number in ids]
        return self.vocabulary.target_processor.decode_pieces(pieces).replace(WORD_BEGIN, " ").strip()

    def _write(self, folder: Path) -> None:
        vocabulary = self.vocabulary
        separate = vocabulary.own_targets is not None
        write_bytes(folder / SOURCE_FILE, vocabulary.source, VocabularyError)
        write_bytes(folder / TARGET_FILE, vocabulary.target, VocabularyError)
        tables = {TABLE_FILE: vocabulary} | ({TARGET_TABLE_FILE: vocabulary.targets} if separate else {})
        for name, table in tables.items():
            numbers = {piece: number for number, piece in enumerate(table.pieces)}
            write_text(folder / name, json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", VocabularyError)
        write_config(folder, {_SEPARATE: separate})

    @classmethod
    def load(cls, folder: str | Path) -> "TranslationTokenizer":
        """Reads the files of the format.

        Raises VocabularyError or ConfigError for files that cannot be used, or MissingDependencyError without the
        package.
        """
        folder = Path(folder)
        separate = read_config(folder / CONFIG_FILE).get(_SEPARATE)
        source, target = byte_content(folder / SOURCE_FILE), byte_content(folder / TARGET_FILE)
        names = (TABLE_FILE, TARGET_TABLE_FILE) if separate else (TABLE_FILE,)
        numbers, *targets = (read_json(folder / name, VocabularyError, COPY_IT, dict) for name in names)
        return cls(TranslationVocabulary(numbers, source, target, folder, *targets))


def _ids(table: PieceTable, processor, text: str) -> list[int]:
    text = as_utf8(text)
    begin = _language_end(text)
    pieces = [*([text[:begin]] if begin else []), *processor.encode(text[begin:], out_type=str)]
    return [table.ids.get(piece, table.unk_id) for piece in pieces]


def _language_end(text: str) -> int:
    """The place behind a language code such as >>fr<< at the beginning; 0 without one."""
    end = text.find("<<") if text.startswith(">>") else -1
    return end + 2 if end >= 0 else 0
