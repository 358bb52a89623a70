"""Feedback by e-mail, through the instructor's own mail server. Nobody gets the same message twice.

Before a message is sent, a record says "sending", afterwards "sent": `.autograde/mailed/ASSIGNMENT/STUDENT.json`. If
the connection ends in between, nobody can know whether it arrived, and it is sent again only by name (`again`). One
run at a time: it holds `.autograde/mailed/.lock`.
"""

import contextlib
import hashlib
import json
import re
import smtplib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from pathlib import Path

from autograde.common.errors import AutogradeError
from autograde.grader.book.database import Database, only_process
from autograde.grader.book.gradebook import given_by_people
from autograde.grader.book.people import People
from autograde.grader.book.store import StoreError, Table
from autograde.grader.grading.results import load_results
from autograde.grader.pages.feedback import feedback_page, points_text
from autograde.grader.reading.template import Template
from bertlab.common.files import write_bytes

FOLDER = Path(".autograde", "mailed")
SENDING, SENT = "sending", "sent"
_OTHER_THAN_ASCII = re.compile(r"[^\x00-\x7f]")
_DOMAIN = re.compile(r"[\w-]+(\.[\w-]+)*")
_REFUSED = (
    smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, smtplib.SMTPSenderRefused, smtplib.SMTPNotSupportedError,
)  # fmt: skip


class MailError(AutogradeError):
    """A mail server that cannot be used, or an address that cannot be one."""


@dataclass(frozen=True)
class Letter:
    """The feedback of one student. pages: name of the file → HTML; digest: of all its content."""

    student: str
    email: str
    lines: tuple[str, ...]
    pages: Mapping[str, str]

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps([self.lines, sorted(self.pages.items())]).encode()).hexdigest()


@dataclass
class Report:
    """The outcome. left_out: (student, reason)."""

    sent: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)


def letters(course: Path, assignment: str, templates: Mapping[str, Template]) -> list[Letter]:
    """The feedback of all students of an assignment who have a record, by student."""
    given = given_by_people(course, assignment, templates)
    addresses = {student: one.email for student, one in People(course).known.items()}
    if (course / "gradebook.db").is_file():
        with Database(course) as opened:
            addresses |= {one.id: one.email or addresses.get(one.id, "") for one in opened.book.students}
    lines, pages = defaultdict(list), defaultdict(dict)
    for result in load_results(course, assignment):
        more = given(result)
        lines[result.student].append(f"{more['title'] or result.notebook}: {points_text(result, **more)}")
        pages[result.student][f"{result.notebook}_feedback.html"] = feedback_page(result, **more)
    return [Letter(who, addresses.get(who, ""), tuple(lines[who]), pages[who]) for who in sorted(lines)]


def message(letter: Letter, assignment: str, sender: str) -> EmailMessage:
    """The e-mail: points as text, pages attached. No name of the student is in its headers. Raises MailError."""
    made = EmailMessage()
    made["From"], made["To"] = _address(sender), _address(letter.email)
    made["Subject"] = f"Feedback: {assignment}"
    made["Date"], made["Message-ID"] = formatdate(), make_msgid(domain=made["From"].addresses[0].domain)
    points = "\n".join(letter.lines)
    made.set_content(
        f"{points}\n\nThe attached page shows what was right, what was not, and why. Open it in a browser.\n"
    )
    for name, page in letter.pages.items():
        made.add_attachment(page.encode(), maintype="text", subtype="html", filename=name)
    return made


def _address(text: str) -> Address:
    """Printable, and no "=?": Python decodes an encoded word (RFC 2047) in an address, line ends too.

    Other than ASCII characters are allowed in place of letters (RFC 6531); Python's own parser takes none.
    """
    try:
        if not text.isprintable() or "=?" in text:
            raise ValueError
        found = Address(addr_spec=_OTHER_THAN_ASCII.sub("x", text))
        if text.isascii():
            return found
        user, _, domain = text.rpartition("@")
        if '"' in text or not _DOMAIN.fullmatch(domain):
            raise ValueError
        return Address(username=user, domain=domain)
    except (ValueError, MessageError, IndexError):
        raise MailError(f"expected an address such as jane@example.org, got {text!r}; correct it") from None


def write_letters(folder: Path, found: list[Letter], assignment: str, sender: str) -> Report:
    """Writes each e-mail as STUDENT.eml, and sends and records nothing."""
    report = Report()
    folder.mkdir(parents=True, exist_ok=True)
    for letter, mail in _messages(found, assignment, sender, report):
        policy = mail.policy.clone(utf8=not f"{sender}{letter.email}".isascii())
        write_bytes(folder / f"{letter.student}.eml", mail.as_bytes(policy=policy))
        report.sent.append(letter.student)
    return report


