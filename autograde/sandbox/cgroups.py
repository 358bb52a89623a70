"""Limits on a whole sandbox by the kernel, where a control group (version 2) has been delegated to the grader.

Without one watch.py ends a sandbox that is over its limits a tenth of a second late; with one the kernel does it at
once, and memory in the page cache counts too. Two ways to get a delegated group:

    systemd-run --user --scope -p Delegate=yes autograde grade …
    AUTOGRADE_CGROUP=/sys/fs/cgroup/some/group autograde grade …     a group made for it by an administrator

Root could write to every group, so root has to name one.
"""

import contextlib
import itertools
import os
import time
from collections.abc import Iterable
from pathlib import Path

from autograde.common.errors import SandboxError

_ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS = ("memory", "pids")
_names = itertools.count()


def delegated() -> "Delegated | None":
    """The group given to this process, ready for sandboxes, or None. Raises SandboxError for one of no use."""
    group = _given()
    try:
        return Delegated(group) if group else None
    except OSError as reason:
        raise SandboxError(
            f"{group}: expected a control group of version 2 that this user may write to ({reason.strerror}); name "
            "another in AUTOGRADE_CGROUP, or none"
        ) from None


def lacking() -> str:
    """Why the kernel does not limit the memory of a whole sandbox here; "" if it does. Changes nothing."""
    group = _given()
    if group is None:
        return "not delegated"
    try:
        available = (group / "cgroup.controllers").read_text().split()
    except OSError as reason:
        return f"expected a control group of version 2, got {group} ({reason.strerror})"
    missing = [name for name in _CONTROLLERS if name not in available]
    return f"{group} does not have {' and '.join(missing)} among its controllers" if missing else ""


def _given() -> Path | None:
    named = os.environ.get("AUTOGRADE_CGROUP")
    if named or os.geteuid() == 0:
        return Path(named) if named else None
    with open("/proc/self/cgroup") as file:
        own = next((line[3:].strip() for line in file if line.startswith("0::")), "/")
    group = _ROOT / own.lstrip("/")
    return group if own != "/" and os.access(group / "cgroup.subtree_control", os.W_OK) else None


class Delegated:
    """A group whose children we may make."""

    def __init__(self, group: Path):
        self.group = group
        available = (group / "cgroup.controllers").read_text().split()
        self.controllers = [name for name in _CONTROLLERS if name in available]
        inside = (group / "cgroup.procs").read_text().split()
        if self.controllers and inside:  # a group that delegates controllers may contain none: all move one level down
            own = group / "autograde-grader"
            own.mkdir(exist_ok=True)
            for pid in inside:
                with contextlib.suppress(ProcessLookupError):
                    (own / "cgroup.procs").write_text(pid)
        (group / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in self.controllers))

    def new(self, limits) -> "Group":
        """A group for one sandbox."""
        group = self.group / f"autograde-{os.getpid()}-{next(_names)}"
        group.mkdir()
        wanted = {"memory.max": limits.memory, "memory.swap.max": 0, "pids.max": limits.processes}
        for name, value in wanted.items():
            if (group / name).exists():
                (group / name).write_text(str(value))
        return Group(group)


class Group:
    """One sandbox's group."""

    def __init__(self, path: Path):
        self.path = path

    def take(self, pids: Iterable[int]) -> None:
        """Puts these processes in; their later children follow by themselves."""
        for pid in pids:
            (self.path / "cgroup.procs").write_text(str(pid))

    def killed_for_memory(self) -> bool:
        """Whether the kernel killed a process here because the group was over its own limit."""
        events = self.path / "memory.events.local"
        counts = dict(line.split() for line in events.read_text().splitlines()) if events.exists() else {}
        own_limit_reached = int(counts.get("oom", 0)) > 0  # a machine that is short of memory raises oom_kill alone
        return own_limit_reached and int(counts.get("oom_kill", 0)) > 0

    def remove(self) -> None:
        """Kills what is left in it and takes it away."""
        (self.path / "cgroup.kill").write_text("1")
        for _ in range(100):
            try:
                self.path.rmdir()
                return
            except OSError:  # its last processes are still dying
                time.sleep(0.02)
