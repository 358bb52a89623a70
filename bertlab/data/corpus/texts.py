"""From the raw texts of one source file to clean docstrings: paragraphs of sentences, and descriptions of parameters.

This is the part that runs in several processes, one file at a time; it does not use the other files.
"""

import gc
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from bertlab.data.corpus.blocks import ITEM, PARAMETER, PROSE, read_blocks
from bertlab.data.corpus.sentences import clean_inline, is_prose, split_sentences, unmark
from bertlab.data.corpus.sources import SourceFile, raw_texts

MIN_WORDS = 8  # of a paragraph
MAX_WORDS_IN_SENTENCE = 120  # longer ones are lists of names

# "(int, optional) The …"
_LEADING_TYPE = re.compile(r"^\(\s*(?:[Oo]ptional\b|[\w, .\[\]|]{2,30})[^()]*\)\s*[:.,-]*\s*")

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Sentence:
    """One sentence, and the (start, end) character offsets of its words marked as code."""

    text: str
    code: Spans = ()

    @property
    def words(self) -> int:
        return len(self.text.split())


Parameter = tuple[str, tuple[Sentence, ...]]  # its name and the sentences about it, which may be short


@dataclass(frozen=True)
class Docstring:
    """One cleaned text. `signature`: the names of the function's parameters."""

    name: str
    kind: str
    signature: tuple[str, ...]
    paragraphs: tuple[tuple[Sentence, ...], ...]
    parameters: tuple[Parameter, ...]


@dataclass
class FileTexts:
    """All clean texts of one source file, and the dropped texts (reason → count)."""

    package: str
    name: str
    docstrings: list[Docstring] = field(default_factory=list)
    dropped: Counter = field(default_factory=Counter)


def read_file(file: SourceFile) -> FileTexts:
    """Reads and cleans one file. An unreadable one yields no text and is counted."""
    result = FileTexts(file.package, file.name)
    gc.disable()  # a syntax tree is a million small objects without a cycle: collecting costs a third of the time
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's strings
            texts = raw_texts(file)
    except (OSError, ValueError, SyntaxError, RecursionError):
        result.dropped["unreadable file"] += 1
        return result
    finally:
        gc.enable()
    seen = set()
    for raw in texts:
        if raw.text in seen:
            result.dropped["repeated docstring in one file"] += 1
            continue
        seen.add(raw.text)
        paragraphs, parameters = clean_text(raw.text, result.dropped)
        if paragraphs or parameters:
            result.docstrings.append(Docstring(raw.name, raw.kind, raw.parameters, paragraphs, parameters))
    return result


def clean_text(text: str, dropped: Counter) -> tuple[tuple[tuple[Sentence, ...], ...], tuple[Parameter, ...]]:
    """The paragraphs of a docstring or page, and its parameters. Counts dropped text in `dropped`, by reason.

    List items in a row make one paragraph. A short summary ("Pads an array.") begins the next paragraph.
    """
    paragraphs: list[tuple[Sentence, ...]] = []
    parameters: list[Parameter] = []
    waiting: list[Sentence] = []
    for kind, blocks in itertools.groupby(read_blocks(text), key=lambda block: block.kind):
        if kind == PARAMETER:
            for block in blocks:
                sentences = clean_sentences(_LEADING_TYPE.sub("", block.text), dropped, least_words=2)
                if sentences:
                    parameters.append((block.name, tuple(sentences)))
        elif kind == ITEM:
            sentences = [each for block in blocks for each in clean_sentences(block.text, dropped)]
            _keep_paragraph(sentences, paragraphs, dropped)
        else:
            for block in blocks:
                sentences = waiting + clean_sentences(block.text, dropped)
                if sentences and not waiting and not paragraphs and kind == PROSE and _words(sentences) < MIN_WORDS:
                    waiting = sentences
                else:
                    waiting = []
                    _keep_paragraph(sentences, paragraphs, dropped)
    _keep_paragraph(waiting, paragraphs, dropped)
    return tuple(paragraphs), tuple(parameters)


def _keep_paragraph(sentences: list[Sentence], paragraphs: list, dropped: Counter) -> None:
    if _words(sentences) >= MIN_WORDS:
        paragraphs.append(tuple(sentences))
    elif sentences:
        dropped[f"paragraph under {MIN_WORDS} words"] += 1


def _words(sentences: Iterable[Sentence]) -> int:
    return sum(sentence.words for sentence in sentences)


def clean_sentences(text: str, dropped: Counter, least_words: int = 3) -> list[Sentence]:
    """The sentences of one paragraph without its markup, and without sentences that are not English prose."""
    kept = []
    for marked in split_sentences(clean_inline(text)):
        words = marked.count(" ") + 1
        if words > MAX_WORDS_IN_SENTENCE:
            dropped[f"sentence over {MAX_WORDS_IN_SENTENCE} words"] += 1
        elif not is_prose(marked, least_words):
            dropped["sentence that is not prose"] += 1
        elif marked.endswith(":") and words < 8:
            dropped["sentence that announces code"] += 1
        else:
            plain, spans = unmark(marked)
            kept.append(Sentence(plain, tuple(spans)))
    return kept


# === Repetitions ===

_IDENTIFIER = re.compile(r"\b\w*(?:\d|_|(?<=[a-z])[A-Z]|\w\.\w)[\w.]*\b")
_NOT_A_LETTER = re.compile(r"[\W_]+")


def masked_form(sentence: Sentence) -> str:
    """The form that repetitions of a sentence share: lower-case words, identifiers and numbers masked."""
    text, end = "", 0
    for start, stop in sentence.code:
        text += sentence.text[end:start] + " x_x "
        end = stop
    text = _IDENTIFIER.sub("x", text + sentence.text[end:])
    return _NOT_A_LETTER.sub(" ", text).strip().lower()


class RepeatFilter:
    """Drops copies of a paragraph that differ in a name, a number or one added sentence.

    TensorFlow's generated wrappers and its v1/v2 twins repeat themselves thousands of times. A paragraph is new when
    more than half of its words is in sentences whose `masked_form` was not there before.
    """

    def __init__(self):
        self._seen: set[str] = set()
        self.dropped = Counter()

    def new_parts(self, docstring: Docstring) -> tuple[list[tuple[Sentence, ...]], tuple[Sentence, ...]]:
        """The paragraphs of a docstring that are new, and one paragraph of the parameter descriptions that are."""
        paragraphs = [paragraph for paragraph in docstring.paragraphs if self._is_new(paragraph)]
        new = [sentences for _, sentences in docstring.parameters if self._is_new(sentences)]
        described = tuple(itertools.chain.from_iterable(new))
        return paragraphs, described if _words(described) >= MIN_WORDS else ()

    def _is_new(self, sentences: tuple[Sentence, ...]) -> bool:
        new_words, forms = 0, []
        for sentence in sentences:
            forms.append(masked_form(sentence))
            if forms[-1] not in self._seen:
                new_words += sentence.words
        is_new = 2 * new_words > _words(sentences)
        self.dropped["repeated paragraph or description"] += not is_new
        self._seen.update(forms)
        return is_new
