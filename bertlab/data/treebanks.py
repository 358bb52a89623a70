"""Treebanks: sentences whose words have a part of speech, a head word and a relation to it, in CoNLL-U files.

    # text = The dog barks.
    1   The     the    DET    DT   _   2   det     _   _
    2   dog     dog    NOUN   NN   _   3   nsubj   _   _
    3   barks   bark   VERB   VBZ  _   0   root    _   _
                                                            ← a blank line ends the sentence
Source: Universal Dependencies, https://universaldependencies.org/format.html. Ten columns with tabs between them:
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC. Head 0 is the root.
"""

from dataclasses import dataclass
from pathlib import Path

from bertlab.common.errors import DataError
from bertlab.data.tasks.formats import read_blocks

COLUMNS = 10
_ID, _FORM, _UPOS, _HEAD, _DEPREL = 0, 1, 3, 6, 7


@dataclass(frozen=True)
class ParsedSentence:
    """One sentence of a treebank; every tuple has one entry for each word.

    words, tags: the words and their parts of speech (UPOS).   heads: the index of each word's head word, counted from
    0; −1 for the root.   relations: its relation to that word, such as "det".   where: file and line, for messages.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    where: str = ""


def read_conllu(path: str | Path) -> list[ParsedSentence]:
    """The sentences of a CoNLL-U file.

    Comments, multiword tokens ("1-2") and empty nodes ("8.1") are left out: they are not words of the tree.
    Raises DataError, naming file and line: no such file, not UTF-8, a line without ten columns, words that are not
    numbered 1, 2, 3 …, a head that is missing or not a word of the sentence, no sentence at all.
    """
    sentences = [_sentence(path, words) for block in read_blocks(path) if (words := _words(path, block))]
    if not sentences:
        raise DataError(f"{path}: expected at least one sentence, got none")
    return sentences


def _words(path: str | Path, block: list[tuple[int, str]]) -> list[tuple[int, list[str]]]:
    """The words of a sentence: the line's number and its columns."""
    words = []
    for number, line in block:
        columns = line.split("\t")
        if line.startswith("#"):
            continue
        if len(columns) != COLUMNS:
            raise DataError(
                f"{path} line {number}: expected {COLUMNS} columns with tabs between them, got {len(columns)}; "
                "correct the line"
            )
        if "-" not in columns[_ID] and "." not in columns[_ID]:
            words.append((number, columns))
    return words


def _sentence(path: str | Path, lines: list[tuple[int, list[str]]]) -> ParsedSentence:
    heads = []
    for expected, (number, columns) in enumerate(lines, 1):
        where, head = f"{path} line {number}", columns[_HEAD]
        if columns[_ID] != str(expected):
            raise DataError(f"{where}: expected word number {expected}, got {columns[_ID]!r}; correct the first column")
        if head in ("", "_"):
            raise DataError(f"{where}: word {expected} has no head; write its number in column 7, 0 for the root")
        heads.append(int(head) - 1 if head.isascii() and head.isdigit() else len(lines))
        if heads[-1] >= len(lines) or heads[-1] == expected - 1:
            raise DataError(f"{where}: expected as head 0 or the number of another of {len(lines)} words, got {head!r}")
        if columns[_DEPREL] in ("", "_"):
            raise DataError(f"{where}: {columns[_FORM]!r} has no relation; write it in column 8")
    words, tags, relations = (tuple(columns[i] for _, columns in lines) for i in (_FORM, _UPOS, _DEPREL))
    return ParsedSentence(words, tags, tuple(heads), relations, f"{path} line {lines[0][0]}")