def send_letters(
    course: Path, found: list[Letter], assignment: str, sender: str, connect: Callable[[], smtplib.SMTP],
    again: Collection[str] = (),
) -> Report:  # fmt: skip
    """Sends each e-mail once, over one connection. again: students who get theirs although one was sent.

    Raises MailError if the connection fails or another run is sending; those sent before are recorded.
    """
    folder = course / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    busy = MailError(f"{course}: another `autograde mail` is sending; wait until it has ended")
    report, todo = Report(), []
    with only_process(folder / ".lock", 0, busy):
        for letter in found:
            reason = _why_not(course, assignment, letter)
            if reason is None or letter.student in again:
                todo.append(letter)
            elif reason:
                report.left_out.append((letter.student, reason))
            else:
                report.before.append(letter.student)
        if waiting := list(_messages(todo, assignment, sender, report)):
            server = connect()
            try:
                for letter, mail in waiting:
                    _send(server, course, assignment, letter, mail, report)
            finally:  # an error at the end concerns no message: each has its answer before
                with contextlib.suppress(OSError, smtplib.SMTPException):
                    server.quit()
                server.close()
    return report


def _send(server: smtplib.SMTP, course: Path, assignment: str, letter: Letter, mail: EmailMessage, report: Report):
    """Sends one e-mail and records it. Raises MailError if the connection has ended."""
    so_far = f"{len(report.sent)} were sent before. Run the command again: it sends the others"
    try:
        server.ehlo_or_helo_if_needed()
        code, text = server.noop()
        if code == 421:  # the server closes the connection
            raise smtplib.SMTPResponseException(code, text)
    except (OSError, smtplib.SMTPException) as reason:
        raise MailError(
            f"the connection ended before the message to {letter.student} was sent ({reason}); {so_far}"
        ) from None
    _record(course, assignment, letter, SENDING)
    try:
        server.send_message(mail)
    except _REFUSED as reason:
        MAILED.path(course, assignment, letter.student).unlink()
        if server.sock is None:
            raise MailError(
                f"the server refused the message to {letter.student} and ended the connection ({_words(reason)}); "
                f"{so_far}"
            ) from None
        report.left_out.append((letter.student, f"the server refused it: {_words(reason)}"))
        return
    except (OSError, smtplib.SMTPException) as reason:
        raise MailError(
            f"the connection ended while the message to {letter.student} was sent ({reason}); {so_far}"
        ) from None
    _record(course, assignment, letter, SENT)
    report.sent.append(letter.student)


def _messages(
    found: list[Letter], assignment: str, sender: str, report: Report
) -> Iterator[tuple[Letter, EmailMessage]]:
    _address(sender)
    for letter in found:
        if not letter.email:
            report.left_out.append(
                (letter.student, "no address is known; import one with `nbgrader db student import`")
            )
            continue
        try:
            yield letter, message(letter, assignment, sender)
        except MailError as reason:
            report.left_out.append((letter.student, str(reason)))


def _words(refused: smtplib.SMTPException) -> str:
    if isinstance(refused, smtplib.SMTPNotSupportedError):
        return "it takes only addresses of ASCII characters (it does not offer SMTPUTF8)"
    if isinstance(refused, smtplib.SMTPRecipientsRefused):
        code, text = next(iter(refused.recipients.values()))
    else:
        code, text = refused.smtp_code, refused.smtp_error
    return f"{code} {text.decode('utf-8', 'replace') if isinstance(text, bytes) else text}"


def _record(course: Path, assignment: str, letter: Letter, state: str) -> None:
    content = {"state": state, "to": letter.email, "digest": letter.digest, "time": formatdate()}
    MAILED.save(content, course, assignment, letter.student)


def _why_not(course: Path, assignment: str, letter: Letter) -> str | None:
    """Why to leave a message out: it may have arrived, has changed, has a damaged record; "" if it was sent as it is,
    None if it was not sent."""
    try:
        content = MAILED.load(course, assignment, letter.student)
    except StoreError as reason:
        return str(reason)
    if content is None:
        return None
    once_more = f"--again {letter.student} sends it"
    if content["state"] == SENDING:
        return f"the connection ended while it was sent, so it may have arrived; {once_more} again"
    same = content["digest"] == letter.digest
    return "" if same else f"it has changed since it was sent; {once_more} as it is now"


# The record of a message: its state, its address, the digest of its content, its time.
MAILED = Table(
    ".autograde/mailed/{}/{}.json", "a record of a message", "delete it to send the message",
    parse=lambda text: (content := json.loads(text)) | {name: content[name] for name in ("state", "digest")},
    empty=lambda: None, text=lambda content: json.dumps(content) + "\n",
)  # fmt: skip
