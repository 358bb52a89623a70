"""Carries errors forward: a mistake costs points only once, because later exercises are tested again on right answers.

After the first run, the notebook is run once more in a second sandbox, and each failed exercise is tested again there.
The exercises are taken in the *release's* order, also where the student's cells have another one:

    for each exercise: run the student's cells down to its last ─▶ test it, if it failed ─▶ run the course's solution

So an exercise is tested beside the solutions of the exercises before it in the release and no others; no solution uses
a later exercise (a test proves it). Cells that ran before a solution that came late run again. In place of the
student's answers to earlier notebooks (`mybert`) the library's versions are used. The better of the two verdicts
counts; of two with the same points, the more specific one.

The program there could read the solutions of exercises that it is no longer tested on. So no text from this sandbox is
shown to anybody: only points, and which known mistake or kind of difference the answers show.
"""

from dataclasses import replace

from autograde.boundary.mybert_importer import PACKAGE
from autograde.common.dependencies import ParsedCell, cells_for
from autograde.exercises import cells
from autograde.exercises.planning import chained_calls
from autograde.exercises.spec import Exercise
from autograde.grader.grading.budget import MAX_SANDBOXES, Budget
from autograde.grader.grading.run_cells import Stop, run_steps, with_errors
from autograde.grader.grading.sentences import NOT_REACHED
from autograde.grader.grading.submission import Judged, Outcome, Step, Task, label_of
from autograde.judging.judge import judge

ON_RIGHT_ANSWERS = "on right answers"  # `Step.when`
_WORTH_ASKING = ("wrong", "partly", "raised", "missing", "technical")
_TELLS = {"missing": 0, "technical": 0, "raised": 1, "wrong": 2}  # the more specific of verdicts without points
_TELLS_OF_THE_ANSWER = ("wrong", "partly", "raised")
STILL_WRONG = "It was tested with {} in place of yours too, and was still wrong: it has a mistake of its own."


def carry_forward(task: Task, outcome: Outcome, launcher, budget: Budget) -> Outcome:
    """Better verdicts where an answer is right on right ones. An exercise that ends a sandbox here keeps its own."""
    if own_modules_used(task):  # what ended or held up the program may have been in the student's own package
        outcome = replace(outcome, ended=frozenset(), late=frozenset())
    while (candidates := _candidates(task, outcome)) and not budget.spent_on:
        steps = _steps_on_right_answers(task, candidates)
        outcome, stop = run_steps(task, outcome, steps, launcher, budget, upstream={}, keep=_keep_the_better)
        if stop and not budget.spent_on:
            outcome = _blamed(outcome, stop)
    for exercise in candidates:
        outcome = outcome.with_verdict(exercise, outcome.verdict(exercise).with_advice(NOT_REACHED))
    return outcome if budget.started >= MAX_SANDBOXES else _judged_alone(task, outcome)  # its own ends used them up


def own_modules_used(task: Task) -> list[str]:
    """The student's own modules that this notebook can have used."""
    mentioned = any(PACKAGE in step.cell.source for step in task.steps)
    return [f"{PACKAGE}.{module}" for module in task.upstream] if mentioned else []


def _candidates(task: Task, outcome: Outcome) -> list[Exercise]:
    """The exercises to be tested again: failed attempts whose own cells ran, and that were not tested again yet. The
    first exercise only if something of the student's is replaced for it."""
    candidates = []
    for exercise in task.exercises if own_modules_used(task) else task.exercises[1:]:
        answer = task.submission.answers.get(exercise.id)
        ran = answer and answer.attempted and not outcome.ended & set(task.numbers_of(exercise))
        failed = outcome.verdict(exercise).status in _WORTH_ASKING
        if ran and failed and not outcome.was_asked(exercise, ON_RIGHT_ANSWERS):
            candidates.append(exercise)
    return candidates


def _steps_on_right_answers(task: Task, candidates: list[Exercise]) -> list[Step]:
    """The student's cells; after the last one of each exercise its test, if it is a candidate, and its solution."""
    steps: list[Step] = []
    done = 0  # of the student's steps
    solved: list[Exercise] = []
    solved_at: dict[int, int] = {}  # number of a cell → how many solutions were there when it ran
    wanted = {exercise.id for exercise in candidates}
    last = max(index for index, exercise in enumerate(task.exercises) if exercise.id in wanted)
    for exercise in task.exercises[: last + 1]:
        end = next(index for index, step in enumerate(task.steps) if step.exercise is exercise)
        before = [step for step in task.steps[done:end] if step.exercise is None]  # that have not run yet
        done = max(done, end)
        solved_at |= {step.number: len(solved) for step in before}
        steps += before
        if exercise.id in wanted:
            own_steps = [step for step in task.steps if step.number in task.numbers_of(exercise)]
            if any(solved_at[step.number] < len(solved) for step in own_steps):  # in another order: they run again
                steps += own_steps
            defined = task.answer_to(exercise).declares  # solutions again, of several answers in one cell
            steps += [course_step(other) for other in solved if defined & set(other.names)]
            steps.append(Step(exercise=exercise, when=ON_RIGHT_ANSWERS))
        steps.append(course_step(exercise))
        solved.append(exercise)
    return steps


