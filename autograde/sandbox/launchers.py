"""Ways to make sandboxes, best first. `open_launcher()` takes the first that works here and says which, out loud.

with open_launcher() as launcher:          # one per grader process
    with launcher.start(Limits()) as sandbox:
        ...
"""

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from autograde.common.errors import AutogradeError, SandboxError
from autograde.sandbox import bubblewrap, cgroups, seccomp
from autograde.sandbox.client import Sandbox
from autograde.sandbox.limits import DEFAULT_LIMITS, Limits

# The modules of the library that stand-ins for earlier notebooks need: its files may be covered (`Limits.covered`).
LIBRARY = (
    "bertlab.data.pretraining.masking", "bertlab.data.tasks.features", "bertlab.data.tasks.metrics",
    "bertlab.data.tasks.metrics_squad", "bertlab.families.bert", "bertlab.layers", "bertlab.models",
    "bertlab.models.outline", "bertlab.tokenizers.wordpiece.basic", "bertlab.tokenizers.wordpiece.encoding",
    "bertlab.tokenizers.wordpiece.graph", "bertlab.tokenizers.wordpiece.learner",
    "bertlab.training.objectives", "bertlab.training.recipes.optimizer", "bertlab.training.recipes.schedule",
)  # fmt: skip
PRELOAD = ("numpy", "tensorflow", "keras", "tensorflow_text", "matplotlib.pyplot", "matplotlib_inline.backend_inline",
           "IPython.core.interactiveshell", "safetensors.numpy", *LIBRARY)  # fmt: skip
_READY = 180.0  # seconds that the imports may take, on a cold and busy machine


class Launcher(ABC):
    """A way to make sandboxes. `kind` names it; `description` is what the instructor must know about it."""

    kind = ""
    description = ""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self) -> None:  # noqa: B027 - most keep nothing
        """Ends what the launcher keeps running."""

    @abstractmethod
    def start(self, limits: Limits = DEFAULT_LIMITS, seed: int | None = None) -> Sandbox:
        """A fresh sandbox. The same seed gives the sandbox's random generators the same state. Raises SandboxError."""


def default_packages() -> dict[str, Path]:
    """Packages shown to sandboxes besides the Python environment: the course's own library, where installed."""
    spec = find_spec("bertlab")
    return {"bertlab": Path(spec.origin).parent} if spec else {}


def request_of(limits: Limits, seed: int | None, own_disk: bool = False) -> dict:
    """The limits as the processes inside get them. own_disk: they make the one disk of the sandbox themselves."""
    return {**asdict(limits), "seed": seed, "filter": seccomp.supported(), "own_disk": own_disk}


def _socket_pairs() -> tuple[tuple[socket.socket, socket.socket], tuple[socket.socket, socket.socket]]:
    return socket.socketpair(), socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class Zygote(Launcher):
    """Sandboxes in a few hundredths of a second: forks of one process that has imported everything."""

    kind = "zygote"
    description = "Sandboxes are forks of a warm process inside bubblewrap, each with namespaces of its own."

    def __init__(self, packages: dict[str, Path] | None = None, preload=PRELOAD, threads: int = 2):
        self._lock = threading.Lock()
        self._process = None
        self._cgroups = cgroups.delegated()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings = json.dumps({"user": _user(), "preload": list(preload)})
        program = [sys.executable, "-P", "-m", "autograde.sandbox.zygote", str(theirs.fileno()), settings]
        packages = default_packages() if packages is None else packages
        words = bubblewrap.command(program, bubblewrap.sandbox_environment(threads), packages)
        with theirs:
            self._control, self._process = ours, _spawn(words, theirs)
        try:
            ready = select.select([self._control], [], [], _READY)[0]
            message = json.loads(self._control.recv(4096) or b"{}") if ready else {}
            if not message.get("ready"):
                raise SandboxError(_startup_error(message, self._process))
        except BaseException:
            self.close()
            raise

    def start(self, limits: Limits = DEFAULT_LIMITS, seed: int | None = None) -> Sandbox:
        (channel, far_channel), (control, far_control) = _socket_pairs()
        request = request_of(limits, seed, own_disk=True)
        request["keep"] = [str(folder) for folder in bubblewrap.python_folders() if folder.is_relative_to("/tmp")]
        with far_channel, far_control:
            try:
                with self._lock:
                    descriptors = [far_channel.fileno(), far_control.fileno()]
                    socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
            except OSError as error:
                raise SandboxError(f"the zygote is gone ({error.strerror}); start another") from None
        group = self._cgroups.new(limits) if self._cgroups else None
        return Sandbox(limits, channel, control, group)

    def close(self) -> None:
        self._control.close()
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process.stderr.close()  # a startup error has read it already


