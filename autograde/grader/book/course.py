"""A course folder: nbgrader's own layout and two more files.

nbgrader_config.py      makes `nbgrader autograde` and formgrader's button grade in a sandbox
.autograde/secret       every student's hidden inputs are drawn from it; readable only by its owner
"""

import hashlib
import hmac
import os
import secrets
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from autograde.common.errors import AutogradeError
from autograde.exercises import folders
from autograde.grader.book.database import Database
from bertlab.common.files import write_text

SECRET = Path(".autograde", "secret")
IGNORED = ".gitignore"
CONFIG = "nbgrader_config.py"
_FEWEST_BYTES = 16

# Preprocessors are named as text: nbgrader imports them. Ours also replace the steps of nbgrader after Execute.
_CONFIG_TEXT = '''"""This course's nbgrader settings. `nbgrader autograde` and formgrader read this file."""

c = get_config()
c.CourseDirectory.course_id = {course_id!r}

# Submissions are run by `autograde`, in a sandbox, never in a kernel. Do not add nbgrader's Execute again.
c.Autograde.exporter_class = "autograde.nbgrader_plugin.SubmissionExporter"
c.Autograde.sanitize_preprocessors = []
c.Autograde.autograde_preprocessors = ["autograde.nbgrader_plugin.GradeInSandbox"]

# Collect only a student's own ordinary files from the exchange, and follow no links. One student's files stop nobody.
c.ExchangeFactory.collect = "autograde.nbgrader_plugin.exchange.CollectSafely"
c.ExchangeFactory.release_feedback = "autograde.nbgrader_plugin.exchange.ReleaseSafely"

# The page for students is the one that `autograde feedback` writes.
c.GenerateFeedback.exporter_class = "autograde.nbgrader_plugin.FeedbackExporter"

# Record who gives points and comments in formgrader: `autograde points` and the class report show it.
from autograde.nbgrader_plugin.formgrader_names import record_graders
record_graders()

# Late penalty for assignments with a due date: 10 % of the score for each day begun. Uncomment these lines to use it.
# c.AssignLatePenalties.plugin_class = "autograde.nbgrader_plugin.late_penalty.PerDay"
# c.PerDay.percent = 10
# c.PerDay.grace_minutes = 15
# c.PerDay.most = 50
'''


# All but the course's own texts and settings: a repository is often shared, and its history forgets nothing.
_IGNORED_TEXT = """# Written by `autograde init`: the secret, grades and students' work stay out of repositories.
/.autograde/secret
/gradebook.db*
/submitted/
/autograded/
/feedback/
/collected/
/results/
/reports/
/.autograde/policy.json
/.autograde/mailed/
/.autograde/groups/
/.autograde/by_hand/
*.zip
*.csv
"""
ZONE = Path(".autograde", "timezone")  # one line, such as Europe/Berlin
YEARS = range(1970, 3000)  # of hand-ins and due dates: with an extension, and in any zone, they stay times of Python
EXERCISES = Path(".autograde", "exercises")  # one line: the folder of the instructor's own exercises


class CourseError(AutogradeError):
    """A folder that is not a course of autograde, or cannot be made one; an assignment or student that is not in it."""


