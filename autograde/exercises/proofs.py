"""Proves by running it that an exercise works: `autograde try` prints the findings, the tests assert them.

A proof returns what it examined and the problems that it found, as sentences; it holds if there are no problems. The
proofs share one plan and the programs' answers to it. Alternatives are other right answers; known wrong answers have
mistakes that the checks must find, but need not name (`other_answers`). The instructor's side only.
"""

import builtins
import dis
import functools
import itertools
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from autograde.boundary import call_answer
from autograde.boundary.values import ANSWERS, DEFAULT_LIMITS, ValueTreeError, encode
from autograde.exercises import cells, kept_layers, stub_shapes
from autograde.exercises.other_answers import COMPOSED, alternatives, wrong_answers
from autograde.exercises.planning import planner
from autograde.exercises.spec import Exercise
from autograde.judging import shortcuts
from autograde.judging.answers import read
from autograde.judging.claims import Reference
from autograde.judging.compare import Tolerance
from autograde.judging.judge import fault, judge
from autograde.judging.match_mistake import same_outcome
from autograde.judging.verdict import Verdict

MAX_NOISE, LEAST_DISTANCE = 0.5, 20  # in tolerances: the most that rounding may reach, the least for a mistake
MAX_NODES = 0.9  # of the values that a sandbox may answer with: the share that right answers may take

_EXACT = ("raises", "dropped", "any count", "varies", "alike", "same")  # the kinds of claims without a distance
_NAMES = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_NAME", "STORE_GLOBAL")  # instructions that read or assign a name

Examined = tuple[str, list[str]]  # what was examined, and the problems


def undefined_names(exercise: Exercise, cell: str) -> set[str]:
    """The names that an answer's cell reads and that neither it nor a cell before it defines."""
    read, assigned, codes = set(), set(), [compile(cell, exercise.id, "exec")]
    for code in codes:
        names = {kind: {step.argval for step in dis.get_instructions(code) if step.opname == kind} for kind in _NAMES}
        read |= names["LOAD_GLOBAL"] | (names["LOAD_NAME"] - names["STORE_NAME"])
        assigned |= names["STORE_GLOBAL"]
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return read - assigned - {*cells.namespace(exercise, cell), *vars(builtins)}


@dataclass(frozen=True)
class Finding:
    """One proof's outcome."""

    proof: str
    looked_at: str
    problems: tuple[str, ...]
    seconds: float


