"""Process 1 of a container that is a sandbox: hands on what comes and goes, and dies with its grader.

    python -m autograde.sandbox.in_container '{limits…}'    stdin, stdout: the channel; stderr: JSON, a line per message

A container engine passes three pipes and no descriptors. So the sandbox's own channel and control socket end here: this
process copies bytes between the channel and the pipes, writes the control messages without their handles, and answers
SIGINT by interrupting the agent. It is not dumpable, so the student's code, which has the same user id, cannot read it.
"""

import contextlib
import json
import os
import select
import signal
import socket
import sys
import threading

from autograde.sandbox import isolation, syscalls

_CHUNK = 1 << 16
_SPARE_SECONDS = 60  # after the sandbox's own deadline, if the grader is gone and nobody ends the container


def main() -> None:
    limits = json.loads(sys.argv[1])
    channel, far_channel = socket.socketpair()
    control, far_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        for end in (channel, control):
            end.close()
        _run_sandbox(far_channel.detach(), far_control.detach(), limits)
    far_channel.close()
    far_control.close()
    syscalls.set_dumpable(False)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans are buried by the kernel
    signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
    signal.alarm(int(limits["wall_seconds"]) + _SPARE_SECONDS)
    threading.Thread(target=_copy_in, args=(channel,), daemon=True).start()
    _copy_out(channel, control)
    os._exit(0)  # the kernel ends all other processes in the container


def _run_sandbox(channel: int, control: int, limits: dict) -> None:
    """The pipes are the first process's alone. Never returns."""
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    syscalls.die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        from autograde.sandbox import agent  # imports IPython: before the sandbox counts as started

        shell = agent.make_shell()
    except Exception as error:  # an image that lacks a package, say
        os.write(control, json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
    isolation.run_init(channel, control, limits, shell)


def _copy_in(channel: socket.socket) -> None:
    """Forwards data from the grader; when it closes the pipe, the container ends."""
    with contextlib.suppress(OSError):
        while chunk := os.read(0, _CHUNK):
            channel.sendall(chunk)
    os._exit(0)


def _copy_out(channel: socket.socket, control: socket.socket) -> None:
    """Forwards data from the sandbox until its init ends for any reason; the last message comes after all others."""
    agents: list[int] = []

    def interrupt(*_):
        for handle in agents:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGINT)

    signal.signal(signal.SIGINT, interrupt)
    waiting = [channel, control]
    while control in waiting:
        for end in select.select(waiting, [], [])[0]:
            said = _copy(channel) if end is channel else _report(control, agents)
            if not said:
                waiting.remove(end)
    channel.setblocking(False)
    while channel in waiting and _copy(channel):
        continue


def _copy(channel: socket.socket) -> bool:
    """Whether there was anything; the far end may be closed, or silent."""
    try:
        chunk = channel.recv(_CHUNK)
    except (ConnectionError, BlockingIOError):
        return False
    _write(1, chunk)
    return bool(chunk)


def _report(control: socket.socket, agents: list[int]) -> bool:
    """One message of init; the second of the handles that may come with it stands for the agent."""
    message, handles, _, _ = socket.recv_fds(control, _CHUNK, 2)
    agents += handles[1:]
    if message:
        _write(2, message + b"\n")
    return bool(message)


def _write(stream: int, data: bytes) -> None:
    while data:
        data = data[os.write(stream, data) :]


if __name__ == "__main__":
    main()
