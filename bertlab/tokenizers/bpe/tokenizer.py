"""BPE as a tokenizer, through the optional package `tokenizers`.

On bytes, any text becomes ids and exactly the same text again, since every byte is a token if no merge applies:

    "It's 10 °C"  →  It | 's | Ġ10 | ĠÂ° | C        (Ġ is a space; ° is two bytes in UTF-8)

On the characters of words, the last token of a word ends with </w>: lowest  →  low est</w>

Sources: Radford et al. 2018, section 4.1 (GPT); Radford et al. 2019, section 2.2 (GPT-2); Liu et al. 2019, "RoBERTa",
section 4.4; Sennrich et al. 2016, section 3.2.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.common.files import write_text
from bertlab.tokenizers.bpe.vocabulary import (
    VOCABULARY_FILE,
    WORD_END,
    BytePairVocabulary,
    WordVocabulary,
    from_tokenizer_json,
)
from bertlab.tokenizers.wordpiece.added import in_config, remove_other_files
from bertlab.tokenizers.wordpiece.base import (
    CONFIG_FILE,
    TOKENIZER_JSON,
    AddedToken,
    Tokenizer,
    as_utf8,
    optional_package,
    ragged,
    read_config,
    read_settings,
    write_config,
)
from bertlab.tokenizers.wordpiece.encoding import Encoding, Ragged

MASK_AS_IN_BERT = "[MASK]"  # means the mask in every tokenizer's text
REMEMBERED_CHUNKS = 1 << 18  # whose tokens the package keeps
TEXTS_AT_ONCE = 4096  # given to the package
SPECIAL_NAMES = {"pad": "pad_token", "unk": "unk_token", "cls": "cls_token", "sep": "sep_token", "mask": "mask_token"}


def package():
    """The module `tokenizers`. Raises MissingDependencyError without it."""
    return optional_package("tokenizers", "bpe")


class _PairTokenizer(Tokenizer):
    """The part that both kinds share. A subclass defines `_pipeline`, its steps as the package's tokenizer."""

    vocabulary: BytePairVocabulary
    mask_takes_space = False

    @cached_property
    def _text_library(self):
        """The package's tokenizer, which takes the five special tokens for text."""
        return self._with_tokens([])

    @cached_property
    def _special_library(self):
        """The package's tokenizer that reads the special tokens, and BERT's name of the mask."""
        return self._with_tokens([*astuple(self.vocabulary.special), MASK_AS_IN_BERT])

    def _library(self, special_tokens: bool):
        return self._special_library if special_tokens else self._text_library

    def _with_tokens(self, special: Iterable[str]):
        """The package's tokenizer that reads these tokens and the added ones as a whole."""
        library, masks = self._pipeline(), {self.vocabulary.special.mask, MASK_AS_IN_BERT}
        whole = [*(AddedToken(text, True, False) for text in dict.fromkeys(special)), *self.vocabulary.added]
        library.add_tokens([
            package().AddedToken(
                token.text, normalized=token.normalized, special=token.special,
                lstrip=self.mask_takes_space and token.text in masks,
            )
            for token in whole
        ])  # fmt: skip
        return library

    # === Text into ids ===

    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        return self._known(self._library(special_tokens).encode(as_utf8(text), add_special_tokens=False).ids)

    def encode_batch(self, texts: Iterable[str], special_tokens: bool = False) -> Ragged:
        library, rest = self._library(special_tokens), map(as_utf8, texts)
        blocks = iter(lambda: list(islice(rest, TEXTS_AT_ONCE)), [])
        encoded = (library.encode_batch_fast(block, add_special_tokens=False) for block in blocks)
        return ragged(self._known(row.ids) for rows in encoded for row in rows)

    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        """Words are chunks, of the text between spaces with the space before it.

        A token that is a part of a character spans the whole character; a character that was composed of several, the
        first of them.
        """
        found = self._library(special_tokens).encode(as_utf8(text), add_special_tokens=False)
        return Encoding.of(self._known(found.ids), self.vocabulary.pieces, found.offsets, found.word_ids)

    def _known(self, ids: list[int]) -> list[int]:
        """The ids with the mask's own for BERT's name of it, which has the first one behind the vocabulary."""
        size = len(self.vocabulary)
        return [self.vocabulary.mask_id if number == size else number for number in ids] if size in ids else ids

    # === In a folder ===

    def _write(self, folder: Path) -> None:
        if self.vocabulary.file == TOKENIZER_JSON:  # vocab.json and merges.txt cannot hold all of it
            write_text(folder / TOKENIZER_JSON, self._one_file(), VocabularyError)
        else:
            self.vocabulary.save(folder)
        remove_other_files(folder, self.vocabulary.file)
        write_config(folder, self._config())

    def _config(self) -> dict:
        return {theirs: getattr(self.vocabulary.special, ours) for ours, theirs in SPECIAL_NAMES.items()}