class Proofs:
    """The proofs of one exercise.

    plan, mistaken_answers: the visible plan with its misconceptions, and their answers to it, if they exist already.

    Example:
        for finding in Proofs(catalogue.find("scores")).run():
            print(finding.proof, finding.problems or "holds")
    """

    def __init__(self, exercise: Exercise, plan: dict | None = None, mistaken_answers: dict | None = None):
        self.exercise = exercise
        self._layers: dict[str, dict] = {}  # of each cell
        if plan is not None:
            self.plan = self._visible = plan
        if mistaken_answers is not None:
            self.mistaken_answers = mistaken_answers

    def run(self, draws: int = 0, progress=iter) -> list[Finding]:
        """All proofs. draws: the number of fresh draws that must all give the same verdicts; progress wraps them."""
        stable = {f"same verdict on {draws} draws": lambda proofs: proofs.stable(draws, progress)} if draws else {}
        return [self.find(name, proof) for name, proof in (PROOFS | stable).items()]

    def find(self, name: str, proof: Callable[["Proofs"], Examined] | None = None) -> Finding:
        """One proof, by its name in PROOFS."""
        start = time.perf_counter()
        looked_at, problems = (proof or PROOFS[name])(self)
        return Finding(name, looked_at, tuple(problems), time.perf_counter() - start)

    # --- what the proofs share ---

    @functools.cached_property
    def plan(self) -> dict:
        """The plan of the visible inputs, with the misconceptions' answers."""
        return planner.with_misconceptions(self.exercise, self._visible, self.mistaken_answers)

    @functools.cached_property
    def _visible(self) -> dict:
        return planner.make_plan(self.exercise, misconceptions=False)

    @functools.cached_property
    def _beside_others(self) -> dict:
        return planner.make_plan(self.exercise, "composed", misconceptions=False)

    @functools.cached_property
    def right(self) -> list[dict]:
        """The solution's answers to the visible questions."""
        return call_answer.answer(self.plan["questions"], cells.namespace(self.exercise))

    @functools.cached_property
    def mistaken(self) -> dict[str, str]:
        """Each misconception's cell."""
        return {known.id: cells.patched_cell(self.exercise, known) for known in self.exercise.misconceptions}

    @functools.cached_property
    def programs(self) -> dict[str, str]:
        """Every program with a known verdict: its name → its cell."""
        return {
            "the solution": cells.answer_cell(self.exercise),
            **{f"alternative {name}": cell for name, cell in alternatives(self.exercise).items()},
            **{f"misconception {name}": cell for name, cell in self.mistaken.items()},
            **{f"wrong answer {name}": cell for name, cell in wrong_answers(self.exercise).items()},
        }

    @functools.cached_property
    def mistaken_answers(self) -> dict[str, list[dict]]:
        """The misconceptions' answers to the visible questions, with the notes that a plan leaves out."""
        return {name: self._answers(cell, self._visible["questions"]) for name, cell in self.mistaken.items()}

    # --- the proofs ---

    def stated(self) -> Examined:
        """The notebook has a title, minutes and arguments; misconceptions have ids of their own.

        The cases and the reference's results have the shapes and dtypes that the stub states.
        """
        exercise, problems = self.exercise, []
        names = [misconception.id for misconception in exercise.misconceptions]
        if len(set(names)) < len(names):
            problems.append(f"expected misconceptions of different ids, got {names}")
        if not (exercise.minutes and exercise.title and exercise.arguments):
            problems.append("expected a title, minutes and at least one argument in the notebook")
        problems += dict.fromkeys(_unlike_the_stub(exercise))
        return f"{len(exercise.parts)} parts, {exercise.points:g} points", problems

    def solution(self) -> Examined:
        source = cells.answer_cell(self.exercise)
        verdict = judge(self.plan, lambda questions: self.right, source)
        whole = verdict.passed and verdict.points == self.exercise.points == verdict.max_points
        return f"{len(self.plan['questions'])} calls", [] if whole else [f"the solution did not pass:\n{verdict}"]

    def stub(self) -> Examined:
        verdict = self._judged(self.plan, cells.stub_cell(cells.answer_cell(self.exercise)))
        empty = (verdict.status, verdict.points) == ("not attempted", 0)
        return "the student's cell", [] if empty else [f'expected "not attempted" for the stub, got:\n{verdict}']

    def named(self) -> Examined:
        """Every misconception fails and is recognised, on a fresh draw, where it earns what `check` shows for it."""
        plan, answers = self.plan, self.mistaken_answers
        if not self.exercise.slow_draws:
            plan = planner.make_plan(self.exercise, "fresh", misconceptions=False)
            answers = {name: self._answers(cell, plan["questions"]) for name, cell in self.mistaken.items()}
        plan = planner.with_misconceptions(self.exercise, plan, answers)
        problems = []
        for identity, given in answers.items():
            verdict = judge(plan, lambda questions, given=given: given)
            if verdict.points >= self.exercise.points or verdict.misconception != identity or not verdict.advice:
                problems.append(f"{identity} was recognised as {verdict.misconception}:\n{verdict}")
            shown = judge(self.plan, lambda questions, name=identity: self.mistaken_answers[name])
            if verdict.points != shown.points:
                problems.append(
                    f"{identity} earns {shown.points:g} points by `check`, {verdict.points:g} by hidden inputs: "
                    "give each hidden input to the part whose edge it has"
                )
        return f"{len(self.mistaken)} misconceptions", problems

    def refused(self) -> Examined:
        """The visible check finds every known wrong answer: a student learns of it before handing in.

        One that is named "composed: …" is wrong only in hidden questions, beside other answers.
        """
        wrong = wrong_answers(self.exercise)
        plans = {name: self._beside_others if name.startswith(COMPOSED) else self.plan for name in wrong}
        passed = [name for name, cell in wrong.items() if not self._is_found_wrong(plans[name], cell)]
        undefined = {name: undefined_names(self.exercise, cell) for name, cell in wrong.items()}
        return f"{len(wrong)} wrong answers", [
            *(f"{name} passed" for name in passed),
            *(f"{name} is wrong for another reason: its cell does not define {', '.join(sorted(names))}"
              for name, names in undefined.items() if names),
        ]  # fmt: skip

    def stable(self, draws: int, progress=iter) -> Examined:
        """The verdict does not depend on the draw, and every misconception is named on at least 95 % of the draws.

        On up to 5 % two mistakes may give the same answers. Each program runs once for each draw. Hidden draws give the
        points that `check` shows; only what is wrong in a composition passes there.
        """
        named, earned = Counter(), {name: set() for name in self.programs}
        for name, cell in self.programs.items():
            if not name.startswith(f"wrong answer {COMPOSED}"):
                verdict = self._judged(self.plan, cell)
                earned[name].add((verdict.passed, verdict.points))
        for draw in progress(range(draws)):
            plan = planner.make_plan(self.exercise, f"draw {draw}", misconceptions=False)
            answers = {name: self._answers(cell, plan["questions"]) for name, cell in self.programs.items()}
            mistaken = {name: answers[f"misconception {name}"] for name in self.mistaken}
            plan = planner.with_misconceptions(self.exercise, plan, mistaken)
            for name, cell in self.programs.items():
                verdict = judge(plan, lambda questions, given=answers[name]: given, cell)
                earned[name].add((verdict.passed, verdict.points))
                named[name] += name == f"misconception {verdict.misconception}"
        return f"{len(self.programs)} programs, {draws} draws", [
            *self._faults_of(earned),
            *(f"{name} was named {named[f'misconception {name}']} times of {draws}" for name in self.mistaken
              if named[f"misconception {name}"] < 0.95 * draws),
        ]  # fmt: skip

    @staticmethod
    def _faults_of(earned: dict[str, set[tuple[bool, float]]]) -> list[str]:
        """The faults of the verdicts (passed, points) that each program had on all draws."""
        problems = []
        for name, verdicts in earned.items():
            should_pass = name == "the solution" or name.startswith("alternative ")
            if {passed for passed, _ in verdicts} != {should_pass}:
                problems.append(f"{name} {'did not pass' if should_pass else 'passed'} on some or all draws")
            if len(verdicts) > 1:
                problems.append(f"{name} earned {sorted({points for _, points in verdicts})}: it depends on the draw")
        return problems

    def distinct(self) -> Examined:
        outcomes = {"the solution": self.right} | {one["id"]: one["outcomes"] for one in self.plan["misconceptions"]}
        problems = [
            f"{name} and {other} give the same answers to the visible inputs"
            for (name, left), (other, right) in itertools.combinations(outcomes.items(), 2)
            if all(map(same_outcome, left, right))
        ]
        return f"{len(outcomes)} answers", problems

    def tolerant(self) -> Examined:
        """Rounding stays far below the tolerance, every misconception far above it."""
        if not _numeric_claims(self.plan):
            return "no part has a tolerance", []  # compared exactly, or counted
        noise = []
        for draw in range(1 if self.exercise.slow_draws else 3):
            plan = planner.make_plan(self.exercise, f"noise {draw}", misconceptions=False)
            answers = self._answers(cells.answer_cell(self.exercise), plan["questions"])
            noise.append(max(_excess(claim, answers[claim["answer"]]["value"]) for claim in _numeric_claims(plan)))
        problems = [f"rounding reaches {max(noise):.2g} tolerances"] if max(noise) >= MAX_NOISE else []
        nearest = np.inf
        for misconception in self.plan["misconceptions"]:
            outcomes = misconception["outcomes"]
            distance = max(_excess(claim, outcomes[claim["answer"]]["value"]) for claim in _numeric_claims(self.plan))
            if distance <= LEAST_DISTANCE and not self._fails_without_a_distance(misconception):
                problems.append(f"{misconception['id']} is only {distance:.2g} tolerances away")
            nearest = min(nearest, distance)
        farthest = f", nearest {nearest:.2g} times it" if self.plan["misconceptions"] else ""
        return f"rounding {max(noise):.1g} of the tolerance{farthest}", problems

    def others(self) -> Examined:
        """Other right answers pass on hidden inputs, and stay well below a sandbox's limits."""
        right = alternatives(self.exercise)
        plan = planner.make_plan(self.exercise, "alternatives", misconceptions=False)
        problems = []
        for structure, source in right.items():
            answers = self._answers(source, plan["questions"])
            verdict = judge(plan, lambda questions, answers=answers: answers, source)
            problems += [] if verdict.passed else [f"{structure} did not pass:\n{verdict}"]
            problems += [f"{structure}: {reason}" for reason in _too_large(answers)]
        return f"{len(right)} alternatives", problems

    def repeatable(self) -> Examined:
        """An exercise that draws nothing has the same inputs for every seed; `gaps` states that."""
        plan, again, other = (planner.make_plan(self.exercise, seed, misconceptions=False) for seed in "aab")
        problems = [] if encode(plan) == encode(again) else ["the same seed gave two plans"]
        may_agree = self.exercise.few_inputs or not planner.draws_anything(self.exercise)
        if not may_agree and encode(plan["questions"]) == encode(other["questions"]):
            problems.append("two seeds gave the same inputs")
        return "2 seeds", problems

    # --- helpers ---

    def _answers(self, cell: str, questions: list[dict]) -> list[dict]:
        """The answers of a whole cell. Layers of one configuration and shape are constructed once."""
        return kept_layers.answers(questions, cells.namespace(self.exercise, cell), self._layers.setdefault(cell, {}))

    def _judged(self, plan: dict, cell: str) -> Verdict:
        return judge(plan, lambda questions: self._answers(cell, questions), cell)

    def _is_found_wrong(self, plan: dict, cell: str) -> bool:
        """Whether `judge` would not pass this answer.

        Asks no question after the first fault, and begins with the last ones: most known wrong answers are right in the
        simple cases, which come first.
        """
        if shortcuts.first_forbidden(cell, plan["watch"]):
            return True
        questions, answers = plan["questions"], {}
        claims = [claim for part in plan["parts"] for claim in part["claims"]]
        claims.sort(key=lambda claim: max(_answers_of(claim)), reverse=True)
        order = list(dict.fromkeys([0, *(index for claim in claims for index in _answers_of(claim))]))
        layers, names = self._layers.setdefault(cell, {}), cells.namespace(self.exercise, cell)
        given = kept_layers.each_answer([questions[i] for i in order], names, layers)
        asked = zip(order, given)
        for claim in claims:
            while not answers or not answers.keys() >= _answers_of(claim):
                index, raw = next(asked)
                answers[index] = read(raw, questions[index], own=True)
            absent = answers[0].watched or answers[0].status in ("missing", "not attempted")
            if absent or fault(claim, questions, answers):
                return True
        return False

    def _fails_without_a_distance(self, misconception: dict) -> bool:
        """Whether a claim without a distance fails: a call that must raise, zeros, varying or equal results."""
        answers = [read(outcome) for outcome in misconception["outcomes"]]
        for claim in (claim for part in self.plan["parts"] for claim in part["claims"]):
            exact = claim["kind"] in _EXACT or claim["kind"] == "equals" and not _has_distance(claim["expected"])
            if exact and fault(claim | {"returns": "anything"}, self.plan["questions"], answers):
                return True
        return False


