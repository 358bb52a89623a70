"""The kinds of claims: what an exercise states, its plain data in a plan, its judging and its advice.

    Slopes(cotangent, {"kernel": direction})        an exercise claims
    .planned(trial)   ─▶ {"kind": "slopes", "answer": 3, "expected": …}   the plan of one seed: plain data, no code
    Slopes.difference(claim, answers)               the judge: None, or why it does not hold
    Slopes.advice(claim, answer, difference)        sentences for the student

Nothing here knows an exercise: a student's machine has these files, and no reference. A new kind is a class on `Claim`
that is named here.
"""

from autograde.judging.claims.dropout import AnyCount, Dropped, Varies
from autograde.judging.claims.layers import HandsOn, Initial, OwnLists, OwnWeights
from autograde.judging.claims.random_claims import Obeys, Rates
from autograde.judging.claims.results import Alike, Claim, Equals, Raises, Reference, Same, Slopes, Sums

__all__ = [
    "Alike", "AnyCount", "Claim", "Dropped", "HandsOn", "Initial", "Obeys", "OwnLists", "OwnWeights", "Raises",
    "Rates", "Reference", "Same", "Slopes", "Sums", "Varies",
]  # fmt: skip

# The kind of a claim in a plan → the class that judges it.
KINDS: dict[str, type[Claim]] = {
    it.kind: it for it in (Equals, Same, Sums, Slopes, Raises, Dropped, AnyCount, Varies, Initial, Alike, Obeys, Rates)
}
# The kind of a question → the class that put it and has advice about it.
ASKED_BY: dict[str, type[Claim]] = {it.asks: it for it in (HandsOn, OwnLists, OwnWeights)}
