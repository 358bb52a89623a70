"""The facts that a feedback page shows besides the record of the grading: from the gradebook and from collecting."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from autograde.grader.book.comments import COMMENTS, filled_in
from autograde.grader.book.course import local_time, zone_of
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.people import namer
from autograde.grader.grading.results import Result
from autograde.grader.reading.template import Template


def given_by_people(
    folder: str | Path, assignment: str, templates: Mapping[str, Template]
) -> Callable[[Result], dict[str, object]]:
    """Scores and comments by hand, late penalties computed again, names of student and notebook, the time in the
    course's zone.

    Reads the gradebook once; the function returns for each record the keyword arguments of `feedback_page`.
    """
    folder, by_hand, penalties = Path(folder), {}, {}
    if (folder / "gradebook.db").is_file():
        with Gradebook(folder) as book:
            book.write_late_penalties()
            by_hand, penalties = book.by_hand(assignment, templates), book.late_penalties(assignment)
    comments = COMMENTS.load(folder)
    name, zone = namer(folder), zone_of(folder)

    def of(result: Result) -> dict[str, object]:
        key = result.student, result.notebook
        return {
            "by_hand": {
                exercise: replace(given, comment=filled_in(given.comment, comments))
                for exercise, given in by_hand.get(key, {}).items()
            },
            "late_penalty": penalties.get(key, 0.0),
            "name": name(result.student),
            "title": templates[result.notebook].title if result.notebook in templates else "",
            "handed_in": local_time(result.handed_in, zone),
        }

    return of
