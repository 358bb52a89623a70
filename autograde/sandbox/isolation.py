"""Turns a process into a sandbox. Three roles, each a fork of the one before:

    keeper   (zygote mode only) moves into fresh namespaces and furnishes them
    init     process 1 of the sandbox: starts the agent, buries orphans, reports how the agent ended. When it ends,
             the kernel kills all other processes in its pid namespace: nothing outlives a sandbox
    agent    no capabilities, resource limits, a system-call filter; runs the student's code

Keeper and init run our code only. They have the same user id as the agent, which cannot touch them all the same: the
keeper is in another pid namespace, and init is not dumpable (its /proc files belong to root) and, being process 1,
gets no signal from inside.
"""

import contextlib
import importlib.util
import json
import os
import random
import resource
import select
import signal
import socket
import sys

from autograde.sandbox import seccomp, syscalls

HOME = "/home/student"
_SPARE_ADDRESS_SPACE = 4 << 30  # TensorFlow's thread stacks and malloc arenas are reserved, not used
_REAP_INTERVAL = 500  # milliseconds between two burials of orphans
_MAX_DESCRIPTORS = 1 << 20  # the kernel's default ceiling (fs.nr_open); closing is one system call
_AGENT_FAILED = 70  # exit code, as sysexits.h has it for "internal software error"
_LOW_PRIORITY_FOR_LIFE = "1000"  # oom_score_adj: if the machine runs out of memory, the sandbox goes first


def enter_namespaces() -> None:
    """A user namespace of our own, and in it all the others. Needs a single-threaded process."""
    user, group = os.getuid(), os.getgid()
    syscalls.unshare("user", "mount", "pid", "net", "ipc", "uts", "cgroup")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    syscalls.mount(None, "/", flags=syscalls.RECURSIVE | syscalls.PRIVATE)


def mount_disk(limits: dict) -> None:
    """One small disk, /tmp; /dev/shm and the working folder are parts of it, so one limit holds for all three."""
    options = f"size={limits['disk']},nr_inodes={limits['inodes']},mode=1777"
    covered = {folder: os.open(folder, os.O_PATH) for folder in limits["keep"]}
    syscalls.mount("tmpfs", "/tmp", "tmpfs", syscalls.NO_SETUID | syscalls.NO_DEVICES, options)
    for folder, handle in covered.items():  # a Python environment that itself lies under /tmp
        os.makedirs(folder)
        syscalls.mount(f"/proc/self/fd/{handle}", folder, flags=syscalls.BIND | syscalls.RECURSIVE)
        os.close(handle)
    for part, target in (("/tmp/.shm", "/dev/shm"), ("/tmp/.home", HOME)):
        os.mkdir(part)
        syscalls.mount(part, target, flags=syscalls.BIND)


def cover(modules: list[str]) -> None:
    """Puts empty folders over the files of these modules: what is loaded stays, nothing more can be read or loaded, by
    any process of the sandbox in any way, since nobody in it may unmount."""
    for name in modules:
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:  # its package is not installed
            spec = None
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            options = "size=0,nr_inodes=1,mode=0555"
            syscalls.mount("tmpfs", folder, "tmpfs", syscalls.READ_ONLY | syscalls.NO_SETUID, options)
        if spec and spec.has_location and not spec.submodule_search_locations:
            for file in filter(os.path.exists, (spec.origin, importlib.util.cache_from_source(spec.origin))):
                syscalls.mount("/dev/null", file, flags=syscalls.BIND)


def lock_down() -> None:
    """In init: a /proc that shows this sandbox only, no more user namespaces, no capabilities."""
    syscalls.mount("proc", "/proc", "proc", syscalls.NO_SETUID | syscalls.NO_DEVICES | syscalls.NO_EXECUTABLES)
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")
    syscalls.drop_capabilities()


