"""The parts of a hand-in that are compared: by exercise, the answer with all own cells that it uses.

Own helper cells, and own modules that were handed in beside the notebook, belong to every answer that uses them: an
answer that only calls a function of another cell or module is compared with that function. Given code is not compared:
that of the released notebooks, of the code blocks in their texts, and of the stand-ins in the student's package.
"""

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograde import student as student_package
from autograde.boundary.mybert_importer import PACKAGE
from autograde.common.dependencies import ParsedCell, Program, cells_for
from autograde.grader.reading.repair import ReadSubmission
from autograde.grader.reading.source import significant
from autograde.grader.reading.template import Template
from autograde.grader.similarity.programs import Passage, passages_of, tokens_of

_STAND_INS = Path(student_package.__file__).parent / "stand_ins"
_WORD = re.compile(r"\w+")
_CODE_IN_TEXT = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Given:
    """The given code. passages: of all given code; texts: given cells, as `significant` returns them."""

    passages: frozenset[Passage] = frozenset()
    texts: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ComparedAnswer:
    """One answer. source: below the own modules and cells that it uses; passages: without those that are given."""

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


def answer_of(source: str, given: Given = Given(), called: Set[str] | None = None) -> ComparedAnswer:
    """An answer whose text is known. called: the names by which it is called; by default each function may be."""
    tokens = tokens_of(source, called)
    own = {run: frozenset(lines) for run, lines in passages_of(tokens).items() if run not in given.passages}
    return ComparedAnswer(source, tuple(token.text for token in tokens), own)


def answers_of(
    submission: ReadSubmission, template: Template, given: Given, modules: Mapping[str, str] | None = None
) -> dict[str, ComparedAnswer]:
    """The attempted answers of one notebook, by exercise. modules: the student's own, name → text."""
    code = {cell.grade_id: cell.names for cell in template.answers if cell.cell.kind == "code"}
    tried = {name: one for name, one in submission.answers.items() if one.attempted and name in code}
    answering = {position for one in submission.answers.values() for position in one.positions}
    own = Program(
        cell.parsed.core
        for cell in submission.program
        if cell.position not in answering and significant(cell.source) not in given.texts
    )
    beside = {name: ParsedCell(text).statements for name, text in (modules or {}).items()}
    return {name: answer_of(_with_helpers(one.source, own, beside), given, code[name]) for name, one in tried.items()}


def _with_helpers(source: str, own: Program, modules: Mapping[str, Program]) -> str:
    """An answer below the own cells that it uses, with what these import, and the statements of own modules.

    A module is used where its name is a word of a text that names the package; of the module, what the text names.
    """
    needed = cells_for(set(ParsedCell(source).without_imports.reads), own)
    source = "\n\n".join([*needed.imports.values(), *(cell.source for cell in needed.cells), source])
    used: dict[str, set[str]] = {}  # module → its statements
    waiting = [source] if PACKAGE in source else []
    while waiting:
        words = set(_WORD.findall(waiting.pop()))
        for module in words & modules.keys():
            named = words & modules[module].last_with.keys()
            chosen = cells_for(named or set(modules[module].last_with), modules[module])
            new = {*chosen.imports.values(), *(cell.source for cell in chosen.cells)} - used.setdefault(module, set())
            used[module] |= new
            waiting += ["\n".join(sorted(new))] if new else []
    parts = [cell.source for module in sorted(used) for cell in modules[module] if cell.source in used[module]]
    return "\n\n".join([*parts, source])
