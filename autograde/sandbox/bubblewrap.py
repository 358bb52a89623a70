"""The command line that runs a program in bubblewrap. Trusted side.

Inside: the system's /usr, the Python environment and a few modules of ours, all read-only; an empty /tmp; no network.
Of this package only what the sandbox needs is there: exercises, references and the grader are not, even if they are
installed in the environment that is shown.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from autograde.common.errors import SandboxError

LIBRARY = "/sandbox/lib"  # where the sandbox finds our modules
# With __init__, so that no other autograde of the environment, such as the student wheel, is found in place of ours.
SHARED_MODULES = (
    "__init__", "common/__init__", "common/errors", "boundary/__init__", "boundary/channel", "boundary/values",
    "boundary/plain_values", "boundary/call_answer", "boundary/call_layer", "boundary/calls", "boundary/tracing",
    "boundary/mybert_importer",
)  # fmt: skip
STUDENT_MODULES = ("student/__init__", "student/stand_ins/__init__")  # without a single stand-in
SANDBOX_MODULES = ("__init__", "limits", "syscalls", "seccomp", "isolation", "zygote", "agent",
                   "forbidding")  # fmt: skip
UNTRUSTED_USER = 64999  # an unused account: from the range that systemd keeps for users without a password entry
SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
OPTIONAL = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/nix/store")
_ROOT_KEEPS = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID")  # until the zygote has become an ordinary user


def find() -> str:
    """Path of bwrap. Raises SandboxError with the command that installs it here."""
    path = shutil.which("bwrap")
    if path is None:
        raise SandboxError(f"bubblewrap (the command `bwrap`) is not installed. Install it with: {install_command()}")
    return path


def install_command() -> str:
    """The command that installs bubblewrap on this distribution."""
    commands = {
        "debian": "sudo apt-get install bubblewrap",
        "fedora": "sudo dnf install bubblewrap",
        "arch": "sudo pacman -S bubblewrap",
        "suse": "sudo zypper install bubblewrap",
        "alpine": "sudo apk add bubblewrap",
        "nixos": "nix-env -iA nixos.bubblewrap",
    }
    kin = {"ubuntu": "debian", "rhel": "fedora", "centos": "fedora", "opensuse": "suse"}
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        facts = {"ID": ""}
    for name in (facts["ID"], *facts.get("ID_LIKE", "").split()):
        if kin.get(name, name) in commands:
            return commands[kin.get(name, name)]
    return "see https://github.com/containers/bubblewrap"


def supports(option: str) -> bool:
    """Whether the installed bubblewrap knows this option."""
    return option in subprocess.run([find(), "--help"], capture_output=True, text=True).stdout


def command(program: list[str], environment: dict[str, str], packages: dict[str, Path], disk: int | None = None):
    """The full argument list. packages: name → folder, shown read-only; disk: bytes of /tmp, and of /dev/shm."""
    as_root = os.geteuid() == 0
    shown = python_folders()
    words = [find(), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--hostname", "sandbox"]
    words += ["--new-session", "--clearenv", "--cap-drop", "ALL", "--as-pid-1"]
    words += [word for name in _ROOT_KEEPS for word in ("--cap-add", name)] if as_root else ["--unshare-user"]
    words += ["--ro-bind", "/usr", "/usr"]
    for path in (Path("/") / name for name in SYSTEM):
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]
        elif path.exists():
            words += ["--ro-bind", str(path), str(path)]
    words += ["--dev", "/dev"]
    words += ["--dir", "/proc"] if as_root else ["--proc", "/proc"]  # root: mounted later, uncovered (zygote.py)
    words += [word for path in OPTIONAL for word in ("--ro-bind-try", path, path)]
    for folder in ("/tmp", "/dev/shm"):
        words += ["--size", str(disk)] if disk and supports("--size") else []
        words += ["--perms", "1777", "--tmpfs", folder]
    for folder in shown:
        words += [*parents(folder), "--ro-bind", str(folder), str(folder)]
    words += _our_modules(shown)
    for name, folder in packages.items():
        words += ["--ro-bind", str(folder), f"{LIBRARY}/{name}"]
    words += [*parents(Path("/home/student")), "--perms", "0755", "--dir", "/home/student", "--remount-ro", "/"]
    for name, value in environment.items():
        words += ["--setenv", name, value]
    return [*words, "--chdir", "/", "--", *program]


def python_folders() -> list[Path]:
    """The folders that this interpreter needs outside /usr: environment, base installation, targets of links."""
    folders = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent}
    return sorted(folder for folder in folders if not folder.is_relative_to("/usr") and folder != Path("/"))


def parents(folder: Path) -> list[str]:
    """Makes the folders above it, so that an ordinary user may walk through them (bubblewrap would use mode 0700)."""
    above = [parent for parent in reversed(folder.parents) if parent not in (Path("/"), Path("/tmp"))]
    return [word for parent in above for word in ("--perms", "0755", "--dir", str(parent))]


def _our_modules(shown: list[Path]) -> list[str]:
    package = Path(__file__).resolve().parent.parent
    words = []
    covered = [package] if any(package.is_relative_to(folder) for folder in (*shown, Path("/usr"))) else []
    for folder in (*covered, *other_copies()):
        words += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    for folder in ("common", "boundary", "sandbox", "student/stand_ins"):
        words += parents(Path(LIBRARY) / "autograde" / folder / "x")
    for name in our_files():
        words += ["--ro-bind", str(package / name), f"{LIBRARY}/autograde/{name}"]
    return words


def other_copies() -> list[Path]:
    """The folders of other copies of this package, with exercises and references, that a sandbox would show: one may be
    installed in the environment beside the checkout that is running."""
    package, places = Path(__file__).resolve().parent.parent, ("", "envs/*/")
    patterns = [f"{place}lib*/python3*/{kind}-packages" for place in places for kind in ("site", "dist")]
    found: dict[Path, Path] = {}  # a folder → the name by which it is shown
    for folder in (*python_folders(), Path("/usr"), Path("/usr/local")):
        for path in (path for pattern in (*patterns, "src/*") for path in folder.glob(f"{pattern}/autograde")):
            if (path / "exercises").is_dir() and path.resolve() != package:
                found.setdefault(path.resolve(), path)
    beside = [path.parent / "solutions" for path in found.values()]
    return sorted([*found.values(), *(path for path in beside if any(path.glob("[0-9P]*_*.py")))])


def our_files(*more: str) -> list[str]:
    """The files of this package that a sandbox sees, and `more` of its own modules."""
    inside = [f"sandbox/{name}" for name in (*SANDBOX_MODULES, *more)]
    return [f"{name}.py" for name in (*SHARED_MODULES, *STUDENT_MODULES, *inside)]


def sandbox_environment(threads: int) -> dict[str, str]:
    """The whole environment of a sandbox: nothing of the grader's own passes."""
    return {
        "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
        "PYTHONPATH": LIBRARY,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",  # the order of sets is the same in every sandbox
        "PYTHONSAFEPATH": "1",
        "PYTHONNOUSERSITE": "1",
        "HOME": "/home/student",
        "USER": "student",
        "AUTOGRADE_IN_SANDBOX": "1",  # checks and drawings do nothing (autograde/student/__init__.py)
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": "/tmp/.matplotlib",
        "IPYTHONDIR": "/tmp/.ipython",
        "KERAS_HOME": "/tmp/.keras",
        "KERAS_BACKEND": "tensorflow",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_ENABLE_ONEDNN_OPTS": "0",  # the same sums in the same order on every machine
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_NUM_INTRAOP_THREADS": str(threads),
        "TF_NUM_INTEROP_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": "1",  # a BLAS with threads of its own could not be forked
    }
