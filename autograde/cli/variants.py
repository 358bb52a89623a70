"""`autograde variants`: who has which variant of a notebook's questions, and each student's notebooks."""

from pathlib import Path

import click

from autograde.cli.options import CourseError, course_option, exercises_option


@click.command()
@click.argument("assignment")
@course_option
@click.option("--students", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="CSV with a column `student` (default: all students in the gradebook).")  # fmt: skip
@click.option("--to", "folder", type=click.Path(file_okay=False, path_type=Path),
              help="Write STUDENT/NOTEBOOK.ipynb to this folder, for handing out.")  # fmt: skip
@exercises_option
def variants(assignment, course, students, folder, own_exercises):
    """Show which student has which variant of ASSIGNMENT; with --to, write each student's notebooks.

    \b
    Example:
      autograde variants ps3 --students class.csv --to build/ps3
      autograde variants ps3

    The variants are released with the assignment, if its notebooks have any. A student's number follows from the
    course's secret; the members of a group have the same one, so set groups first.
    """
    from autograde.grader.book import variants as who
    from autograde.grader.book.people import known_students
    from autograde.grader.grading.grade import open_assignment
    from autograde.grader.hand_ins.roster import roster_of

    templates = open_assignment(course, assignment).templates
    if not any(template.editions for template in templates.values()):
        raise CourseError(f"{assignment}: its notebooks have no variants; the instructor guide shows how to add some")
    names = sorted(roster_of(students).people if students else known_students(course))
    if not names:
        raise CourseError(f"{course}: expected students; name a CSV with --students")
    if folder:
        paths = who.hand_out(course, assignment, names, templates, folder)
        click.echo(f"{len(paths)} notebooks in {folder}", err=True)
    for line in who.of_several(course, assignment):
        click.echo(f"note: {line}", err=True)
    click.echo("student,notebook,variant,values")
    for student in names:
        for notebook, number in who.numbers_of(course, assignment, student, templates).items():
            values = templates[notebook].edition(number).values
            click.echo(f"{student},{notebook},{number},{' '.join(f'{name}={value}' for name, value in values)}")
