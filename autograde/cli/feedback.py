"""`autograde feedback`, `mail` and `comments`: a page per student and notebook, and how it reaches the student."""

import os
from collections import Counter
from pathlib import Path

import click

from autograde.cli.options import COURSE, results_of, templates_of
from bertlab.cli.from_signature import FILE, FOLDER, REQUIRED, command, option

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
    from autograde.grader.book.manual_points.for_feedback import given_by_people
    from autograde.grader.pages.feedback import write_feedback
    from bertlab.common.progress import track

    results, templates = results_of(course, assignment, students), templates_of(course, assignment)
    given = given_by_people(course, assignment, templates)
    for result in track(results, "Writing feedback"):
        write_feedback(course, result, **given(result))
    click.echo(f"{len(results)} pages in {course / 'feedback'}")
    for line in unknown_ids(course, assignment):
        click.echo(f"note: {line}; add it and write the feedback again", err=True)
    if system and _write_zip(course, assignment, system, templates, path):
        raise SystemExit(1)


def _write_zip(course: Path, assignment: str, system: str, templates, path: Path | None) -> bool:
    """Whether somebody's feedback is not in the zip."""
    from autograde.grader.exports.feedback_texts import feedback_zip
    from bertlab.common.files import write_bytes

    packed = feedback_zip(course, assignment, system, templates)
    path = path or course / "feedback" / f"{assignment}-{system}.zip"
    write_bytes(path, packed.content)
    click.echo(f"feedback of {packed.count} students in {path}")
    for student, reason in packed.left_out:
        click.echo(f"  not in it: {student}: {reason}", err=True)
    return bool(packed.left_out)


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

    results_of(course, assignment)
    for student in (*students, *again):
        results_of(course, assignment, (student,))
    chosen = [
        letter
        for letter in mailing.letters(course, assignment, templates_of(course, assignment))
        if not (students or again) or letter.student in (*students, *again)
    ]
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
    if report.left_out:
        raise SystemExit(1)


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
    from autograde.grader.book.comments import COMMENTS, used
    from autograde.grader.book.comments import FILE as COMMENTS_FILE

    known, by_hand = COMMENTS.load(course), _by_hand(course)
    counts = Counter(name for *_, text in by_hand for name in set(used(text)))
    for name, text in known.items():
        click.echo(f"{counts[name]:4}  #{name}  {text}")
    if not known:
        click.echo(
            f'{course / COMMENTS_FILE}: no comments yet; write lines such as state-the-shape = "State the shape of …"'
        )
    unknown = unknown_ids(course)
    for line in unknown:
        click.echo(f"  {line}", err=True)
    if unknown:
        raise SystemExit(1)


def unknown_ids(course: Path, assignment: str | None = None) -> list[str]:
    """A sentence for each id in a comment by hand that comments.toml does not have; students would see the id."""
    from autograde.grader.book.comments import COMMENTS, used
    from autograde.grader.book.comments import FILE as COMMENTS_FILE

    known = COMMENTS.load(course)
    return [
        f"not in {COMMENTS_FILE}: #{name} in the comment on {exercise} of {student}, {of}"
        for of, student, exercise, text in _by_hand(course)
        for name in used(text)
        if name not in known and assignment in (None, of)
    ]


def _by_hand(course: Path) -> list[tuple[str, str, str, str]]:
    """(assignment, student, exercise, text) of the comments by hand."""
    from autograde.grader.book.gradebook import Gradebook

    if not (course / "gradebook.db").is_file():
        return []
    with Gradebook(course) as book:
        return book.comments_by_hand()