PROOFS: dict[str, Callable[[Proofs], Examined]] = {
    "has all parts": Proofs.stated,
    "solution earns everything": Proofs.solution,
    "stub earns nothing": Proofs.stub,
    "misconceptions fail and are named": Proofs.named,
    "no two give the same answers": Proofs.distinct,
    "tolerance between rounding and mistakes": Proofs.tolerant,
    "other right answers pass": Proofs.others,
    "known wrong answers do not pass": Proofs.refused,
    "same seed, same plan": Proofs.repeatable,
}


def _unlike_the_stub(exercise: Exercise) -> Iterator[str]:
    """The inputs of a function, and the reference's results, that are not as its stub states, as sentences."""
    if exercise.probe["kind"] != "function":
        return
    stub = stub_shapes.of_exercise(exercise.notebook, exercise.id)
    rng = planner.generator(exercise, "shapes")
    for part in exercise.parts:
        for trial in part.trials(rng) + part.hidden(rng):
            compared = {claim.answer for claim in trial.claims if isinstance(claim, Reference)}
            for number, case in enumerate(trial.cases):
                if number in compared and not case.calls:
                    problems = stub.problems(case.arguments, planner.expected_of(exercise, case))
                    yield from (f"{part.name}: {problem}" for problem in problems)


def _too_large(answers: list[dict]) -> list[str]:
    """Why right answers are too near to the limits of a sandbox: with a few more items they would be refused."""
    alone, together = (replace(limits, nodes=int(limits.nodes * MAX_NODES)) for limits in (DEFAULT_LIMITS, ANSWERS))
    problems = []
    for what, value, limits in (
        *(("an answer", answer["value"], alone) for answer in answers),
        ("all", answers, together),
    ):
        try:
            encode(value, limits)
        except ValueTreeError as reason:
            problems.append(f"{what}: {reason}; ask for smaller results, or for fewer of them")
    return problems


