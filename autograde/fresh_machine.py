"""Installs missing libraries on a new machine such as Colab. For a notebook's first cell; standard library only.

The course package is installed there without its dependencies, so that the machine's TensorFlow and Keras, with their
GPU support, do not change. `complete()` then installs the libraries that the package requires and that are missing, and
TensorFlow Text in the release for the machine's TensorFlow. A sentence names those that are older or newer than tested.
"""

import importlib
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

DISTRIBUTION = "bertlab"
TEXT = "tensorflow-text"
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9.]+)?")  # others pip refuses to read
_LONGEST_REASON = 300  # characters of pip's own words


def complete(say=print) -> None:
    """Installs the missing dependencies of the course package. say: called with a sentence about each failure."""
    wanted = missing(metadata.requires(DISTRIBUTION) or ())
    if wanted:
        failed = _install_beside_the_rest(wanted)
        if failed:
            say(f"{', '.join(wanted)} could not be installed; show this to your instructor: {failed}")
    text = fitting_text(_version("tensorflow"), _version(TEXT))
    if text:
        failed = _pip("--no-deps", text)
        if failed:
            say(f"{text} could not be installed; notebook 01 uses the library's own tokenizer instead. ({failed})")
    for sentence in untested(metadata.requires(DISTRIBUTION) or ()):
        say(sentence)
    importlib.invalidate_caches()


def untested(requirements) -> list[str]:
    """A sentence about each installed version that a requirement ("keras<4,>=3.10") does not allow."""
    sentences = []
    for requirement in requirements:
        name = _NAME.match(requirement)[0]
        here = _version(name)
        if "extra ==" in requirement or here is None or not _numbers(here):
            continue
        for sign, word in ((">=", "older"), ("<", "newer")):
            limit = re.search(rf"{sign}\s*(\d[\d.]*)", requirement)
            if limit and (_numbers(here) < _numbers(limit[1])) == (sign == ">="):
                sentences.append(
                    f"{name} {here} is {word} than the versions that the course was tested with "
                    f"({sign}{limit[1]}): if something fails, tell your instructor this version."
                )
    return sentences


def _numbers(version: str) -> tuple[int, ...]:
    """The major and minor number of a release: "3.10.0rc1" → (3, 10)."""
    return tuple(map(int, re.match(r"[\d.]*", version)[0].strip(".").split(".")[:2])) if version[:1].isdigit() else ()


def missing(requirements) -> list[str]:
    """The requirements of a distribution ("click>=8.1") that are not installed, without those of extras."""
    needed = [requirement for requirement in requirements if "extra ==" not in requirement]
    return [requirement for requirement in needed if _version(_NAME.match(requirement)[0]) is None]


def fitting_text(tensorflow: str | None, text: str | None) -> str | None:
    """The requirement of the TensorFlow Text for this TensorFlow; None if it is installed or no version is known."""
    release = _release(tensorflow)
    if release is None or release == _release(text):
        return None
    return f"{TEXT}=={release}.*"


def _release(version: str | None) -> str | None:
    """ "2.21" of "2.21.0"."""
    return version and ".".join(version.split(".")[:2])


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _install_beside_the_rest(wanted: list[str]) -> str:
    """Installs without changing any installed version: it fails rather than replace TensorFlow."""
    here = {one.metadata["Name"]: one.version for one in metadata.distributions()}
    lines = [f"{name}=={version}\n" for name, version in here.items() if name and _VERSION.fullmatch(version or "")]
    with tempfile.TemporaryDirectory() as folder:
        held = Path(folder, "held.txt")
        held.write_text("".join(lines), encoding="utf-8")
        return _pip("--constraint", str(held), *wanted)


def _pip(*arguments: str) -> str:
    """Runs `pip install`; returns "" or the end of its error message."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stderr or done.stdout).strip()[-_LONGEST_REASON:] if done.returncode else ""
