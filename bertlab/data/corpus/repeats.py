"""Finds repetitions in a corpus: copies of a paragraph that differ in a name, a number or one added sentence.

TensorFlow's generated wrappers and its v1/v2 twins repeat themselves thousands of times. Two sentences are the same
here when they agree in lower case with numbers and code masked; a paragraph is new when more than half of its words
is in sentences that were not there before.
"""

import re
from collections import Counter

from bertlab.data.corpus.texts import MIN_WORDS, Docstring, Sentence

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
    """Stores every sentence that it has accepted."""

    def __init__(self):
        self._seen: set[str] = set()
        self.dropped = Counter()

    def new_parts(self, docstring: Docstring) -> tuple[list[tuple[Sentence, ...]], tuple[Sentence, ...]]:
        """The paragraphs of a docstring that are new, and one paragraph of the parameter descriptions that are."""
        paragraphs = [paragraph for paragraph in docstring.paragraphs if self._is_new(paragraph)]
        described = tuple(
            sentence
            for parameter in docstring.parameters
            if self._is_new(parameter.sentences)
            for sentence in parameter.sentences
        )
        if sum(sentence.words for sentence in described) < MIN_WORDS:
            described = ()
        return paragraphs, described

    def _is_new(self, sentences: tuple[Sentence, ...]) -> bool:
        new_words, forms = 0, []
        for sentence in sentences:
            forms.append(masked_form(sentence))
            if forms[-1] not in self._seen:
                new_words += sentence.words
        is_new = 2 * new_words > sum(sentence.words for sentence in sentences)
        self.dropped["repeated paragraph or description"] += not is_new
        self._seen.update(forms)
        return is_new
