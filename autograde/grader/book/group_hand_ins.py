"""One hand-in for all members of a group: the newest of them counts, and its grade is everybody's.

    collect ─▶ submitted/ann/ps3 ─ spread ─▶ submitted/ben/ps3, with ann's name in its record ─ follow ─▶ ann's verdicts

So each member has a submission, a grade, feedback, late days and a row in every export, and can be graded differently
by hand. A hand-in is run once: the copies take over its verdicts, since hidden inputs are drawn for each student.

Groups can change later. A group's hand-in stays with its members; a student who left has their own work again, or none.
"""

import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from autograde.grader.book import variants
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.people import GROUPS, Groups, known_students
from autograde.grader.grading.autograded import record_results
from autograde.grader.grading.results import readable_results
from autograde.grader.hand_ins.hand_in import HAND_INS, Arrived, Folder, HandIn
from autograde.grader.reading.repair import read_submission
from autograde.grader.reading.template import Template


def spread(course: Path, assignment: str) -> list[str]:
    """Copies each group's newest hand-in to its other members; returns a sentence for each copy.

    Before, takes hand-ins of a group from students who are not in it. A student whom the course does not know gets no
    copy. An earlier hand-in of a member is kept in collected/ASSIGNMENT/earlier/. Doing it twice changes nothing.
    """
    records = HAND_INS.load_all(course, assignment).values()
    if not GROUPS.load(course, assignment).members and not any(record.group or record.by for record in records):
        return []  # there are no groups, and there were none
    sentences = _take_back(course, assignment)
    unknown = {student for _, student in strangers(course, assignment)}
    varied = variants.released_to(course, assignment)
    for group, newest, others in _groups(course, assignment):
        numbers = variants.recognised(course, assignment, newest.student, varied)
        if newest.before and newest.before.variants != numbers:  # noted, so that it stays so when members leave
            newest.before = replace(newest.before, variants=numbers)
            newest.save(newest.before)
        wanted = [other for other in others if other.student not in unknown]
        sentences += [line for other in wanted if (line := _copy(newest, other, group))]
    return sentences


def strangers(course: Path, assignment: str) -> list[tuple[str, str]]:
    """(group, student) of each member whom the course does not know: a name may be misspelt."""
    members = GROUPS.load(course, assignment).members
    known = known_students(course) if members else set()
    return [(group, student) for group, those in members.items() for student in those if student not in known]


def _take_back(course: Path, assignment: str) -> list[str]:
    """Undoes what groups of before have left with students who are in another group now, or in none."""
    sentences, groups = [], GROUPS.load(course, assignment)
    records = HAND_INS.load_all(course, assignment)
    for student, about in records.items():  # a group of the very same members under a new name keeps its hand-in
        group = groups.of(student)
        if group and about.group and not about.by and groups.named(about.group) is None:
            having = {student, *(other for other, record in records.items() if record.by == student)}
            if having == set(groups.members[group]):
                Folder(course, assignment, student).save(replace(about, name=group, group=group))
    while student := _one_who_left(course, assignment, groups):
        folder = Folder(course, assignment, student)
        sentences += _hand_over(course, assignment, folder, groups)
        remove_grade(course, assignment, student)
        of = f"{folder.before.by} ({folder.before.group})" if folder.is_copy else folder.before.group
        now = "has their own again" if folder.give_back() else "has none until you collect the download again"
        sentences.append(f"{student} no longer has the hand-in of {of} and {now}; its grade is removed")
    return sentences


def _one_who_left(course: Path, assignment: str, groups: Groups) -> str | None:
    """A student who has the hand-in of a group and is not in it, or of a member who does not have it any longer."""
    records = HAND_INS.load_all(course, assignment)
    for student, about in records.items():
        source = records.get(about.by)
        gone = about.by and (source.by if source else not (course / "submitted" / about.by / assignment).is_dir())
        if gone or not _is_theirs(student, about, groups):
            return student
    return None


def _is_theirs(student: str, about: HandIn | None, groups: Groups) -> bool:
    """Whether a hand-in is the student's, or that of the group that the student is in."""
    if about is None or not (about.group or about.by):
        return True
    group = groups.of(about.by) if about.by else groups.named(about.group)
    return group is not None and groups.of(student) == group


