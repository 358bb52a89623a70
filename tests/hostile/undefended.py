"""A grader without defences, so that every attack can be seen to work: a plain process that runs what it is given.

To be safe all the same it runs as a user that owns nothing (through bubblewrap, which here takes nothing away but
write access and the rights of root), attacks are small (a "bomb" needs 600 MiB or 100 processes), and all of them end
within seconds.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from autograde.sandbox import bubblewrap

# A grader that executes code in its own process, seen from inside. It reports through fd 3.
_PROGRAM = """
import os, sys
if {user}:
    os.setgroups([]); os.setresgid({user}, {user}, {user}); os.setresuid({user}, {user}, {user})
    import ctypes; ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
print("THE BEGINNING", flush=True)
if os.fork():
    os.wait(); os._exit(0)
expected_answer = "CANARY-42"
secret_file = open({canary!r})
exec(compile({source!r}, "<attack>", "exec"), {{"__name__": "<plain>"}})
print("THE END")
"""
_HONEST = {"outputs": [{"kind": "stdout", "text": "honest"}], "error": None, "limit": None, "sizes": []}
TRUSTED = _HONEST | {"text": "honest"}  # what the trusting reader makes of the honest reply
_HONEST_REPLY = f"""
import json, os
head = json.dumps({_HONEST!r}).encode()
os.write(3, len(head).to_bytes(4, "big") + head)
"""


def run(source: str, environment: dict[str, str], canary: Path, outside: Path, seconds: float = 6.0) -> str:
    """The output of the attack."""
    with _start(source, environment, canary, outside, ()) as process:
        try:
            return process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            _stop(process)
            return process.communicate()[0]


def channel_reply(source: str, environment: dict[str, str], canary: Path, outside: Path, seconds: float = 3.0):
    """The result of a trusting reader at the other end of descriptor 3: a header, or the exception that ended it."""
    ours, theirs = socket.socketpair()
    ours.settimeout(seconds)
    moved = f"import os\nos.dup2({theirs.fileno()}, 3)\n" + source + _HONEST_REPLY
    with ours, theirs, _start(moved, environment, canary, outside, (theirs.fileno(),)) as process:
        theirs.close()
        try:
            return _trusting_read(ours)
        except Exception as error:  # any exception that ends the trusting reader shows that the attack works
            return error
        finally:
            _stop(process)


def _trusting_read(line: socket.socket) -> dict:
    header = json.loads(line.recv(int.from_bytes(line.recv(4), "big")))
    buffers = [line.recv(size) for size in header["sizes"]]
    header["text"] = "".join(output["text"] for output in header["outputs"] if output["kind"] == "stdout")
    header["text"].encode()
    return header | ({"buffers": len(buffers)} if buffers else {})


def _start(source, environment, canary, outside, descriptors) -> subprocess.Popen:
    user = bubblewrap.UNTRUSTED_USER if os.geteuid() == 0 else 0
    program = _PROGRAM.format(user=user, canary=str(canary), source=source)
    words = [bubblewrap.find(), "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--die-with-parent"]
    if user:
        words += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
        if str(sys.base_prefix).startswith("/root/"):  # a folder that only root may enter: show what is in it
            words += ["--tmpfs", "/root", "--chmod", "0755", "/root"]
            for folder in bubblewrap.python_folders():
                words += [*bubblewrap.parents(folder), "--ro-bind", str(folder), str(folder)]
    words += ["--chdir", str(outside), sys.executable, "-c", program]
    return subprocess.Popen(
        words,
        env={"PATH": "/usr/bin:/bin", "HOME": str(outside), **environment},
        pass_fds=descriptors,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _stop(process: subprocess.Popen) -> None:
    """The whole group: changing the user has cleared the signal that would follow a parent's death."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
