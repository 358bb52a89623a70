"""Sandboxes without a zygote, the doctor, control groups, and what may not start."""
# ruff: noqa: F811 (fixtures of another file)

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sandbox_case import QUICK, SMALL, sandbox, zygote  # noqa: F401 (fixtures)

from autograde.common.errors import SandboxEnded, SandboxError
from autograde.sandbox import bubblewrap, cgroups, doctor, launchers
from autograde.sandbox.limits import FROM_OUTSIDE, MEMORY, Limits

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_without_a_zygote_a_sandbox_has_the_same_protections(zygote, monkeypatch):
    monkeypatch.setenv("AUTOGRADE_TEST_SECRET", "secret")
    with launchers.Bubblewrap(packages={}) as launcher, launcher.start(QUICK) as sandbox:
        code = "import os, socket\nprint(os.getppid(), 'AUTOGRADE_TEST_SECRET' in os.environ, os.getuid() == 0)"
        assert sandbox.run_cell(code).stdout == "1 False False\n"
        assert sandbox.run_cell("socket.socket()").error.name == "PermissionError"
        assert sandbox.run_cell("print(open('/proc/1/environ').read())").error.name == "PermissionError"


def test_another_installed_copy_of_the_course_is_found_and_covered(zygote, monkeypatch, tmp_path):
    """A course in the environment, and the grader run from a checkout: its references were shown to every sandbox."""
    folder = tmp_path / "env/lib/python3.12/site-packages/autograde"
    (folder / "exercises").mkdir(parents=True)
    (folder / "exercises/references.py").write_text("ANSWER = 42")
    monkeypatch.setattr(
        bubblewrap, "python_folders", lambda real=bubblewrap.python_folders: [*real(), tmp_path / "env"]
    )
    (finding,) = doctor._other_copies()
    assert finding.ok and str(folder) in finding.detail
    with launchers.Zygote(packages={}, preload=SMALL) as launcher, launcher.start(QUICK) as sandbox:
        code = f"import os\nprint(os.path.isdir({str(folder.parent)!r}), os.path.isdir({str(folder)!r} + '/exercises'))"
        assert sandbox.run_cell(code).stdout == "True False\n"


def test_trusting_submissions_says_what_that_means():
    lines = []
    with launchers.open_launcher(trust=True, tell=lines.append) as launcher, launcher.start(QUICK) as sandbox:
        assert "NO SANDBOX" in lines[0] and "your files" in lines[0]
        assert sandbox.run_cell("print(1)").stdout == "1\n"


def test_without_bubblewrap_nothing_is_run_and_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    lines = []
    with pytest.raises(SandboxError, match="nothing is run"):
        launchers.open_launcher(tell=lines.append)
    assert len(lines) == 3 and all(bubblewrap.install_command() in line for line in lines[:2])
    assert "neither podman nor docker is installed" in lines[2]


def test_a_bubblewrap_that_may_not_start_gives_its_reason_and_no_traceback(monkeypatch, tmp_path):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tracebacks = []
    monkeypatch.setattr(threading, "excepthook", tracebacks.append)
    before = set(threading.enumerate())
    with pytest.raises(SandboxError, match="No permissions to create new namespace"):
        launchers.Bubblewrap()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert not tracebacks


def test_without_any_way_to_make_sandboxes_the_doctor_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    grave = [finding for finding in doctor.examine() if finding.grave and not finding.ok]
    assert [finding.name for finding in grave] == ["sandboxes"]
    assert grave[0].remedy == bubblewrap.install_command()


def test_the_doctors_remedy_names_settings_of_the_kernel():
    settings = re.findall(r"sysctl (\S+)=", doctor._FIX_NAMESPACES)
    assert len(settings) == 3 and all(name.startswith(("kernel.", "user.")) for name in settings)


@pytest.mark.slow
def test_the_doctor_tries_every_protection_and_finds_them_here(zygote):
    findings = doctor.examine()
    assert len(findings) > 15
    assert [str(finding) for finding in findings if finding.grave and not finding.ok] == []


@pytest.mark.slow
def test_the_doctor_sees_a_missing_protection(monkeypatch):
    monkeypatch.setenv(doctor._SECRET, "visible")
    monkeypatch.chdir(ROOT)
    harmless = {"environment", "files", "references", "network", "other processes", "nested namespaces"}
    with launchers.TrustSubmissions() as launcher:
        findings = [finding for finding in doctor._try_all(launcher, harmless) if finding.ok]
    assert findings == []


@pytest.mark.parametrize(
    ("controllers", "said"),
    [
        ("memory pids cpu", ""),
        ("hugetlb pids", "does not have memory among its controllers"),
        (None, "expected a control group of version 2, got "),
    ],
)
def test_the_doctor_tells_what_a_named_control_group_lacks(monkeypatch, tmp_path, controllers, said):
    monkeypatch.setenv("AUTOGRADE_CGROUP", str(tmp_path / "group"))
    if controllers:
        (tmp_path / "group").mkdir()
        (tmp_path / "group/cgroup.controllers").write_text(controllers)
    found = doctor._cgroup()
    assert found.ok == (not said) and said in found.detail


