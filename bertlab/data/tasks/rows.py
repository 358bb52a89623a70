"""The rows of labelled data: one small frozen dataclass for each task type.

Every source of labelled data (the built-in tasks, GLUE, SQuAD, CoNLL, your own CSV) produces these rows, and training
and evaluation read them. The task types (`shape`) are those of Devlin et al. 2019, figure 4, plus multiple choice
(section 4.4). A label is the index of a class, a real number for regression, the indices of all classes that apply
(multi-label), or None in a test set without answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

Label = int | float | tuple[int, ...] | None


@dataclass(frozen=True)
class SentenceRow:
    """One text and its class (or number)."""

    text: str
    label: Label = None


@dataclass(frozen=True)
class PairRow:
    """Two texts and the class (or number) of the pair."""

    text_a: str
    text_b: str
    label: Label = None


@dataclass(frozen=True)
class MultipleChoiceRow:
    """A context and several continuations; `label` is the index of the right one."""

    context: str
    choices: tuple[str, ...]
    label: int | None = None


@dataclass(frozen=True)
class TaggingRow:
    """Words and one tag for each, as the index of a label; `tags` is None if there are no tags."""

    words: tuple[str, ...]
    tags: tuple[int, ...] | None = None


@dataclass(frozen=True)
class QuestionRow:
    """A question about a context, and the answer's position in it.

    `answers[i]` is `context[answer_starts[i]:answer_starts[i] + len(answers[i])]`: offsets count characters. All
    answers are equally right; no answers means that the question is unanswerable (SQuAD 2.0).
    """

    id: str
    question: str
    context: str
    answers: tuple[str, ...] = ()
    answer_starts: tuple[int, ...] = ()


Row = SentenceRow | PairRow | MultipleChoiceRow | TaggingRow | QuestionRow


@dataclass(frozen=True)
class TaskData:
    """A labelled task: its rows in up to three splits.

    shape: its type, a key of `formats_records.ROLES`. labels: the classes' (or tags') names in the order of their
    indices; empty for regression and questions. A split that the task lacks is empty. multi_label: sentences and pairs
    only: a row has any number of the labels.
    """

    name: str
    shape: str
    labels: tuple[str, ...]
    train: Sequence[Row] = ()
    validation: Sequence[Row] = ()
    test: Sequence[Row] = ()
    multi_label: bool = False
