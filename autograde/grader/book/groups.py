"""Groups that hand in together: who belongs to which group in an assignment.

`.autograde/groups/ASSIGNMENT.json` keeps them: group → students, as the gradebook names them. `autograde groups` reads
them from a CSV of one's own (columns group, student), from Canvas's list of a group set (People > Group set > Download
course roster CSV: group_name, name, canvas_user_id, login_id) or from Moodle's grading worksheet of an assignment with
group submission (Group, Full name, Email address).

Columns follow Canvas `spec/apis/v1/group_categories_api_spec.rb` (its export) and Moodle `mod/assign/gradingtable.php`
(commit 003699db).
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from autograde.common.delimited import column_of, read_table, value_of
from autograde.common.errors import InputError
from autograde.grader.book.people import People, known_students, two_names
from autograde.grader.book.store import Table
from autograde.grader.hand_ins.filenames import composed, safe_name
from autograde.grader.hand_ins.roster import spellings

_GROUP = ("group", "group_name", "gruppe")
_STUDENT = ("student", "student_id")
_NAME = ("name", "full name", "vollständiger name")
_EMAIL, _LOGIN, _CANVAS = ("email", "email address", "e-mail-adresse"), ("login", "login_id"), ("canvas_user_id",)
_NO_GROUP = ("", "-", "default group", "standardgruppe")  # Moodle's worksheet of students without a group


@dataclass(frozen=True)
class Groups:
    """The groups of one assignment. members: group → its students, sorted."""

    members: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, student: str) -> str | None:
        """The group of a student."""
        return next((group for group, those in self.members.items() if student in those), None)

    def others(self, student: str) -> tuple[str, ...]:
        """The other members of a student's group."""
        return tuple(member for member in self.members.get(self.of(student) or "", ()) if member != student)

    def named(self, name: str) -> str | None:
        """The group that a system calls so in the name of an entry: only letters and digits count."""
        groups = [group for group in self.members if _letters(group) == _letters(name)]
        return groups[0] if len(groups) == 1 and _letters(name) else None

    def without(self, student: str) -> "Groups":
        members = {
            group: tuple(member for member in those if member != student) for group, those in self.members.items()
        }
        return Groups({group: those for group, those in members.items() if those})


GROUPS = Table(
    ".autograde/groups/{}.json", "groups", "write them again with `autograde groups`",
    parse=lambda text: Groups({group: tuple(sorted(those)) for group, those in json.loads(text).items()}),
    empty=Groups, text=lambda groups: json.dumps(groups.members, indent=1, ensure_ascii=False) + "\n",
    without=Groups.without,
)  # fmt: skip


def groups_of(path: Path, people: People) -> Groups:
    """Reads a file of groups; `people` learns names, logins and addresses in it. Raises InputError."""
    try:
        lines, _ = read_table(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as reason:
        raise InputError(f"{path}: expected a CSV file in UTF-8 ({reason})") from None
    header = [title.strip().lower() for title in lines[0]] if lines else []
    group, student = column_of(header, _GROUP), column_of(header, _STUDENT)
    if group is None or (student is None and column_of(header, _NAME) is None):
        raise InputError(
            f"{path}: expected the columns group and student, Canvas's list of a group set, or Moodle's grading "
            f"worksheet of an assignment with group submission; got {', '.join(header) or 'nothing'}"
        )
    members: dict[str, set[str]] = {}
    students = known_students(people.course)
    titles = {_letters(line[group]) for line in lines[1:] if len(line) > group}
    for line in lines[1:]:
        name = value_of(line, header, _GROUP)
        who = _student(line, header, people, titles) if student is None else value_of(line, header, _STUDENT)
        if name.casefold() in _NO_GROUP or not who:
            continue
        if safe_name(who) != who:
            raise InputError(f"{path}: {who!r} cannot be the name of a student in a gradebook; correct it")
        members.setdefault(name, set()).add(who)
        if student is not None and who not in students:
            continue  # one's own list makes no student: the name may be misspelt
        facts = (value_of(line, header, names) for names in (_NAME, _EMAIL, _LOGIN))
        people.learn(who, *facts, canvas=value_of(line, header, _CANVAS))
    groups = Groups({name: tuple(sorted(those)) for name, those in sorted(members.items())})
    every = [student for those in groups.members.values() for student in those]
    twice = sorted({student for student in every if every.count(student) > 1})
    if twice:
        raise InputError(f"{path}: {twice[0]} is in two groups; correct it")
    if not every:
        raise InputError(f"{path}: expected students in groups, got none")
    alike = [name for name in groups.members if groups.named(name) is None]
    if alike:
        raise InputError(
            f"{path}: the group {alike[0]!r} cannot be told from another by its letters and digits, which is all "
            "that a download keeps of a name; rename it"
        )
    return groups


def _student(line: list[str], header: list[str], people: People, titles: set[str]) -> str:
    """The student of a row of Canvas or Moodle: one who is known, else as their downloads would name this person.

    titles: of groups: a group that was collected as a student is not a student.
    """
    number, login, name = (value_of(line, header, names) for names in (_CANVAS, _LOGIN, _NAME))
    email = value_of(line, header, _EMAIL)
    who = people.by_id("canvas", number) or _known(people, login, email, name)
    who = None if who and _letters(who) in titles else who
    if who or not number:
        return who or name
    last, first = two_names(name)
    squashed = re.sub(r"\W", "", f"{last}{first}".lower())
    return f"{squashed}-{number}" if squashed in people.known else squashed


def _known(people: People, login: str, email: str, name: str) -> str | None:
    """The one student with this login, else with this address, else with this name."""
    candidates = (
        [student for student, facts in people.known.items() if login and login in (facts.login, student)],
        [student for student, facts in people.known.items() if email and facts.email.casefold() == email.casefold()],
        [student for student, facts in people.known.items()
         if {*spellings(name)} & {*spellings(facts.name), *spellings(student)}],
    )  # fmt: skip
    return next((those[0] for those in candidates if len(those) == 1), None)


def _letters(name: str) -> str:
    """The characters of a name that systems keep: Canvas keeps letters and digits, Moodle replaces _ by a space."""
    return re.sub(r"[\W_]", "", composed(name)).casefold()
