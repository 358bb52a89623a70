"""A small mail server (RFC 5321, with STARTTLS and AUTH PLAIN) in a thread: it keeps what it gets."""

import base64
import email
import email.policy
import socketserver
import ssl
import threading
from dataclasses import dataclass, field
from email.message import EmailMessage


@dataclass
class Box:
    """The mails that a server got, and its behaviour.

    unknown: addresses that it refuses; dies_after: so many messages are answered, the next one ends the connection when
    its text is there; busy_after: so many messages are answered, then the next one gets a 421 and the connection ends;
    closes_after: after so many messages the connection ends; bye: the answer to QUIT;
    context: for STARTTLS; login: (user, password) that it demands; utf8: whether it offers SMTPUTF8 (RFC 6531).
    """

    unknown: tuple[str, ...] = ()
    dies_after: int | None = None
    busy_after: int | None = None
    closes_after: int | None = None
    bye: str = "221 bye"
    context: ssl.SSLContext | None = None
    utf8: bool = False
    login: tuple[str, str] | None = None
    mails: list[EmailMessage] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    connections: int = 0

    @property
    def to(self) -> list[str]:
        return [str(mail["To"].addresses[0].addr_spec) for mail in self.mails]


class _Session(socketserver.BaseRequestHandler):
    def handle(self):
        self.box, self.known, self.encrypted, self.utf8 = self.server.box, False, False, False
        self.box.connections += 1
        self._open(self.request)
        self._say("220 here")
        while line := self.file.readline():
            verb, _, rest = line.decode().strip().partition(" ")
            if verb.upper() == "QUIT":
                self._say(self.box.bye)
                return
            if getattr(self, f"_{verb.lower()}", self._unknown)(rest) is False:
                return

    def _open(self, connection):
        self.connection, self.file = connection, connection.makefile("rb")

    def _say(self, line: str):
        self.connection.sendall(f"{line}\r\n".encode())

    def _unknown(self, rest):
        self._say("500 unknown")

    def _ehlo(self, rest):
        offered = ["STARTTLS"] if self.box.context and not self.encrypted else []
        offered += ["SMTPUTF8", "8BITMIME"] if self.box.utf8 else []
        offered += ["AUTH PLAIN"] if self.box.login and self.encrypted else []
        lines = ["here", *offered]
        for place, line in enumerate(lines):
            self._say(f"250{' ' if place == len(lines) - 1 else '-'}{line}")

    def _starttls(self, rest):
        self._say("220 go on")
        self._open(self.box.context.wrap_socket(self.connection, server_side=True))
        self.encrypted = True

    def _auth(self, rest):
        _, user, password = base64.b64decode(rest.split()[1]).decode().split("\0")
        self.known = (user, password) == self.box.login
        self._say("235 welcome" if self.known else "535 no")

    def _noop(self, rest):
        self._say("250 ok")

    def _mail(self, rest):
        if self.box.busy_after == len(self.box.mails):
            self._say("421 too many messages")
            return False
        self.utf8 = "SMTPUTF8" in rest.upper().split()
        self._say("250 ok" if self.known or not self.box.login else "530 log in first")
        return None

    def _rcpt(self, rest):
        address = rest.partition("<")[2].partition(">")[0]
        if not (address.isascii() or self.utf8):
            self._say("553 SMTPUTF8 was not asked for")
            return
        self._say("550 no such user" if address in self.box.unknown else "250 ok")

    def _rset(self, rest):
        self._say("250 ok")

    def _data(self, rest):
        self._say("354 the text")
        lines = []
        while (line := self.file.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        if self.box.dies_after == len(self.box.mails):
            return False
        self.box.mails.append(email.message_from_string(b"".join(lines).decode(), policy=email.policy.SMTPUTF8))
        self.box.encrypted.append(self.encrypted)
        self._say("250 taken")
        return False if self.box.closes_after == len(self.box.mails) else None


class MailServer(socketserver.ThreadingTCPServer):
    """`with MailServer(Box()) as server:` listens at `server.address`, such as "localhost:40123"."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, box: Box):
        super().__init__(("127.0.0.1", 0), _Session)
        self.box, self.address = box, f"localhost:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *ended):
        self.shutdown()
        super().__exit__(*ended)
