"""`autograde feedback` and `mail`, a page per student and notebook; `split`, `points`, `comments`, what people give."""

import os
import sys
from collections import Counter
from pathlib import Path

import click

from autograde.cli.options import COURSE, FILE_THERE, gradebook_of, read_table, results_of, templates_of, write_file
from autograde.grader.book.course import CourseError
from bertlab.cli.from_signature import FILE, FOLDER, REQUIRED, command, option
from bertlab.common.files import write_bytes

PASSWORD = "AUTOGRADE_SMTP_PASSWORD"
_PORTS = {"starttls": 587, "tls": 465, "none": 25}


@command()
def feedback(
    assignment: str,
    *,
    course: FOLDER = COURSE,
    students: tuple[str, ...] = option((), "Write the pages of only this student; repeat for more.", "--student"),
    system: str | None = option(
        None, "Also pack the feedback of all students as this system takes it back in bulk.", "--zip",
        choices=("canvas", "moodle"),
    ),
    path: FILE = option(None, "Write the zip to this file (default: feedback/ASSIGNMENT-SYSTEM.zip).", "--to"),
):  # fmt: skip
    """Write feedback/STUDENT/ASSIGNMENT/NOTEBOOK.html from the results and from points and comments you gave by hand.

    \b
    Example:
      autograde feedback ps3 --course course
      autograde feedback ps3 --student jdoe
      autograde feedback ps3 --zip canvas  # for Canvas: Upload Submissions
      nbgrader release_feedback ps3        # returns the pages to students through the exchange

    Exit code 1: the zip lacks somebody's feedback; they are listed.
    """
    if path and not system:
        raise click.UsageError("--to names the zip; add --zip canvas or --zip moodle")
    from autograde.grader.book.gradebook import given_by_people
    from autograde.grader.exports.feedback_texts import feedback_zip
    from autograde.grader.pages.feedback import write_feedback
    from bertlab.common.progress import track

    results, templates = results_of(course, assignment, students), templates_of(course, assignment)
    given = given_by_people(course, assignment, templates)
    for result in track(results, "Writing feedback"):
        write_feedback(course, result, **given(result))
    click.echo(f"{len(results)} pages in {course / 'feedback'}")
    for line in _unknown_ids(course, _comments_by_hand(course), assignment):
        click.echo(f"note: {line}; add it and write the feedback again", err=True)
    if system:
        packed = feedback_zip(course, assignment, system, templates)
        path = path or course / "feedback" / f"{assignment}-{system}.zip"
        write_bytes(path, packed.content)
        click.echo(f"feedback of {packed.count} students in {path}")
        for student, reason in packed.left_out:
            click.echo(f"  not in it: {student}: {reason}", err=True)
        sys.exit(bool(packed.left_out))


@command()
def mail(
    assignment: str,
    *,
    course: FOLDER = COURSE,
    sender: str = option(REQUIRED, "Your address.", "--from"),
    server: str | None = option(None, "Name of your mail server; with another port as smtp.example.org:2525."),
    user: str | None = option(None, f"Log in with this name; the password is asked for, or read from ${PASSWORD}."),
    security: str = option(
        "starttls", "Encrypt the connection; none is for a server on this machine.", choices=tuple(_PORTS)
    ),
    students: tuple[str, ...] = option((), "Mail only this student; repeat for more.", "--student"),
    again: tuple[str, ...] = option((), "Send to this student although one was sent; repeat for more."),
    folder: FOLDER = option(None, "Send nothing; write each e-mail to this folder as STUDENT.eml.", "--dry-run"),
):
    """Send the feedback pages of ASSIGNMENT through your own mail server, to each student once.

    \b
    Example:
      autograde mail ps3 --from jane@example.org --dry-run build/mail
      autograde mail ps3 --from jane@example.org --server smtp.example.org --user jane

    An interrupted run resumes. The password is not stored. Exit code 1: some students got none; they are listed.
    """
    from autograde.grader.exports import mailing

    named = (*students, *again)
    results_of(course, assignment)
    for student in named:
        results_of(course, assignment, (student,))
    letters = mailing.letters(course, assignment, templates_of(course, assignment))
    chosen = [letter for letter in letters if not named or letter.student in named]
    if folder:
        report = mailing.write_letters(folder, chosen, assignment, sender)
        click.echo(f"{len(report.sent)} messages in {folder}; nothing was sent")
    elif not server:
        raise click.UsageError("name your mail server with --server, or look at the messages with --dry-run FOLDER")
    else:
        if user and security == "none":
            raise click.UsageError("a password is sent over an encrypted connection only; leave out --security none")
        password = (os.environ.get(PASSWORD) or click.prompt("Password", hide_input=True, err=True)) if user else None

        def connect():
            return _connected(server, security, user, password)

        report = mailing.send_letters(course, chosen, assignment, sender, connect, again)
        before = f", {len(report.before)} sent before" if report.before else ""
        click.echo(f"{len(report.sent)} sent{before}")
    for student, reason in report.left_out:
        click.echo(f"  not sent: {student}: {reason}", err=True)
    sys.exit(bool(report.left_out))


