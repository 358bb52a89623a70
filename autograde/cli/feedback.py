"""`autograde feedback`: one page per student and notebook."""

import click

from autograde.cli.options import course_option, results_of, templates_of


@click.command()
@click.argument("assignment")
@course_option
@click.option("--student", "students", multiple=True, help="Only this student; repeat for more.")
def feedback(assignment, course, students):
    """Write feedback/STUDENT/ASSIGNMENT/NOTEBOOK.html from the results and from points and comments you gave by hand.

    \b
    Example:
      autograde feedback ps3 --course course
      autograde feedback ps3 --student jdoe
      nbgrader release_feedback ps3        # returns the pages to students through the exchange
    """
    from autograde.grader.feedback import write_feedback
    from autograde.grader.gradebook import given_by_people
    from bertlab.progress import track

    results = results_of(course, assignment, students)
    given = given_by_people(course, assignment, templates_of(course, assignment))
    for result in track(results, "Writing feedback"):
        write_feedback(course, result, **given(result))
    click.echo(f"{len(results)} pages in {course / 'feedback'}")
