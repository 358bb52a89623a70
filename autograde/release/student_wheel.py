"""The package that students install: the library, the modules that `check` needs, and the fingerprints. No answers.

The wheel is the same distribution as this one, marked `+student`, so that they replace each other. setuptools builds it
from a copy of the files that belong in it; the same files give the same bytes.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from autograde.release.assignment import write_fingerprints
from autograde.release.editions import ReleaseError

ROOT = Path(__file__).resolve().parents[2]
# All of the autograder that a student's machine gets.
ROOMS = ("common", "boundary", "judging", "student")
MODULES = ("__init__", "fresh_machine")
_FIRST_TIME_IN_A_ZIP = "315532800"  # 1980-01-01: every file of the wheel gets this date


def build(folder: Path, fingerprints: Path | None = None, progress=iter) -> Path:
    """Builds the wheel into a folder and returns its path. fingerprints: made before, if any. Raises ReleaseError."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        staged = Path(temporary, "source")
        _stage(staged)
        destination = staged / "autograde" / "student" / "fingerprints"
        if fingerprints:
            shutil.copytree(fingerprints, destination)
        else:
            write_fingerprints(destination, progress)
        built = _pip_wheel(staged, Path(temporary, "wheel"))
        return Path(shutil.copy(built, folder / built.name))


def _stage(staged: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "fingerprints")
    shutil.copytree(ROOT / "bertlab", staged / "bertlab", ignore=ignored)
    for name in ROOMS:
        shutil.copytree(ROOT / "autograde" / name, staged / "autograde" / name, ignore=ignored)
    for name in MODULES:
        shutil.copy(ROOT / "autograde" / f"{name}.py", staged / "autograde")
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, staged)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = re.sub(r'^version = "(.*)"$', r'version = "\1+student"', project, count=1, flags=re.MULTILINE)
    project = re.sub(r"^autograde = .*cli:main.*\n", "", project, count=1, flags=re.MULTILINE)
    (staged / "pyproject.toml").write_text(project, encoding="utf-8")


def _pip_wheel(staged: Path, into: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
               "--disable-pip-version-check", "--wheel-dir", str(into), str(staged)]  # fmt: skip
    environment = os.environ | {"SOURCE_DATE_EPOCH": _FIRST_TIME_IN_A_ZIP}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    wheels = sorted(into.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise ReleaseError(f"building the student wheel failed: {(done.stderr or done.stdout).strip()[-1000:]}")
    return wheels[0]
