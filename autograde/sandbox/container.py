"""Sandboxes in containers, for machines without bubblewrap: Podman or Docker isolates them.

On Linux a sandbox needs no image: the container's root is a skeleton of empty folders, in which this machine's /usr and
Python environment are shown read-only (Podman takes a folder as the root; Docker imports it as an image). Elsewhere
AUTOGRADE_IMAGE names an image with the course's Python environment, built from `Containerfile` beside this file.

No network, no capabilities, no new privileges, a read-only root, memory and processes held by the engine's control
group, and inside the same agent, resource limits and system-call filter as in any other sandbox.
"""

import io
import itertools
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
from pathlib import Path

from autograde.boundary.channel import Channel, parse_header
from autograde.common.errors import ProtocolError, SandboxError
from autograde.sandbox import bubblewrap, watch
from autograde.sandbox.client import SHUTDOWN_SECONDS, Sandbox
from autograde.sandbox.launchers import Launcher, default_packages, request_of
from autograde.sandbox.limits import DEFAULT_LIMITS, Limits

IMAGE_VARIABLE = "AUTOGRADE_IMAGE"
_ENGINES = ("podman", "docker")
_SKELETON_IMAGE = "autograde-sandbox"
_START = 240.0  # seconds until a sandbox must have started: the engine, and all imports
_LONGEST_MESSAGE = 1 << 16
_numbers = itertools.count()


def find() -> str:
    """Path of the engine's command. Raises SandboxError."""
    for name in _ENGINES:
        if path := shutil.which(name):
            return path
    raise SandboxError(f"no container engine: neither {' nor '.join(_ENGINES)} is installed")


class Container(Launcher):
    """Every sandbox a container. Raises SandboxError where the engine cannot make one."""

    kind = "container"
    description = (
        "Every sandbox is a container: no bubblewrap here. The number of files is limited by memory only, and a "
        "sandbox takes seconds to start."
    )

    def __init__(self, packages: dict[str, Path] | None = None):
        self.engine, self.image = find(), os.environ.get(IMAGE_VARIABLE)
        if self.image is None and sys.platform != "linux":
            raise SandboxError(
                f"outside Linux a sandbox needs an image with the course's Python: build {Path(__file__).parent}/"
                f"Containerfile and name it in {IMAGE_VARIABLE}"
            )
        self._packages = default_packages() if packages is None else packages
        self._folder = tempfile.TemporaryDirectory(prefix="autograde-container-")
        try:
            self._root = self._named_root()
            with self.start():  # shows that it works here, or raises
                pass
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._folder.cleanup()

    def start(self, limits: Limits = DEFAULT_LIMITS, seed: int | None = None) -> "ContainerSandbox":
        name = f"autograde-{os.getpid()}-{next(_numbers)}"
        words = [*self._run_options(name, limits), *self._root, *self._program(limits, seed)]
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        return ContainerSandbox(limits, [self.engine, "kill"], name, process)

    # --- the command line ---

    def _run_options(self, name: str, limits: Limits) -> list[str]:
        words = [self.engine, "run", "--rm", "--interactive", "--name", name, "--hostname", "sandbox"]
        words += ["--network", "none", "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"]
        words += ["--user", f"{bubblewrap.UNTRUSTED_USER}:{bubblewrap.UNTRUSTED_USER}", "--workdir", "/"]
        words += ["--memory", str(limits.memory), "--memory-swap", str(limits.memory)]
        words += ["--pids-limit", str(limits.processes), "--shm-size", str(limits.disk)]
        words += ["--tmpfs", f"/tmp:rw,nosuid,nodev,exec,size={limits.disk},mode=1777"]
        words += ["--ulimit", f"nofile={limits.open_files}:{limits.open_files}"]
        words += ["--ulimit", f"nproc={_max_processes()}:{_max_processes()}", "--ulimit", "core=0:0"]
        if Path(self.engine).name == "podman":
            words += ["--http-proxy=false", "--read-only-tmpfs=false"]
        for source, shown in self._shown().items():
            words += ["--volume", f"{source}:{shown}:ro"]
        return words

    def _shown(self) -> dict[Path, str]:
        """Folders and files of this machine → where the sandbox sees them."""
        package = Path(__file__).resolve().parent.parent
        files = bubblewrap.our_files("in_container")
        shown = {package / name: f"{bubblewrap.LIBRARY}/autograde/{name}" for name in files}
        shown |= {folder: f"{bubblewrap.LIBRARY}/{name}" for name, folder in self._packages.items()}
        if self.image is None:
            folders = bubblewrap.python_folders()
            system = [Path("/") / name for name in bubblewrap.SYSTEM if not (Path("/") / name).is_symlink()]
            system += [Path(name) for name in bubblewrap.OPTIONAL]
            shown |= {folder: str(folder) for folder in (Path("/usr"), *system, *folders) if folder.exists()}
            if any(package.is_relative_to(folder) for folder in (*folders, Path("/usr"))):
                shown[self._empty()] = str(package)  # exercises and references, installed in that environment
            shown |= {self._empty(number): str(path) for number, path in enumerate(bubblewrap.other_copies(), start=1)}
        return shown

    def _program(self, limits: Limits, seed: int | None) -> list[str]:
        environment = bubblewrap.sandbox_environment(limits.threads) | {"HOME": "/tmp"}
        python = sys.executable
        if self.image is not None:
            python = "python3"
            environment["PATH"] = "/opt/venv/bin:/usr/local/bin:/usr/bin:/bin"
        request = request_of(limits, seed)
        request["processes"] = _max_processes()  # of all sandboxes of one user; the engine counts this one's
        words = ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in environment.items())]
        return [*words, python, "-P", "-m", "autograde.sandbox.in_container", json.dumps(request)]

    # --- the root ---

    def _named_root(self) -> list[str]:
        if self.image is not None:
            return [self.image]
        skeleton = self._skeleton()
        if Path(self.engine).name == "podman":
            return ["--rootfs", str(skeleton)]
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(skeleton, arcname=".")
        done = subprocess.run(
            [self.engine, "import", "-", _SKELETON_IMAGE], input=packed.getvalue(), capture_output=True
        )
        if done.returncode:
            raise SandboxError(_last_line(done.stderr))
        return [_SKELETON_IMAGE]

    def _skeleton(self) -> Path:
        """Empty folders and files at which an engine mounts something, and the system's links."""
        root = Path(self._folder.name, "root")
        for folder in ("proc", "dev", "sys", "tmp", "etc", "run", "home/student"):
            (root / folder).mkdir(parents=True)
        for name in bubblewrap.SYSTEM:
            if (Path("/") / name).is_symlink():
                (root / name).symlink_to(os.readlink(Path("/") / name))
        for source, shown in self._shown().items():
            target = root / shown.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.mkdir(exist_ok=True) if source.is_dir() else target.touch()
        for folder in (Path(self._folder.name), *(path for path in root.rglob("*") if not path.is_symlink())):
            folder.chmod(0o755)
        (root / "tmp").chmod(0o1777)  # Podman gives what it mounts there the mode of what was there
        return root

    def _empty(self, number: int = 0) -> Path:
        folder = Path(self._folder.name, f"empty-{number}")
        folder.mkdir(exist_ok=True)
        return folder


