"""A course folder: nbgrader's own layout, and two files of ours.

nbgrader_config.py      makes a bare `nbgrader autograde`, and formgrader's button, take the safe path
.autograde/secret       from which every student's hidden inputs are drawn; readable by its owner alone
"""

import os
import secrets
from pathlib import Path

from autograde.errors import AutogradeError
from bertlab.files import write_text

SECRET = Path(".autograde", "secret")
CONFIG = "nbgrader_config.py"
_FEWEST_BYTES = 16

# Preprocessors are named as text: nbgrader imports them. What nbgrader does after Execute is done by ours.
_CONFIG_TEXT = '''"""This course's nbgrader settings. `nbgrader autograde` and formgrader read this file."""

c = get_config()
c.CourseDirectory.course_id = {course_id!r}

# Submissions are run by `autograde`, in a sandbox; no kernel ever sees them. Do not put nbgrader's Execute back.
c.Autograde.exporter_class = "autograde.nbgrader_plugin.SubmissionExporter"
c.Autograde.sanitize_preprocessors = []
c.Autograde.autograde_preprocessors = ["autograde.nbgrader_plugin.GradeInRoom"]

# From an exchange only a student's own ordinary files are collected, and no link is followed.
c.ExchangeFactory.collect = "autograde.nbgrader_exchange.CollectSafely"

# The page for students is the one that `autograde feedback` writes.
c.GenerateFeedback.exporter_class = "autograde.nbgrader_plugin.FeedbackExporter"

# Late, where an assignment has a due date: 10 % of what was earned for each day begun. Take the marks off to use it.
# c.AssignLatePenalties.plugin_class = "autograde.late_penalty.PerDay"
# c.PerDay.percent = 10
# c.PerDay.grace_minutes = 15
# c.PerDay.most = 50
'''


class CourseFolderError(AutogradeError):
    """A folder that is no course of ours, or cannot be made one."""


def make_course(folder: str | Path, course_id: str = "") -> list[str]:
    """Makes a folder a course; what is there already stays. Returns what was done, one sentence each.

    Raises CourseFolderError where an nbgrader_config.py of other making would let submissions run outside a sandbox.
    """
    from autograde.grader.gradebook import Course

    folder, done = Path(folder), []
    config = folder / CONFIG
    if config.exists() and "autograde.nbgrader_plugin" not in config.read_text(encoding="utf-8", errors="replace"):
        lines = "\n".join(line for line in _CONFIG_TEXT.splitlines() if line.startswith("c.Autograde"))
        raise CourseFolderError(f"{config}: there are settings already; add these lines and start again:\n{lines}")
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)  # grades and names will lie here
    for name in ("source", "release", "submitted", "autograded", "feedback"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    if not config.exists():
        write_text(config, _CONFIG_TEXT.format(course_id=course_id))
        done.append(f"{config}: nbgrader's own commands take the safe path")
    if not (folder / SECRET).exists():
        _write_secret(folder / SECRET)
        done.append(f"{folder / SECRET}: keep a copy; with another one every student gets other hidden inputs")
    if not (folder / "gradebook.db").exists():
        with Course(folder):
            done.append(f"{folder / 'gradebook.db'}: an empty gradebook")
    return done


def _write_secret(path: Path) -> None:
    """The file is there in full or not at all, and never, not for a moment, readable by others."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(32) + "\n")
        os.fsync(file.fileno())
    os.replace(partial, path)


def read_secret(folder: str | Path) -> bytes:
    """The course's secret. Raises CourseFolderError if there is none, or if others may read it."""
    path = Path(folder, SECRET)
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="ascii").strip()
        secret = bytes.fromhex(text)
    except FileNotFoundError:
        raise CourseFolderError(f"{path}: there is no secret; `autograde init {folder}` makes one") from None
    except (OSError, ValueError) as reason:
        raise CourseFolderError(f"{path}: no secret in it ({reason}); put your copy of it back") from None
    if mode & 0o077:
        raise CourseFolderError(f"{path}: others can read it; run: chmod 600 {path}")
    if len(secret) < _FEWEST_BYTES:
        raise CourseFolderError(f"{path}: it is too short to be a secret; put your copy of it back")
    return secret
