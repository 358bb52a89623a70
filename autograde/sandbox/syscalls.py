"""The few Linux system calls that Python has no name for. Each raises OSError with its own name on failure.

Numbers are from the kernel's user-space headers (linux/sched.h, linux/mount.h, linux/prctl.h, linux/capability.h).
"""

import ctypes
import os

NEW_NAMESPACES = {
    "mount": 0x0002_0000,
    "cgroup": 0x0200_0000,
    "uts": 0x0400_0000,
    "ipc": 0x0800_0000,
    "user": 0x1000_0000,
    "pid": 0x2000_0000,
    "net": 0x4000_0000,
}
READ_ONLY, NO_SETUID, NO_DEVICES, NO_EXECUTABLES = 1, 2, 4, 8
BIND, RECURSIVE, PRIVATE = 4096, 16384, 1 << 18

_PARENT_DEATH_SIGNAL, _DUMPABLE, _DROP_BOUNDING, _NO_NEW_PRIVILEGES, _AMBIENT = 1, 4, 24, 38, 47
_CLEAR_AMBIENT = 4
_CAPABILITY_VERSION_3 = 0x2008_0522

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(*names: str) -> None:
    """Moves this process into new namespaces (a new pid namespace begins with its next child)."""
    _check(_libc.unshare(sum(NEW_NAMESPACES[name] for name in names)), f"unshare {' '.join(names)}")


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    *encoded, data = [text.encode() if text else None for text in (source, target, kind, options)]
    _check(_libc.mount(*encoded, ctypes.c_ulong(flags), data), f"mount {source} {target}")


def prctl(option: int, *arguments: int) -> None:
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    _check(_libc.prctl(option, *padded), f"prctl {option}")


def die_with_parent(signal: int) -> None:
    prctl(_PARENT_DEATH_SIGNAL, signal)


def set_dumpable(yes: bool) -> None:
    """Whether same-user processes may open this one's /proc files (memory, environment, descriptors)."""
    prctl(_DUMPABLE, int(yes))


def forbid_new_privileges() -> None:
    """No set-uid program run from here gains anything; also what lets an ordinary user install a seccomp filter."""
    prctl(_NO_NEW_PRIVILEGES, 1)


def drop_capabilities(bounding: bool = True) -> None:
    """Empties every capability set. `bounding` needs CAP_SETPCAP, which a fresh user namespace gives."""
    if bounding:
        with open("/proc/sys/kernel/cap_last_cap") as file:
            last = int(file.read())
        for capability in range(last + 1):
            prctl(_DROP_BOUNDING, capability)
    prctl(_AMBIENT, _CLEAR_AMBIENT)
    head = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(head, (ctypes.c_uint32 * 6)()), "capset")