def _connected(server: str, security: str, user: str | None, password: str | None):
    """A connection that is encrypted and logged in. Raises MailError."""
    import smtplib
    import ssl

    from autograde.grader.exports.mailing import MailError

    host, _, port = server.partition(":")
    if port and not port.isdecimal():
        raise MailError(f"expected a server such as smtp.example.org or smtp.example.org:2525, got {server!r}")
    address = host, int(port) if port else _PORTS[security]
    try:
        context = ssl.create_default_context()
        if security == "tls":
            connection = smtplib.SMTP_SSL(*address, timeout=60, context=context)
        else:
            connection = smtplib.SMTP(*address, timeout=60)
        if security == "starttls":
            connection.starttls(context=context)
        if user:
            connection.login(user, password)
    except smtplib.SMTPAuthenticationError as reason:
        raise MailError(
            f"{server}: the log-in of {user} was refused ({reason.smtp_code}); check name and password"
        ) from None
    except UnicodeEncodeError:
        raise MailError(
            "expected a name and a password of ASCII characters, the only ones that smtplib sends"
        ) from None
    except (OSError, smtplib.SMTPException) as reason:
        raise MailError(f"{server}: no connection ({reason}); check --server and --security") from None
    return connection


@command()
def comments(*, course: FOLDER = COURSE):
    """List the reusable comments of the course, and how many comments by hand use each.

    \b
    Example:
      autograde comments --course course

    Write them to comments.toml in the course folder, one per line: state-the-shape = "State the shape of …". In a
    comment by hand, #state-the-shape stands for the text. Exit code 1: a comment by hand uses an id that is not in the
    file; they are listed.
    """
    from autograde.grader.book.manual_points import COMMENTS, used

    known, by_hand = COMMENTS.load(course), _comments_by_hand(course)
    counts = Counter(name for *_, text in by_hand for name in set(used(text)))
    for name, text in known.items():
        click.echo(f"{counts[name]:4}  #{name}  {text}")
    if not known:
        click.echo(
            f'{COMMENTS.path(course)}: no comments yet; write lines such as state-the-shape = "State the shape of …"'
        )
    unknown = _unknown_ids(course, by_hand)
    for line in unknown:
        click.echo(f"  {line}", err=True)
    sys.exit(bool(unknown))


def _unknown_ids(course: Path, by_hand: list[tuple], assignment: str | None = None) -> list[str]:
    """A sentence for each id in a comment by hand that comments.toml does not have; students would see the id."""
    from autograde.grader.book.manual_points import COMMENTS, used

    known = COMMENTS.load(course)
    return [
        f"not in {COMMENTS.where}: #{name} in the comment on {exercise} of {student}, {of}"
        for of, student, exercise, text in by_hand
        for name in used(text)
        if name not in known and assignment in (None, of)
    ]


def _comments_by_hand(course: Path) -> list[tuple[str, str, str, str]]:
    """(assignment, student, exercise, text) of the comments by hand."""
    if not (course / "gradebook.db").is_file():
        return []
    with gradebook_of(course) as book:
        return book.comments_by_hand()


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
    from autograde.grader.book import sheets
    from autograde.grader.book.manual_points import SHARES, parts_of
    from autograde.grader.book.people import People

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
        shares = sheets.split(parts, graders, before, by)
        SHARES.save(shares, course, assignment)
        return parts, shares

    with gradebook_of(course) as book:
        parts, shares = book.transaction(shared)  # nobody enters a sheet meanwhile
    names = {student: one.name for student, one in People(course).known.items()}
    for grader in graders:
        mine = [part for part in parts if shares.grader_of.get(part.key) == grader]
        text = "\ufeff" + sheets.sheet(grader, mine, templates, course, names)  # spreadsheets: UTF-8
        path = write_file((folder or course / "sheets") / f"{assignment}-{grader}.csv", text)
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
    from autograde.grader.book.manual_points import SHARES, parts_of
    from autograde.grader.book.sheets import enter, progress, read_sheet, row_for

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
            rows, look = progress(parts_of(book, assignment, templates), SHARES.load(course, assignment))
            lines = [f"{'grader':<16}  parts  by hand  waiting"]
            lines += [f"{row.grader:<16}  {row.share:>5}  {row.given:>7}  {row.waiting:>7}" for row in rows]
            click.echo("\n".join([*lines, *(f"look at: {line}" for line in look)]))
            return
        rows = [row for path in sheets for row in read_sheet(read_table(path), str(path))]
        if student:
            parts = parts_of(book, assignment, templates, merged=False)
            rows = [row_for(assignment, parts, student, _id_of(exercise), number, comment, grader)]
        try:
            done = enter(book, assignment, templates, rows, replace, bool(student))
        finally:
            book.write_late_penalties()  # also after an error: the rows before it are entered
    click.echo(f"{done.entered} entered, {done.same} unchanged")
    for title, lines in (("not entered, changed since", done.conflicts), ("not entered", done.unread)):
        for line in lines:
            click.echo(f"  {title}: {line}", err=True)
    sys.exit(bool(done.conflicts or done.unread))


def _id_of(exercise: str) -> str:
    """The id of an exercise that is named as pages name it, "attention_scores"."""
    from autograde.exercises import catalogue

    return next((one.id for one in catalogue.EXERCISES if exercise in one.names), exercise)