class Bubblewrap(Launcher):
    """Every sandbox is a separate bubblewrap: the same isolation, seconds to start, no cap on the number of files."""

    kind = "bubblewrap"
    description = (
        "Every sandbox is a bubblewrap of its own: as strong as with a zygote except that the number of files is not "
        "limited, and seconds slower to start."
    )

    _isolated = True

    def __init__(self, packages: dict[str, Path] | None = None):
        bubblewrap.find()
        self._packages = default_packages() if packages is None else packages
        with self.start():  # shows that it works here, or raises
            pass

    def _command(self, limits: Limits, program: list[str]) -> list[str]:
        environment = bubblewrap.sandbox_environment(limits.threads) | {"HOME": "/tmp"}
        return bubblewrap.command(program, environment, self._packages, limits.disk)

    def start(self, limits: Limits = DEFAULT_LIMITS, seed: int | None = None) -> Sandbox:
        (channel, far_channel), (control, far_control) = _socket_pairs()
        request = request_of(limits, seed) | {"user": _user(), "isolated": self._isolated}
        request["filter"] &= self._isolated
        numbers = [str(far_channel.fileno()), str(far_control.fileno())]
        program = [sys.executable, "-P", "-m", "autograde.sandbox.zygote", *numbers, json.dumps(request)]
        with far_channel, far_control:
            process = _spawn(self._command(limits, program), far_channel, far_control)
        try:
            sandbox = Sandbox(limits, channel, control)
        except SandboxError as error:
            raise SandboxError(f"{error} {_startup_error({}, process)}") from None
        threading.Thread(target=process.communicate, daemon=True).start()  # buries it when it ends
        return sandbox


class TrustSubmissions(Bubblewrap):
    """No sandbox at all, for code that you wrote yourself (`--trust-submissions`)."""

    kind = "trusted"
    description = (
        "NO SANDBOX (--trust-submissions): submissions run as you, with your files, your network and your other "
        "students' work in reach. Only for code that you wrote yourself."
    )
    _isolated = False

    def __init__(self):
        self._homes = tempfile.TemporaryDirectory(prefix="autograde-trusted-")

    def close(self) -> None:
        self._homes.cleanup()

    def _command(self, limits: Limits, program: list[str]) -> list[str]:
        home = tempfile.mkdtemp(dir=self._homes.name)
        environment = bubblewrap.sandbox_environment(limits.threads) | {"HOME": home}
        environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
        return ["env", *(f"{name}={value}" for name, value in (os.environ | environment).items()), *program]


def open_launcher(trust: bool = False, tell: Callable[[str], None] | None = None) -> Launcher:
    """The best launcher that works here. `tell` gets one line per way tried; by default they go to stderr. Raises
    SandboxError, with what to do, if none works: submissions never run outside a sandbox by accident."""
    from autograde.sandbox.container import Container

    tell = tell or (lambda line: print(line, file=sys.stderr))
    if trust:
        tell(TrustSubmissions.description)
        return TrustSubmissions()
    reasons = []
    for way in (Zygote, Bubblewrap, Container):
        try:
            launcher = way()
        except SandboxError as error:
            reasons.append(f"{way.kind}: {error}")
            tell(f"sandbox: no {way.kind} here: {error}")
            continue
        tell(f"sandbox: {launcher.kind}. {launcher.description}")
        return launcher
    raise SandboxError("no sandbox works here, so nothing is run. `autograde doctor` says why. " + " · ".join(reasons))


class SharedLauncher(Launcher):
    """The launcher of one grader process, for several threads: opened when the first sandbox is wanted, and again if it
    is lost. `with SharedLauncher() as launcher: launcher.start(limits)`."""

    def __init__(self, open_one: Callable[[], Launcher] | None = None):
        self._open_one, self._lock = open_one or open_launcher, threading.Lock()
        self._launcher: Launcher | None = None
        self._closed = False

    def open(self) -> Launcher:
        """The launcher; opened in the calling thread, because a zygote ends with the thread that started it.

        Raises SandboxError where no sandbox works.
        """
        with self._lock:
            if self._closed:
                raise AutogradeError("the grading was stopped")
            self._launcher = self._launcher or self._open_one()
            return self._launcher

    def start(self, limits: Limits, seed: int | None = None) -> Sandbox:
        """A fresh sandbox; one more try with a new launcher where the old one was lost. Raises SandboxError."""
        launcher = self.open()
        try:
            return launcher.start(limits, seed)
        except SandboxError:
            with self._lock:
                if self._launcher is launcher:
                    self._launcher = None
                    launcher.close()
            return self.open().start(limits, seed)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._launcher:
                self._launcher.close()
                self._launcher = None


def _user() -> int | None:
    """The user id that untrusted work drops to when the grader runs as root."""
    return bubblewrap.UNTRUSTED_USER if os.geteuid() == 0 else None


def _spawn(words: list[str], *passed: socket.socket) -> subprocess.Popen:
    """Starts it with an empty environment (bubblewrap's own /proc entry would show ours) and these sockets only."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(words, env={"PATH": "/usr/bin:/bin"}, pass_fds=[end.fileno() for end in passed], **streams)


def _startup_error(message: dict, process: subprocess.Popen) -> str:
    if message.get("threads", 1) > 1:
        return f"the zygote has {message['threads']} threads after its imports and cannot be forked safely"
    process.kill()
    said = process.communicate()[1].decode("utf-8", "replace").strip().splitlines()
    return said[-1] if said else "it wrote no message"
