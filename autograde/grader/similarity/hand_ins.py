"""The parts of a hand-in that are compared: by exercise, the answer with all own cells that it uses.

Own helper cells belong to every answer that uses them, so an answer that only calls a function of another cell is
compared with that function. Given code is not compared: that of the released notebooks, of the code blocks in their
texts, and of the stand-ins in the student's package.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograde import student as student_package
from autograde.common import dependencies
from autograde.grader.reading.repair import Submission
from autograde.grader.reading.source import significant
from autograde.grader.reading.template import Template
from autograde.grader.similarity.programs import Passage, passages_of, tokens_of

_STAND_INS = Path(student_package.__file__).parent / "stand_ins"
_CODE_IN_TEXT = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Given:
    """The given code. passages: of all given code; texts: given cells, as `significant` returns them."""

    passages: frozenset[Passage] = frozenset()
    texts: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Answer:
    """One answer. source: own cells that it uses, then the answer itself; passages: without those that are given."""

    source: str
    program: tuple[str, ...] = field(repr=False)
    passages: Mapping[Passage, frozenset[int]] = field(repr=False)

    @cached_property
    def own(self) -> frozenset[Passage]:
        return frozenset(self.passages)


def given_to_everybody(templates: Iterable[Template]) -> Given:
    """The code of the released notebooks, code blocks in their texts included, and of the stand-ins."""
    cells = [cell.cell for template in templates for cell in template.cells]
    code = [cell.source for cell in cells if cell.kind == "code"]
    shown = [block for cell in cells if cell.kind != "code" for block in _CODE_IN_TEXT.findall(cell.source)]
    stand_ins = [path.read_text(encoding="utf-8") for path in sorted(_STAND_INS.glob("*.py"))]
    passages = frozenset().union(*(passages_of(tokens_of(text)).keys() for text in code + shown + stand_ins))
    return Given(passages, frozenset(map(significant, code)))


def answer_of(source: str, given: Given = Given()) -> Answer:
    """An answer whose text is known."""
    tokens = tokens_of(source)
    own = {run: frozenset(lines) for run, lines in passages_of(tokens).items() if run not in given.passages}
    return Answer(source, tuple(token.text for token in tokens), own)


def answers_of(submission: Submission, template: Template, given: Given) -> dict[str, Answer]:
    """The attempted answers of one notebook, by exercise."""
    code = {cell.grade_id for cell in template.answers if cell.cell.kind == "code"}
    tried = {name: one for name, one in submission.answers.items() if one.attempted and name in code}
    answering = {position for one in submission.answers.values() for position in one.positions}
    own = [
        dependencies.read_cell(cell.source)
        for cell in submission.program
        if cell.position not in answering and significant(cell.source) not in given.texts
    ]
    return {name: answer_of(_with_helpers(one.source, own), given) for name, one in tried.items()}


def _with_helpers(source: str, own: list[dependencies.CodeCell]) -> str:
    """An answer below the own cells that it uses."""
    needed = dependencies.cells_for(set(dependencies.read_cell(source, with_expressions=True).reads), own)
    return "\n\n".join([*(cell.source for cell in needed.cells), source])
