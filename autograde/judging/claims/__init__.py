"""The kinds of claims, a file each: what an exercise states, its plain data in a plan, its judging and its advice.

    Slopes(cotangent, {"kernel": direction})        an exercise claims
    .planned(trial)   ─▶ {"kind": "slopes", "answer": 3, "expected": …}   the plan of one seed: plain data, no code
    Slopes.difference(claim, answers)               the judge: None, or why it does not hold
    Slopes.advice(claim, answer, difference)        sentences for the student

Nothing here knows an exercise: a student's machine has these files, and no reference. To add a kind, write its file
and name it here.
"""

from autograde.judging.claims.alike import Alike
from autograde.judging.claims.any_count import AnyCount
from autograde.judging.claims.claim import Claim
from autograde.judging.claims.dropped import Dropped
from autograde.judging.claims.hands_on import HandsOn
from autograde.judging.claims.initial import Initial
from autograde.judging.claims.obeys import Obeys
from autograde.judging.claims.own_lists import OwnLists
from autograde.judging.claims.own_weights import OwnWeights
from autograde.judging.claims.raises import Raises
from autograde.judging.claims.rates import Rates
from autograde.judging.claims.reference import Equals, Reference
from autograde.judging.claims.same import Same
from autograde.judging.claims.slopes import Slopes
from autograde.judging.claims.sums import Sums
from autograde.judging.claims.varies import Varies

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