def make_course(folder: str | Path, course_id: str = "") -> list[str]:
    """Makes a folder a course; keeps existing files. Returns one sentence for each change.

    Raises CourseError where an nbgrader_config.py of other making would let submissions run outside a sandbox.
    """
    folder, done = Path(folder), []
    config = folder / CONFIG
    if config.exists() and "autograde.nbgrader_plugin" not in config.read_text(encoding="utf-8", errors="replace"):
        lines = "\n".join(line for line in _CONFIG_TEXT.splitlines() if line.startswith("c.Autograde"))
        raise CourseError(f"{config} exists already; add these lines and start again:\n{lines}")
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)  # grades and names will lie here
    for name in ("source", "release", "submitted", "autograded", "feedback"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    if not config.exists():
        write_text(config, _CONFIG_TEXT.format(course_id=course_id))
        done.append(f"{config}: nbgrader's own commands grade in the sandbox")
    if not (folder / IGNORED).exists():
        write_text(folder / IGNORED, _IGNORED_TEXT)
        done.append(f"{folder / IGNORED}: keeps the secret, grades and students' work out of a repository")
    elif added := _add_ignored(folder / IGNORED):
        done.append(f"{folder / IGNORED}: added {', '.join(added)}")
    if not (folder / SECRET).exists():
        _write_secret(folder / SECRET)
        done.append(f"{folder / SECRET}: keep a copy; another secret gives every student other hidden inputs")
    if not (folder / "gradebook.db").exists():
        with Database(folder):
            done.append(f"{folder / 'gradebook.db'}: an empty gradebook")
    return done


def _add_ignored(path: Path) -> list[str]:
    """Adds the lines that a file of an earlier version lacks, and returns them; leaves the user's own file alone."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    heading, *lines = _IGNORED_TEXT.splitlines()
    added = [line for line in lines if line not in text.splitlines()] if heading in text.splitlines() else []
    if added:
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * (not text.endswith("\n")) + "".join(f"{line}\n" for line in added))
    return added


def _write_secret(path: Path) -> None:
    """Writes the file completely or not at all; it is never readable by others."""
    # Not with write_atomically: others could read its temporary file, which has the usual mode.
    path.parent.mkdir(mode=0o700, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(32) + "\n")
        os.fsync(file.fileno())
    os.replace(partial, path)


def read_secret(folder: str | Path) -> bytes:
    """The course's secret. Raises CourseError if there is none, or if others may read it."""
    path = Path(folder, SECRET)
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="ascii").strip()
        secret = bytes.fromhex(text)
    except FileNotFoundError:
        raise CourseError(f"{path}: expected the course's secret; make one with `autograde init {folder}`") from None
    except (OSError, ValueError) as reason:
        raise CourseError(f"{path}: expected a secret ({reason}); put your copy of it back") from None
    if mode & 0o077:
        raise CourseError(f"{path}: other users can read it; run: chmod 600 {path}")
    if len(secret) < _FEWEST_BYTES:
        raise CourseError(f"{path}: expected at least {_FEWEST_BYTES} bytes; put your copy of the secret back")
    return secret


def hidden_number(secret: bytes, size: int, *words: str) -> int:
    """A number of `size` bytes that cannot be computed without the course's secret; always the same for these words."""
    return int.from_bytes(hmac.new(secret, "\0".join(words).encode(), hashlib.sha256).digest()[:size], "big")


def zone_of(folder: str | Path, name: str | None = None) -> ZoneInfo:
    """The time zone of the course, UTC where none was set; or the one of this name. Raises CourseError."""
    path = Path(folder, ZONE)
    name = name or (path.read_text(encoding="utf-8").strip() if path.is_file() else "UTC")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CourseError(f"expected a time zone such as UTC or Europe/Berlin, got {name!r}") from None


def set_zone(folder: str | Path, name: str) -> None:
    """Sets the course's time zone. Raises CourseError for a name that is no time zone."""
    _note(folder, ZONE, zone_of(folder, name).key)


def set_exercises(folder: str | Path, exercises: str | Path) -> None:
    """Notes in the course the folder of the instructor's own exercises."""
    _note(folder, EXERCISES, str(Path(exercises).resolve()))


def _note(folder: str | Path, file: Path, line: str) -> None:
    Path(folder, file).parent.mkdir(mode=0o700, exist_ok=True)
    write_text(Path(folder, file), f"{line}\n")


def use_exercises_of(folder: str | Path) -> None:
    """Uses the exercises that the course has noted, if no others are in use. Raises CourseError."""
    path = Path(folder, EXERCISES)
    if folders.own() or not path.is_file():
        return
    noted = Path(path.read_text(encoding="utf-8").strip())
    if not noted.is_dir():
        raise CourseError(f"{path}: expected a folder of exercises, got {noted}; name it with --exercises")
    folders.use(noted)


def in_utc(text: str) -> datetime:
    """A time as nbgrader writes it, in UTC; one with an offset is converted."""
    return _utc(text.removesuffix(" UTC").strip(), UTC)


def local_time(text: str, zone: ZoneInfo) -> str:
    """A time in UTC as a page shows it in the course's zone: "2026-01-30 13:00:00 CET"."""
    try:
        return f"{in_utc(text).astimezone(zone):%Y-%m-%d %H:%M:%S %Z}" if text else ""
    except (ValueError, OverflowError):  # in a record of an earlier version
        return text


def to_utc(text: str, zone: ZoneInfo) -> datetime:
    """An instructor's time, in the course's zone or with an offset: "2026-11-30 23:59". Raises CourseError."""
    try:
        time = _utc(text, zone)
    except (ValueError, OverflowError):
        time = None
    if time is None or time.year not in YEARS:
        raise CourseError(f"expected a time such as 2026-11-30 23:59, got {text!r}")
    return time


def _utc(text: str, zone: tzinfo) -> datetime:
    """A time in UTC. zone: of a text without an offset."""
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC)
