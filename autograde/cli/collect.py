"""`autograde collect`: a download of submissions → submitted/STUDENT/ASSIGNMENT/."""

from pathlib import Path

import click

from autograde.cli.options import course_option, released_notebooks, zone_of_course
from autograde.common.texts import one_line
from autograde.grader.hand_ins.platforms import CHOICES


@click.command()
@click.argument("assignment")
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@course_option
@click.option("--from", "platform", type=click.Choice(CHOICES),
              help="The system that SOURCE comes from; needed only where the names in it do not show it.")  # fmt: skip
@click.option("--students", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="CSV with a column `student` and any of `file`, `name`, `email`, `id`, `login`.")  # fmt: skip
@click.option("--times", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="When students handed in: Canvas's submissions (JSON or CSV), Moodle's grading worksheet, or a CSV "
                   "with the columns `student` and `time`; repeat for more.")  # fmt: skip
@click.option("--timezone", callback=zone_of_course,
              help="Time zone of times without one, such as Europe/Berlin (default: the course's).")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the manifest.")
def collect(assignment, source, course, platform, students, times, timezone, as_json):
    """Sort SOURCE (a zip of Canvas, Moodle or Blackboard, a folder, a notebook) into the course as ASSIGNMENT.

    \b
    Example:
      autograde collect --course course ps3 downloads/week3.zip
      autograde collect ps3 colab_folder/ --students students.csv

    The newest upload of each student counts; earlier ones and the list of all files are in collected/ASSIGNMENT/.
    Running it twice changes nothing. Exit code 1: some files were refused or are disputed, or there was no submission.
    """
    from autograde.grader.hand_ins.collect import collect as collect_files
    from autograde.grader.hand_ins.hand_in_times import read_times
    from autograde.grader.hand_ins.roster import roster_of
    from bertlab.common.progress import track

    notebooks = [path.stem for path in released_notebooks(course, assignment)]
    manifest = collect_files(
        source, course, assignment, notebooks, students and roster_of(students), timezone,
        progress=lambda files: track(files, "Collecting"), platform=platform,
        times=read_times(times, timezone),
    )  # fmt: skip
    click.echo(manifest.to_json() if as_json else _summary(manifest, course), nl=not as_json)
    if manifest.count("refused") or manifest.count("disputed") or not manifest.students:
        raise SystemExit(1)


def _summary(manifest, course: Path) -> str:
    actions = ("new", "replaced", "unchanged", "kept aside", "disputed", "ignored", "refused")
    counts = [f"{manifest.count(action)} {action}" for action in actions]
    late = len({row.student for row in manifest.rows if row.late})
    students = "1 student" if len(manifest.students) == 1 else f"{len(manifest.students)} students"
    lines = [f"{students}: {', '.join(counts)}" + (f"; {late} marked late" if late else "")]
    lines += [f"  read as names of {manifest.system}"] if manifest.system else []
    reported = (
        ("refused", "disputed") if manifest.students else ("refused", "disputed", "ignored")
    )  # where nothing came, why
    left_out = [row for row in manifest.rows if row.action in reported]
    lines += [one_line(f"  {row.action}  {row.source}: {row.reason}") for row in left_out[:20]]
    if len(left_out) > 20:
        lines.append(f"  … and {len(left_out) - 20} more")
    if not manifest.rows:
        lines.append(f"  no files in {manifest.source}")
    lines += [one_line(f"  note: {note}") for note in manifest.notes]
    lines.append(f"All files are listed in {course / 'collected' / manifest.assignment / 'manifest.json'}")
    return "\n".join(lines)
