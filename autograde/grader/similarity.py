"""Finds similar answers with fingerprints of token sequences, after removing the template.

The method is winnowing (Schleimer, Wilkerson and Aiken: "Winnowing: Local Algorithms for Document Fingerprinting",
SIGMOD 2003). A program becomes a sequence of tokens in which all names are one token, so renaming changes nothing;
every run of K tokens is hashed; of each WINDOW neighbouring hashes the smallest is kept. Any shared run of
K + WINDOW - 1 tokens is then always found, none shorter than K is. Fingerprints of the released notebook are removed,
and so are those that many students share: short exercises have one obvious solution.

A high similarity is only a reason to read two programs side by side.

The library copydetect (0.5, March 2024) compares files, not cells, and supports a template but not a class; it would
save only the forty lines from `tokens` to `_winnow`, over the same lexer (Pygments).
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

K = 10  # tokens hashed together
WINDOW = 6  # neighbouring hashes of which one is kept
COMMON = 0.2  # fingerprints of more than this fraction of the class are ignored
_ALWAYS_RARE = 3  # students who may share a fingerprint even in a small class
LARGEST = 100_000  # characters of one student that are compared

Answers = Mapping[str, str]  # text by exercise


@dataclass(frozen=True)
class Pair:
    """Two students. shared: number of common rare fingerprints; share: as a fraction of the smaller set of the two.
    first_lines, second_lines: marked lines, counted from 1."""

    first: str
    second: str
    shared: int
    share: float
    first_lines: frozenset[int]
    second_lines: frozenset[int]


def tokens(source: str) -> list[tuple[str, int]]:
    """(token, line) of a program, names, numbers and strings each made one, comments left out. Never raises."""
    from pygments.lexers import PythonLexer
    from pygments.token import Comment, Name, Number, String, Whitespace

    found, line = [], 1
    for kind, text in PythonLexer(stripnl=False, stripall=False, ensurenl=True).get_tokens(source[:LARGEST]):
        if kind in Comment or kind in String.Doc or kind in Whitespace or not text.strip():
            pass
        elif kind in Name and kind not in Name.Builtin:
            found.append(("name", line))
        elif kind in Number:
            found.append(("number", line))
        elif kind in String:
            if not found or found[-1] != ("string", line):
                found.append(("string", line))
        else:
            found.append((text, line))
        line += text.count("\n")
    return found


def fingerprints(source: str) -> dict[int, set[int]]:
    """Kept hashes of a program → their line numbers."""
    sequence = tokens(source)
    hashes = [
        zlib.crc32("\0".join(token for token, _ in sequence[start : start + K]).encode())
        for start in range(len(sequence) - K + 1)
    ]
    found: dict[int, set[int]] = defaultdict(set)
    for place in _winnow(hashes):
        found[hashes[place]].update(line for _, line in sequence[place : place + K])
    return dict(found)


def _winnow(hashes: list[int]) -> list[int]:
    """Places of the smallest hash of each window, the last one where several are smallest."""
    places: list[int] = []
    for start in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        window = hashes[start : start + WINDOW]
        place = start + max(index for index, value in enumerate(window) if value == min(window))
        if not places or places[-1] != place:
            places.append(place)
    return places


def one_text(answers: Answers) -> str:
    """All answers of a student below one another, each under the name of its exercise: what is compared and shown."""
    return "\n\n".join(f"# {exercise}\n{text.rstrip()}" for exercise, text in answers.items())


def similar_pairs(students: Mapping[str, Answers], template: Answers, least: int = 3) -> list[Pair]:
    """Pairs that share at least `least` rare fingerprints, most alike first.

    students: each one's answers (code only) by exercise; template: the released text of the same cells.
    """
    released = set()
    for text in template.values():
        released |= fingerprints(text).keys()
    prints = {student: fingerprints(one_text(answers)) for student, answers in sorted(students.items())}
    spread = Counter(value for found in prints.values() for value in found)
    most = max(_ALWAYS_RARE, COMMON * len(prints))
    owners = defaultdict(list)
    for student, found in prints.items():
        for value in found:
            if value not in released and spread[value] <= most:
                owners[value].append(student)
    shared = defaultdict(list)
    for value, those in owners.items():
        for pair in combinations(those, 2):
            shared[pair].append(value)
    own = Counter(student for those in owners.values() for student in those)
    pairs = [
        Pair(
            first, second, len(values), len(values) / min(own[first], own[second]),
            _lines(prints[first], values), _lines(prints[second], values),
        )
        for (first, second), values in shared.items() if len(values) >= least
    ]  # fmt: skip
    return sorted(pairs, key=lambda pair: (-pair.shared * pair.share, pair.first, pair.second))


def _lines(found: dict[int, set[int]], values: list[int]) -> frozenset[int]:
    return frozenset(line for value in values for line in found[value])


def similarity_page(students: Mapping[str, Answers], pairs: list[Pair], title: str, most: int = 30) -> str:
    """The pairs side by side as one HTML page; lines in which they agree are marked."""
    from autograde.grader.pages import render

    shown = [
        {
            "pair": pair,
            "sides": [
                (pair.first, _numbered(students[pair.first], pair.first_lines)),
                (pair.second, _numbered(students[pair.second], pair.second_lines)),
            ],
        }
        for pair in pairs[:most]
    ]
    return render("similarity", title=title, shown=shown, found=len(pairs), students=len(students), k=K + WINDOW - 1)


def _numbered(answers: Answers, marked: frozenset[int]) -> list[tuple[int, str, bool]]:
    lines = one_text(answers)[:LARGEST].split("\n")
    return [(number, line, number in marked) for number, line in enumerate(lines, start=1)]
