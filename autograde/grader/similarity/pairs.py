"""Which pairs are too much alike, measured by the class itself.

In one exercise, two answers are alike by the weight of the passages that they share: a passage that c of n students
have weighs log(n / c), so a passage of the whole class weighs nothing. The weight is divided by the geometric mean of
the weights of the two answers, so a long answer is not alike to everybody. The pair's chance is then the fraction of
all pairs that are as much alike or more: in a one-line exercise a third of the class is identical by chance.

The chances of all exercises are combined by Fisher's method (Statistical Methods for Research Workers, 1932, section
21.1): for chances that are independent, the sum of -log p has a gamma distribution. Some classes write more alike than
others (a lecture's style), so the normal scores of the sums are measured by the class's own median and spread, which a
few copying pairs change little. From this comes the number of innocent pairs to expect.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from autograde.exercises import catalogue
from autograde.grader.pages import render
from autograde.grader.similarity.hand_ins import ComparedAnswer
from autograde.grader.similarity.programs import K, hidden_ways, passages_of, tokens_of

Class = Mapping[str, Mapping[str, ComparedAnswer]]  # student → exercise → answer

INNOCENT = 0.5  # innocent pairs that may be expected in the list
_FEWEST_PAIRS = 28  # from which the class's own spread is used: eight students
_SMALLEST = 1e-300  # a chance: smaller ones have no normal score
_COMMON = 0.1  # of the class: a program that so many wrote is the obvious one
_OBVIOUS = 20  # passages: two students find a shorter program alone
_NORMAL = statistics.NormalDist()
_SHOWN = 4  # exercises of a pair that are shown side by side, the least likely agreements first
_MAX_CHARACTERS = 6_000  # of one answer that are shown


@dataclass(frozen=True)
class Agreement:
    """Two answers to one exercise. share: of the smaller answer; chance: fraction of pairs that agree as much."""

    exercise: str
    share: float
    chance: float


@dataclass(frozen=True)
class Pair:
    """Two students. expected: number of innocent pairs in this class that are alike as much or more.

    agreements: exercises that both answered, the least likely first.
    """

    first: str
    second: str
    expected: float
    agreements: tuple[Agreement, ...]


@dataclass(frozen=True)
class Identical:
    """Students with one answer. literally: the same text, names and comments included; passages: its length."""

    exercise: str
    students: tuple[str, ...]
    literally: bool
    passages: int


@dataclass(frozen=True)
class Comparison:
    """A class. pairs: all that could be compared, most alike first; innocent: to expect among the listed ones."""

    students: Class
    pairs: list[Pair]
    innocent: float = INNOCENT

    @cached_property
    def listed(self) -> list[Pair]:
        return [pair for pair in self.pairs if pair.expected <= self.innocent]

    @cached_property
    def rings(self) -> list[tuple[str, ...]]:
        """Three or more students who are connected by listed pairs, largest first."""
        groups: dict[str, set[str]] = {}
        for pair in self.listed:
            joined = groups.get(pair.first, {pair.first}) | groups.get(pair.second, {pair.second})
            groups |= dict.fromkeys(joined, joined)
        found = {tuple(sorted(group)) for group in groups.values() if len(group) >= 3}
        return sorted(found, key=lambda ring: (-len(ring), ring))

    @cached_property
    def identical(self) -> list[Identical]:
        """Answers that are the same, longest first, without those that are short or that much of the class wrote."""
        return self._same_programs[0]

    @cached_property
    def shared(self) -> list[Identical]:
        """Programs that more than a tenth of the class wrote, and more than two students: obvious, or of one source."""
        return self._same_programs[1]

    @cached_property
    def _same_programs(self) -> tuple[list[Identical], list[Identical]]:
        """(of few, of many), without short ones"""
        few, many = [], []
        for exercise in sorted({name for answers in self.students.values() for name in answers}):
            writers = defaultdict(list)
            for student, answers in sorted(self.students.items()):
                if exercise in answers and len(answers[exercise].own) >= _OBVIOUS:
                    writers[answers[exercise].program].append(student)
            tried = sum(exercise in answers for answers in self.students.values())
            for those in writers.values():
                if len(those) >= 2:
                    same = [self.students[student][exercise] for student in those]
                    literally = len({answer.source.strip() for answer in same}) == 1
                    found = Identical(exercise, tuple(those), literally, len(same[0].own))
                    (few if len(those) <= max(2, _COMMON * tried) else many).append(found)
        return tuple(
            sorted(found, key=lambda one: (-one.passages, one.exercise, one.students)) for found in (few, many)
        )

    @cached_property
    def hiding(self) -> list[tuple[str, str, list[str]]]:
        """(student, exercise, what it uses) for answers that can hide a program."""
        return [
            (student, exercise, ways)
            for student, answers in sorted(self.students.items())
            for exercise, answer in answers.items()
            if (ways := hidden_ways(answer.source))
        ]


def compare(students: Class, innocent: float = INNOCENT) -> Comparison:
    """Compares everybody with everybody in each exercise."""
    names = sorted(students)
    first, second = np.triu_indices(len(names), 1)  # (pairs,)
    evidence, compared = np.zeros(len(first)), np.zeros(len(first), int)
    found: dict[int, list[Agreement]] = defaultdict(list)
    for exercise in sorted({name for answers in students.values() for name in answers}):
        likeness, shares = (table[first, second] for table in _alike([students[name].get(exercise) for name in names]))
        both = np.flatnonzero(~np.isnan(likeness))  # both answered
        chances = _chances(likeness[both])
        evidence[both] -= np.log(chances)
        compared[both] += 1
        for pair, share, chance in zip(both, shares[both], chances):
            if share > 0:
                found[pair].append(Agreement(exercise, float(share), float(chance)))
    those = np.flatnonzero(compared)
    expected = _expected([_log_gamma_tail(int(compared[pair]), float(evidence[pair])) for pair in those])
    pairs = [
        Pair(names[first[pair]], names[second[pair]], number, tuple(sorted(found[pair], key=lambda one: one.chance)))
        for pair, number in zip(those, expected)
    ]
    return Comparison(students, sorted(pairs, key=lambda pair: (pair.expected, pair.first, pair.second)), innocent)


def _alike(answers: list[ComparedAnswer | None]) -> tuple[np.ndarray, np.ndarray]:
    """(how much alike, shared fraction of the smaller answer), each (students, students); NaN where one is lacking."""
    owners = Counter(passage for answer in answers if answer for passage in answer.own)
    tried = sum(answer is not None and bool(answer.own) for answer in answers)
    weight = {passage: math.log(tried / count) for passage, count in owners.items()}
    column = {passage: index for index, passage in enumerate(p for p, count in owners.items() if count > 1)}
    rows = np.zeros((len(answers), len(column)), np.float32)  # (students, passages): root of the weight
    sizes = np.full(len(answers), np.nan)
    for index, answer in enumerate(answers):
        if answer is not None and answer.own:
            sizes[index] = sum(weight[passage] for passage in answer.own)
            for passage in answer.own & column.keys():
                rows[index, column[passage]] = math.sqrt(weight[passage])
    least = max(1e-6, np.nanmedian(sizes) / 2) if tried else 1.0  # what is nearly empty is like nothing
    sizes = np.maximum(sizes, least)  # NaN stays
    shared = rows @ rows.T
    mean = np.sqrt(sizes[:, None] * sizes[None, :])
    return np.round(shared / mean, 4), np.minimum(1.0, shared / np.minimum(sizes[:, None], sizes[None, :]))


def _chances(likeness: np.ndarray) -> np.ndarray:
    """The fraction of pairs that are as much alike or more."""
    ordered = np.sort(likeness)
    return (len(likeness) - np.searchsorted(ordered, likeness, side="left")) / max(1, len(likeness))


def _log_gamma_tail(shape: int, value: float) -> float:
    """log P(X >= value) for a sum of `shape` exponential numbers: e^-x (1 + x + … + x^(shape-1) / (shape-1)!)."""
    terms = [k * math.log(value) - math.lgamma(k + 1) for k in range(shape)] if value > 0 else [0.0]
    largest = max(terms)
    return min(0.0, largest + math.log(sum(math.exp(term - largest) for term in terms)) - value)


def _expected(log_tails: list[float]) -> list[float]:
    """The number, for each pair, of innocent pairs that are alike as much or more."""
    scores = [-_NORMAL.inv_cdf(min(1 - 1e-9, max(_SMALLEST, math.exp(tail)))) for tail in log_tails]
    centre, spread = 0.0, 1.0
    if len(scores) >= _FEWEST_PAIRS:
        centre, upper = np.quantile(scores, (0.5, 0.75))
        spread = max(0.5, (upper - centre) / _NORMAL.inv_cdf(0.75))
    return [len(scores) * _NORMAL.cdf((centre - score) / spread) for score in scores]


# --- the page: one screen for a pair, folded, side by side ---


def similarity_page(comparison: Comparison, title: str, max_pairs: int = 30) -> str:
    """The comparison as one HTML page. max_pairs: how many are shown side by side."""
    ring_of = {student: ring for ring in comparison.rings for student in ring}
    listed = comparison.listed[:max_pairs]
    rings = [
        {"students": ring, "pairs": [_shown(comparison, pair) for pair in listed if ring_of.get(pair.first) == ring]}
        for ring in comparison.rings
    ]
    return render(
        "similarity",
        title=title,
        comparison=comparison,
        rings=rings,
        apart=[_shown(comparison, pair) for pair in listed if pair.first not in ring_of],
        shown=len(listed),
        k=K,
        label=_label,
    )


def _label(exercise: str) -> str:
    """ "3.11 cross_attention" of "cross-attention", or of "03_attention: cross-attention" where there are several."""
    name = exercise.rpartition(": ")[2]
    return next((f"{one.number} {one.names[0]}" for one in catalogue.EXERCISES if one.id == name), name)


def _shown(comparison: Comparison, pair: Pair) -> dict[str, object]:
    """A pair with its least likely agreements side by side, and a line for each of the others."""
    sides = []
    for agreement in pair.agreements[:_SHOWN]:
        one, other = (comparison.students[student][agreement.exercise] for student in (pair.first, pair.second))
        common = one.own & other.own
        sides.append((agreement, _lines(one.source, common), _lines(other.source, common)))
    return {"pair": pair, "sides": sides, "others": pair.agreements[_SHOWN:]}


def _lines(source: str, common: frozenset) -> list[tuple[int, str, bool]]:
    """(number, text, whether it belongs to a shared passage)"""
    marked = set()
    for passage, lines in passages_of(tokens_of(source)).items():
        if passage in common:
            marked |= lines
    shown = source[:_MAX_CHARACTERS].splitlines()
    return [(number, line, number in marked) for number, line in enumerate(shown, start=1)]
