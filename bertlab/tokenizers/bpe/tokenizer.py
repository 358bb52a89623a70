"""Byte-level BPE as a tokenizer: any text into ids and exactly back, since every byte is a token if no merge applies.

Sources: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2; Liu et al. 2019,
"RoBERTa", section 4.4.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bertlab.common.errors import ConfigError, VocabularyError
from bertlab.common.files import write_text
from bertlab.tokenizers.bpe.chunks import (
    CHUNK,
    SPACE,
    SPACE_CHARACTER,
    as_utf8,
    bytes_of_characters,
    split_chunks,
    to_characters,
)
from bertlab.tokenizers.bpe.normalization import nfc, nfc_with_spans
from bertlab.tokenizers.bpe.one_file import from_tokenizer_json, to_tokenizer_json
from bertlab.tokenizers.bpe.vocabulary import TOKENIZER_JSON, BytePairVocabulary
from bertlab.tokenizers.wordpiece.added import remove_other_files
from bertlab.tokenizers.wordpiece.base import BaseTokenizer, read_config
from bertlab.tokenizers.wordpiece.encoding import Encoding

CONFIG_FILE = "tokenizer_config.json"
MASK_AS_IN_BERT = "[MASK]"  # means the mask in every tokenizer's text
REMEMBERED_CHUNKS = 1 << 18  # the table of chunks is emptied when it holds more
LONGEST_REMEMBERED = 128  # characters; longer chunks are unlikely to come again
SPECIAL_NAMES = {"pad": "pad_token", "unk": "unk_token", "cls": "cls_token", "sep": "sep_token", "mask": "mask_token"}


class Part(NamedTuple):
    """A part of a text: a token that is read as a whole, or text between those.

    start: its first character.   char_spans: (start, end) in the original text of each character, if it was normalised.
    """

    text: str
    start: int
    token: str | None = None
    char_spans: list[tuple[int, int]] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The start and end, in the original text, of the part's characters from `start` to `end`."""
        if self.char_spans is None:
            return self.start + start, self.start + end
        return self.start + self.char_spans[start][0], self.start + self.char_spans[max(end, start + 1) - 1][1]

    def cut(self, start: int, end: int, token: str | None = None) -> "Part":
        """A part of the part."""
        if self.char_spans is None:
            return Part(self.text[start:end], self.start + start, token)
        return Part(self.text[start:end], self.start, token, self.char_spans[start:end])