@dataclass(eq=False)
class BytePairTokenizer(_PairTokenizer):
    """GPT-2's and RoBERTa's tokenizer, equal to Hugging Face's `tokenizers` in ids and offsets.

    Every method that reads text takes `special_tokens`: False, and "<mask>" in a text is text; True, and it is the
    special token. Then "[MASK]" is the mask too, so that one text can be given to every tokenizer. Tokens that were
    added to the vocabulary are always read as a whole. The first text raises MissingDependencyError without the
    package.

    Example:
        >>> from bertlab.tokenizers.bpe.learner import learn
        >>> tokenizer = BytePairTokenizer(learn(["low lower lowest"] * 9, size=268))
        >>> tokenizer.tokenize("a lower ☃")
        ['a', 'Ġlower', 'Ġ', 'â', 'ĺ', 'ĥ']
        >>> tokenizer.decode(tokenizer.encode("a lower ☃"))
        'a lower ☃'
    """

    vocabulary: BytePairVocabulary
    add_prefix_space: bool = False  # read "house" as " house" at the beginning of a text
    trim_offsets: bool = True  # leave the space before a word out of a token's offsets
    mask_takes_space: bool = True  # the space before a mask belongs to the mask, since the word that it hides has one

    kind = "byte-level BPE"
    word_prefix = " "

    def _pipeline(self):
        library, vocabulary = package(), self.vocabulary
        made = library.Tokenizer(
            library.models.BPE(dict(vocabulary.ids), list(vocabulary.merges), cache_capacity=REMEMBERED_CHUNKS)
        )
        if vocabulary.nfc:
            made.normalizer = library.normalizers.NFC()
        level = dict(add_prefix_space=self.add_prefix_space, trim_offsets=self.trim_offsets)
        made.pre_tokenizer = library.pre_tokenizers.ByteLevel(**level)
        made.post_processor = library.processors.ByteLevel(**level)
        made.decoder = library.decoders.ByteLevel()
        return made

    def _text_of(self, ids: list[int]) -> str:
        """The bytes as text; those that are not UTF-8 become U+FFFD."""
        return self._text_library.decode(ids, skip_special_tokens=False)

    def _one_file(self) -> str:
        """The content of a tokenizer.json."""
        special, library = self.vocabulary.special, self._with_tokens(astuple(self.vocabulary.special))
        between = [f"{special.sep}:1"] * (self.vocabulary.pair_separators - 1)
        single = [f"{special.cls}:0", "$A:0", f"{special.sep}:0"]
        template = package().processors.TemplateProcessing(
            single=single,
            pair=[*single, *between, "$B:1", f"{special.sep}:1"],
            special_tokens=[(special.cls, self.vocabulary.cls_id), (special.sep, self.vocabulary.sep_id)],
        )
        library.post_processor = package().processors.Sequence([library.post_processor, template])
        return library.to_str(pretty=True) + "\n"

    def _config(self) -> dict:
        in_one_file = self.vocabulary.file == TOKENIZER_JSON
        names = super()._config()
        names |= {"bos_token": names["cls_token"], "eos_token": names["sep_token"]}
        names["mask_token"] = {
            "__type": "AddedToken", "content": names["mask_token"], "lstrip": self.mask_takes_space, "rstrip": False,
            "single_word": False, "normalized": False, "special": True,
        }  # fmt: skip
        return ({"tokenizer_class": "PreTrainedTokenizerFast"} if in_one_file else {}) | names | self.settings()

    @classmethod
    def load(cls, folder: str | Path, **settings) -> "BytePairTokenizer":
        """Reads a folder with tokenizer.json, or vocab.json and merges.txt, and if it is there tokenizer_config.json.

        settings: arguments of the constructor that override the folder's.
        Raises VocabularyError or ConfigError if a file cannot be used.
        """
        folder = Path(folder)
        named = named_special(folder)
        if (folder / TOKENIZER_JSON).exists():  # has all that the two others have, and more
            vocabulary, in_file = from_tokenizer_json(folder / TOKENIZER_JSON, named)
        else:
            vocabulary, in_file = BytePairVocabulary.from_folder(folder, named), {}
        names = ("add_prefix_space", "trim_offsets", "mask_takes_space")
        in_config_file = read_settings(folder, dict(zip(names, names)))
        return cls(vocabulary, **{**in_config_file, **in_file, **settings})


