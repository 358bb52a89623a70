"""BPE on the characters of words, whose last token ends with </w>: GPT's tokenizer of 2018.

    lowest  →  l o w e s t</w>  →  low est</w>

The words are BERT's: lower case, without accents, punctuation apart. A character that is no token is <unk>. (The first
code cleaned texts with two more libraries, which Hugging Face's `tokenizers` leave out, and so does this module.)

Sources: Sennrich et al. 2016, section 3.2; Radford et al. 2018, section 4.1; `OpenAIGPTTokenizer` of transformers.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from pathlib import Path

import numpy as np

from bertlab.common.errors import VocabularyError
from bertlab.common.files import write_text
from bertlab.tokenizers.bpe.tokenizer import CONFIG_FILE, MASK_AS_IN_BERT, SPECIAL_NAMES, named_special
from bertlab.tokenizers.bpe.vocabulary import (
    TOKENIZER_JSON,
    VOCABULARY_FILE,
    BytePairVocabulary,
    SpecialTokens,
    pieces_in_order,
    read_json,
    special_tokens,
)
from bertlab.tokenizers.wordpiece.added import (
    WholeTokens,
    added_tokens,
    in_config,
    read_added,
    remove_other_files,
    with_added,
)
from bertlab.tokenizers.wordpiece.base import BaseTokenizer, read_config
from bertlab.tokenizers.wordpiece.basic import BasicTokenizer, Word
from bertlab.tokenizers.wordpiece.encoding import Encoding

WORD_END = "</w>"
REMEMBERED_WORDS = 1 << 18  # the table of words is emptied when it holds more


class WordVocabulary(BytePairVocabulary):
    """The tokens, their merges, and special tokens, which are all <unk> if the vocabulary has no other.

    Arguments and errors as in `BytePairVocabulary`, without the 256 byte characters.

    Example:
        >>> vocabulary = WordVocabulary(["<unk>", "l", "o", "w</w>", "lo"], [("l", "o")])
        >>> vocabulary.special_ids
        (0, 0, 0, 0, 0)
    """

    alphabet = ()

    def __init__(self, pieces, merges, special: SpecialTokens | None = None, **options):
        pieces = tuple(pieces)
        super().__init__(pieces, merges, special or special_tokens({}, pieces), **options)

    @classmethod
    def from_tokenizer_json(cls, path: Path, named: Mapping[str, str]) -> "WordVocabulary":
        """Reads Hugging Face's one file. named: see `special_tokens`. Raises VocabularyError, naming the file."""
        model = read_json(path).get("model")
        vocab, merges = (model.get(name) if isinstance(model, dict) else None for name in ("vocab", "merges"))
        if not (isinstance(vocab, dict) and isinstance(merges, list)):
            raise VocabularyError(f"{path}: expected a model with an object `vocab` and a list `merges`")
        pairs = [tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in merges]
        entries, special = read_added(path.parent), special_tokens(named, vocab)
        pieces = with_added(pieces_in_order(vocab, path), entries, path)
        return cls(pieces, pairs, special, added=added_tokens(entries, astuple(special), path), where=str(path))

    def continues(self, piece: str) -> bool:
        """Always False: the tokens show where a word ends, not where it begins."""
        return False


