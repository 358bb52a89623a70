"""Which sentences of a source are fit to train on: whole, without mark-up, with all their numbers and names.

Encyclopaedias lose what a template or a formula printed: "a beam of and a draught of.", "the daughter of and,". Such a
sentence teaches wrong grammar, so it is dropped; the rest of its paragraph stays.
"""

import re
from collections import Counter
from collections.abc import Iterable

from bertlab.data.corpus.sentences import split_sentences

LONGEST = 150  # words
LEAST_LETTERS = 0.6  # of the characters
MAX_FOREIGN = 0.2  # of the letters

_ADDED = re.compile(r"\[(\w[^\[\]]*)\]")  # "[if] they": an editor's word or letter
_MARKUP = re.compile(r"https?:|www\.|[<>{}|\\=\[\]^~_]|&\w+;|''|/\*|<unk>|@-@|\ufffd")
_BEGINS = re.compile(r"[\"'“‘(]*[A-Z0-9$£€]")
_ENDS = re.compile(r"[.!?…][\"'”’)]*$")
_ARTICLES = r"(?:the|a|an|its|their|every|per)"
_BEFORE_A_NAME = r"(?:from|with|including|called|named|between|approximately|into|via)"
_VERBS = r"(?:has|have|had|is|was|were|are)"
_QUANTITIES = (
    "population|area|length|height|speed|distance|depth|diameter|temperature|rate|radius|elevation|value|average|mass|"
    "weight|width|beam|draught|draft|displacement|bore|stroke|winds|swells|capacity|maximum|minimum|total|range|altitude"
)
# One pattern for each kind of hole; the text around it is what the template left.
HOLES = tuple(
    re.compile(pattern)
    for pattern in (
        r",\s*[,.;)]|\(\s*[,;)]|[,;]\s*\)|\(\s|\s\)",  # "on 28 August,, another", "Khost (; …)"
        rf"\b{_ARTICLES} ?[,;:)!?]|\b{_ARTICLES}\.(?=\s|$)",  # "known as a."
        r"\b(?:and|or)(?: ?[;:)!?]|\.(?=\s|$))",  # "cruisers, and."
        rf"\b{_BEFORE_A_NAME} ?[,;]|\b(?:including|between|approximately|via)\.(?=\s|$)",  # "including, and"
        r"\b(?:a|an|the|its) (?:\w+ )?\w+ of(?: ?[,;]|\.(?=\s|$))|\b(?:denoted|defined|given) by[.,]",  # "a draft of."
        r"\b(?:of|between|from) (?:and|or|to)\b",  # "the daughter of and"
        rf"\b(?:of|with|by) {_VERBS}\b",  # "the initial loan of was repaid"
        rf"\b(?:the|a|an) (?:of|and|or|{_VERBS})\b(?![-–])",  # "As a of the Habsburgs"
        rf"\b(?:{_QUANTITIES}) of (?:in|at|by|on|as|for|from|per)\b(?! (?:least|most))",  # "winds of in its"
        r"\b(?:approximately|roughly|than|is|was|at|of) (?:km|mi|kg|ft|m|cm|mm|mph|kn|%|°|percent|per cent)\b",
        r"(?:^|\s)'(?:\s|$)",  # "the video game ' and its version"
        r"\b(?:of|by|with|and|the|a) [.,](?=\d)",  # "(a.526-mile short-track)"
    )
)


def fault(sentence: str, strict: bool) -> str | None:
    """Why a sentence is not fit to train on, or None.

    strict: for edited prose. Demands a beginning, an end, closed brackets and no holes; talk and novels have their own
    ways with all of these.

    Example:
        >>> fault("The ship has a beam of and a draught of.", strict=True)
        'a number or a name is missing'
    """
    if _MARKUP.search(sentence):
        return "mark-up"
    if sentence.count(" ") >= LONGEST:
        return "too long"
    letters = sum(map(str.isalpha, sentence))
    if letters < LEAST_LETTERS * (len(sentence) - sentence.count(" ")):
        return "few letters"
    if letters - sum(map(str.isalpha, sentence.encode("ascii", "ignore").decode())) > MAX_FOREIGN * letters:
        return "foreign letters"
    if not strict:
        return None
    if not (_BEGINS.match(sentence) and _ENDS.search(sentence)) or " " not in sentence:
        return "not a whole sentence"
    if sentence.count("(") != sentence.count(")"):
        return "an open bracket"
    if any(hole.search(sentence) for hole in HOLES):
        return "a number or a name is missing"
    return None


def clean_paragraphs(paragraphs: Iterable[str], strict: bool, dropped: Counter) -> list[list[str]]:
    """The fit sentences of each paragraph; paragraphs without any are left out. dropped: reason → sentences."""
    kept = []
    for paragraph in paragraphs:
        sentences = []
        for sentence in split_sentences(paragraph):
            sentence = _ADDED.sub(r"\1", sentence)
            reason = fault(sentence, strict)
            if reason is None:
                sentences.append(sentence)
            else:
                dropped[reason] += 1
        if sentences:
            kept.append(sentences)
    return kept


def join_broken_lines(lines: Iterable[str]) -> list[str]:
    """Paragraphs of a book some of whose lines were broken at a margin: a line that begins in lower case is joined."""
    paragraphs: list[str] = []
    for line in lines:
        if paragraphs and line[:1].islower() and paragraphs[-1][-1:] not in ".!?\"'”’":
            paragraphs[-1] += " " + line
        else:
            paragraphs.append(line)
    return paragraphs