@dataclass(eq=False)
class WordPairTokenizer(_PairTokenizer):
    """GPT's tokenizer of 2018. The words are BERT's: lower case, without accents, punctuation apart.

    A character that is no token is <unk>. (The first code cleaned texts with two more libraries, which Hugging Face's
    `tokenizers` leave out.)

    `special_tokens` and added tokens as in `BytePairTokenizer`.

    Example:
        >>> vocabulary = WordVocabulary(["<unk>", "l", "o", "w</w>", "lo", "low</w>"], [("l", "o"), ("lo", "w</w>")])
        >>> tokenizer = WordPairTokenizer(vocabulary)
        >>> tokenizer.tokenize("Low ☃ lo")
        ['low</w>', '<unk>', 'l', '<unk>']
        >>> tokenizer.decode(tokenizer.encode("low Low"))
        'low low'
    """

    vocabulary: WordVocabulary

    kind = "word BPE"

    def _pipeline(self):
        library, vocabulary = package(), self.vocabulary
        made = library.Tokenizer(
            library.models.BPE(
                dict(vocabulary.ids), list(vocabulary.merges), unk_token=vocabulary.special.unk,
                end_of_word_suffix=WORD_END, cache_capacity=REMEMBERED_CHUNKS,
            )
        )  # fmt: skip
        made.normalizer = library.normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
        return made

    def _text_of(self, ids: list[int]) -> str:
        """Words with spaces between them. Normalizing is not undone."""
        pieces = [self.vocabulary.pieces[number] for number in ids]
        whole = {token.text for token in self.vocabulary.added}
        return "".join(f"{one} " if one in whole else one.replace(WORD_END, " ") for one in pieces).rstrip(" ")

    def _config(self) -> dict:
        return super()._config() | in_config(self.vocabulary)

    @classmethod
    def load(cls, folder: str | Path) -> "WordPairTokenizer":
        """Reads a folder with vocab.json and merges.txt, or tokenizer.json, and if it is there tokenizer_config.json.

        Raises VocabularyError or ConfigError if a file cannot be used.
        """
        folder = Path(folder)
        named = named_special(folder)
        if (folder / VOCABULARY_FILE).exists():
            return cls(WordVocabulary.from_folder(folder, named))
        return cls(WordVocabulary.from_tokenizer_json(folder / TOKENIZER_JSON, named))


def named_special(folder: Path) -> dict[str, str]:
    """The names in tokenizer_config.json, where a token is a text or an object with its text."""
    config, found = read_config(folder / CONFIG_FILE), {}
    for ours, theirs in SPECIAL_NAMES.items():
        value = config.get(theirs)
        value = value.get("content") if isinstance(value, dict) else value
        if isinstance(value, str):
            found[ours] = value
    return found
