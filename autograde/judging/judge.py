"""A plan and a student's answers → a verdict. Trusted: it only sees plain values and never runs a student's code.

The same code grades the visible check on a student's machine, a test of this project, and a submission in its sandbox;
only `ask` differs: a callable from questions to answers (see `probe`). All answers go through `answers.read`.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from autograde.common.texts import article
from autograde.judging import shortcuts
from autograde.judging.advice import ONLY_TOGETHER, error_advice, result_advice, trains
from autograde.judging.answers import Answer, read
from autograde.judging.call_texts import call_text, shape_facts, small_picture, without_list
from autograde.judging.claims import KINDS, Raises, random_claims
from autograde.judging.compare import Difference, exactly_same, kind_of
from autograde.judging.match_mistake import match_mistake
from autograde.judging.verdict import PartResult, Verdict

# Kinds of things that come back as an array; whether it was a tensor, its value does not show.
_ARRAYS = ("tensor", "NumPy array", "NumPy scalar", "variable")


def judge(plan: dict, ask: Callable[[list[dict]], list], source: str = "", reveal: bool = True) -> Verdict:
    """Asks the plan's questions and grades the answers.

    source: the student's code as text, which is searched for forbidden functions. reveal: True on the student's own
    machine, where a verdict shows inputs, expected values and the program's own errors. False for hidden inputs: it
    names only parts, mistakes and words of `answers`, and nothing that a sandbox reports about itself decides points.
    """
    facts = plan["exercise"]
    blank = Verdict(
        facts["id"], f"{facts['number']} {facts['names'][0]}", "technical", 0.0, facts["points"], seed=plan["seed"]
    )
    shortcut = shortcuts.first_forbidden(source, plan["watch"])
    if not shortcut:
        given = ask(plan["questions"])
        if len(given) != len(plan["questions"]):
            return replace(blank, technical="the sandboxed program did not answer every question")
        answers = [read(*pair, own=reveal) for pair in zip(given, plan["questions"])]
        shortcut = answers[0].watched[0] if answers[0].watched and reveal else None
    if shortcut:
        reason = facts["forbidden_because"] or "In this exercise you write it yourself."
        advice = f"Your code uses `{shortcut}`, which is refused here. {reason} Replace it by code of your own."
        return replace(blank, status="refused", advice=(advice,))
    if answers[0].status in ("missing", "not attempted"):
        why = {
            "missing": "is not defined yet. Run the cell that defines it, then check again.",
            "not attempted": "is still the empty stub. Fill it in, run its cell, then check again.",
        }[answers[0].status]
        return replace(blank, status=answers[0].status, advice=(f"`{facts['names'][0]}` {why}",))
    return _grade(plan, answers, reveal, blank)


def _grade(plan: dict, answers: list[Answer], reveal: bool, blank: Verdict) -> Verdict:
    """The points of each part; below full points, what is wrong first and what may help."""
    questions, parts, failures = plan["questions"], [], []
    for part in plan["parts"]:
        differences = ((claim, fault(claim, questions, answers, reveal)) for claim in part["claims"])
        failure = next((pair for pair in differences if pair[1]), None)
        failures.append(failure)
        if failure is None and failures[0] is None:  # the first part holds
            parts.append(PartResult(part["name"], part["points"], part["points"]))
        else:
            counts = failures[0] is None or not parts
            reason = part["failure"] if counts else "counts only when the first part is right"
            parts.append(PartResult(part["name"], 0.0, part["points"], reason))
    printed = any(answer.printed for answer in answers)
    notes = ("Your code also printed something; that costs no points.",) if printed else ()
    points = sum(part.points for part in parts)
    verdict = replace(blank, status="passed", points=points, parts=tuple(parts), notes=notes)
    if all(part.earned for part in parts):
        return replace(verdict, facts=_tried(plan, 0, len(answers)) if reveal else ())

    part, (claim, difference) = next(pair for pair in zip(plan["parts"], failures) if pair[1] is not None)
    answer, question = answers[claim["answer"]], questions[claim["answer"]]
    status = "partly" if points else ("raised" if answer.status == "raised" else "wrong")
    mistake = known_mistake(plan, answers, reveal)
    advice = [mistake["hint"]] if mistake else []
    if fails_only_together(plan, claim, answers, reveal):
        advice.append(ONLY_TOGETHER)
    elif not mistake or answer.status == "raised":
        advice += result_advice(answer, plan, claim, difference) or error_advice(answer, question, claim)
    facts, picture = (), None
    if reveal:
        claim, answer, difference = without_list(claim, question, answer, difference)
        facts = _tried(plan, claim["answer"], 0) + shape_facts(claim, answer, difference)
        picture = small_picture(difference)
        if picture and len(parts) > 1:
            picture = replace(picture, part=part["name"])
    misconception = mistake["id"] if mistake else None
    return replace(
        verdict, status=status, facts=facts, advice=tuple(advice), picture=picture, misconception=misconception
    )


def known_mistake(plan: dict, answers: list[Answer], strict: bool = True) -> dict | None:
    """The misconception of the plan that explains these answers, or None. strict: as in `fault`."""

    def fails(claim):
        return fault(claim, plan["questions"], answers, strict) is not None

    # Numbers that depend on chance: results of dropout, and initial weights.
    every = [claim for part in plan["parts"] for claim in part["claims"]]
    claims = [claim for claim in every if KINDS[claim["kind"]].drawn or claim["kind"] == "initial"]
    drawn = {claim[key] for claim in claims for key in ("answer", "other") if key in claim}
    return match_mistake(plan, answers, drawn, fails) or random_claims.match_by_counts(plan, answers)


def fails_only_together(plan: dict, claim: dict, answers: list[Answer], strict: bool = True) -> bool:
    """Whether a claim that fails is about several calls (a composition), and all about single calls hold."""
    questions = plan["questions"]
    if len(questions[claim["answer"]].get("calls", ())) < 2:
        return False
    alone = [
        single for part in plan["parts"] for single in part["claims"] if "calls" not in questions[single["answer"]]
    ]
    return not any(fault(single, questions, answers, strict) for single in alone)


def fault(claim: dict, questions: list[dict], answers: list[Answer], strict: bool = True) -> Difference | None:
    """Why a claim of a plan does not hold for these answers; None if it holds.

    strict: believes that what came as an array was a tensor, which only the student's own machine may.
    """
    kind, answer, question = KINDS[claim["kind"]], answers[claim["answer"]], questions[claim["answer"]]
    if kind is Raises:
        return kind.difference(claim, answers)
    if answer.status != "ok":
        return Difference("raised", answer.status)
    if not _is_of_kind(answer, question, claim["returns"], strict):
        returned = answer.type or answer.returned
        if returned == "nothing":
            return Difference("type", "yours returned nothing")
        return Difference("type", f"yours is {article(returned)}; expected {article(claim['returns'])}")
    if answer.after is not None and not exactly_same(list(question["arguments"]), answer.after):
        return Difference("mutated", "your function changed an argument")
    if strict and answer.new_weights:
        return Difference("unstable", "a later call made new weights")
    if answer.again is not None and not kind.may_vary(question):
        if not exactly_same(answer.value, answer.again):
            although = ", although a right dropout changes nothing in this call" if trains(question) else ""
            return Difference("unstable", f"two equal calls gave different results{although}")
    return kind.difference(claim, answers)


def _is_of_kind(answer: Answer, question: dict, wanted: str, strict: bool) -> bool:
    """Whether the thing that was returned is of the wanted kind; if not strict, as far as the value shows it."""
    if wanted == "anything":
        return True
    if strict:
        return answer.returned == wanted
    kind, values = question["probe"]["kind"], [answer.value]
    if kind == "seeded":  # one value for each call
        if type(answer.value) is not list:
            return False
        values = answer.value
    elif kind == "fill":
        values = [answer.value.get("returned") if type(answer.value) is dict else None]
    if wanted in _ARRAYS:
        return all(type(value) is np.ndarray for value in values)
    return all(kind_of(value) in (wanted, "string" if wanted == "str" else "") for value in values)


def _tried(plan, index, calls):
    more = f" and {calls - 1} other call{'s' if calls > 2 else ''}" if calls > 1 else ""
    text = call_text(plan["exercise"]["arguments"], plan["questions"][index])
    return (("tried", f"{text}{more}"),)
