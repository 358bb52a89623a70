"""Sandboxes in containers, where bubblewrap is missing: same protections, same answers. Slow: each one imports."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from autograde.common.errors import SandboxEnded, SandboxError
from autograde.sandbox import bubblewrap, container, doctor, launchers
from autograde.sandbox.limits import Limits

ROOT = Path(__file__).parents[3]
QUICK = Limits(cell_seconds=30, grace_seconds=20, memory=500 << 20, disk=16 << 20, processes=60)


@pytest.fixture(scope="module")
def containers():
    try:
        launcher = container.Container(packages={})
    except SandboxError as error:
        pytest.skip(f"no container can be made here: {error}")
    with launcher:
        yield launcher


@pytest.mark.exhaustive
def test_a_container_answers_like_any_sandbox_and_is_gone_afterwards(containers, monkeypatch):
    monkeypatch.setenv("AUTOGRADE_TEST_SECRET", "secret")
    with containers.start(QUICK) as sandbox:
        assert sandbox.run_cell("x = 20\nprint('hello')").stdout == "hello\n"
        error = sandbox.run_cell("def f(x):\n    return 1 / x\nf(0)").error
        assert (error.name, error.cell, error.line) == ("ZeroDivisionError", 2, 2)
        sandbox.run_cell("def double(x): return 2 * x")
        probe = {"kind": "function", "name": "double", "tensors": False}
        [answer] = sandbox.ask([{"probe": probe, "arguments": [np.arange(3.0)]}])
        np.testing.assert_array_equal(answer.value, [0.0, 2.0, 4.0])
        sandbox.put({"data/words.txt": b"one two"})
        assert sandbox.run_cell("print(open('data/words.txt').read())").stdout == "one two\n"
        result = sandbox.run_cell("while True: pass", seconds=1.0)
        assert (result.limit, result.error.name) == ("wall clock", "KeyboardInterrupt")
        assert sandbox.run_cell("print(x)").stdout == "20\n"
        seen = "import os\nprint(os.getuid(), 'AUTOGRADE_TEST_SECRET' in os.environ, os.path.exists('/work'))"
        assert sandbox.run_cell(seen).stdout.startswith(f"{bubblewrap.UNTRUSTED_USER} False")
        listing = sandbox.run_cell("print(sorted(os.listdir('/sandbox/lib/autograde')))").stdout
        assert listing == "['__init__.py', 'boundary', 'common', 'sandbox', 'student']\n"
    assert sandbox.ended.reason == "closed"
    assert sandbox.name not in _containers(containers.engine)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "code, reason",
    [
        ("import os; os._exit(3)", "exit"),
        ("import ctypes; ctypes.string_at(0)", "signal"),
        ("b = [bytearray(b'x' * (8 << 20)) for _ in range(300)]", "memory"),
        ("import os, signal\nfor pid in (int(p) for p in os.listdir('/proc') if p.isdigit()):\n"
         "    if pid != os.getpid():\n        os.kill(pid, signal.SIGKILL)", "lost or exit"),
        ("import signal; signal.signal(2, signal.SIG_IGN)\nwhile True: pass", "wall clock"),
        ("import os; os.write(3, b'\\xff' * 64)\nwhile True: pass", "protocol"),
    ],
)  # fmt: skip
def test_a_container_that_ends_says_how_and_leaves_nothing(containers, code, reason):
    with containers.start(Limits(cell_seconds=30, grace_seconds=1, memory=500 << 20)) as sandbox:
        try:
            result = sandbox.run_cell(code, seconds=2.0 if "while" in code else 30.0)
            if not result.error:  # the reply may be out before the end
                sandbox.run_cell("import time; time.sleep(5)")
            assert result.error.name == "MemoryError"
        except SandboxEnded:
            assert sandbox.ended.reason in reason.split(" or "), sandbox.ended
    assert sandbox.name not in _containers(containers.engine)


def _containers(engine: str) -> str:
    return subprocess.run([engine, "ps", "--format", "{{.Names}}"], capture_output=True, text=True).stdout


@pytest.mark.exhaustive
def test_when_the_grader_is_killed_its_containers_end(containers):
    program = (
        "from autograde.sandbox.container import Container\n"
        "made = Container(packages={})\nsandbox = made.start()\nprint(sandbox.name, flush=True)\n"
        "sandbox.run_cell('while True: pass')"
    )
    grader = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    name = grader.stdout.readline().strip()
    assert name in _containers(containers.engine)
    grader.send_signal(signal.SIGKILL)
    grader.wait()
    grader.stdout.close()
    deadline = time.monotonic() + 30
    while name in _containers(containers.engine) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert name not in _containers(containers.engine)


@pytest.mark.exhaustive
def test_the_doctor_finds_every_protection_in_a_container(containers):
    findings = doctor._try_all(containers)
    assert len(findings) > 12
    assert [str(finding) for finding in findings if finding.grave and not finding.ok] == []


@pytest.mark.exhaustive
def test_where_bubblewrap_is_missing_the_container_is_taken_and_said(containers, tmp_path, monkeypatch):
    (tmp_path / "podman").symlink_to(containers.engine)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(container, "find", lambda: containers.engine)
    lines = []
    with launchers.open_launcher(tell=lines.append) as launcher:
        assert launcher.kind == "container"
    assert len(lines) == 3 and lines[2].startswith("sandbox: container.")


# --- without an engine: the command line, and what comes over the control pipe ---


def _made(monkeypatch, tmp_path, engine: str, image: str | None = None) -> container.Container:
    """A sandbox with this engine, of which nothing is started."""
    monkeypatch.setattr(container, "find", lambda: f"/usr/bin/{engine}")
    monkeypatch.setattr(container.Container, "_named_root", lambda self: [self.image or "--rootfs=/skeleton"])
    monkeypatch.setattr(container.Container, "start", lambda self: open(os.devnull))
    if image:
        monkeypatch.setenv(container.IMAGE_VARIABLE, image)
    return container.Container(packages={})


@pytest.mark.parametrize("engine", ["podman", "docker"])
def test_the_protections_are_on_the_command_line(monkeypatch, tmp_path, engine):
    with _made(monkeypatch, tmp_path, engine) as launcher:
        line = " ".join(launcher._run_options("name", Limits(memory=1000, processes=7)))
    for wall in ("--network none", "--read-only", "--cap-drop all", "no-new-privileges", "--memory 1000",
                 "--memory-swap 1000", "--pids-limit 7", f"--user {bubblewrap.UNTRUSTED_USER}"):  # fmt: skip
        assert wall in line
    assert all(volume.endswith(":ro") for volume in re.findall(r"--volume (\S+)", line))
    assert "exercises" not in line and ("--http-proxy=false" in line) == (engine == "podman")


def test_an_image_brings_its_own_python_and_sees_nothing_of_this_machine_but_our_modules(monkeypatch, tmp_path):
    with _made(monkeypatch, tmp_path, "docker", image="course:1") as launcher:
        shown, program = launcher._shown(), launcher._program(Limits(), 0)
    package = Path(container.__file__).parents[1]
    assert all(place.is_relative_to(package) and place.is_file() for place in shown)
    assert "python3" in program and program[:2] == ["/usr/bin/env", "-i"]


def test_outside_linux_an_image_must_be_named(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxError, match=container.IMAGE_VARIABLE):
        _made(monkeypatch, tmp_path, "docker")


@pytest.mark.parametrize("line", [b"", b"[1]", b'{"exit": "0"}', b'{"exit": 1}', b'{"exit": 1, "cpu": NaN, "peak": 1}',
                                  b'{"exit": 1, "cpu": "x", "peak": 1}', b"{" * 5000])  # fmt: skip
def test_a_malformed_control_message_is_read_as_empty(line):
    assert container._message(line) == {}


def test_a_control_message_keeps_what_the_grader_reads():
    said = container._message(b'{"exit": -9, "cpu": 1.5, "peak": 4096, "other": [1]}')
    assert said == {"exit": -9, "cpu": 1.5, "peak": 4096}
