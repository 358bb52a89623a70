"""The students of a course, with names and the ids that systems give them, and the groups that hand in together.

`collected/people.json` keeps the students: collecting and importing write it, matching and pages read it. A Canvas user
id and a login are a student's in all assignments; Moodle's participant number is one assignment's and is kept in the
record of that hand-in.

`.autograde/groups/ASSIGNMENT.json` keeps the groups of an assignment. `autograde groups` reads them from a CSV of one's
own (columns group, student), from Canvas's list of a group set (People > Group set > Download course roster CSV:
group_name, name, canvas_user_id, login_id) or from Moodle's grading worksheet of an assignment with group submission
(Group, Full name, Email address).

Columns follow Canvas `spec/apis/v1/group_categories_api_spec.rb` (its export) and Moodle `mod/assign/gradingtable.php`
(commit 003699db).
"""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from autograde.common.delimited import column_of, read_table, value_of
from autograde.common.errors import InputError
from autograde.common.texts import controls
from autograde.grader.book.database import Database
from autograde.grader.book.store import Table
from autograde.grader.hand_ins.filenames import composed, safe_name
from autograde.grader.hand_ins.roster import spellings

_GROUP = ("group", "group_name", "gruppe")
_STUDENT = ("student", "student_id")
_NAME = ("name", "full name", "vollständiger name")
_EMAIL, _LOGIN, _CANVAS = ("email", "email address", "e-mail-adresse"), ("login", "login_id"), ("canvas_user_id",)
_NO_GROUP = ("", "-", "default group", "standardgruppe")  # Moodle's worksheet of students without a group
_SUFFIXES = {"jr", "jr.", "sr", "sr.", "junior", "senior", "ii", "iii", "iv", "phd", "md", "esq", "esq."}


@dataclass(frozen=True)
class Known:
    """One student. ids: by system, such as {"canvas": "4711"}."""

    name: str = ""
    email: str = ""
    login: str = ""
    ids: dict[str, str] = field(default_factory=dict)


def _parsed(text: str) -> dict[str, Known]:
    known = {student: Known(**values) for student, values in json.loads(text).items()}
    for student, facts in known.items():
        try:
            f"{student}{facts.name}{facts.email}".encode()
        except UnicodeEncodeError:  # half of a character
            raise ValueError(f"got {facts.name!r} for {student!r}") from None
    return known


PEOPLE = Table(
    "collected/people.json", "the students in whole characters",
    "correct it there, or delete it: collecting and importing write it again", parse=_parsed, empty=dict,
    text=lambda known: json.dumps({name: asdict(one) for name, one in sorted(known.items())}, indent=1) + "\n",
    without=lambda known, student: {name: facts for name, facts in known.items() if name != student},
)  # fmt: skip


class People:
    """The students of a course; `save` writes what `learn` has changed. Of a damaged file nobody is known."""

    def __init__(self, course: str | Path):
        self.course, self.known = Path(course), PEOPLE.load_or_empty(course)

    def __getitem__(self, student: str) -> Known:
        return self.known.get(student, Known())

    def by_id(self, system: str, number: str) -> str | None:
        """The student with this id in a system."""
        return next(
            (student for student, facts in self.known.items() if number and facts.ids.get(system) == number), None
        )

    def learn(self, student: str, name: str = "", email: str = "", login: str = "", **ids: str) -> None:
        """Adds facts; an empty value changes nothing. Systems let students choose their names: only text is kept."""
        old, name = self[student], "".join(character for character in name if not controls(character))
        self.known[student] = replace(
            old,
            name=name or old.name,
            email=email or old.email,
            login=login or old.login,
            ids=old.ids | {system: number for system, number in ids.items() if number},
        )

    def save(self) -> None:
        if self.known or PEOPLE.path(self.course).exists():
            PEOPLE.save(self.known, self.course)


def namer(course: str | Path) -> Callable[[str], str]:
    """student → "Jane Doe (doejane)" where the name is known, else the id."""
    people, in_book = People(course), _names_in_the_gradebook(Path(course))

    def name(student: str) -> str:
        full = in_book.get(student) or people[student].name
        return f"{full} ({student})" if full and full != student else student

    return name


def _names_in_the_gradebook(course: Path) -> dict[str, str]:
    if not (course / "gradebook.db").is_file():
        return {}
    with Database(course) as opened:
        people = [(one.id, one.first_name, one.last_name) for one in opened.book.students]
    return {student: " ".join(part for part in names if part) for student, *names in people}


def known_students(course: str | Path) -> set[str]:
    """Whom a course knows: from downloads and lists, the gradebook, or a hand-in."""
    handed_in = {path.parent.name for path in Path(course).glob("submitted/*/*") if path.is_dir()}
    return {*People(course).known, *_names_in_the_gradebook(Path(course)), *handed_in}


def two_names(name: str) -> tuple[str, str]:
    """(last, first) of "Doe, Jane", "Jane Doe", "Doe, Jane, Jr." or "Jane Doe, Jr.": a suffix belongs to the last.

    So do small words before it: "Anna van der Berg".
    """
    parts = [part.strip() for part in name.split(",") if part.strip()]
    words = parts[-1].split() if parts else []
    suffix = ""
    if len(parts) > 1 and parts[-1].casefold() in _SUFFIXES:
        suffix = f" {parts.pop()}"
    elif len(parts) == 1 and len(words) > 2 and words[-1].casefold() in _SUFFIXES:
        suffix, parts = f" {words[-1]}", [" ".join(words[:-1])]
    if len(parts) > 1:
        last, first = parts[0], " ".join(parts[1:])
    else:
        words = (parts or [""])[0].split()
        index = len(words) - 1
        while index > 1 and words[-1][0].isupper() and words[index - 1].islower():
            index -= 1
        first, last = " ".join(words[:index]), " ".join(words[index:])
    return f"{last}{suffix}", first


# --- groups ---


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
    who = people.by_id("canvas", number) or _known_as(people, login, email, name)
    who = None if who and _letters(who) in titles else who
    if who or not number:
        return who or name
    last, first = two_names(name)
    squashed = re.sub(r"\W", "", f"{last}{first}".lower())
    return f"{squashed}-{number}" if squashed in people.known else squashed


def _known_as(people: People, login: str, email: str, name: str) -> str | None:
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