def course_step(exercise: Exercise) -> Step:
    """The step that puts the course's solution in the place of the student's answer."""
    return Step(cell=ParsedCell(cells.answer_cell(exercise)))


def _keep_the_better(task: Task, outcome: Outcome, exercise: Exercise, now: Judged) -> Outcome:
    """Keeps the verdict on right answers if it is better, with a sentence about what was replaced for it."""
    before, earlier = outcome.judged[exercise.id], task.exercises[: task.exercises.index(exercise)]
    failed = [other for other in earlier if not outcome.verdict(other).passed]
    used, own_modules = _used(task, exercise, failed), own_modules_used(task)
    names = ", ".join(map(label_of, used or failed)) or ("" if own_modules else "answers to the exercises before it")
    library = f"the library's stand-ins for {', '.join(own_modules)}" if own_modules else ""
    replaced = " and ".join(filter(None, (f"the course's own {names}" if names else "", library)))
    verdict = before.verdict
    better = (now.verdict.points, _TELLS.get(now.verdict.status, 0)) > (verdict.points, _TELLS.get(verdict.status, 2))
    if not better:
        if (used or own_modules) and now.verdict.status in _TELLS_OF_THE_ANSWER:
            verdict = replace(verdict, notes=(*verdict.notes, STILL_WRONG.format(replaced)))
        return outcome.with_judged(exercise, replace(before, verdict=verdict, on_course=now.answers))
    sentence = f"Graded with {replaced} in place of yours: a mistake there costs points only there."
    told = {"advice": (), "notes": (sentence,)} if now.verdict.passed else {"advice": (sentence,), "notes": ()}
    outcome = outcome.with_judged(exercise, Judged(replace(now.verdict, **told), now.answers, credited=sentence))
    if failed or own_modules or not now.verdict.passed:
        return outcome
    # The student's own answers passed, and yet the exercise is right only on the course's: a test lets a mistake pass,
    # most likely one of an answer that this one uses.
    suspects = ", ".join(map(label_of, _used(task, exercise, list(earlier)) or earlier))
    missing_test = (
        f"{label_of(exercise)} is right on the course's answers and not on the student's own, which "
        f"all passed: look for a missing test of {suspects}"
    )
    return replace(outcome, untested=(*outcome.untested, missing_test))


def _blamed(outcome: Outcome, stop: Stop) -> Outcome:
    """The end's name only: a program that may have read solutions must not choose the words."""
    step = stop.step
    if stop.from_outside and (ON_RIGHT_ANSWERS, step.key) not in outcome.spared:
        spared, asked = outcome.spared | {(ON_RIGHT_ANSWERS, step.key)}, outcome.asked - {(step.key, step.when)}
        return replace(outcome, spared=spared, asked=asked)
    outcome = replace(outcome, again=outcome.again or stop.from_outside)
    outcome = outcome.with_technical(f"while testing again on right answers: {stop.end.reason}")
    return outcome if step.exercise else replace(outcome, ended=outcome.ended | {step.number})


def _judged_alone(task: Task, outcome: Outcome) -> Outcome:
    """The verdict without compositions on each failed exercise that could not be tested again on right answers: in a
    composition it may have failed for another one. One that ended the sandbox there was tested again: a program may end
    where it sees that its own answers were replaced."""
    for exercise in task.exercises:
        judged, plan = outcome.judged[exercise.id], task.plans[exercise.id]
        ended = bool(outcome.ended & set(task.numbers_of(exercise)))
        tested_again = outcome.was_asked(exercise, ON_RIGHT_ANSWERS) or ended
        if judged.verdict.passed or tested_again or not chained_calls.meets_others(plan):
            continue
        alone = chained_calls.without(plan)
        answers = judged.answers[: len(alone["questions"])]
        if len(answers) != len(alone["questions"]):
            continue
        source = task.answer_to(exercise).source
        verdict = judge(alone, lambda questions, answers=answers: answers, source, reveal=False)
        if verdict.points > judged.verdict.points:
            verdict = with_errors(task, exercise, verdict, answers)
            if NOT_REACHED in judged.verdict.advice and not verdict.passed:
                verdict = verdict.with_advice(NOT_REACHED)
            outcome = outcome.with_judged(exercise, Judged(verdict, answers))
    return outcome


def _used(task: Task, exercise: Exercise, others: list[Exercise]) -> list[Exercise]:
    """Those of the other exercises that this one's answer uses, as far as its text shows it, or meets in a question."""
    used = cells_for(set(exercise.names), task.cells).cells
    names = set().union(*(cell.defines for cell in used)) if used else set()
    names |= chained_calls.names_in(task.plans[exercise.id])
    return [other for other in others if names & set(other.names)]
