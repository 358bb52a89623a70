"""`autograde collect`: a download of submissions → submitted/STUDENT/ASSIGNMENT/."""

from pathlib import Path

import click

from autograde.cli.options import course_option, released_notebooks


@click.command()
@click.argument("assignment")
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@course_option
@click.option("--students", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="CSV with a column `student` and any of `file`, `name`, `email`, `id`, `login`.")  # fmt: skip
@click.option("--timezone", default="UTC", show_default=True,
              help="Time zone of the times in zip archives and file names, such as Europe/Berlin.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the manifest.")
def collect(assignment, source, course, students, timezone, as_json):
    """Sort SOURCE (a zip of Canvas, Moodle or Blackboard, a folder, a notebook) into the course as ASSIGNMENT.

    \b
    Example:
      autograde collect --course course ps3 downloads/week3.zip
      autograde collect ps3 colab_folder/ --students students.csv

    The newest file of each student counts; older files and the list of all files are in collected/ASSIGNMENT/.
    Running it twice changes nothing. Exit code 1: some files were refused, or there was no submission.
    """
    from autograde.grader.collect import collect as collect_files
    from bertlab.progress import track

    notebooks = [path.stem for path in released_notebooks(course, assignment)]
    manifest = collect_files(
        source, course, assignment, notebooks, _roster(students), _zone(timezone),
        progress=lambda files: track(files, "Collecting"),
    )  # fmt: skip
    click.echo(manifest.to_json() if as_json else _summary(manifest, course), nl=not as_json)
    if manifest.count("refused") or not manifest.students:
        raise SystemExit(1)


def _roster(path: Path | None):
    import csv

    from autograde.cli.options import CourseError
    from autograde.grader.filenames import Roster, read_roster

    if path is None:
        return Roster()
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            roster = read_roster(list(csv.DictReader(file)))
    except (UnicodeDecodeError, csv.Error) as reason:
        raise CourseError(f"{path}: expected a CSV file in UTF-8 ({reason})") from None
    if not roster.students:
        raise CourseError(f"{path}: expected a column `student` with names in it")
    return roster


def _zone(name: str):
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise click.BadParameter(f"expected a time zone such as UTC or Europe/Berlin, got {name!r}") from None


def _summary(manifest, course: Path) -> str:
    actions = ("new", "replaced", "unchanged", "kept aside", "ignored", "refused")
    counts = [f"{manifest.count(action)} {action}" for action in actions]
    late = sum(row.late for row in manifest.rows)
    students = "1 student" if len(manifest.students) == 1 else f"{len(manifest.students)} students"
    lines = [f"{students}: {', '.join(counts)}" + (f"; {late} marked late" if late else "")]
    named = ("refused",) if manifest.students else ("refused", "ignored")  # where nothing came, why
    left_out = [row for row in manifest.rows if row.action in named]
    lines += [f"  {row.action}  {row.source}: {row.reason}" for row in left_out[:20]]
    if len(left_out) > 20:
        lines.append(f"  … and {len(left_out) - 20} more")
    if not manifest.rows:
        lines.append(f"  no files in {manifest.source}")
    lines.append(f"All files are listed in {course / 'collected' / manifest.assignment / 'manifest.json'}")
    return "\n".join(lines)