class WordPairTokenizer(BaseTokenizer):
    """GPT's tokenizer, equal to Hugging Face's `tokenizers` in ids and offsets.

    vocabulary: tokens, merges and special tokens.

    Every method that reads text takes `special_tokens`: True, and "<unk>" or "[MASK]" in a text is the special token.
    Tokens that were added to the vocabulary are always read as a whole.

    Example:
        >>> vocabulary = WordVocabulary(["<unk>", "l", "o", "w</w>", "lo", "low</w>"], [("l", "o"), ("lo", "w</w>")])
        >>> tokenizer = WordPairTokenizer(vocabulary)
        >>> tokenizer.tokenize("Low ☃ lo")
        ['low</w>', '<unk>', 'l', '<unk>']
        >>> tokenizer.decode(tokenizer.encode("low Low"))
        'low low'
    """

    kind = "word BPE"
    SETTINGS = ()

    def __init__(self, vocabulary: WordVocabulary):
        self.vocabulary = vocabulary
        self.basic = BasicTokenizer()
        self._word_ids: dict[str, list[int]] = {}
        special = {*astuple(vocabulary.special), MASK_AS_IN_BERT}
        self._whole = WholeTokens(vocabulary.added, special, self.basic.normal_form)
        self._whole_texts = special | {token.text for token in vocabulary.added}

    # === One text ===

    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        """The ids of a text, without the special tokens around it (see `pack`)."""
        return [number for part, _ in self._words(text, special_tokens) for number in self._ids_of(part)]

    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        """Ids, tokens, the characters (start, end) of the text that each came from, and the number of its word."""
        ids, offsets, word_ids = [], [], []
        for number, (part, start) in enumerate(self._words(text, special_tokens)):
            first = 0
            for token in self._ids_of(part):
                end = first + self._length(token, part)
                positions = part.positions[first:end]
                first = end
                ids.append(token)
                offsets.append((start + min(positions), start + max(positions) + 1))
                word_ids.append(number)
        pieces = [self.vocabulary.pieces[number] for number in ids]
        spans = np.array(offsets, np.int32).reshape(-1, 2)
        return Encoding(np.array(ids, np.int32), pieces, spans, np.array(word_ids, np.int32))

    def _words(self, text: str, special_tokens: bool) -> Iterator[tuple[Word, int]]:
        """The words and where the part of the text begins in which their characters are counted."""
        for part, start, token in self._whole.split(text, special_tokens):
            words = self.basic.words(part) if token is None else [Word(token, list(range(len(part))))]
            yield from ((word, start) for word in words)

    def _ids_of(self, word: Word) -> list[int]:
        """The ids of one word, from the table of those seen before."""
        ids = self._word_ids.get(word.text)
        if ids is None:
            ids = self._merged(word.text)
            if len(self._word_ids) >= REMEMBERED_WORDS:
                self._word_ids.clear()
            self._word_ids[word.text] = ids
        return ids

    def _merged(self, word: str) -> list[int]:
        vocabulary = self.vocabulary
        if word in self._whole_texts:  # a special one only with special_tokens=True: otherwise a bracket is a word
            return [vocabulary.mask_id if word == MASK_AS_IN_BERT else vocabulary.index(word)]
        pieces = vocabulary.merges.apply([*word[:-1], word[-1] + WORD_END])
        return [vocabulary.get(piece, vocabulary.unk_id) for piece in pieces]

    def _length(self, token: int, word: Word) -> int:
        """The number of characters of a word that a token stands for."""
        if word.text in self._whole_texts:
            return len(word.positions)
        return 1 if token == self.vocabulary.unk_id else len(self.vocabulary.pieces[token].removesuffix(WORD_END))

    # === Back to text ===

    def _text_of(self, ids: list[int]) -> str:
        """Words with spaces between them. Normalizing is not undone."""
        pieces = [self.vocabulary.pieces[number] for number in ids]
        whole = {token.text for token in self.vocabulary.added}
        return "".join(f"{one} " if one in whole else one.replace(WORD_END, " ") for one in pieces).rstrip(" ")

    # === In a folder ===

    def save(self, folder: str | Path) -> None:
        """Writes vocab.json, merges.txt and tokenizer_config.json; transformers reads them too."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.vocabulary.save(folder)
        names = {theirs: getattr(self.vocabulary.special, ours) for ours, theirs in SPECIAL_NAMES.items()}
        names |= in_config(self.vocabulary.added, self.vocabulary.index)
        write_text(folder / CONFIG_FILE, json.dumps(names, indent=2) + "\n", VocabularyError)
        remove_other_files(folder)

    @classmethod
    def load(cls, folder: str | Path) -> "WordPairTokenizer":
        """Reads a folder with vocab.json and merges.txt, or tokenizer.json, and if it is there tokenizer_config.json.

        Raises VocabularyError or ConfigError if a file cannot be used.
        """
        folder = Path(folder)
        named = named_special(read_config(folder / CONFIG_FILE))
        if (folder / VOCABULARY_FILE).exists():
            return cls(WordVocabulary.from_folder(folder, named))
        return cls(WordVocabulary.from_tokenizer_json(folder / TOKENIZER_JSON, named))