class BytePairTokenizer(BaseTokenizer):
    """GPT-2's and RoBERTa's tokenizer, equal to Hugging Face's `tokenizers` in ids and offsets.

    vocabulary: tokens, merges and special tokens.
    add_prefix_space: read "house" as " house" at the beginning of a text.
    trim_offsets: leave the space before a word out of a token's offsets.
    mask_takes_space: the space before a mask belongs to the mask, since the word that it hides has one.

    Every method that reads text takes `special_tokens`: False, and "<mask>" in a text is text; True, and it is the
    special token. Then "[MASK]" is the mask too, so that one text can be given to every tokenizer. Tokens that were
    added to the vocabulary are always read as a whole.

    Example:
        >>> from bertlab.tokenizers.bpe.learner import learn
        >>> tokenizer = BytePairTokenizer(learn(["low lower lowest"] * 9, size=268))
        >>> tokenizer.tokenize("a lower ☃")
        ['a', 'Ġlower', 'Ġ', 'â', 'ĺ', 'ĥ']
        >>> tokenizer.decode(tokenizer.encode("a lower ☃"))
        'a lower ☃'
    """

    kind = "byte-level BPE"
    word_prefix = " "
    SETTINGS = ("add_prefix_space", "trim_offsets", "mask_takes_space")

    def __init__(
        self,
        vocabulary: BytePairVocabulary,
        add_prefix_space: bool = False,
        trim_offsets: bool = True,
        mask_takes_space: bool = True,
    ):
        self.vocabulary = vocabulary
        self.add_prefix_space = add_prefix_space
        self.trim_offsets = trim_offsets
        self.mask_takes_space = mask_takes_space
        self._chunk_ids: dict[str, list[int]] = {}
        self._patterns = {special_tokens: self._patterns_of(special_tokens) for special_tokens in (False, True)}

    def _patterns_of(self, special_tokens: bool) -> tuple[re.Pattern | None, re.Pattern | None]:
        """The tokens to find whole before and after normalisation; None: no tokens."""
        special = self.vocabulary.special
        added = self.vocabulary.added
        before = {token.text for token in added if not token.normalized}
        after = {self._normalised(token.text) for token in added if token.normalized}
        if not special_tokens:
            return _pattern(before), _pattern(after)
        space = f"(?<![{SPACE}])[{SPACE}]*" if self.mask_takes_space else ""  # looks at a row of spaces only once
        masks = f"|{space}(?P<mask>{_any_of({special.mask, MASK_AS_IN_BERT})})"
        return _pattern(before | {special.pad, special.unk, special.cls, special.sep}, masks), _pattern(after)

    def _normalised(self, text: str) -> str:
        return nfc(text) if self.vocabulary.nfc else text

    # === One text ===

    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        """The ids of a text, without the special tokens around it (see `pack`)."""
        ids = []
        for part in self._parts(text, special_tokens, with_spans=False):
            if part.token is not None:
                ids.append(self.vocabulary.index(part.token))
                continue
            for chunk in split_chunks(self._prefixed(part.text)):
                ids += self._ids_of(chunk)
        return ids

    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        """Ids, tokens, the characters (start, end) of each, and the chunk of the text that it belongs to.

        A token that is a part of a character spans the whole character; a character that was composed of several, the
        first of them.
        """
        ids, offsets, word_ids, chunk_number = [], [], [], 0
        for part in self._parts(text, special_tokens, with_spans=True):
            if part.token is not None:
                start, end = part.span(0, len(part.text))
                start = end - len(part.text.lstrip()) if self.trim_offsets and part.text.strip() else start
                chunks = [[(self.vocabulary.index(part.token), start, end)]]
            else:
                chunks = self._chunks_with_offsets(part)
            for chunk in chunks:
                for number, start, end in chunk:
                    ids.append(number)
                    offsets.append((start, end))
                    word_ids.append(chunk_number)
                chunk_number += 1
        pieces = [self.vocabulary.pieces[number] for number in ids]
        spans = np.array(offsets, np.int32).reshape(-1, 2)
        return Encoding(np.array(ids, np.int32), pieces, spans, np.array(word_ids, np.int32))

    def _parts(self, text: str, special_tokens: bool, with_spans: bool) -> Iterator[Part]:
        before, after = self._patterns[special_tokens]
        for part in self._split(Part(text, 0), before):
            if part.token is not None:
                yield part
                continue
            if self.vocabulary.nfc and not part.text.isascii():
                normalised, char_spans = nfc_with_spans(part.text) if with_spans else (nfc(part.text), None)
                part = Part(normalised, part.start, char_spans=char_spans)
            yield from self._split(part, after)

    def _split(self, part: Part, pattern: re.Pattern | None) -> Iterator[Part]:
        """The tokens that a pattern finds as a whole, and the text between them."""
        if pattern is None:
            yield part
            return
        start = 0
        for match in pattern.finditer(part.text):
            if match.start() > start:
                yield part.cut(start, match.start())
            yield part.cut(*match.span(), match["whole"] or self.vocabulary.special.mask)
            start = match.end()
        if start < len(part.text) or not part.text:
            yield part.cut(start, len(part.text))

    def _prefixed(self, text: str) -> str:
        return " " + text if self.add_prefix_space and text and not text.startswith(" ") else text

    def _ids_of(self, chunk: str) -> list[int]:
        """The ids of one chunk, from the table of those seen before."""
        ids = self._chunk_ids.get(chunk)
        if ids is None:
            index = self.vocabulary.index
            ids = [index(token) for token in self.vocabulary.merges.apply(to_characters(chunk))]
            if len(self._chunk_ids) >= REMEMBERED_CHUNKS:
                self._chunk_ids.clear()
            if len(chunk) <= LONGEST_REMEMBERED:
                self._chunk_ids[chunk] = ids
        return ids

    def _chunks_with_offsets(self, part: Part) -> Iterator[list[tuple[int, int, int]]]:
        """The tokens of each chunk of a part: (id, start, end)."""
        text = self._prefixed(part.text)
        added = len(text) - len(part.text)  # 1 if a space was put before it
        for match in CHUNK.finditer(text):
            first = match.start() - added
            characters = [index for index, char in enumerate(match[0]) for _ in as_utf8(char)]  # of each byte
            begin, tokens = 0, []
            for number in self._ids_of(match[0]):
                piece = self.vocabulary.pieces[number]
                start, end = first + characters[begin], first + characters[begin + len(piece) - 1] + 1
                begin += len(piece)
                start, end = max(start, 0), max(end, 1)  # a space that was put before the text is its first character
                start, end = part.span(start, end)
                if self.trim_offsets:
                    start, end = self._trimmed(piece, start, end, is_first=start == 0)
                tokens.append((number, start, end))
            yield tokens

    def _trimmed(self, piece: str, start: int, end: int, is_first: bool) -> tuple[int, int]:
        """A token's characters without the spaces at its ends, as `tokenizers` trims them."""
        leading = len(piece) - len(piece.lstrip(SPACE_CHARACTER))
        trailing = len(piece) - len(piece.rstrip(SPACE_CHARACTER))
        if leading and not (is_first and leading == 1 and self.add_prefix_space):
            start = min(start + leading, end)
        if trailing and end >= trailing:
            end = max(end - trailing, start)
        return start, end

    # === Back to text ===

    def _hidden_ids(self) -> set[int]:
        """All special tokens: no text is unknown."""
        return self.vocabulary.marker_ids

    def _text_of(self, ids: list[int]) -> str:
        """The bytes as text; those that are not UTF-8 become U+FFFD."""
        special, of_character = self.vocabulary.marker_ids, bytes_of_characters()
        content = bytearray()
        for number in ids:
            piece = self.vocabulary.pieces[number]
            if number in special or not all(char in of_character for char in piece):
                content += piece.encode("utf-8")
            else:
                content += bytes(of_character[char] for char in piece)
        return content.decode("utf-8", errors="replace")

    # === In a folder ===

    def save(self, folder: str | Path) -> None:
        """Writes tokenizer_config.json with vocab.json and merges.txt, or where these cannot hold all of it, with
        tokenizer.json; transformers reads them too.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        kind = {}
        if self.vocabulary.in_one_file:
            content = to_tokenizer_json(self.vocabulary, self.settings())
            write_text(folder / TOKENIZER_JSON, content, VocabularyError)
            kind = {"tokenizer_class": "PreTrainedTokenizerFast"}
            remove_other_files(folder, TOKENIZER_JSON)
        else:
            self.vocabulary.save(folder)
            remove_other_files(folder)
        names = {theirs: getattr(self.vocabulary.special, ours) for ours, theirs in SPECIAL_NAMES.items()}
        names |= {"bos_token": names["cls_token"], "eos_token": names["sep_token"]}
        names["mask_token"] = {
            "__type": "AddedToken", "content": names["mask_token"], "lstrip": self.mask_takes_space, "rstrip": False,
            "single_word": False, "normalized": False, "special": True,
        }  # fmt: skip
        write_text(folder / CONFIG_FILE, json.dumps(kind | names | self.settings(), indent=2) + "\n", VocabularyError)

    @classmethod
    def load(cls, folder: str | Path, **settings) -> "BytePairTokenizer":
        """Reads a folder with tokenizer.json, or vocab.json and merges.txt, and if it is there tokenizer_config.json.

        settings: arguments of the constructor that override the folder's.
        Raises VocabularyError or ConfigError if a file cannot be used.
        """
        folder = Path(folder)
        config = read_config(folder / CONFIG_FILE)
        named, found = named_special(config), {name: config[name] for name in cls.SETTINGS if name in config}
        if (folder / TOKENIZER_JSON).exists():  # has all that the two others have, and more
            vocabulary, in_file = from_tokenizer_json(folder / TOKENIZER_JSON, named)
            found = found | in_file
        else:
            vocabulary = BytePairVocabulary.from_folder(folder, named)
        for name, value in found.items():
            if not isinstance(value, bool):
                raise ConfigError(f"{folder / CONFIG_FILE}: {name} must be true or false, not {value!r}")
        return cls(vocabulary, **{**found, **settings})


def _any_of(texts: set[str]) -> str:
    """A pattern of these texts; where several fit, the longest one."""
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def _pattern(texts: set[str], masks: str = "") -> re.Pattern | None:
    return re.compile(f"(?P<whole>{_any_of(texts)}){masks}") if texts else None


def named_special(config: dict) -> dict[str, str]:
    """The names in tokenizer_config.json, where a token is a text or an object with its text."""
    found = {}
    for ours, theirs in SPECIAL_NAMES.items():
        value = config.get(theirs)
        value = value.get("content") if isinstance(value, dict) else value
        if isinstance(value, str):
            found[ours] = value
    return found