def test_a_control_group_that_cannot_be_used_is_named_without_a_traceback(monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOGRADE_CGROUP", str(tmp_path / "none"))
    with pytest.raises(SandboxError, match="none: expected a control group of version 2"):
        cgroups.delegated()


@pytest.fixture
def group(monkeypatch, zygote):
    """A real control group for the sandboxes of `zygote`."""
    parents = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
    able = [path for path in parents if (path / "cgroup.controllers").exists() and os.access(path, os.W_OK)]
    if not able:
        pytest.skip("no control group of version 2 can be made here")
    group = able[0] / f"autograde-test-{os.getpid()}"
    group.mkdir()
    try:
        monkeypatch.setenv("AUTOGRADE_CGROUP", str(group))
        monkeypatch.setattr(zygote, "_cgroups", cgroups.delegated())
        yield group
    finally:
        group.rmdir()


def test_a_delegated_control_group_takes_the_sandbox_and_is_gone_afterwards(group, zygote):
    with zygote.start(QUICK) as sandbox:
        [child] = [path for path in group.iterdir() if path.is_dir()]
        assert str(sandbox.pid) in (child / "cgroup.procs").read_text().split()
    assert [path for path in group.iterdir() if path.is_dir()] == []


NARROW = Limits(cell_seconds=60, wall_seconds=120, memory=200 << 20)
_EATERS = """
import os, time
mib = 1 << 20
for _ in range(2):  # each process stays below the limit of one
    if os.fork() == 0:
        full = bytearray(b"x") * (60 * mib)
        time.sleep(60)
        os._exit(0)
time.sleep(1)
full = bytearray(b"x") * (95 * mib)  # the largest of the three: the kernel ends this one
"""


@pytest.fixture
def memory_group(group):
    """The same, where the kernel limits memory in it."""
    if "memory" not in (group.parent / "cgroup.subtree_control").read_text().split():
        pytest.skip("the machine's root group does not hand on its limit on memory")
    return group


def test_a_program_that_the_kernel_ends_for_its_own_groups_memory_is_over_its_limit(memory_group, monkeypatch, zygote):
    """No look at the processes from outside: the kernel's own evidence alone."""
    with zygote.start(NARROW) as sandbox:
        monkeypatch.setattr(sandbox._watch, "over", lambda: None)
        with pytest.raises(SandboxEnded):
            sandbox.run_cell(_EATERS)
    assert sandbox.ended.reason == MEMORY


def test_a_program_that_the_kernel_ends_for_others_memory_was_killed_from_outside(memory_group, zygote):
    """The group above, and not the sandbox's own, is short of memory: this is not the student's doing."""
    for name, most in (("memory.max", 100 << 20), ("memory.swap.max", 0)):
        if (memory_group / name).exists():
            (memory_group / name).write_text(str(most))
    with zygote.start(NARROW) as sandbox:
        assert sandbox.run_cell("x = bytearray(b'x') * (20 << 20)").error is None
        with pytest.raises(SandboxEnded):
            sandbox.run_cell("x = bytearray(b'x') * (120 << 20)")
    assert sandbox.ended.reason in FROM_OUTSIDE


def test_an_ordinary_user_can_make_sandboxes():
    user = bubblewrap.UNTRUSTED_USER if os.geteuid() == 0 else None
    program = (
        "from autograde.sandbox.launchers import Zygote\n"
        "with Zygote(packages={}, preload=()) as zygote, zygote.start() as sandbox:\n"
        "    print(sandbox.run_cell('import os; print(os.getuid())').stdout)"
    )
    try:
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, user=user, group=user, capture_output=True,
                              text=True, timeout=60, extra_groups=[] if user else None)  # fmt: skip
    except PermissionError:
        pytest.skip("this Python lies in a folder that only root may enter")
    assert done.stdout.strip() == str(user or os.getuid()), done.stderr


@pytest.mark.exhaustive
def test_tensorflow_works_in_sandboxes_that_start_in_less_than_a_sixth_of_a_second():
    with launchers.Zygote() as launcher:
        times = []
        for _ in range(5):
            began = time.perf_counter()
            sandbox = launcher.start()
            times.append(time.perf_counter() - began)
            with sandbox:
                code = "import keras\nprint(keras.ops.sum(keras.layers.Dense(3)(keras.ops.ones((2, 4)))).shape)"
                assert sandbox.run_cell(code).stdout == "()\n"
        assert min(times) < 0.15
        loop = (
            "import tensorflow as tf\n@tf.function(jit_compile=True)\ndef endless(x):\n"
            "    return tf.while_loop(lambda i: i >= 0, lambda i: [i * 0], [x])\nendless(tf.constant(1))"
        )
        with launcher.start(Limits(grace_seconds=1)) as sandbox, pytest.raises(SandboxEnded, match="wall clock"):
            sandbox.run_cell(loop, seconds=4)


def test_a_zygote_that_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr(bubblewrap, "command", lambda *_: ["sh", "-c", "echo no numpy here >&2; exit 1"])
    with pytest.raises(SandboxError, match="no numpy here"):
        launchers.Zygote(packages={})
