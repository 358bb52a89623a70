"""Feedback by e-mail, before a real mail server: each student once, whatever happens in between."""

import email
import email.policy
import shutil
import ssl
import subprocess

import pytest
from click.testing import CliRunner
from grader_course import make_gradebook, released
from smtp_server import Box, MailServer

from autograde.cli import cli
from autograde.errors import AutogradeError
from autograde.grader.forget import forget
from autograde.grader.gradebook import Course
from autograde.grader.people import People
from autograde.grader.results import Result
from autograde.grader.template import Template
from autograde.verdict import Verdict

TEMPLATES = {"03_attention": Template.read(released(), "03_attention")}
STUDENTS = ("ada", "ben", "cleo")


def _grade(course, student, points=3.0):
    verdict = Verdict("scores", "3.4 scores", "passed" if points == 3 else "wrong", points, 3)
    result = Result("ps3", student, "03_attention", (verdict,))
    result.save(course)
    with Course(course) as book:
        book.write("ps3", student, [result], TEMPLATES)


@pytest.fixture
def course(tmp_path):
    """Three graded students with addresses, and one without."""
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / "release/ps3").mkdir(parents=True)
    (folder / "release/ps3/03_attention.ipynb").write_bytes(released())
    make_gradebook(folder)
    people = People(folder)
    for student in STUDENTS:
        people.learn(student, f"{student.title()} Ö. Doe", f"{student}@example.org")
        _grade(folder, student)
    people.save()
    return folder


def _mail(course, *words, **options):
    words = ["mail", "ps3", "--course", str(course), "--from", "jane@example.org", *map(str, words)]
    return CliRunner().invoke(cli, words, **options)


def _send(course, server, *words, **options):
    return _mail(course, "--server", server.address, "--security", "none", *words, **options)


def test_each_student_gets_the_page_once(course):
    with MailServer(Box()) as server:
        assert _send(course, server).stdout == "3 sent\n"
        assert _send(course, server).stdout == "0 sent, 3 sent before\n"
        assert server.box.to == ["ada@example.org", "ben@example.org", "cleo@example.org"]
        assert server.box.connections == 1  # none where nothing is to be sent
    first = server.box.mails[0]
    assert first["Subject"] == "Feedback: ps3" and first["To"].addresses[0].display_name == "Ada Ö. Doe"
    assert "Attention: 3 of 3 points" in first.get_body(("plain",)).get_content()
    (page,) = first.iter_attachments()
    assert page.get_filename() == "03_attention_feedback.html" and "3.4 scores" in page.get_content()


def test_a_server_that_dies_leaves_nobody_mailed_twice(course):
    """Ben's text arrived and its receipt did not: only the instructor can decide."""
    with MailServer(Box(dies_after=1)) as server:
        ended = _send(course, server)
        assert isinstance(ended.exception, AutogradeError) and "to ben was sent" in str(ended.exception)
    with MailServer(Box()) as server:
        after = _send(course, server)
        assert after.exit_code == 1 and after.stdout == "1 sent, 1 sent before\n"
        assert "not sent: ben: the connection ended while it was sent, so it may have arrived" in after.stderr
        assert _send(course, server, "--again", "ben").stdout == "1 sent\n"
        assert server.box.to == ["cleo@example.org", "ben@example.org"]
        assert _send(course, server).stdout == "0 sent, 3 sent before\n"


def test_who_cannot_be_mailed_is_listed_and_the_others_are(course):
    people = People(course)
    people.learn("ben", email="ben at home")
    people.save()
    _grade(course, "dora")
    with MailServer(Box(unknown=("ada@example.org",))) as server:
        told = _send(course, server)
        assert told.exit_code == 1 and server.box.to == ["cleo@example.org"]
        for words in ("ada: the server refused it: 550 no such user", "dora: no address is known",
                      "ben: expected an address such as jane@example.org, got 'ben at home'"):  # fmt: skip
            assert words in told.stderr
        server.box.unknown = ()
        assert _send(course, server, "--student", "ada").stdout == "1 sent\n"  # refused is not sent


def test_feedback_that_changed_is_sent_again_only_on_request(course):
    with MailServer(Box()) as server:
        _send(course, server)
        _grade(course, "ben", 0.0)
        told = _send(course, server)
        assert told.exit_code == 1 and "ben: it has changed since it was sent; --again ben sends it" in told.stderr
        _send(course, server, "--again", "ben")
        assert "0 of 3 points" in server.box.mails[-1].get_body(("plain",)).get_content()
        assert len(server.box.mails) == 4
    forget(course, "ben")
    assert not list(course.rglob("*ben*"))


def test_a_dry_run_writes_what_would_be_sent_and_sends_nothing(course, tmp_path):
    told = _mail(course, "--dry-run", tmp_path / "mail", catch_exceptions=False)
    assert told.stdout == f"3 messages in {tmp_path / 'mail'}; nothing was sent\n"
    written = (tmp_path / "mail/cleo.eml").read_bytes()
    made = email.message_from_bytes(written, policy=email.policy.default)
    assert str(made["From"]) == "jane@example.org" and len(list(made.iter_attachments())) == 1
    assert not (course / ".autograde/mailed").exists()
    assert "name your mail server with --server" in _mail(course).stderr


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl, which makes the server's certificate")
def test_the_connection_is_encrypted_and_the_password_is_stored_nowhere(course, tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    with MailServer(Box(context=context, login=("jane", "s3cret-word"))) as server:
        words = ("--server", server.address, "--user", "jane")
        unsafe = _mail(course, *words, input="s3cret-word\n")
        assert "certificate verify failed" in str(unsafe.exception) and not server.box.mails
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        monkeypatch.setenv("AUTOGRADE_SMTP_PASSWORD", "wrong")
        assert "the log-in of jane was refused (535)" in str(_mail(course, *words).exception)
        monkeypatch.setenv("AUTOGRADE_SMTP_PASSWORD", "wörd")
        assert "expected a name and a password of ASCII characters" in str(_mail(course, *words).exception)
        monkeypatch.setenv("AUTOGRADE_SMTP_PASSWORD", "s3cret-word")
        assert _mail(course, *words).stdout == "3 sent\n" and server.box.encrypted == [True] * 3
        assert "encrypted connection only" in _send(course, server, "--user", "jane").stderr
    stored = b"".join(path.read_bytes() for path in course.rglob("*") if path.is_file())
    assert b"s3cret" not in stored


def test_a_server_that_is_not_there_is_named(course):
    with MailServer(Box()) as server:
        address = server.address
    told = _mail(course, "--server", address, "--security", "none")
    assert isinstance(told.exception, AutogradeError) and f"{address}: no connection" in str(told.exception)
    assert "got 'here:x'" in str(_mail(course, "--server", "here:x").exception)
