"""`autograde feedback`: one page per student and notebook."""

import click

from autograde.cli.options import course_option, results_of, templates_of


@click.command()
@click.argument("assignment")
@course_option
@click.option("--student", "students", multiple=True, help="Only this student; may be given several times.")
def feedback(assignment, course, students):
    """Writes feedback/STUDENT/ASSIGNMENT/NOTEBOOK.html from the graded results and what you gave by hand.

    \b
    Example:
      autograde feedback ps3 --course course
      autograde feedback ps3 --student jdoe
      nbgrader release_feedback ps3        # hands the pages out, where the exchange is used
    """
    from autograde.grader.feedback import write_feedback
    from bertlab.progress import track

    results = results_of(course, assignment, students)
    by_hand, penalties = _from_gradebook(course, assignment)
    for result in track(results, "Writing feedback"):
        key = result.student, result.notebook
        write_feedback(course, result, by_hand=by_hand.get(key), late_penalty=penalties.get(key, 0.0))
    click.echo(f"{len(results)} pages in {course / 'feedback'}")


def _from_gradebook(course, assignment) -> tuple[dict, dict]:
    if not (course / "gradebook.db").is_file():
        return {}, {}
    from autograde.grader.gradebook import Course

    with Course(course) as book:
        return book.by_hand(assignment, templates_of(course, assignment)), book.late_penalties(assignment)
