"""A process that has imported everything once and forks a sandbox per request. Runs inside bubblewrap.

    python -m autograde.sandbox.zygote CONTROL_FD '{"user": 64999 or null, "preload": [...]}'
    python -m autograde.sandbox.zygote CHANNEL_FD CONTROL_FD '{limits…, "user": … or null}'    no zygote: one sandbox

A zygote never runs a TensorFlow operation and never starts a thread: a fork copies one thread only, and a lock held by
another at that moment would stay locked for ever. It holds no secret: bubblewrap clears its environment, its requests
are limits, and every sandbox gets a copy of its memory. A request is one message on the control socket: a JSON dict of
limits with two descriptors, the sandbox's end of the channel and of its own control socket. One sandbox alone is used
where a fork cannot make its own namespaces: bubblewrap has made them (or, with --trust-submissions, nobody has).
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys

from autograde.sandbox import isolation, syscalls


def drop_root(user: int | None) -> None:
    """Mounts /proc and, started as root, becomes an ordinary user for good (bubblewrap left root just enough)."""
    if user is not None:
        syscalls.mount("proc", "/proc", "proc", syscalls.NO_SETUID | syscalls.NO_DEVICES | syscalls.NO_EXECUTABLES)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        syscalls.set_dumpable(True)  # or /proc/self would still belong to root
    syscalls.drop_capabilities(bounding=False)


def run_alone(channel: int, control: int, limits: dict) -> None:
    """Makes this process a sandbox. Never returns."""
    if limits["isolated"]:
        drop_root(limits["user"])
    syscalls.die_with_parent(signal.SIGKILL)  # after a change of user, which clears it
    from autograde.sandbox import agent  # imports IPython before the sandbox counts as started: no deadline runs yet

    isolation.run_init(channel, control, limits, agent.make_shell())


def serve(control: socket.socket, user: int | None, preload: list[str]) -> None:
    """Forks sandboxes until the control socket is closed."""
    drop_root(user)
    for name in preload:
        with contextlib.suppress(ImportError):  # of one that is not installed the student's own import will tell
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # the collector would otherwise write to, and so copy, every shared page
    from autograde.sandbox import agent  # only now: it imports IPython

    shell = agent.make_shell()
    threads = len(os.listdir("/proc/self/task"))
    control.send(json.dumps({"ready": threads == 1, "threads": threads}).encode())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended keepers are buried by the kernel
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 65536, 2)
        if not message:
            return
        if os.fork() == 0:
            control.close()
            supervise(json.loads(message), *descriptors, shell)
        for descriptor in descriptors:
            os.close(descriptor)


def supervise(limits: dict, channel: int, control: int, shell) -> None:
    """In a fork of the zygote: makes the sandbox and waits for it. Never returns."""
    try:
        syscalls.die_with_parent(signal.SIGKILL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        isolation.enter_namespaces()
        isolation.mount_disk(limits)
        isolation.cover(limits["covered"])
        child = os.fork()
        if child == 0:
            syscalls.die_with_parent(signal.SIGKILL)
            isolation.lock_down()
            isolation.run_init(channel, control, limits, shell)
        os.close(channel)
        os.close(control)
        os.waitpid(child, 0)
    except OSError as error:
        socket.socket(fileno=control).send(json.dumps({"failed": str(error)}).encode())
    os._exit(0)


if __name__ == "__main__":
    *descriptors, settings = sys.argv[1:]
    if len(descriptors) == 2:
        run_alone(*map(int, descriptors), json.loads(settings))
    serve(socket.socket(fileno=int(descriptors[0])), **json.loads(settings))
