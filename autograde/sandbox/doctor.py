"""Tests every protection of the sandbox by attacking it in a running sandbox.

    for finding in examine():
        print(finding)            # "ok  no network: …" or "BAD  …, and what to do about it"

A probe is a few lines of Python that an attacker would write; it prints "open" where it gets through.
"""

import contextlib
import os
import socket
import subprocess
import threading
from dataclasses import dataclass

from autograde.common.errors import SandboxEnded, SandboxError
from autograde.sandbox import bubblewrap, cgroups, launchers, seccomp
from autograde.sandbox.container import Container
from autograde.sandbox.limits import Limits

_SECRET = "AUTOGRADE_DOCTOR_SECRET"
_FIX_NAMESPACES = (
    "allow bubblewrap to make user namespaces: `sudo sysctl user.max_user_namespaces=15000`; "
    "on older Debian also `sudo sysctl kernel.unprivileged_userns_clone=1`; "
    "on Ubuntu 24.04 and later also `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
)
_REPORT = "report this with the output of `bwrap --version; uname -a`, and do not grade submissions on this machine"
_TIGHT = Limits(grace_seconds=0.5, cpu_seconds=60, memory=400 << 20, disk=16 << 20, inodes=300,
                processes=40, file_size=8 << 20)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """The result of one test. `remedy` is one line, empty if `ok`; `grave` means: do not grade submissions here."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    grave: bool = True

    def __str__(self):
        sign = "ok " if self.ok else "BAD" if self.grave else "!  "
        return f"{sign}  {self.name}: {self.detail}" + (f". To do: {self.remedy}" if self.remedy else "")


@dataclass(frozen=True)
class Trial:
    """Code that prints "open" if a protection is missing. `ends`: how a sandbox may end instead of answering."""

    name: str
    code: str
    closed: str  # the message if the protection works
    ends: tuple[str, ...] = ()
    seconds: float = 6.0


def _trials(port: int, canary: str) -> list[Trial]:
    number = seccomp.number if seccomp.supported() else lambda name: -1
    return [
        Trial("environment", f"import os\nprint('open' if {_SECRET!r} in os.environ else '')",
              "the grader's environment is not visible"),
        Trial("files", f"import os\nprint('open' if os.path.exists({canary!r}) else '')",
              "files outside the sandbox are not visible"),
        Trial("read-only system", "open('/usr/autograde-doctor', 'w')\nprint('open')", "nothing of it can be changed"),
        Trial("references", "import autograde.exercises\nprint('open')", "the right answers are not in the sandbox"),
        Trial("ordinary user", "import os\nprint('open' if os.getuid() == 0 else '')", "no root inside"),
        Trial("no capabilities", "t = open('/proc/self/status').read()\n"
              "print('open' if any(int(t.split(c)[1].split()[0], 16) for c in ('CapEff:', 'CapPrm:', 'CapInh:')) "
              "or 'NoNewPrivs:\\t1' not in t else '')", "none, and no set-uid program gives any"),
        Trial("network", f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\nprint('open')",
              "a server on this machine cannot be reached"),
        Trial("other processes", "import os\nprint('open' if len([p for p in os.listdir('/proc') if p.isdigit()]) > 3 "
              "else '')", "only the sandbox's own are visible"),
        Trial("system-call filter", "import ctypes\nl = ctypes.CDLL(None)\n"
              f"print('open' if l.syscall({number('io_uring_setup')}, 1, ctypes.create_string_buffer(120)) >= 0 "
              f"or l.syscall({number('add_key')}, b'user', b'x', b'x', 1, -2) >= 0 else '')",
              "denied calls are denied"),
        Trial("nested namespaces", "import ctypes\nprint('open' if ctypes.CDLL(None).unshare(0x10000000) == 0 else '')",
              "none can be made inside"),
        Trial("processes", "import os, time\nfor _ in range(80):\n    if os.fork() == 0:\n        time.sleep(2)\n"
              "        os._exit(0)\nprint('open')", "a fork bomb stops at the limit", ("memory", "processes")),
        Trial("memory", "b = []\nfor _ in range(40):\n    b.append(bytearray(b'x' * (16 << 20)))\nprint('open')",
              "a memory bomb stops at the limit", ("memory",)),
        Trial("disk", "for i in range(8):\n    open(f'/tmp/{i}', 'wb').write(bytes(4 << 20))\nprint('open')",
              "a full disk stops at the limit"),
        Trial("number of files", "for i in range(600):\n    open(f'/tmp/f{i}', 'w').close()\nprint('open')",
              "a flood of files stops at the limit"),
        Trial("deadline", "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
              "a loop that ignores the interrupt is ended", ("wall clock",), seconds=0.5),
    ]  # fmt: skip


def examine() -> list[Finding]:
    """All findings; the first is how sandboxes are made. Takes some seconds."""
    findings = [_bubblewrap()]
    os.environ[_SECRET] = "visible"
    try:
        with _small_launcher(findings) as launcher:
            findings += _try_all(launcher)
    except SandboxError as error:
        findings.append(Finding("sandboxes", False, f"none can be made here: {error}", _way_out(findings[0])))
    finally:
        del os.environ[_SECRET]
    architecture = Finding("architecture", True, "the system-call filter supports this processor")
    if not seccomp.supported():
        architecture = Finding("architecture", False, "no system-call filter for this processor",
                               "grade on x86-64 or 64-bit ARM", grave=False)  # fmt: skip
    return [*findings, *_other_copies(), architecture, _cgroup()]


def _other_copies() -> list[Finding]:
    found = ", ".join(map(str, bubblewrap.other_copies()))
    return [Finding("another copy of the course", True, f"covered in every sandbox: {found}")] if found else []


def _bubblewrap() -> Finding:
    try:
        path = bubblewrap.find()
    except SandboxError as error:
        remedy = str(error).partition("Install it with: ")[2]
        return Finding("bubblewrap", False, "not installed", remedy, grave=False)
    version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout.strip()
    return Finding("bubblewrap", True, version)


def _way_out(found: Finding) -> str:
    return _FIX_NAMESPACES if found.ok else found.remedy


def _small_launcher(findings: list[Finding]) -> launchers.Launcher:
    """The best launcher that works here, without TensorFlow, so that it starts in a second. Raises SandboxError."""
    ways = (
        ("warm sandboxes", lambda: launchers.Zygote(packages={}, preload=("numpy",)), "forks of a warm process"),
        ("cold sandboxes", lambda: launchers.Bubblewrap(packages={}), "each a bubblewrap of its own, seconds to start"),
        ("containers", lambda: Container(packages={}), "each a container, seconds to start"),
    )
    for name, make, how in ways if findings[0].ok else ways[2:]:
        try:
            launcher = make()
        except SandboxError as error:
            reason = error
            findings.append(Finding(name, False, str(error), _way_out(findings[0]), grave=False))
            continue
        findings.append(Finding(name, True, f"sandboxes are {how}"))
        return launcher
    raise SandboxError(str(reason))


def _try_all(launcher: launchers.Launcher, only: set[str] | None = None) -> list[Finding]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_accept, args=(server,), daemon=True).start()
        trials = _trials(server.getsockname()[1], canary=__file__)
        return [_try(launcher, trial) for trial in trials if only is None or trial.name in only]


def _accept(server: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the examination is over
        while True:
            server.accept()[0].close()


def _try(launcher: launchers.Launcher, trial: Trial) -> Finding:
    with launcher.start(_TIGHT) as sandbox:
        try:
            open_door = "open" in sandbox.run_cell(trial.code, trial.seconds).stdout
        except SandboxEnded as end:
            expected = end.reason.reason in trial.ends
            return Finding(trial.name, expected, trial.closed if expected else str(end), "" if expected else _REPORT)
    if trial.name == "number of files" and open_door and launcher.kind in ("bubblewrap", "container"):
        return Finding(trial.name, False, "not limited without a zygote", _FIX_NAMESPACES, grave=False)
    if open_door:
        return Finding(trial.name, False, "got through", _REPORT)
    return Finding(trial.name, True, trial.closed)


def _cgroup() -> Finding:
    lacking = cgroups.lacking()
    if not lacking:
        detail = "delegated: the kernel limits the memory and the processes of each sandbox"
        return Finding("control group", True, detail)
    return Finding(
        "control group", False, f"{lacking}: the grader checks memory and CPU time ten times a second instead",
        "start the grader with `systemd-run --user --scope -p Delegate=yes …` for exact limits", grave=False,
    )  # fmt: skip
