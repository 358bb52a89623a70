"""Predictions, one small class for each task type; the shell prints `line`, and `--json` prints `vars`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LabelPrediction:
    """A class, its probability, and those of all classes by name, most likely first.

    Example:
        >>> LabelPrediction("good", 0.75, {"good": 0.75, "bad": 0.25}).line.split()
        ['good', '0.7500']
    """

    label: str
    probability: float
    probabilities: dict[str, float]

    @property
    def line(self) -> str:
        return f"{self.label}\t{self.probability:.4f}"


@dataclass(frozen=True)
class LabelsPrediction:
    """The labels whose probability is more than one half (multi-label), and the probabilities of all by name.

    Example:
        >>> LabelsPrediction(["funny"], {"funny": 0.75, "long": 0.25}).line
        'funny 0.7500'
        >>> LabelsPrediction([], {"funny": 0.25, "long": 0.25}).line
        '(no label)'
    """

    labels: list[str]
    probabilities: dict[str, float]

    @property
    def line(self) -> str:
        """The labels with their probabilities, most likely first; "(no label)" without any."""
        return "\t".join(f"{label} {self.probabilities[label]:.4f}" for label in self.labels) or "(no label)"


@dataclass(frozen=True)
class NumberPrediction:
    """A number (regression).

    Example:
        >>> NumberPrediction(3.5).line
        '3.5000'
    """

    value: float

    @property
    def line(self) -> str:
        return f"{self.value:.4f}"


@dataclass(frozen=True)
class ChoicePrediction:
    """The index of the most likely choice, its text, and the probabilities of all in the order they were given.

    Example:
        >>> prediction = ChoicePrediction(1, "It barked.", [0.25, 0.75])
        >>> prediction.probabilities[prediction.choice]
        0.75
    """

    choice: int
    text: str
    probabilities: list[float]

    @property
    def line(self) -> str:
        return f"{self.choice}\t{self.probabilities[self.choice]:.4f}\t{self.text}"


@dataclass(frozen=True)
class TagPrediction:
    """A tag for each word, and its probability.

    Example:
        >>> TagPrediction(["Paris", "is", "nice"], ["B-LOC", "O", "O"], [0.75, 0.5, 0.5]).line
        'Paris/B-LOC is nice'
    """

    words: list[str]
    tags: list[str]
    probabilities: list[float]

    @property
    def line(self) -> str:
        """Words with their tags after a slash unless they are "O": Paris/B-LOC is nice ."""
        return " ".join(word if tag == "O" else f"{word}/{tag}" for word, tag in zip(self.words, self.tags))


@dataclass(frozen=True)
class AnswerPrediction:
    """The answer and its position: context[start:end]. No answer: the empty text, start and end None.

    Example:
        >>> context = "The capital is Paris."
        >>> answer = AnswerPrediction("Paris", start=15, end=20, probability=0.75, id="1")
        >>> context[answer.start : answer.end]
        'Paris'
    """

    text: str
    start: int | None
    end: int | None
    probability: float  # among the question's best spans and "no answer"
    id: str  # the given id, else the number of the input

    @property
    def line(self) -> str:
        return f"{self.text or '(no answer)'}\t{self.probability:.4f}"


Prediction = LabelPrediction | LabelsPrediction | NumberPrediction | ChoicePrediction | TagPrediction | AnswerPrediction
