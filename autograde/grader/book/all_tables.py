"""All kinds of files in which a course keeps what it knows beside the gradebook (see store.py)."""

from autograde.grader.book.comments import COMMENTS
from autograde.grader.book.groups import GROUPS
from autograde.grader.book.manual_points.graders import SHARES
from autograde.grader.book.people import PEOPLE
from autograde.grader.book.policy import POLICY
from autograde.grader.book.variants import HANDED_OUT
from autograde.grader.exports.mailing import MAILED
from autograde.grader.hand_ins.hand_in import HAND_INS

TABLES = (POLICY, GROUPS, PEOPLE, HAND_INS, HANDED_OUT, SHARES, COMMENTS, MAILED)
