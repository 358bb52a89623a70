"""The page of similar answers: one screen for a pair, folded, side by side."""

from autograde.exercises import catalogue
from autograde.grader.pages import render
from autograde.grader.similarity.pairs import Comparison, Pair
from autograde.grader.similarity.programs import K, passages_of, tokens_of

_SHOWN = 4  # exercises of a pair that are shown side by side, the least likely agreements first
_MAX_CHARACTERS = 6_000  # of one answer that are shown


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
    known = next((one for one in catalogue.EXERCISES if one.id == name), None)
    return f"{known.number} {known.names[0]}" if known else name


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
