"""One hand-in for all members of a group: the newest of them counts, and its grade is everybody's.

    collect ─▶ submitted/ann/ps3 ─ spread ─▶ submitted/ben/ps3, with ann's name in its record ─ follow ─▶ ann's verdicts

So each member has a submission, a grade, feedback, late days and a row in every export, and can be graded differently
by hand. A hand-in is run once: the copies take over its verdicts, since hidden inputs are drawn for each student.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from autograde.grader.autograded import write_autograded
from autograde.grader.gradebook import Course
from autograde.grader.groups import read_groups
from autograde.grader.hand_ins import Arrived, Folder, HandIn
from autograde.grader.repair import read_submission
from autograde.grader.results import Result, load_results
from autograde.grader.template import Template


def spread(course: Path, assignment: str) -> list[str]:
    """Copies each group's newest hand-in to its other members; returns a sentence for each copy.

    What a member handed in before is kept in collected/ASSIGNMENT/earlier/. Doing it twice changes nothing.
    """
    said = []
    for group, newest, others in _groups(course, assignment):
        said += [line for other in others if (line := _copy(newest, other, group))]
    return said


def who_handed_in(course: Path, assignment: str) -> dict[str, str]:
    """group → the member whose hand-in counts."""
    return {group: newest.student for group, newest, _ in _groups(course, assignment)}


def _groups(course: Path, assignment: str) -> Iterator[tuple[str, Folder, list[Folder]]]:
    """(group, the member whose hand-in is the newest, all others) of each group that has handed in."""
    for group, members in read_groups(course, assignment).members.items():
        folders = [Folder(course, assignment, student) for student in members]
        own = [one for one in folders if _is_own(one)]
        if own:
            newest = max(own, key=_rank)
            yield group, newest, [one for one in folders if one is not newest]


def _is_own(folder: Folder) -> bool:
    """Whether the student has a hand-in that is not a copy of another member's."""
    return not folder.is_empty and not (folder.before and folder.before.by)


def _rank(folder: Folder) -> tuple:
    """By which the newer of two hand-ins is recognised: the time if it is known, else the upload's number."""
    orders = list(folder.before.order.values()) if folder.before else []
    times = [time for _, time in folder.old.values()]
    return (folder.before.time if folder.before else max(times)), max(orders, default=[0, ""]), folder.student


def _copy(of: Folder, to: Folder, group: str) -> str:
    """Gives a member the hand-in of another one; returns what was done, nothing if it is there already."""
    before = of.before or HandIn("exchange", name=of.student, time=max(time for _, time in of.old.values()))
    about = replace(before, number="", name=group, by=of.student)
    if _content(of) == _content(to) and (_is_own(to) or to.before == about):
        return ""
    newest = {
        name: Arrived(name, of.target / name, sha, before.entries.get(name, name), [0, ""], about.time)
        for name, (sha, _) in of.old.items()
    }
    to.write(newest, about)
    return f"{to.student} has the hand-in of {of.student} ({group})"


def _content(folder: Folder) -> dict[str, str]:
    return {name: sha for name, (sha, _) in folder.old.items()}


def copies(course: str | Path, assignment: str) -> dict[str, str]:
    """Students who have the hand-in of another member of their group → that member."""
    return {
        other.student: newest.student
        for _, newest, others in _groups(Path(course), assignment)
        for other in others
        if _content(other) == _content(newest)
    }


def follow(course: Path, assignment: str, templates: Mapping[str, Template], book: Course, penalty=None) -> list[str]:
    """Gives the copies of hand-ins their verdicts; returns the students whose verdicts changed.

    A copy whose original has no record, or is another file, is left alone: `grade` grades the original first.
    """
    of, changed = copies(course, assignment), []
    if not of:
        return []
    records: dict[str, dict[str, Result]] = {}
    for result in load_results(course, assignment):
        records.setdefault(result.student, {})[result.notebook] = result
    for student, by in sorted(of.items()):
        folder = course / "submitted" / student / assignment
        wanted = [
            replace(result, student=student)  # the time of the hand-in is the group's
            for name, result in records.get(by, {}).items()
            if name in templates and (folder / f"{name}.ipynb").is_file()
        ]
        if wanted and {one.notebook: one for one in wanted} != records.get(student, {}):
            _record(course, wanted, templates, book, penalty)
            changed.append(student)
    return changed


def _record(course: Path, results: list[Result], templates: Mapping[str, Template], book: Course, penalty) -> None:
    """As `grade.record` does: gradebook, notebooks for formgrader, then the records."""
    assignment, student = results[0].assignment, results[0].student
    book.write(assignment, student, results, templates, penalty)
    for result in results:
        template = templates[result.notebook]
        path = course / "submitted" / student / assignment / f"{result.notebook}.ipynb"
        handed_in = read_submission(path, template)
        write_autograded(course, assignment, student, template, handed_in, result.verdicts, result.handed_in)
    for result in results:
        result.save(course)
