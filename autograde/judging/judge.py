"""A plan and a student's answers → a verdict. Trusted: it only sees plain values and never runs a student's code.

The same code grades the visible check on a student's machine, a test of this project, and a submission in its sandbox;
only `ask` differs: a callable from questions to answers (see `probe`). All answers go through `answers.read`.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from autograde.common.texts import article
from autograde.judging import drawn_numbers, random_claims, shortcuts
from autograde.judging.advice import ONLY_TOGETHER, error_advice, result_advice
from autograde.judging.answers import Answer, is_a, read
from autograde.judging.call_texts import call_text, shape_facts, small_picture, without_list
from autograde.judging.compare import Difference, Tolerance, compare, distinct_texts, exactly_same, kind_of
from autograde.judging.match_mistake import recognise, same_value
from autograde.judging.verdict import PartResult, Verdict

# Of the standard deviation of a result without dropout: rounding stays below 1e-5 of it, dropout of 0.5 is near 1.
LEAST_CHANGE = 0.02
LEAST_SHARE = 0.5  # of the numbers that must change by so much
# What the type of a value shows about the thing that was returned; an array may be a tensor or not.
_ARRAYS = ("tensor", "NumPy array", "NumPy scalar", "variable")


def judge(plan: dict, ask: Callable[[list[dict]], list], source: str = "", reveal: bool = True) -> Verdict:
    """Asks the plan's questions and grades the answers.

    source: the student's code as text, which is searched for forbidden functions. reveal: True on the student's own
    machine, where a verdict shows inputs, expected values and the program's own errors. False for hidden inputs: it
    names only parts, mistakes and words of `answers`, and nothing that a sandbox reports about itself decides points.
    """
    shortcut = shortcuts.first_forbidden(source, plan["watch"])
    if shortcut:
        return _refused(plan, shortcut)
    given = ask(plan["questions"])
    if len(given) != len(plan["questions"]):
        return _verdict(plan, "technical", technical="the sandboxed program did not answer every question")
    answers = [read(*pair, own=reveal) for pair in zip(given, plan["questions"])]
    if answers[0].watched and reveal:
        return _refused(plan, answers[0].watched[0])
    if answers[0].status in ("missing", "not attempted"):
        return _absent(plan, answers[0].status)
    return _grade(plan, answers, reveal)


# --- verdicts without grading ---


def _verdict(plan, status, **more):
    facts = plan["exercise"]
    label = f"{facts['number']} {facts['names'][0]}"
    return Verdict(facts["id"], label, status, more.pop("points", 0.0), facts["points"], seed=plan["seed"], **more)


def _refused(plan, shortcut):
    reason = plan["exercise"]["forbidden_because"] or "In this exercise you write it yourself."
    what_to_do = f"Your code uses `{shortcut}`, which is refused here. {reason} Replace it by code of your own."
    return _verdict(plan, "refused", advice=(what_to_do,))


def _absent(plan, status):
    name = plan["exercise"]["names"][0]
    if status == "missing":
        return _verdict(
            plan, status, advice=(f"`{name}` is not defined yet. Run the cell that defines it, then check again.",)
        )
    return _verdict(
        plan, status, advice=(f"`{name}` is still the empty stub. Fill it in, run its cell, then check again.",)
    )


# --- grading ---


def _grade(plan, answers, reveal):
    failures = [_first_failure(part, plan["questions"], answers, reveal) for part in plan["parts"]]
    first, *rest = zip(plan["parts"], failures)
    base_holds = failures[0] is None
    parts = (_part_result(*first, counts=True), *(_part_result(*part, counts=base_holds) for part in rest))
    points = sum(part.points for part in parts)
    if all(part.earned for part in parts):
        facts = _tried(plan, 0, len(answers)) if reveal else ()
        return _verdict(plan, "passed", points=points, parts=parts, facts=facts, notes=_side_notes(answers))

    part, (claim, difference) = next(pair for pair in zip(plan["parts"], failures) if pair[1] is not None)
    answer, question = answers[claim["answer"]], plan["questions"][claim["answer"]]
    status = "partly" if points else ("raised" if answer.status == "raised" else "wrong")
    mistake = known_mistake(plan, answers, reveal)
    advice = [mistake["hint"]] if mistake else []
    if fails_only_together(plan, claim, answers, reveal):
        advice.append(ONLY_TOGETHER)
    elif not mistake or answer.status == "raised":
        advice += result_advice(answer, plan, claim, difference) or error_advice(answer, question)
    facts, picture = (), None
    if reveal:
        claim, answer, difference = without_list(claim, question, answer, difference)
        facts = _tried(plan, claim["answer"], 0) + shape_facts(claim, answer, difference)
        picture = small_picture(difference)
        if picture and len(parts) > 1:
            picture = replace(picture, part=part["name"])
    return _verdict(
        plan, status, points=points, parts=parts, facts=facts, advice=tuple(advice), picture=picture,
        misconception=mistake["id"] if mistake else None, notes=_side_notes(answers),
    )  # fmt: skip


def known_mistake(plan: dict, answers: list[Answer], strict: bool = True) -> dict | None:
    """The misconception of the plan that explains these answers, or None. strict: as in `fault`."""

    def fails(claim):
        return fault(claim, plan["questions"], answers, strict) is not None

    return recognise(plan, answers, fails) or random_claims.recognise(plan, answers)


def _part_result(part, failure, counts):
    if failure is None and counts:
        return PartResult(part["name"], part["points"], part["points"])
    reason = part["failure"] if counts else "counts only when the first part is right"
    return PartResult(part["name"], 0.0, part["points"], reason)


def _first_failure(part, questions, answers, strict) -> tuple[dict, Difference] | None:
    for claim in part["claims"]:
        difference = fault(claim, questions, answers, strict)
        if difference:
            return claim, difference
    return None


def fails_only_together(plan: dict, claim: dict, answers: list[Answer], strict: bool = True) -> bool:
    """Whether a claim that fails is about several calls (a composition), and all about single calls hold."""
    questions = plan["questions"]
    if len(questions[claim["answer"]].get("calls", ())) < 2:
        return False
    alone = [one for part in plan["parts"] for one in part["claims"] if "calls" not in questions[one["answer"]]]
    return not any(fault(one, questions, answers, strict) for one in alone)


def fault(claim: dict, questions: list[dict], answers: list[Answer], strict: bool = True) -> Difference | None:
    """Why a claim of a plan does not hold for these answers; None if it holds.

    strict: believes what an answer reports about itself, which only the student's own machine may: that what came as an
    array was a tensor.
    """
    if claim["kind"] == "raises":
        return _raises(claim, answers)
    index = claim["answer"]
    return _fault_of(answers[index], questions[index], claim, strict) or _CLAIMS[claim["kind"]](claim, answers)


def _raises(claim, answers):
    answer = answers[claim["answer"]]
    if answer.status != "raised":
        return Difference("raised", f"expected this call to raise {claim['error']}; it returned")
    if not is_a(answer.failure.kind, claim["error"]):
        raised = answer.failure.type or answer.failure.kind
        return Difference("raised", f"expected this call to raise {claim['error']}; it raised {raised}")
    return None


def _fault_of(answer, question, claim, strict) -> Difference | None:
    """The fault of an answer that does not depend on its expected value, or None."""
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
    drawn = claim["kind"] in ("dropped", "any count", "varies") or claim["kind"] == "same" and "seed" in question
    if not drawn and answer.again is not None:
        if not exactly_same(answer.value, answer.again):
            return Difference("unstable", "two equal calls gave different results")
    return None


def _is_of_kind(answer, question, wanted, strict) -> bool:
    """Whether the thing that was returned is of the wanted kind; if not strict, as far as the value shows it."""
    if wanted == "anything":
        return True
    if strict:
        return answer.returned == wanted
    kind, value = question["probe"]["kind"], answer.value
    if kind == "seeded":  # one value for each call
        return type(value) is list and all(_shows(item, wanted) for item in value)
    if kind == "fill":
        value = value.get("returned") if type(value) is dict else None
    return _shows(value, wanted)


def _shows(value, wanted) -> bool:
    return (
        type(value) is np.ndarray
        if wanted in _ARRAYS
        else kind_of(value) in (wanted, "string" if wanted == "str" else "")
    )


def _equals(claim, answers):
    tolerance = Tolerance(claim["rtol"], claim["atol"])
    return compare(claim["expected"], answers[claim["answer"]].value, tolerance)


def _same(claim, answers):
    left = _taken(answers[claim["answer"]].value, claim["axis"], claim["indices"])
    right = _taken(answers[claim["other"]].value, claim["other_axis"], claim["other_indices"])
    if left is None or right is None:
        return Difference("shape", "a result has a different shape than expected")
    found = compare(right, left, Tolerance(claim["rtol"], claim["atol"]))
    if found is None or found.kind != "values":
        return found
    one, other = distinct_texts(left[found.index], right[found.index])
    of = "this result" if claim["answer"] == claim["other"] else "two calls"
    return Difference("values", f"two numbers of {of} must be equal, and are {one} and {other}")


def _taken(value, axis, indices):
    if type(value) is not np.ndarray or value.ndim < -axis or max(indices) >= value.shape[axis]:
        return None
    return np.take(value, indices, axis=axis)


def _sums(claim, answers):
    value = answers[claim["answer"]].value
    if type(value) is not np.ndarray or value.dtype.kind != "f" or value.ndim < 1:
        return Difference("type", "expected an array of floats")
    sums = value.sum(axis=claim["axis"], dtype="float64").astype("float32")
    return compare(np.full_like(sums, claim["total"]), sums, Tolerance(claim["rtol"], claim["atol"]))


def _slopes(claim, answers):
    gradients, directions = answers[claim["answer"]].value, claim["directions"]
    if type(gradients) is not list or len(gradients) != len(directions):
        return Difference("type", "expected a gradient for each weight")
    for gradient, direction in zip(gradients, directions):
        if type(gradient) is not np.ndarray or gradient.shape != direction.shape or gradient.dtype.kind != "f":
            return Difference("shape", "a gradient has a different shape than its weight")
    slopes = [np.sum(g.astype("float64") * d) for g, d in zip(gradients, directions)]
    found = compare(claim["expected"], np.array(slopes, "float32"), Tolerance(claim["rtol"], claim["atol"]))
    if found is None:
        return None
    index = found.index[0]
    of = claim["of"][index] if "of" in claim else "an argument or a weight"
    absent = slopes[index] == 0 or np.isnan(slopes[index])  # NaN if no gradient arrived at all, otherwise 0
    if absent and answers[claim["answer"]].no_gradient:
        return replace(found, kind="values", message=f"no gradient reaches {of}; expected one")
    message = found.message.partition("   yours")[2] or found.message.partition("first difference yours")[2]
    return replace(found, message=f"gradient of {of}, in one direction:   yours{message}")


def _zeros(value, signs) -> np.ndarray:
    """The numbers that dropout has made 0; behind a LayerNorm they are negative."""
    if type(value) is not np.ndarray or value.dtype.kind != "f":
        return np.zeros(0, bool)
    return value < 0 if signs else value == 0


def _dropped(claim, answers):
    """Each number is 0 or the whole / (1 − rate), with a plausible number of zeros (five standard deviations)."""
    got, rate, signs = answers[claim["answer"]].value, claim["rate"], claim.get("signs", False)
    beside = claim.get("beside", np.float32(0))  # exact zeros stay: (b + 0) − b
    scaled = ((claim["whole"].astype("float64") - beside) / (1 - rate)).astype("float32")
    if type(got) is not np.ndarray or got.shape != scaled.shape or got.dtype.kind != "f":
        return compare(scaled, got)
    got = got - beside
    zero = _zeros(got, signs)
    if "unlike" in claim and np.array_equal(zero, _zeros(answers[claim["unlike"]].value, signs)):
        return Difference(
            "values", "two calls drop the same numbers; expected new random numbers at each call (is a seed fixed?)"
        )
    if drawn_numbers.only_whole_rows(zero):
        return Difference("values", "numbers are dropped together; expected that each number is drawn by itself")
    share = float(zero.mean())
    if abs(share - rate) > 5 * (rate * (1 - rate) / got.size) ** 0.5:
        numbers = f"numbers {claim['of']}" if "of" in claim else "numbers"
        return Difference("values", f"{share:.0%} of the {numbers} are 0; expected about {rate:.0%}")
    together = drawn_numbers.drawn_together(zero, rate)
    if together:
        return Difference("values", together)
    if signs:
        return None
    return compare(np.where(zero, np.float32(0), scaled), got, Tolerance(claim["rtol"], claim["atol"]))


def _any_count(claim, answers):
    """Whether some answer has another number of zeros than round(rate · n), or one next to it."""
    for index, rate in enumerate(claim["rates"], start=claim["answer"]):
        zero = _zeros(answers[index].value, signs=False)
        if abs(int(zero.sum()) - rate * zero.size) > 1:
            return None
    return Difference(
        "values",
        "the number of zeros is always rate · n; expected that each number is drawn by itself, so that it varies",
    )


def _varies(claim, answers):
    """Calls under two seeds differ in most numbers, and by far more than rounding: dropout acted on a sub-layer."""
    one, other = (_item(answers[claim[name]].value, claim.get("item")) for name in ("answer", "other"))
    whole = claim["whole"]
    for value in (one, other):
        if type(value) is not np.ndarray or value.shape != whole.shape or value.dtype.kind != "f":
            return compare(whole, value)
    distances = np.abs(one.astype("float64") - other)
    if not np.isfinite(distances).all():
        return Difference("nan", "the result has NaN or infinite numbers")
    far = distances > LEAST_CHANGE * whole.std()
    if far.mean() < LEAST_SHARE:
        return Difference(
            "values",
            f"two calls in training under different seeds differ in {far.mean():.0%} of the numbers; expected random "
            "dropout, which changes most of them",
        )
    return None


def _item(value, index):
    """An item of a tuple of results; the value itself if no index is given; None if there is no such item."""
    if index is None:
        return value
    return value[index] if type(value) in (list, tuple) and index < len(value) else None


def _alike(claim, answers):
    """Whether two answers are the same; or, if that is not wanted, that they differ."""
    if same_value(answers[claim["other"]].value, answers[claim["answer"]].value) == claim["wanted"]:
        return None
    found, expected = ("differ", "the same results") if claim["wanted"] else ("are the same", "different results")
    return Difference("values", f"the results of two calls {found}; expected {expected}")


_CLAIMS = {
    "equals": _equals, "same": _same, "sums": _sums, "slopes": _slopes, "dropped": _dropped, "varies": _varies,
    "any count": _any_count,
    "alike": _alike, "initial": drawn_numbers.initial, "obeys": random_claims.obeys, "rates": random_claims.rates,
}  # fmt: skip


# --- sentences that need the plan ---


def _tried(plan, index, calls):
    more = f" and {calls - 1} other call{'s' if calls > 2 else ''}" if calls > 1 else ""
    text = call_text(plan["exercise"]["arguments"], plan["questions"][index])
    return (("tried", f"{text}{more}     seed {plan['seed'][:4]}"),)


def _side_notes(answers):
    printed = any(answer.printed for answer in answers)
    return ("Your code also printed something; that costs no points.",) if printed else ()