def _hand_over(course: Path, assignment: str, folder: Folder, groups: Groups) -> list[str]:
    """Makes a present member who has a copy of a group's hand-in the one who handed it in."""
    group = groups.named(folder.before.group)
    if folder.is_copy or group is None:
        return []
    members = (Folder(course, assignment, student) for student in groups.members[group] if student != folder.student)
    having = [one for one in members if one.before and one.before.by == folder.student and _has_all(one, folder)]
    for index, member in enumerate(having):
        member.save(replace(folder.before, by=having[0].student if index else "", replaced=member.before.replaced))
    return [f"{having[0].student} keeps the hand-in of {group}, which {folder.student} has left"] if having else []


def remove_grade(course: Path, assignment: str, student: str) -> None:
    """Deletes what was found in a hand-in: points, also those by hand, comments, records, pages."""
    if (course / "gradebook.db").is_file():
        with Gradebook(course) as book:
            submissions = book.book.assignment_submissions(assignment)
            if any(submission.student_id == student for submission in submissions):
                book.transaction(lambda: book.book.remove_submission(assignment, student))
    pages = f"results/{assignment}/{student}", f"autograded/{student}/{assignment}", f"feedback/{student}/{assignment}"
    for path in (course / name for name in pages):
        if path.exists():
            shutil.rmtree(path)


def who_handed_in(course: Path, assignment: str) -> dict[str, str]:
    """group → the member whose hand-in counts."""
    return {group: newest.student for group, newest, _ in _groups(course, assignment)}


def _groups(course: Path, assignment: str) -> Iterator[tuple[str, Folder, list[Folder]]]:
    """(group, the member whose hand-in is the newest, all others) of each group that has handed in."""
    groups = GROUPS.load(course, assignment)
    for group, members in groups.members.items():
        folders = [Folder(course, assignment, student) for student in members]
        own = [one for one in folders if one.is_own and _is_theirs(one.student, one.before, groups)]
        if own:
            newest = max(own, key=_rank)
            yield group, newest, [folder for folder in folders if folder is not newest]


def _rank(folder: Folder) -> tuple:
    """The rank of a hand-in: one with a notebook counts more, then the newer one by time, if known, else by number."""
    orders = list(folder.before.order.values()) if folder.before else []
    time = folder.before.time if folder.before else max(time for _, time in folder.old.values())
    return bool(folder.notebooks), time, max(orders, default=[0, ""]), folder.student


def _copy(of: Folder, to: Folder, group: str) -> str:
    """Gives a member the hand-in of another one; returns what was done, nothing if it is there already."""
    before = of.before or HandIn("exchange", name=of.student, time=max(time for _, time in of.old.values()))
    about = replace(before, number="", name=group, by=of.student, group=group, replaced=to.replaced())
    if _content(of) == _content(to) and (to.is_own or to.before == about):
        return ""
    if to.old.keys() - of.old.keys():
        remove_grade(of.course, of.assignment, to.student)  # of files that do not count any longer
    newest = {name: Arrived(name, of.target / name, sha, [0, ""], about.time) for name, (sha, _) in of.old.items()}
    to.write(newest, about, whole=True)
    return f"{to.student} has the hand-in of {of.student} ({group})"


def _content(folder: Folder) -> dict[str, str]:
    return {name: sha for name, (sha, _) in folder.old.items()}


def _has_all(folder: Folder, of: Folder) -> bool:
    return _content(of).items() <= _content(folder).items()


def copies(course: str | Path, assignment: str) -> dict[str, str]:
    """Students who have the hand-in of another member of their group → that member."""
    return {
        other.student: newest.student
        for _, newest, others in _groups(Path(course), assignment)
        for other in others
        if _has_all(other, newest)
    }


def follow(
    course: Path, assignment: str, templates: Mapping[str, Template], book: Gradebook, penalty=None
) -> list[str]:
    """Gives the copies of hand-ins their verdicts; returns the students whose verdicts changed.

    A copy whose original has no readable record, or is another file, is left alone: `grade` grades the original first.
    """
    of, changed, records = copies(course, assignment), [], defaultdict(dict)
    for result in readable_results(course, assignment) if of else ():
        records[result.student][result.notebook] = result
    for student, by in sorted(of.items()):
        folder = course / "submitted" / student / assignment
        wanted = [
            replace(result, student=student)  # the time of the hand-in is the group's
            for name, result in records[by].items()
            if name in templates and (folder / f"{name}.ipynb").is_file()
        ]
        if wanted and {one.notebook: one for one in wanted} != records[student]:
            handed_in = [
                read_submission(folder / f"{one.notebook}.ipynb", templates[one.notebook].edition(one.variant))
                for one in wanted
            ]
            record_results(book, list(zip(wanted, handed_in)), templates, penalty)
            changed.append(student)
    return changed