def run_init(channel: int, control: int, limits: dict, shell) -> None:
    """Starts the agent with this shell, hands the trusted side a handle on both processes, waits. Never returns.

    Two messages go out on the control socket: {"started"} with a pidfd of each process, and at the end
    {"exit", "cpu", "peak"}; or {"failed"}.
    """
    reports = socket.socket(fileno=control)
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        syscalls.forbid_new_privileges()
        syscalls.set_dumpable(False)
        child = os.fork()
        if child == 0:
            _start_agent(channel, reports, limits, shell)
        os.close(channel)
        handles = [os.pidfd_open(os.getpid()), os.pidfd_open(child)]
        socket.send_fds(reports, [json.dumps({"started": True}).encode()], handles)
        for handle in handles:
            os.close(handle)
        status = _wait_for(child, reports)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = {"exit": os.waitstatus_to_exitcode(status), "cpu": usage.ru_utime + usage.ru_stime}
        reports.send(json.dumps({**report, "peak": usage.ru_maxrss * 1024}).encode())
    except OSError as error:
        with contextlib.suppress(OSError):  # the trusted side may be gone; then nobody is left to tell
            reports.send(json.dumps({"failed": str(error)}).encode())
    os._exit(0)


def _wait_for(child: int, reports: socket.socket) -> int:
    """Buries the sandbox's orphans until the agent ends, and ends it when the trusted side lets go. Its wait status."""
    waiting = select.poll()
    waiting.register(reports, select.POLLIN)  # the trusted side never writes: readable means closed
    waiting.register(os.pidfd_open(child), select.POLLIN)
    while True:
        for descriptor, _ in waiting.poll(_REAP_INTERVAL):
            if descriptor == reports.fileno():
                os.kill(child, signal.SIGKILL)
        pid = -1
        while pid:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == child:
                return status


def _start_agent(channel: int, reports: socket.socket, limits: dict, shell) -> None:
    """In the agent's process, before any student code: everything that cannot be taken back. Never returns."""
    from autograde.sandbox.agent import Agent  # imported before, to make the shell

    try:
        syscalls.set_dumpable(True)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # how the trusted side stops a cell
        os.setsid()
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(_LOW_PRIORITY_FOR_LIFE)
        os.chdir(HOME if limits["own_disk"] else os.environ["HOME"])
        _limit_resources(limits)
        seed = limits["seed"]  # in place of the zygote's random state, which every sandbox would share
        seed = int.from_bytes(os.urandom(4), "little") if seed is None else seed
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)
        if limits["filter"]:
            seccomp.install()
    except Exception as error:
        reports.send(json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
        os._exit(0)
    reports.detach()
    code = _AGENT_FAILED
    try:
        Agent(_close_other_descriptors(channel), shell, limits).serve()
        code = 0
    finally:  # student code may have changed the agent: this process must never return into our code
        os._exit(code)


def _close_other_descriptors(channel: int) -> int:
    """Standard streams lead nowhere, the channel is 3, all else is closed."""
    null = os.open("/dev/null", os.O_RDWR)
    moved = os.dup(channel) if channel < 3 else channel
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    if moved != 3:
        os.dup2(moved, 3)
    os.closerange(4, _MAX_DESCRIPTORS)
    return 3


def _limit_resources(limits: dict) -> None:
    """Limits of one process; those of the whole sandbox are the trusted side's (watch.py) or a cgroup's."""
    with open("/proc/self/statm") as file:
        pages = file.read().split()
    mapped, writable = int(pages[0]) * resource.getpagesize(), int(pages[5]) * resource.getpagesize()
    cpu = int(limits["cpu_seconds"]) + 1
    for name, value in (
        ("AS", mapped + limits["memory"] + _SPARE_ADDRESS_SPACE),
        ("DATA", writable + limits["memory"]),  # past this, honest code gets a MemoryError
        ("NPROC", limits["processes"]),
        ("FSIZE", limits["file_size"]),
        ("NOFILE", limits["open_files"]),
        ("CPU", cpu),
        ("CORE", 0),
        ("MSGQUEUE", 0),
        ("MEMLOCK", 1 << 20),
    ):
        number = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (value, value))
