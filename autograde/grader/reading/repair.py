"""Matches the cells of a submission with the released notebook: which cell answers which exercise, and what to run.

Evidence, strongest first, for each answer of the release:

1. the grade_id in the cell's metadata;
2. the names it defines, if the metadata are missing (Colab removes them) or cells were split;
3. its text, if a template is hardly changed;
4. its position: the only unmatched cell between two known cells.

No code of a student is discarded: unmatched cells are run at their position. Only test cells are removed (the released
ones count) and unchanged second copies of an answer, which would overwrite the answer when run.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property

from autograde.common.dependencies import ParsedCell
from autograde.grader.reading.notebook import Cell, DamagedFile, read_notebook
from autograde.grader.reading.source import alike, significant, without_commands, without_lacking_modules
from autograde.grader.reading.template import CHECK, SETUP, Template, TemplateCell

_ALIKE = 0.6  # fraction of the template's lines from which a text counts as an edited copy of it
_MAX_JOINS = 200  # attempts to join two cells
_LONGEST_JOINED = 20_000  # characters: what people split is a function


@dataclass(frozen=True)
class WrittenAnswer:
    """A student's answer to one exercise: text of one or more cells. attempted: it differs from the release."""

    exercise: str
    source: str
    positions: tuple[int, ...]
    attempted: bool

    @cached_property
    def parsed(self) -> ParsedCell:
        """Its text with its tree and its names."""
        return ParsedCell(self.source)


@dataclass
class ReadSubmission:
    """A notebook ready for grading.

    answers: by exercise, for each exercise that was found; program: the code cells to run, in order, without tests;
    repairs: sentences about repairs; problem: why nothing could be read, for the student.
    """

    answers: dict[str, WrittenAnswer] = field(default_factory=dict)
    program: list[Cell] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    problem: DamagedFile | None = None


def read_submission(source, template: Template) -> ReadSubmission:
    """Reads and repairs a submission (bytes or path). Never raises for anything in the file."""
    reading = read_notebook(source)
    if reading.problem:
        return ReadSubmission(repairs=reading.repairs, problem=reading.problem)
    return _Matching(template, reading.cells, reading.repairs).submission()


