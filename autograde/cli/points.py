"""`autograde split` and `autograde points`: points by hand from several graders."""

from pathlib import Path

import click

from autograde.cli.options import CourseError, course_option, gradebook_of, templates_of

_BY = ("student", "exercise")


@click.command()
@click.argument("assignment")
@course_option
@click.option("--grader", "graders", multiple=True, required=True, help="Name of a grader; repeat for each.")
@click.option("--by", type=click.Choice(_BY), default="student", show_default=True,
              help="Give all parts of a student, or all answers to an exercise, to one grader.")  # fmt: skip
@click.option("--exercise", "exercises", multiple=True,
              help="Also this exercise, whether it waits for points by hand or not; repeat for more.")  # fmt: skip
@click.option("--to", "folder", type=click.Path(file_okay=False, path_type=Path),
              help="Write the sheets to this folder (default: sheets/ in the course).")  # fmt: skip
def split(assignment, course, graders, by, exercises, folder):
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
    folder = folder or course / "sheets"
    folder.mkdir(parents=True, exist_ok=True)
    for grader in graders:
        mine = [part for part in parts if shares.grader_of.get(part.key) == grader]
        path = folder / f"{assignment}-{grader}.csv"
        write_text(path, "\ufeff" + sheet(grader, mine, templates, course, names))  # spreadsheets: UTF-8
        waiting = sum(part.waits for part in mine)
        click.echo(f"{grader}: {len(mine)} part{'' if len(mine) == 1 else 's'}, {waiting} without points: {path}")


@click.command()
@click.argument("assignment")
@click.argument("sheets", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@course_option
@click.option("--replace", is_flag=True, help="Enter also what was changed since the sheet was written.")
@click.option("--student", help="Give points without a sheet: to this student alone, not to the student's group.")
@click.option("--exercise", help="With --student: for this exercise.")
@click.option("--score", "number", help='With --student: the points; "-" takes back those by hand.')
@click.option("--comment", help="With --student: the comment (default: it stays as it is).")
@click.option("--grader", help="With --student: who gives them.")
def points(assignment, sheets, course, replace, student, exercise, number, comment, grader):
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
    from autograde.grader.book.manual_points.sheets import progress

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
        rows = (
            _rows(sheets) if sheets else _row(book, assignment, templates, (student, exercise, number, comment, grader))
        )
        done = _enter(book, assignment, templates, rows, replace, bool(student))
    click.echo(f"{len(done.entered)} entered, {done.same} unchanged")
    for title, lines in (("not entered, changed since", done.conflicts), ("not entered", done.unread)):
        for line in lines:
            click.echo(f"  {title}: {line}", err=True)
    if done.conflicts or done.unread:
        raise SystemExit(1)


def _enter(book, assignment: str, templates, rows, replace: bool, alone: bool):
    from autograde.grader.book.manual_points.sheets import enter

    try:
        return enter(book, assignment, templates, rows, replace, alone)
    finally:
        book.write_late_penalties()  # also after an error: the rows before it are entered


def _rows(sheets: tuple[Path, ...]) -> list:
    from autograde.grader.book.manual_points.sheets import read_sheet

    rows = []
    for path in sheets:
        try:
            rows += read_sheet(path.read_text(encoding="utf-8-sig"), str(path))
        except UnicodeDecodeError as reason:
            raise CourseError(f"{path}: expected a CSV file in UTF-8 ({reason}); save the sheet as UTF-8") from None
    return rows


def _row(book, assignment: str, templates, given: tuple) -> list:
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
    return [SheetRow(grader, student, found[0].notebook, exercise, number, said, *now)]


def _table(rows, look: list[str]) -> str:
    lines = [f"{'grader':<16}  parts  by hand  waiting"]
    lines += [f"{row.grader:<16}  {row.share:>5}  {row.given:>7}  {row.waiting:>7}" for row in rows]
    return "\n".join([*lines, *(f"look at: {line}" for line in look)])


def _id_of(exercise: str) -> str:
    """The id of an exercise that is named as pages name it, "attention_scores"."""
    from autograde.exercises import catalogue

    return next((one.id for one in catalogue.EXERCISES if exercise in one.names), exercise)
