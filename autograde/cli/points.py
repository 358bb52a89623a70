"""`autograde split` and `autograde points`: points by hand from several graders."""

import click

from autograde.cli.options import COURSE, FILE_THERE, CourseError, gradebook_of, make_parent, read_table, templates_of
from bertlab.cli.from_signature import FOLDER, REQUIRED, command, option


@command()
def split(
    assignment: str,
    *,
    course: FOLDER = COURSE,
    graders: tuple[str, ...] = option(REQUIRED, "Name of a grader; repeat for each.", "--grader"),
    by: str = option(
        "student", "Give all parts of a student, or all answers to an exercise, to one grader.",
        choices=("student", "exercise"),
    ),
    exercises: tuple[str, ...] = option(
        (), "Also this exercise, whether it waits for points by hand or not; repeat for more.", "--exercise"
    ),
    folder: FOLDER = option(None, "Write the sheets to this folder (default: sheets/ in the course).", "--to"),
):  # fmt: skip
    """Split the parts of ASSIGNMENT that wait for points by hand among graders, and write each grader a sheet.

    \b
    Example:
      autograde split ps3 --grader ann --grader ben
      autograde split ps3 --grader ann --grader ben --by exercise --exercise scores

    A sheet is a CSV with the answers and empty columns of points and comments. Parts stay with their grader when you
    split again; new ones are added. `autograde points` enters a filled sheet.
    """
    from autograde.grader.book.manual_points.graders import SHARES
    from autograde.grader.book.manual_points.parts import parts_of
    from autograde.grader.book.manual_points.sheets import sheet
    from autograde.grader.book.manual_points.sheets import split as split_parts
    from autograde.grader.book.people import People
    from bertlab.common.files import write_text

    templates = templates_of(course, assignment)
    with gradebook_of(course) as book:
        book.write_late_penalties()  # what a group shares is shared before
        every = parts_of(book, assignment, templates)
    exercises = [_id_of(name) for name in exercises]
    unknown = sorted(set(exercises) - {part.exercise for part in every})
    if unknown:
        raise CourseError(
            f"{assignment}: no exercise {unknown[0]!r} in what is graded; `autograde exercises` lists them"
        )

    def shared() -> tuple:
        before = SHARES.load(course, assignment)
        parts = [part for part in every if part.waits or part.exercise in exercises or part.key in before.grader_of]
        if not parts:
            raise CourseError(f"{assignment}: nothing waits for points by hand; name an exercise with --exercise")
        shares = split_parts(parts, graders, before, by)
        SHARES.save(shares, course, assignment)
        return parts, shares

    with gradebook_of(course) as book:
        parts, shares = book.transaction(shared)  # nobody enters a sheet meanwhile
    names = {student: one.name for student, one in People(course).known.items()}
    for grader in graders:
        mine = [part for part in parts if shares.grader_of.get(part.key) == grader]
        path = make_parent((folder or course / "sheets") / f"{assignment}-{grader}.csv")
        write_text(path, "\ufeff" + sheet(grader, mine, templates, course, names))  # spreadsheets: UTF-8
        waiting = sum(part.waits for part in mine)
        click.echo(f"{grader}: {len(mine)} part{'' if len(mine) == 1 else 's'}, {waiting} without points: {path}")


@command()
def points(
    assignment: str,
    sheets: tuple[FILE_THERE, ...] = (),
    *,
    course: FOLDER = COURSE,
    replace: bool = option(False, "Enter also what was changed since the sheet was written."),
    student: str | None = option(
        None, "Give points without a sheet: to this student alone, not to the student's group."
    ),
    exercise: str | None = option(None, "With --student: for this exercise."),
    number: str | None = option(None, 'With --student: the points; "-" takes back those by hand.', "--score"),
    comment: str | None = option(None, "With --student: the comment (default: it stays as it is)."),
    grader: str | None = option(None, "With --student: who gives them."),
):
    """Enter the points and comments of filled SHEETS; without any, show who graded what.

    \b
    Example:
      autograde points ps3 sheets/ps3-ann.csv
      autograde points ps3
      autograde points ps3 --student jane --exercise scores --score 2 --grader ann

    What somebody else has changed since a sheet was written is not overwritten: it is listed, and the exit code is 1.
    """
    from autograde.grader.book.manual_points.graders import SHARES
    from autograde.grader.book.manual_points.parts import parts_of
    from autograde.grader.book.manual_points.sheets import enter, progress, read_sheet

    if student and sheets:
        raise click.UsageError("expected sheets, or --student with --exercise, --score and --grader, not both")
    if student and not (exercise and number and grader):
        raise click.UsageError("with --student name --exercise, --score and --grader, too")
    if not student and any((exercise, number, comment, grader)):
        raise click.UsageError("expected --student with --exercise, --score, --comment or --grader")
    templates = templates_of(course, assignment)
    with gradebook_of(course) as book:
        book.write_late_penalties()
        if not (sheets or student):
            parts = parts_of(book, assignment, templates)
            click.echo(_table(*progress(parts, SHARES.load(course, assignment))))
            return
        rows = [row for path in sheets for row in read_sheet(read_table(path), str(path))]
        if student:
            rows = [_row(book, assignment, templates, (student, exercise, number, comment, grader))]
        try:
            done = enter(book, assignment, templates, rows, replace, bool(student))
        finally:
            book.write_late_penalties()  # also after an error: the rows before it are entered
    click.echo(f"{len(done.entered)} entered, {done.same} unchanged")
    for title, lines in (("not entered, changed since", done.conflicts), ("not entered", done.unread)):
        for line in lines:
            click.echo(f"  {title}: {line}", err=True)
    if done.conflicts or done.unread:
        raise SystemExit(1)


def _row(book, assignment: str, templates, given: tuple):
    """The row that a sheet would have for one student, with these points."""
    from autograde.grader.book.manual_points.parts import parts_of
    from autograde.grader.book.manual_points.sheets import SheetRow, points_text
    from autograde.grader.exports.tables import plain

    student, exercise, number, comment, grader = given
    exercise = _id_of(exercise)
    found = [part for part in parts_of(book, assignment, templates, merged=False)
             if (part.student, part.exercise) == (student, exercise)]  # fmt: skip
    if not found:
        raise CourseError(
            f"{assignment}: {student} has no graded part {exercise!r}; `autograde exercises` lists exercises"
        )
    now = points_text(found[0].points), plain(found[0].comment)
    said = now[1] if comment is None else plain(comment)
    return SheetRow(grader, student, found[0].notebook, exercise, number, said, *now)


def _table(rows, look: list[str]) -> str:
    lines = [f"{'grader':<16}  parts  by hand  waiting"]
    lines += [f"{row.grader:<16}  {row.share:>5}  {row.given:>7}  {row.waiting:>7}" for row in rows]
    return "\n".join([*lines, *(f"look at: {line}" for line in look)])


def _id_of(exercise: str) -> str:
    """The id of an exercise that is named as pages name it, "attention_scores"."""
    from autograde.exercises import catalogue

    return next((one.id for one in catalogue.EXERCISES if exercise in one.names), exercise)
