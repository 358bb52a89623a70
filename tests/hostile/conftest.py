"""The surroundings of the attacks: canaries outside the sandbox, servers to talk to, a process to hurt, a sandbox."""

import os
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from sandbox_case import small_zygote

from autograde.sandbox import bubblewrap, seccomp

CANARY = "CANARY-7f3a91"
SECRET_NAME = "AUTOGRADE_HOSTILE_SECRET"


def _server(family, address):
    """Answers every connection with the canary; returns the socket."""
    server = socket.socket(family)
    server.bind(address)
    server.listen()

    def serve():
        while True:
            try:
                line, _ = server.accept()
            except OSError:  # closed at the end of the tests
                return
            with line:
                line.sendall(CANARY.encode())

    threading.Thread(target=serve, daemon=True).start()
    return server


@pytest.fixture(scope="session")
def world():
    """Everything outside the sandbox that an attack could want. Every attack gets `settings`."""
    os.environ[SECRET_NAME] = CANARY
    # not under pytest's own folder: that one is closed to other users, which would hide the file for another reason
    with tempfile.TemporaryDirectory(prefix="autograde-hostile-", dir="/var/tmp") as folder:
        outside = Path(folder)
        outside.chmod(0o777)
        _furnish(outside)
        shared = Path(f"/dev/shm/autograde-hostile-canary-{os.getpid()}")
        shared.write_text(CANARY)
        servers = [
            _server(socket.AF_INET, ("127.0.0.1", 0)),
            _server(socket.AF_INET6, ("::1", 0)),
            _server(socket.AF_UNIX, f"\0autograde-hostile-{os.getpid()}"),
            _server(socket.AF_UNIX, str(outside / "socket")),
        ]
        (outside / "socket").chmod(0o777)
        victim = _victim()
        settings = {
            "SECRET_NAME": SECRET_NAME, "CANARY_FILE": str(outside / "canary"), "OUTSIDE": folder,
            "MY_FILE": str(outside / "mine"), "SHARED_FILE": str(shared), "SHARED_TMP": "/tmp", "VICTIM": victim.pid,
            "PORT_4": servers[0].getsockname()[1], "PORT_6": servers[1].getsockname()[1],
            "ABSTRACT_SOCKET": f"\0autograde-hostile-{os.getpid()}", "PATH_SOCKET": str(outside / "socket"),
            "NUMBERS": {name: seccomp.number(name) for name in (*seccomp.DENIED, "clone", "clone3")}, "CHANNEL": 3,
            "GRADER_PATHS": [str(Path(__file__).parents[2])],
        }  # fmt: skip
        world = SimpleNamespace(outside=outside, scratch=outside / "scratch", settings=settings, victim=victim)
        world.repair = lambda: _repair(world)
        yield world
        world.victim.kill()
        world.victim.wait()
        shared.unlink()
        for server in servers:
            server.close()
    del os.environ[SECRET_NAME]


def _furnish(outside):
    for name in ("canary", "mine", "gradebook.db"):
        (outside / name).write_text(CANARY)
        (outside / name).chmod(0o666)
    if os.geteuid() == 0:
        os.chown(outside / "mine", bubblewrap.UNTRUSTED_USER, bubblewrap.UNTRUSTED_USER)
    (outside / "scratch").mkdir(exist_ok=True)
    (outside / "scratch").chmod(0o1777)
    (outside / "scratch" / "made-by-the-tests").touch()


def _repair(world):
    """After an attack that worked: the world as it was."""
    for path in sorted(world.outside.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
        elif path.name != "socket":
            path.unlink()
    _furnish(world.outside)
    if world.victim.poll() is not None:
        world.victim = _victim()
        world.settings["VICTIM"] = world.victim.pid


def _victim():
    """A process of the user that attacks run as."""
    user = bubblewrap.UNTRUSTED_USER if os.geteuid() == 0 else None
    return subprocess.Popen(["sleep", "600"], user=user, group=user, extra_groups=[] if user else None)


@pytest.fixture(scope="session")
def launcher(world):
    """A zygote with the small packages only: TensorFlow's seconds are spent in the exhaustive tests."""
    with small_zygote() as zygote:
        yield zygote
