"""Feedback by e-mail, before a real mail server: each student gets it once, also after an interruption."""

import email
import email.policy
import fcntl
import shutil
import ssl
import subprocess
from dataclasses import replace

import pytest
from click.testing import CliRunner
from grader_course import grade_as, make_gradebook, release
from smtp_server import Box, MailServer

from autograde.cli import cli
from autograde.common.errors import AutogradeError
from autograde.grader.book.forget import forget
from autograde.grader.book.people import People
from autograde.grader.exports.mailing import MailError, _address

STUDENTS = ("ada", "ben", "cleo")


@pytest.fixture
def course(tmp_path):
    """Three graded students with addresses, and one without."""
    folder = tmp_path / "course"
    release(folder)
    make_gradebook(folder)
    people = People(folder)
    for student in STUDENTS:
        people.learn(student, f"{student.title()} Ö. Doe", f"{student}@example.org")
        grade_as(folder, student)
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
        assert server.box.connections == 1  # no connection where there is nothing to send
    first = server.box.mails[0]
    assert first["Subject"] == "Feedback: ps3" and first["To"] == "ada@example.org"
    assert "Attention: 3 of 3 points" in first.get_body(("plain",)).get_content()
    (page,) = first.iter_attachments()
    assert page.get_filename() == "03_attention_feedback.html" and "3.1 scores" in page.get_content()


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
    grade_as(course, "dora")
    with MailServer(Box(unknown=("ada@example.org",))) as server:
        told = _send(course, server)
        assert told.exit_code == 1 and server.box.to == ["cleo@example.org"]
        for words in ("ada: the server refused it: 550 no such user", "dora: no address is known",
                      "ben: expected an address such as jane@example.org, got 'ben at home'"):  # fmt: skip
            assert words in told.stderr
        server.box.unknown = ()
        assert _send(course, server, "--student", "ada").stdout == "1 sent\n"  # refused is not sent


@pytest.mark.parametrize("address", ["björn@example.org", "ada@müller.example", "阿达@例子.中国"])
def test_an_address_of_any_letters_is_mailed_where_the_server_takes_it(course, tmp_path, address):
    people = People(course)
    people.learn("ben", email=address)
    people.save()
    with MailServer(Box()) as server:
        told = _send(course, server)
        assert told.exit_code == 1 and server.box.to == ["ada@example.org", "cleo@example.org"]
        assert "ben: the server refused it: it takes only addresses of ASCII characters" in told.stderr
        server.box.utf8 = True
        assert _send(course, server).stdout == "1 sent, 2 sent before\n" and server.box.to[2:] == [address]
    assert _mail(course, "--dry-run", tmp_path / "mail").exit_code == 0
    assert f"\nTo: {address}\n".encode() in (tmp_path / "mail/ben.eml").read_bytes()


@pytest.mark.parametrize(
    "address", ["björn", "bj örn@example.org", "ö@exam ple.org", "ö@a\u2028b.org", '"ö"@a.org', "ö@a,b"]
)
def test_what_only_looks_like_an_address_of_any_letters_is_refused(address):
    with pytest.raises(MailError, match="expected an address such as"):
        _address(address)


def test_feedback_that_changed_is_sent_again_only_on_request(course):
    with MailServer(Box()) as server:
        _send(course, server)
        grade_as(course, "ben", 0.0)
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
    unknown = _mail(course, "--student", "ada", "--student", "adda")
    assert isinstance(unknown.exception, AutogradeError) and "no results for adda yet" in str(unknown.exception)


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


def test_a_name_or_an_address_adds_no_header(course, tmp_path):
    people, folder = People(course), tmp_path / "mail"
    people.learn("ada", "=?utf-8?q?x=0d=0aBcc:_e@e.e?=", "ada@example.org")
    people.learn("ben", "Ben", '"=?utf-8?q?x=0d=0aBcc:_e@e.e?="@example.org')
    people.save()
    told = _mail(course, "--dry-run", folder)
    assert sorted(path.name for path in folder.iterdir()) == ["ada.eml", "cleo.eml"]
    written = (folder / "ada.eml").read_bytes()
    assert b"\nTo: ada@example.org\n" in written and b"Bcc" not in written.partition(b"\n\n")[0]
    assert "ben: expected an address such as jane@example.org, got" in told.stderr
    told = CliRunner().invoke(cli, ["mail", "ps3", "--course", str(course), "--from", "jäne at home",
                                    "--dry-run", str(folder)])  # fmt: skip
    assert isinstance(told.exception, AutogradeError) and "got 'jäne at home'" in str(told.exception)
    people.known["cleo"] = replace(people["cleo"], name="Cleo \udc80")  # as an older version stored it
    people.save()
    told = _mail(course, "--dry-run", folder)
    assert told.exit_code == 1 and r"got 'Cleo \udc80' for 'cleo'" in told.stderr


def test_one_run_at_a_time(course):
    (course / ".autograde/mailed").mkdir(parents=True)
    with MailServer(Box()) as server:
        with open(course / ".autograde/mailed/.lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            told = _send(course, server)
            assert isinstance(told.exception, AutogradeError) and "another `autograde mail`" in str(told.exception)
        assert not server.box.mails and _send(course, server).stdout == "3 sent\n"


@pytest.mark.parametrize(
    ("box", "words"),
    [
        (Box(busy_after=1), "refused the message to ben and ended the connection (421 too many messages); 1 were sent"),
        (Box(closes_after=1), "the connection ended before the message to ben was sent"),
    ],
)
def test_a_connection_that_ends_between_messages_leaves_no_record_of_the_next(course, box, words):
    with MailServer(box) as server:
        ended = _send(course, server)
        assert isinstance(ended.exception, AutogradeError) and words in str(ended.exception)
        assert [path.name for path in (course / ".autograde/mailed/ps3").iterdir()] == ["ada.json"]
        box.busy_after = box.closes_after = None
        assert _send(course, server).stdout == "2 sent, 1 sent before\n"


def test_an_error_at_the_end_does_not_hide_the_report(course):
    with MailServer(Box(bye="500 no")) as server:
        assert _send(course, server).stdout == "3 sent\n"