class _Matching:
    """The work of one repair. owner: position of a cell → exercises it answers; tests, dropped: positions not run."""

    def __init__(self, template: Template, cells: list[Cell], repairs: list[str]):
        self.template, self.repairs = template, list(repairs)
        self.cells = self._whole_cells(cells)
        self.texts = [significant(cell.source) for cell in self.cells]
        self.names = [  # a text cell counts if it is a program: code that was turned into text
            cell.parsed.declares if cell.kind == "code" or cell.parsed.is_program else frozenset()
            for cell in self.cells
        ]
        self.released = {cell: significant(cell.cell.source) for cell in template.cells}
        self.by_id = {cell.grade_id: cell for cell in template.cells if cell.grade_id}
        self.claims: dict[str, list[int]] = {}
        self.tests: set[int] = set()
        self.dropped: set[int] = set()

    def submission(self) -> ReadSubmission:
        self._find_tests()
        exercises = [answer.grade_id for answer in self.template.answers]
        for index, cell in enumerate(self.cells):
            if cell.grade_id in exercises:
                self.claims.setdefault(cell.grade_id, []).append(index)
        for find in (self._by_names, self._by_text, self._by_position):
            for answer in self.template.answers:
                find(answer)
        self._drop_untouched_copies()
        answers = {}
        for cell in self.template.answers:
            exercise = cell.grade_id
            if exercise in self.claims:
                indices = self.claims[exercise]
                source = "\n\n".join(self.cells[index].source for index in indices)
                positions = tuple(self.cells[index].position for index in indices)
                attempted = any(self._written(index, cell) for index in indices)
                answers[exercise] = WrittenAnswer(exercise, source, positions, attempted)
            else:
                self._say(f"The cell of {exercise} was deleted; no answer was found in other cells.")
        order = [self.claims[name][0] for name in answers]
        if order != sorted(order):
            self._say("The answers have a different order than in the released notebook; they were run in your order.")
        return ReadSubmission(answers, self._program(), self.repairs)

    def _say(self, sentence: str) -> None:
        if sentence not in self.repairs:
            self.repairs.append(sentence)

    # --- before anything is matched ---

    def _whole_cells(self, cells: list[Cell]) -> list[Cell]:
        """Joins a cell that was split in the middle of a function with the part after it."""
        whole: list[Cell] = []
        joins = 0
        for cell in cells:
            halves = whole and cell.kind == "code" == whole[-1].kind and not (_runs(whole[-1]) and _runs(cell))
            joins += bool(halves)
            can_join = halves and joins <= _MAX_JOINS and cell.source.strip()
            joined = f"{whole[-1].source}\n{cell.source}" if can_join else ""
            if joined and len(joined) <= _LONGEST_JOINED and ParsedCell(joined).is_program:
                owner = whole[-1] if whole[-1].grade_id or not cell.grade_id else cell
                whole[-1] = replace(owner, source=joined, position=whole[-1].position)
                self._say(f"Cell {cell.position + 1} continues the code of the cell before it; the two were joined.")
            else:
                whole.append(cell)
        return whole

    def _find_tests(self) -> None:
        """Marks test cells: by id, by text, or because they do nothing but call check."""
        texts = {self.released[test]: test for test in self.template.tests}
        seen = set()
        for index, cell in enumerate(self.cells):
            released = self.by_id.get(cell.grade_id)
            test = released if released and released.role == "test" else None
            test = test or (texts.get(self.texts[index]) if cell.kind == "code" else None)
            if test is None:
                if cell.kind == "code" and cell.parsed.called_with(CHECK):
                    self.tests.add(index)
                continue
            own_names = self.names[index] | cell.parsed.defines
            if own_names - (test.cell.parsed.defines | {CHECK}):  # somebody wrote, or merged, code into a test cell
                continue
            self.tests.add(index)
            if self.texts[index] != self.released[test]:
                self._say(f"The test cell {test.grade_id} was changed; the released one was used.")
            elif test.grade_id in seen:
                self._say(f"The test cell {test.grade_id} occurs twice.")
            seen.add(test.grade_id)
        for test in self.template.tests:
            if test.grade_id not in seen:
                self._say(f"The test cell {test.grade_id} was deleted; the released one was used.")

    # --- evidence ---

    def _by_names(self, answer: TemplateCell) -> None:
        """Cells that define names of the answer that the claimed cells do not define."""
        claimed = self.claims.get(answer.grade_id, [])
        held = frozenset().union(*(self.names[index] for index in claimed if self._written(index, answer)))
        lacking = answer.names - held
        new = [
            index
            for index, names in enumerate(self.names)
            if names & lacking
            and index not in self.tests
            and index not in claimed
            and not self._is_given_elsewhere(index, answer)
        ]
        if not new:
            return
        self.claims[answer.grade_id] = sorted([*claimed, *new])
        where = _numbers(self.cells[index].position for index in new)
        self._say(f"{answer.grade_id}: the answer was found in {where} by the names it defines.")

    def _written(self, index: int, answer: TemplateCell) -> bool:
        """Whether a student put anything into a cell: it is neither the released text nor empty."""
        return self.texts[index] not in ("", self.released[answer])

    def _by_text(self, answer: TemplateCell) -> None:
        """An unmatched cell that is an edited copy of the template."""
        if answer.grade_id in self.claims:
            return
        best, best_share = None, _ALIKE
        for index in self._free():
            share = alike(self.released[answer], self.texts[index])
            if share >= best_share and not self._is_given_elsewhere(index, answer):
                best, best_share = index, share
        if best is not None:
            self.claims[answer.grade_id] = [best]
            self._say(f"{answer.grade_id}: the answer was found in cell {self._number(best)} by its text.")

    def _is_given_elsewhere(self, index: int, answer: TemplateCell) -> bool:
        """Whether a cell is another cell of the release, word for word."""
        return any(text == self.texts[index] for cell, text in self.released.items() if cell is not answer)

    def _free(self) -> list[int]:
        owned = self.tests.union(*self.claims.values())
        return [index for index in range(len(self.cells)) if index not in owned and self.texts[index]]

    def _by_position(self, answer: TemplateCell) -> None:
        """All unmatched cells of the right kind between the known neighbours: free text resembles no template."""
        if answer.grade_id in self.claims:
            return
        # the cells that are known by claim, or by a text that occurs once: index in the release → index here, both
        # increasing, so a cell that was moved is not used
        owners = {indices[0]: exercise for exercise, indices in self.claims.items() if len(indices) == 1}
        ours = _once([owners.get(index, text) for index, text in enumerate(self.texts)])
        there = _once([cell.grade_id if cell.grade_id in self.claims else text for cell, text in self.released.items()])
        blocks = SequenceMatcher(None, there, ours, autojunk=False).get_matching_blocks()
        anchors = {block.a + step: block.b + step for block in blocks for step in range(block.size)}
        here = self.template.cells.index(answer)
        before = [index for template_index, index in anchors.items() if template_index < here]
        after = [index for template_index, index in anchors.items() if template_index > here]
        first, last = max(before, default=-1), min(after, default=len(self.cells))
        free = [index for index in self._free() if self.cells[index].kind == answer.cell.kind]
        free = [index for index in free if not self._is_given_elsewhere(index, answer)]
        between = [index for index in free if first < index < last]
        if between or answer.cell.kind == "code":  # a text is read by a human: better too much of it than none
            free = between
        if free:
            self.claims[answer.grade_id] = free
            where = _numbers(self.cells[index].position for index in free)
            self._say(f"{answer.grade_id}: the answer was found in {where} by its position.")

    # --- after everything is matched ---

    def _drop_untouched_copies(self) -> None:
        for answer in self.template.answers:
            indices = self.claims.get(answer.grade_id, [])
            written = [index for index in indices if self._written(index, answer)]
            if len(indices) > 1 and written:
                copies = [index for index in indices if self.texts[index] == self.released[answer]]
                self.dropped.update(copies)
                self.claims[answer.grade_id] = written
                if copies:
                    self._say(f"{answer.grade_id}: an unchanged second copy of the cell was ignored.")
            owners = self.claims.get(answer.grade_id, [])
            if sum(self.cells[index].grade_id == answer.grade_id for index in owners) > 1:
                self._say(f"{answer.grade_id}: the cell occurs more than once; all were run, the last one counts.")

    def _program(self) -> list[Cell]:
        """The code cells to run: commands made comments, locked cells as released, answers among text made code."""
        answered = {
            index for cell in self.template.answers if cell.cell.kind == "code"
            for index in self.claims.get(cell.grade_id, [])
        }  # fmt: skip
        program = []
        for index, cell in enumerate(self.cells):
            if index in self.tests or index in self.dropped or not cell.source.strip():
                continue
            if cell.kind != "code":
                if index not in answered:
                    continue
                self._say(f"Cell {self._number(index)} was turned into text; it was read as code again.")
            released = self.by_id.get(cell.grade_id)
            if not (released and released.role == "given" and self.texts[index] != self.released[released]):
                program.append(self._tolerant(index, cell))
                continue
            self._say(f"The locked cell {cell.grade_id} was changed; the released one was run after it.")
            if _runs(cell):  # imports, or an answer, that somebody put there; an error in it leaves the released cell
                program.append(self._tolerant(index, cell))
            program.append(replace(cell, source=released.cell.source, kind="code"))
        return self._with_given_cells(program)

    def _tolerant(self, index: int, cell: Cell) -> Cell:
        parsed, commands = without_commands(cell.parsed)
        if commands:
            self._say(f"Cell {self._number(index)}: {commands[0][:60]!r} is a notebook command; it was not run.")
        parsed, lacking = without_lacking_modules(parsed)
        if lacking:
            self._say(
                f"Cell {self._number(index)}: the grader does not have the module {lacking[0][:60]!r}; lines that need "
                "it were left out."
            )
        unchanged = parsed is cell.parsed and cell.kind == "code"
        return cell if unchanged else replace(cell, source=parsed.source, kind="code")

    def _with_given_cells(self, program: list[Cell]) -> list[Cell]:
        """Puts deleted locked cells back: before the first cell that came after them in the release. The released
        set-up is run before a changed one, of which a line may fail here (it mounts a Drive)."""
        for index, given in reversed(list(enumerate(self.template.cells))):
            if given.role != "given":
                continue
            released, texts = self.released[given], [significant(cell.source) for cell in program]
            copies = [number for number, text in enumerate(texts) if alike(released, text) >= _ALIKE]
            if copies and released not in texts and not given.grade_id:
                program.insert(copies[0], replace(given.cell, position=program[copies[0]].position))
            if copies or (given.grade_id and any(cell.grade_id == given.grade_id for cell in program)):
                continue  # it is there; people add imports to it
            positions = []
            for cell in self.template.cells[index + 1 :]:
                if cell.role in ("answer", "given") and cell.grade_id in self.claims:
                    positions += [self.cells[index].position for index in self.claims[cell.grade_id]]
                elif cell.role in ("answer", "given") and cell.grade_id:
                    positions += [other.position for other in program if other.grade_id == cell.grade_id]
            start = next((n for n, cell in enumerate(program) if positions and cell.position >= min(positions)), 0)
            program.insert(start, replace(given.cell, position=program[start].position if program else 0))
            self._say(f"The locked cell {given.grade_id or SETUP} was deleted; it was restored.")
        return program

    def _number(self, index: int) -> int:
        return self.cells[index].position + 1


def _once(texts: list[str]) -> list:
    """The texts; empty and repeated ones are replaced by unique objects, so that they match nothing."""
    counts = Counter(texts)
    return [text if text and counts[text] == 1 else object() for text in texts]


def _runs(cell: Cell) -> bool:
    return without_commands(cell.parsed)[0].is_program


def _numbers(positions: Iterable[int]) -> str:
    numbers = [str(position + 1) for position in positions]
    return f"cell {numbers[0]}" if len(numbers) == 1 else f"cells {', '.join(numbers[:-1])} and {numbers[-1]}"