class ContainerSandbox(Sandbox):
    """A sandbox behind three pipes; `in_container.py` is at the other end of them."""

    def __init__(self, limits: Limits, end: list[str], name: str, process: subprocess.Popen):
        self.limits, self.ended, self._cells = limits, None, 0
        self._end_command, self.name, self._process = end, name, process
        self._received = b""
        self._watch = _Unwatched()
        self._deadline = watch.now() + _START
        try:
            message, _ = self._report(_START)
            if "started" not in message:
                reason = message.get("failed") or _last_line(self._received) or "its maker went away"
                raise SandboxError(f"the sandbox could not be made: {reason}")
        except BaseException:
            self._end_processes()
            self._release()
            raise
        self._deadline = watch.now() + limits.wall_seconds
        pipes = process.stdout.fileno(), process.stdin.fileno()
        self._channel = Channel(*pipes, on_wait=self._check_limits, clock=watch.now)

    def _waited(self) -> float:
        """Nobody outside can tell."""
        return 0.0

    def _over_its_memory(self, peak: int) -> bool:
        """Whether the largest process was near the limit: the engine limits the whole container and reports nothing."""
        return peak > 0.8 * self.limits.memory

    def _report(self, seconds: float, descriptors: int = 0) -> tuple[dict, list[int]]:
        """The next message of the container's first process; what the engine says between is kept."""
        end = watch.now() + seconds
        pipe = self._process.stderr.fileno()
        while (left := end - watch.now()) > 0 and len(self._received) < _LONGEST_MESSAGE:
            line, found, rest = self._received.partition(b"\n")
            if found and line.startswith(b"{"):
                self._received = rest
                return _message(line), []
            if found and rest:
                self._received = rest
                continue
            if select.select([pipe], [], [], left)[0]:
                chunk = os.read(pipe, 4096)
                if not chunk:
                    break
                self._received += chunk
        return {}, []

    def _signal(self, which: int, number: int) -> None:
        if number == signal.SIGINT:
            self._ask_engine("--signal", "INT")

    def _ask_engine(self, *options: str) -> None:
        words = [*self._end_command, *options, self.name]
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _end_processes(self) -> None:
        """Lets go of the pipe, at which the first process ends; asks the engine where it does not."""
        self._process.stdin.close()
        try:
            self._process.wait(SHUTDOWN_SECONDS)
        except subprocess.TimeoutExpired:
            self._ask_engine()

    def _release(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            pipe.close()
        threading.Thread(target=self._process.wait, daemon=True).start()  # buries it when it ends


class _Unwatched:
    """In place of watch.py's: the engine's control group holds the sandbox to its memory."""

    cpu = 0.0

    def count_cpu(self) -> float:
        return self.cpu

    def over(self) -> None:
        return None


def _message(line: bytes) -> dict:
    """A message with the fields that `Sandbox` reads, of the types that it expects; empty for anything else."""
    try:
        message = parse_header(line)
    except ProtocolError:
        return {}
    kinds = {"started": bool, "exit": int, "cpu": float, "peak": int, "failed": str}
    message = {key: message[key] for key, kind in kinds.items() if type(message.get(key)) is kind}
    return {} if "exit" in message and not {"cpu", "peak"} <= message.keys() else message


def _max_processes() -> int:
    """The most processes of all sandboxes of the user, within the limit of this process: an engine may not raise it."""
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    return 4096 if hard == resource.RLIM_INFINITY else min(hard, 4096)


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:500] if lines else ""
