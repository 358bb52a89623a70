"""Added tokens: texts that are one token wherever they occur. They are found before the rest of a text is cut.

Before fine-tuning, tokens may be added to a vocabulary, such as "[E1]" around an entity, and rows to the table.
Hugging Face's folders list them in one of three files, which also repeat tokens of the vocabulary:

    tokenizer.json          "added_tokens": objects with content, id and settings
    tokenizer_config.json   "added_tokens_decoder": id → such an object
    added_tokens.json       text → id, in older folders
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.tokenizers.wordpiece.base import CONFIG_FILE, TOKENIZER_JSON, AddedToken, TokenTable, read_config

ADDED_FILE = "added_tokens.json"
_NO = dict(single_word=False, lstrip=False, rstrip=False)  # settings that this library lacks


# === In files ===


def read_added(folder: Path) -> dict[int, dict]:
    """The objects of the tokens that a folder's files list, by their ids; of an id in several files, the first.

    Raises VocabularyError, naming the file, for an entry without a text or an id.
    """
    found: dict[int, dict] = {}
    for name in (TOKENIZER_JSON, CONFIG_FILE, ADDED_FILE):
        for number, entry in _entries(read_config(folder / name), name):
            is_entry = type(number) is int and number >= 0 and isinstance(entry, dict)
            if not is_entry or not isinstance(entry.get("content"), str):
                raise VocabularyError(f"{folder / name}: expected added_tokens with content and id each")
            found.setdefault(number, entry)
    return found


def _entries(values: dict, name: str) -> list[tuple]:
    """(id, object) of each token that a file of this name lists, not checked; (None, None) for other than a list."""
    if name == ADDED_FILE:
        return [(number, {"content": text}) for text, number in values.items()]
    key, kind = ("added_tokens", list) if name == TOKENIZER_JSON else ("added_tokens_decoder", dict)
    listed = values.get(key) or kind()
    if not isinstance(listed, kind):
        return [(None, None)]
    if kind is list:
        return [(one.get("id") if isinstance(one, dict) else None, one) for one in listed]
    return [(int(number) if number.isdecimal() else None, one) for number, one in listed.items()]


def added_tokens(entries: dict[int, dict], special: Container[str], where: str | Path) -> list[AddedToken]:
    """The tokens that objects describe, without those around texts, whose settings are the tokenizer's own.

    Raises VocabularyError for a setting that this library lacks.
    """
    tokens = []
    for _, entry in sorted(entries.items()):
        text, is_special = entry["content"], bool(entry.get("special"))
        if text in special:
            continue
        if not text:
            raise VocabularyError(f"{where}: expected added_tokens with a text each, got an empty one")
        for name in _NO:
            if entry.get(name):
                raise VocabularyError(f"{where}: added token {text!r} with {name} is not supported")
        tokens.append(AddedToken(text, is_special, bool(entry.get("normalized", not is_special))))
    return tokens


def with_added(pieces: Iterable[str], entries: dict[int, dict], where: str | Path) -> list[str]:
    """The tokens of a model's own vocabulary and those that objects add behind it, in the order of their ids.

    Raises VocabularyError if an id is that of another token, or if ids behind the vocabulary are left out.
    """
    pieces = list(pieces)
    for number, entry in sorted(entries.items()):
        if number > len(pieces):
            raise VocabularyError(
                f"{where}: the added token {entry['content']!r} has the id {number}, but there are only {len(pieces)} "
                "tokens before it; take the vocabulary that it was added to"
            )
        if number == len(pieces):
            pieces.append(entry["content"])
        elif pieces[number] != entry["content"]:
            raise VocabularyError(
                f"{where}: {number} is the id of {pieces[number]!r} and of the added token {entry['content']!r}; the "
                "files of this folder are not of the same tokenizer"
            )
    return pieces


def in_config(vocabulary: TokenTable) -> dict:
    """The entry of a tokenizer_config.json for the added tokens; {} without any."""
    entries = {
        str(vocabulary.index(token.text)): {
            "content": token.text, **_NO, "normalized": token.normalized, "special": token.special
        }
        for token in vocabulary.added
    }  # fmt: skip
    return {"added_tokens_decoder": entries} if entries else {}


def remove_other_files(folder: Path, *written: str) -> None:
    """Removes files of an earlier tokenizer that would be read beside the written ones."""
    for name in {TOKENIZER_JSON, ADDED_FILE} - {*written}:
        (folder / name).unlink(missing_ok=True)


# === In texts ===


class WholeTokens:
    """Cuts texts at the tokens that are read as a whole: added ones always, those around texts where asked.

    added: the first.   special: the second.
    normal_form: text → (its normal form, the place in the text of each of its characters).

    Example:
        >>> whole = WholeTokens([AddedToken("covid19")], ["[MASK]"], lambda text: (text.lower(), range(len(text))))
        >>> list(whole.split("A COVID19 [MASK]", special_tokens=True))
        [('A ', 0, None), ('COVID19', 2, 'covid19'), (' ', 9, None), ('[MASK]', 10, '[MASK]')]
    """

    def __init__(self, added: Iterable[AddedToken], special: Iterable[str], normal_form: Callable[[str], tuple]):
        added = list(added)
        exact = {token.text for token in added if not token.normalized}
        self._exact = {False: _compiled(exact), True: _compiled({*exact, *special})}
        self._normal_form = normal_form
        self._by_form = {normal_form(token.text)[0].strip(): token.text for token in added if token.normalized}
        self._normalized = _compiled(self._by_form.keys() - {""})

    def __bool__(self) -> bool:
        """Whether there is a token that is read without being asked for."""
        return self._exact[False] is not None or self._normalized is not None

    def split(self, text: str, special_tokens: bool) -> Iterator[tuple[str, int, str | None]]:
        """(part, its place in the text, the token that it is or None), in order; parts that are empty are left out."""
        pattern, start = self._exact[special_tokens], 0
        for match in pattern.finditer(text) if pattern else ():
            yield from self._split_normalized(text[start : match.start()], start)
            yield match[0], match.start(), match[0]
            start = match.end()
        yield from self._split_normalized(text[start:], start)

    def _split_normalized(self, text: str, start: int) -> Iterator[tuple[str, int, str | None]]:
        """The same for the tokens that are looked for in the normal form of a text; start: its own place."""
        if self._normalized is not None:
            form, places = self._normal_form(text)
            done = 0
            for match in self._normalized.finditer(form):
                begin, end = places[match.start()], places[match.end() - 1] + 1
                if begin > done:
                    yield text[done:begin], start + done, None
                yield text[begin:end], start + begin, self._by_form[match[0]]
                done = end
            text, start = text[done:], start + done
        if text:
            yield text, start, None


def any_of(texts: Iterable[str]) -> str:
    """A regular expression for these texts, the longest first; empty without any."""
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def _compiled(texts: set[str]) -> re.Pattern | None:
    return re.compile(any_of(texts)) if texts else None
