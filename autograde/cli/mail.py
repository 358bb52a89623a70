"""`autograde mail`: feedback to each student by e-mail."""

import os
from pathlib import Path

import click

from autograde.cli.options import course_option, results_of, templates_of

PASSWORD = "AUTOGRADE_SMTP_PASSWORD"
_PORTS = {"starttls": 587, "tls": 465, "none": 25}


@click.command()
@click.argument("assignment")
@course_option
@click.option("--from", "sender", required=True, help="Your address.")
@click.option("--server", help="Name of your mail server; with another port as smtp.example.org:2525.")
@click.option("--user", help=f"Log in with this name; the password is asked for, or read from ${PASSWORD}.")
@click.option("--security", type=click.Choice(tuple(_PORTS)), default="starttls", show_default=True,
              help="Encrypt the connection; none is for a server on this machine.")  # fmt: skip
@click.option("--student", "students", multiple=True, help="Mail only this student; repeat for more.")
@click.option("--again", multiple=True, help="Send to this student although one was sent; repeat for more.")
@click.option("--dry-run", "folder", type=click.Path(file_okay=False, path_type=Path),
              help="Send nothing; write each e-mail to this folder as STUDENT.eml.")  # fmt: skip
def mail(assignment, course, sender, server, user, security, students, again, folder):
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
