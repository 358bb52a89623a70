"""A class of 60 with three copying pairs and a ring of five, made from right and wrong answers of the course.

Everybody writes each exercise on her own: the solution, another structure, a mistake, or nothing, with names, comments
and small steps of her own. Copiers take most answers of somebody else, and rename, reformat and comment them.
"""

import ast
import json
import random
from functools import cache

from autograde.demo import _notebook
from autograde.exercises import catalogue, cells
from autograde.exercises.proofs import alternatives, wrong_answers
from autograde.release import editions

NOTEBOOK = "03_attention"
PAIRS = (("s01", "s41"), ("s12", "s30"), ("s25", "s59"))
RING = ("s03", "s17", "s22", "s38", "s50")
COPIED = 0.9  # of the answers
_NAMES = "a b c e f g h m n p r t u y z acc cur out res tmp val vec mat left right total part head row col".split()


def copying_pairs() -> set[tuple[str, str]]:
    ring = {(one, other) for one in RING for other in RING if one < other}
    return set(PAIRS) | ring


@cache
def variants(name: str) -> tuple[list[str], list[str]]:
    """(right answers, the solution first; wrong ones)"""
    exercise = catalogue.find(name)
    wrong = [cells.patched_cell(exercise, mistake) for mistake in exercise.misconceptions]
    wrong += list(wrong_answers(exercise).values())
    return [cells.answer_cell(exercise), *alternatives(exercise).values()], wrong


def answers(seed: int = 0, students: int = 60, copying: bool = True) -> dict[str, dict[str, str]]:
    """student → exercise → text; an exercise that is not attempted is left out."""
    rng = random.Random(seed)
    exercises = catalogue.of_notebook(NOTEBOOK)
    everybody = {f"s{n:02}": {one.id: _own(one, rng) for one in exercises} for n in range(students)}
    if copying:
        for source, copier in [*PAIRS, *((RING[0], other) for other in RING[1:])]:
            for exercise, text in everybody[source].items():
                if text and rng.random() < COPIED:
                    everybody[copier][exercise] = disguised(text, rng)
    return {student: {name: text for name, text in those.items() if text} for student, those in everybody.items()}


def notebook(texts: dict[str, str]) -> str:
    return _notebook(editions.make(NOTEBOOK), texts)


def _own(exercise, rng: random.Random) -> str:
    right, wrong = variants(exercise.id)
    kind = rng.random()
    if kind < 0.08:
        return ""
    weights = [1 / place for place in range(1, len(right) + 1)]
    text = rng.choice(wrong) if kind < 0.25 else rng.choices(right, weights)[0]
    tree = _OwnSteps(rng).visit(ast.parse(_unmarked(text)))
    return disguised(ast.unparse(ast.fix_missing_locations(tree)), rng)


def disguised(text: str, rng: random.Random) -> str:
    """The same program with other names, comments and formatting, and with or without its docstrings."""
    tree = _Renaming(rng).visit(ast.parse(_unmarked(text)))
    lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    commented = [line + (f"  # {rng.choice(_NAMES)}" if line.strip() and rng.random() < 0.2 else "") for line in lines]
    return "\n".join(commented)


def _unmarked(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if "### " not in line)


class _OwnSteps(ast.NodeTransformer):
    """Gives parts of expressions a name first, and turns sums and products round, as the writer likes it."""

    def __init__(self, rng: random.Random):
        self.rng, self.hoisted, self.count = rng, [], 0

    def _statement(self, node):
        before, self.hoisted = self.hoisted, []
        if node.value is not None:
            node.value = self.visit(node.value)
        found, self.hoisted = [*self.hoisted, node], before
        return found

    visit_Return = visit_Assign = visit_Expr = _statement

    def _block(self, node):
        node.body = [new for old in node.body for new in self._as_list(self.visit(old))]
        return node

    visit_For = visit_If = visit_While = visit_With = visit_FunctionDef = visit_ClassDef = _block

    def _as_list(self, found):
        return found if isinstance(found, list) else [found]

    def visit_Call(self, node):
        node.args = [self._named(argument) for argument in node.args]
        return node

    def visit_BinOp(self, node):
        node.left, node.right = self._named(node.left), self._named(node.right)
        if isinstance(node.op, ast.Mult) and self.rng.random() < 0.3:
            node.left, node.right = node.right, node.left
        return node

    def _leave(self, node):
        return node  # names within are of another scope

    visit_Lambda = visit_ListComp = visit_GeneratorExp = visit_IfExp = _leave

    def _named(self, node):
        if not isinstance(node, (ast.Call, ast.BinOp)):
            return node
        node = self.visit(node)
        if self.rng.random() > 0.25:
            return node
        self.count += 1
        name = f"step_{self.count}"
        self.hoisted.append(ast.Assign([ast.Name(name, ast.Store())], node))
        return ast.Name(name, ast.Load())


class _Renaming(ast.NodeTransformer):
    """Other names for the variables of each function."""

    def __init__(self, rng: random.Random):
        self.rng, self.names = rng, {}

    def visit_FunctionDef(self, node):
        before = self.names
        stored = {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
        used = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        free = [name for name in _NAMES if name not in used]
        self.names = before | dict(zip(sorted(stored), self.rng.sample(free, min(len(stored), len(free)))))
        if len(node.body) > 1 and isinstance(node.body[0], ast.Expr) and self.rng.random() < 0.3:
            node.body = node.body[1:]  # the docstring
        node = self.generic_visit(node)
        self.names = before
        return node

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node


def write(folder, seed: int = 0) -> None:
    """The class as files, one program of all answers each: for programs that compare files."""
    for student, those in answers(seed).items():
        (folder / f"{student}.py").write_text("\n\n".join(those.values()), encoding="utf-8")


def stubs() -> dict[str, str]:
    return {one.id: cells.stub_cell(cells.answer_cell(one)) for one in catalogue.of_notebook(NOTEBOOK)}


def released() -> bytes:
    return json.dumps(json.loads(editions.make(NOTEBOOK).student)).encode()
