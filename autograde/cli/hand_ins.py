"""`autograde collect`, a download of submissions → submitted/STUDENT/ASSIGNMENT/; `groups`, who hands in together;
`variants`, who has which questions."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from autograde.cli.options import COURSE, EXERCISES, FILE_THERE, FOLDER_THERE, released_notebooks, zone_of_course
from autograde.common.texts import one_line
from autograde.grader.book.course import CourseError
from autograde.grader.book.people import GROUPS, People, groups_of, known_students, namer
from autograde.grader.hand_ins.platforms import CHOICES
from bertlab.cli.from_signature import FOLDER, command, option


@command(json="Print the manifest.")
def collect(
    assignment: str,
    source: click.Path(exists=True, path_type=Path),
    *,
    course: FOLDER = COURSE,
    platform: str | None = option(
        None, "The system that SOURCE comes from; needed only where the names in it do not show it.", "--from",
        choices=CHOICES,
    ),
    students: FILE_THERE = option(
        None, "CSV with a column `student` and any of `file`, `name`, `email`, `id`, `login`."
    ),
    times: tuple[FILE_THERE, ...] = option(
        (), "When students handed in: Canvas's submissions (JSON or CSV), Moodle's grading worksheet, or a CSV with "
        "the columns `student` and `time`; repeat for more.",
    ),
    timezone: str | None = option(
        None, "Time zone of times without one, such as Europe/Berlin (default: the course's).", callback=zone_of_course
    ),
):  # fmt: skip
    """Sort SOURCE (a zip of Canvas, Moodle or Blackboard, a folder, a notebook) into the course as ASSIGNMENT.

    \b
    Example:
      autograde collect --course course ps3 downloads/week3.zip
      autograde collect ps3 colab_folder/ --students students.csv

    The newest upload of each student counts; earlier ones and the list of all files are in collected/ASSIGNMENT/.
    Running it twice changes nothing. Exit code 1: some files were refused or are disputed, or there was no submission.
    """
    from autograde.grader.hand_ins.collect import collect as collect_files
    from autograde.grader.hand_ins.roster import read_times, roster_of
    from bertlab.common.progress import track

    notebooks = [path.stem for path in released_notebooks(course, assignment)]
    manifest = collect_files(
        source, course, assignment, notebooks, students and roster_of(students), timezone,
        progress=lambda files: track(files, "Collecting"), platform=platform,
        times=read_times(times, timezone),
    )  # fmt: skip
    yield asdict(manifest), _summary(manifest, course)
    sys.exit(bool(manifest.count("refused") or manifest.count("disputed") or not manifest.students))


def _summary(manifest, course: Path) -> str:
    actions = ("new", "replaced", "unchanged", "kept aside", "disputed", "ignored", "refused")
    counts = [f"{manifest.count(action)} {action}" for action in actions]
    late = len({row.student for row in manifest.rows if row.late})
    students = "1 student" if len(manifest.students) == 1 else f"{len(manifest.students)} students"
    lines = [f"{students}: {', '.join(counts)}" + (f"; {late} marked late" if late else "")]
    lines += [f"  read as names of {manifest.system}"] if manifest.system else []
    reported = ("refused", "disputed", *([] if manifest.students else ["ignored"]))  # where nothing came, why
    left_out = [row for row in manifest.rows if row.action in reported]
    lines += [one_line(f"  {row.action}  {row.source}: {row.reason}") for row in left_out[:20]]
    if len(left_out) > 20:
        lines.append(f"  … and {len(left_out) - 20} more")
    if not manifest.rows:
        lines.append(f"  no files in {manifest.source}")
    lines += [one_line(f"  note: {note}") for note in manifest.notes]
    lines.append(f"All files are listed in {course / 'collected' / manifest.assignment / 'manifest.json'}")
    return "\n".join(lines)


@command()
def groups(assignment: str, source: FILE_THERE = None, *, course: FOLDER = COURSE):
    """Set the groups that hand in ASSIGNMENT together, from the CSV file SOURCE; without SOURCE, show them.

    \b
    Example:
      autograde groups ps3 groups.csv
      autograde groups ps3

    SOURCE has the columns group and student, or it is Canvas's list of a group set, or Moodle's grading worksheet.
    The newest hand-in of a group counts for all of its members. Set the groups before you collect.
    When groups change, set them again: who has left a group no longer has its hand-in, nor the grade for it.
    Where questions have variants, set the groups before you hand these out, so that a group has one variant.
    """
    from autograde.grader.book import variants
    from autograde.grader.book.group_hand_ins import spread, strangers, who_handed_in

    if source:
        people = People(course)
        GROUPS.save(groups_of(source, people), course, assignment)
        people.save()
    found = GROUPS.load(course, assignment)
    for group, student in strangers(course, assignment):
        click.echo(
            f"note: {student!r} ({group}) is not a student of this course and gets no hand-in of the group; correct "
            f"the name, or add the student with `nbgrader db student add {student}`", err=True)  # fmt: skip
    for line in spread(course, assignment) if source else ():
        click.echo(line)
    handed_in, name = who_handed_in(course, assignment), namer(course)
    for group, members in found.members.items():
        state = "handed in" if group in handed_in else "nothing handed in"
        click.echo(f"{group}: {', '.join(map(name, members))}; {state}")
    if not found.members:
        click.echo(f"{assignment}: no groups")
    for line in variants.of_several(course, assignment):
        click.echo(f"note: {line}", err=True)
    for student in sorted(folder.parent.name for folder in course.glob(f"submitted/*/{assignment}")):
        if found.named(student) and not found.of(student):
            click.echo(
                f"note: {student!r} was collected as a student and is a group; run `autograde forget {student}`, then "
                "collect again", err=True)  # fmt: skip


@command()
def variants(
    assignment: str,
    *,
    course: FOLDER = COURSE,
    students: FILE_THERE = option(None, "CSV with a column `student` (default: all students in the gradebook)."),
    folder: FOLDER = option(None, "Write STUDENT/NOTEBOOK.ipynb to this folder, for handing out.", "--to"),
    own_exercises: FOLDER_THERE = EXERCISES,
):
    """Show which student has which variant of ASSIGNMENT; with --to, write each student's notebooks.

    \b
    Example:
      autograde variants ps3 --students class.csv --to build/ps3
      autograde variants ps3

    The variants are released with the assignment, if its notebooks have any. A student's number follows from the
    course's secret; the members of a group have the same one, so set groups first.
    """
    from autograde.grader.book import variants as who
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