def _answers_of(claim: dict) -> set[int]:
    first = claim["answer"]
    several = range(first, first + len(claim.get("rates", ())))
    return {first, *several, *(claim[name] for name in ("other", "unlike") if name in claim)}


def _numeric_claims(plan: dict) -> list[dict]:
    claims = [claim for part in plan["parts"] for claim in part["claims"] if "expected" in claim]
    return [claim for claim in claims if _has_distance(claim["expected"])]


def _has_distance(expected) -> bool:
    """Whether this is an array, or a tuple of arrays as some models return it."""
    items = expected if type(expected) is tuple else (expected,)
    return bool(items) and all(isinstance(item, np.ndarray) for item in items)


def _excess(claim: dict, value) -> float:
    """The largest |got − expected| in units of the tolerance; infinite for another shape, NaN or another text."""
    expected, tolerance = claim["expected"], Tolerance(claim["rtol"], claim["atol"])
    if value is None:
        return np.inf
    if type(expected) is tuple:
        if type(value) is not tuple or len(value) != len(expected):
            return np.inf
        return max(_excess(claim | {"expected": item}, got) for item, got in zip(expected, value))
    if claim["kind"] == "slopes":
        value = np.array([np.sum(gradient * along) for gradient, along in zip(value, claim["directions"])], "float32")
    if type(value) is not np.ndarray or value.shape != expected.shape or value.dtype.kind != expected.dtype.kind:
        return np.inf
    allowed = tolerance.atol + tolerance.rtol * np.abs(expected.astype("float64"))
    distance = np.abs(value.astype("float64") - expected)
    ratio = np.divide(distance, allowed, out=np.where(distance == 0, 0.0, np.inf), where=allowed > 0)
    ratio[np.isnan(distance)] = np.nan
    return np.inf if np.isnan(ratio).any() else float(ratio.max())
