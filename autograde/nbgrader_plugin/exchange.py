"""Collects from nbgrader's exchange and gives feedback back, safely; a course's nbgrader_config.py names these plugins.

A folder in the exchange's `inbound` still belongs to its student after handing in. nbgrader copies it with the
instructor's rights and follows the links in it, so a link `03_attention.ipynb` to the solution is collected as that
student's work; a broken link, a pipe or a name without a time stops the collecting for all; and nbgrader collects a
folder that somebody made under another student's name. `CollectSafely` collects only ordinary files of the student, of
the size and depth of a submission, and logs what it leaves out. If all accounts of a hub are the same, as in many hubs
in containers, it cannot know whose a folder is.

nbgrader reads `timestamp.txt` and `submission_secret.txt` of all students in one loop, when it collects again and when
it gives feedback back. One student who deletes or damages one of them would stop that for everybody: the first is
written from the name of the folder, and `ReleaseSafely` leaves out a folder that cannot be given back.
"""

import fnmatch
import glob
import os
import pwd
import shutil
import stat
from datetime import UTC
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.utils import parse_utc

MAX_FILES, MAX_LEVELS = 2_000, 8  # of one submission
_NO_STUDENT = ""  # the student of a folder that is not collected
_KILOBYTE = 1000  # nbgrader's settings are in these
_TIME, _SECRET = "timestamp.txt", "submission_secret.txt"  # that nbgrader reads again


class CollectSafely(ExchangeCollect):
    """nbgrader's collecting, safe for any content of a student's folder. nbgrader's settings apply here, too."""

    def _path_to_record(self, path):
        """nbgrader's record of a folder; for a folder that is not collected, a record without a student."""
        try:
            record = super()._path_to_record(path)
            refused = self._why_not(Path(path), record["username"])
        except (ValueError, OverflowError):
            refused = "its name is not STUDENT+ASSIGNMENT+TIME"
        if not refused:
            return record
        self.log.error("Not collected: %s: %s", path, refused)
        return {"username": _NO_STUDENT, "filename": os.path.basename(path), "timestamp": parse_utc("2000-01-01")}

    def _why_not(self, folder: Path, student: str) -> str | None:
        """Why a folder is not taken as this student's; None if it is."""
        found = folder.lstat()
        if not student:
            return "its name contains no student"
        if not stat.S_ISDIR(found.st_mode):
            return "expected a folder, found a link or a file"
        if self.check_owner and found.st_uid != os.geteuid() and (owner := _account(found.st_uid)) != student:
            return (
                f"it belongs to {owner}, not to {student}. If the accounts of your hub have other names than its "
                "students, set c.ExchangeCollect.check_owner = False"
            )
        return None

    def copy_files(self):
        """Copies the newest folder of each student, as nbgrader does."""
        self.src_records = [record for record in self.src_records if record["username"] != _NO_STUDENT]
        super().copy_files()

    def get_size(self, root):
        """Bytes, for nbgrader's question whether they are too many. 0: what is too much is left out in copying."""
        return 0

    def do_copy(self, src, dest, log=None):
        """Copies the ordinary files of one student. No link is followed, also not one that was put there meanwhile."""
        self._copy_all(src, Path(dest))
        self._write_time_and_check_secret(Path(src).name, Path(dest))

    def _copy_all(self, src, dest: Path) -> None:
        found, left = 0, _KILOBYTE * self.coursedir.max_dir_size
        ignore, include = self.coursedir.ignore, self.coursedir.include
        self._make(dest)
        for parent, folders, names, handle in os.fwalk(src, onerror=lambda error: self._leave_out(src, str(error))):
            inside = Path(parent).relative_to(src)
            folders[:] = self._entered(inside, folders, handle)
            wanted = [name for name in names if not _matches(name, ignore) and _matches(name, include)]
            for name in [*folders, *wanted]:
                found += 1
                if found > MAX_FILES:
                    self._leave_out(src, f"it has more than {MAX_FILES} files; the others were not collected")
                    return
                if name in folders:
                    self._make(Path(dest, inside, name))
                else:
                    left -= self._copy(inside / name, handle, dest, left)

    def _write_time_and_check_secret(self, record: str, dest: Path) -> None:
        """The time of the folder's name as `timestamp.txt`, and a secret only if it can be read."""
        time, secret = dest / _TIME, dest / _SECRET
        for path in (time, secret):
            if path.is_dir():
                shutil.rmtree(path)
        time.write_text(f"{parse_utc(record.rsplit('+', 3)[2]).replace(tzinfo=UTC):%Y-%m-%d %H:%M:%S.%f %Z}")
        self._share(time, 0o660)
        try:
            usable = bool(secret.read_text(encoding="utf-8").strip())
        except (OSError, ValueError):
            usable = False
        if not usable:
            secret.unlink(missing_ok=True)
            self._leave_out(_SECRET, "it is missing, empty or damaged; the student's own nbgrader finds no feedback")

    def _entered(self, inside: Path, folders: list[str], handle: int) -> list[str]:
        """The names of the folders in a folder whose files are looked at. handle: the open folder."""
        wanted = [name for name in folders if not _matches(name, self.coursedir.ignore)]
        links = [name for name in wanted if _is_link(name, handle)]
        for name in links:
            self._leave_out(inside / name, "it is a link")
        if wanted and len(inside.parts) == MAX_LEVELS:
            self._leave_out(inside, f"its folders are more than {MAX_LEVELS} levels deep")
            return []
        return [name for name in wanted if name not in links]

    def _copy(self, name: Path, handle: int, dest: Path, left: int) -> int:
        """Copies one file out of an open folder. left: bytes that it may have. Its bytes, 0 if it is left out."""
        try:
            # a pipe would be waited for without O_NONBLOCK
            descriptor = os.open(name.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=handle)
        except OSError as error:
            return self._leave_out(name, f"it is a link, or cannot be read ({error.strerror})")
        with open(descriptor, "rb") as source:
            found, owner = os.fstat(descriptor), os.fstat(handle).st_uid
            if not stat.S_ISREG(found.st_mode):
                return self._leave_out(name, "it is not an ordinary file")
            if found.st_uid != owner:
                return self._leave_out(name, f"it belongs to {_account(found.st_uid)}, its folder to {_account(owner)}")
            if found.st_size > min(left, _KILOBYTE * (self.coursedir.max_file_size or left)):
                return self._leave_out(name, "it is too large (see CourseDirectory.max_file_size and max_dir_size)")
            with (dest / name).open("wb") as target:
                target.write(source.read(found.st_size))  # and no more, should it grow
        self._share(dest / name, 0o660)
        return found.st_size

    def _leave_out(self, what: object, why: str) -> int:
        self.log.error("Left out: %s: %s", what, why)
        return 0

    def _make(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._share(folder, 0o2770)

    def _share(self, path: Path, mode: int) -> None:
        """A group's course is for all of the group."""
        if self.coursedir.groupshared:
            path.chmod(stat.S_IMODE(path.stat().st_mode) | mode)


class ReleaseSafely(ExchangeReleaseFeedback):
    """nbgrader's giving back of feedback; a student's folder that stops it is left out."""

    def copy_files(self):
        for folder in sorted(glob.glob(self.src_path)):
            self.src_path = glob.escape(folder)
            try:
                super().copy_files()
            except (OSError, ValueError, AssertionError) as reason:  # no or an empty secret, a folder named as a page
                self.log.error("Not released: %s: %s", folder, str(reason) or f"{_SECRET} is empty")


def _is_link(name: str, handle: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode)
    except OSError:  # gone meanwhile
        return True


def _matches(name: str, patterns) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def _account(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"the account number {number}"
