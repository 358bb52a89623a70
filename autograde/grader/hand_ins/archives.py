"""Reads the files of a folder or a zip archive one by one; refuses everything except plain small files.

An archive is never unpacked as a whole: each member is checked, then copied to a new name. Its own metadata (sizes,
names, links, dates) is not trusted. Archives within the archive, as students hand them in, are opened too, two levels
deep. Each student has a budget of files, bytes and unpacking; when it is spent, the rest of this student's files is
refused, and all other students' files are read as usual.
"""

import contextlib
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from autograde.common.errors import AutogradeError
from autograde.grader.reading.scan import LARGEST_FILE

# Raised by `zipfile` for archives that are broken, encrypted or of an unknown kind
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # bzip2 and LZMA unpack without a bound on memory
_UTF_8 = 0x800  # the bit in the flags of a member whose name is in UTF-8
_WINDOWS = 0  # the system that made a member
_FIRST = (".ipynb", ".py", ".safetensors")  # read first, so that a budget is not spent on other files


class CollectError(AutogradeError, ValueError):
    """A download that cannot be collected as a whole; single bad files within it are refused and listed instead."""


@dataclass(frozen=True)
class DownloadLimits:
    """Caps on one collection: on a file, on all files of a student, and, as the last resort, on the download."""

    file: int = LARGEST_FILE  # bytes
    student: int = 1 << 30  # bytes, unpacked
    files: int = 2_000  # of a student
    ratio: float = 200.0  # a student's size by its packed size, from `ratio_from` bytes on
    ratio_from: int = 64 << 20
    directory: int = 4 << 20  # bytes of the list of files in a student's archive
    depth: int = 2  # archives within archives
    name: int = 1_000  # characters
    download: int = 64 << 30  # bytes, all students together


@dataclass(frozen=True)
class Entry:
    """One file. path: its path in the folder or archive, with /; refused: the reason, or None if it is accepted.

    outer: the path of the outermost entry that it is in, itself where it is in no archive of a student; modified: the
    date of the outermost entry; packed: its size in the archive.
    """

    path: str
    size: int = 0
    modified: datetime | None = None
    open: Callable[[], BinaryIO] | None = None
    refused: str | None = None
    outer: str = ""
    packed: int = 0

    @property
    def inner(self) -> str:
        """The path within a student's archive; empty where the entry is not in one."""
        return self.path[len(self.outer) + 1 :]


@dataclass
class _Spent:
    """The part of a budget that one student, or the download, has used."""

    files: int = 0
    size: int = 0
    packed: int = 0
    over: str = ""  # the limit that was reached


@dataclass
class _Reading:
    """The state of one pass over a download. owner: outermost path → the student whose budget it is."""

    limits: DownloadLimits
    zone: tzinfo
    owner: Callable[[str], Hashable]
    spent: dict[Hashable, _Spent] = field(default_factory=lambda: defaultdict(_Spent))
    all: _Spent = field(default_factory=_Spent)


def outermost(source: Path, limits: DownloadLimits = DownloadLimits(), zone: tzinfo = UTC) -> Iterator[Entry]:
    """The entries of a folder or of a download's own archive; students' archives stay closed. Raises CollectError."""
    source = Path(source)
    if source.is_file() and source.name.lower().endswith(".zip"):
        with source.open("rb") as file:  # open as long as its entries are read
            yield from (_named(entry, limits) for entry in _members(file, Entry(source.name), None, zone))
        return
    if not source.is_dir() and not source.is_file():
        raise CollectError(f"{source}: expected a folder, a zip archive or a notebook, found nothing")
    found = _folder(source) if source.is_dir() else [_file(source, source.name)]
    yield from (_named(entry, limits) for entry in found if not _is_system_file(entry.path))


def entries(
    source: Path,
    limits: DownloadLimits = DownloadLimits(),
    zone: tzinfo = UTC,
    owner: Callable[[str], Hashable] = lambda outer: outer,
) -> Iterator[Entry]:
    """All files of a folder, a zip archive, or the one file itself. zone: of the times in zip archives.

    owner: outermost path → whose budget it is; by default every outermost entry has one. Raises CollectError.
    """
    reading = _Reading(limits, zone, owner)
    for entry in outermost(source, limits, zone):
        yield from [entry] if entry.refused else _opened(entry, reading, depth=1)


def _named(entry: Entry, limits: DownloadLimits) -> Entry:
    reason = entry.refused or _bad_name(entry.path, limits)
    return replace(entry, refused=reason, outer=entry.outer or entry.path)


def _folder(folder: Path) -> Iterator[Entry]:
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(names):
            path = Path(parent, name)
            yield _file(path, path.relative_to(folder).as_posix())


def _file(path: Path, name: str) -> Entry:
    status, decoded = path.lstat(), os.fsencode(name).decode("utf-8", "replace")
    if decoded != name:
        reason = "its name is not UTF-8, as unpacking in another system leaves it; rename it, or collect the zip itself"
        return Entry(decoded, refused=reason)
    if stat.S_ISLNK(status.st_mode):
        return Entry(name, refused="it is a symbolic link")
    if not stat.S_ISREG(status.st_mode):
        return Entry(name, refused="it is not an ordinary file")
    modified = datetime.fromtimestamp(int(status.st_mtime), UTC)
    return Entry(name, status.st_size, modified, lambda: path.open("rb"), packed=status.st_size)


def _opened(entry: Entry, reading: _Reading, depth: int) -> Iterator[Entry]:
    """The entry, or what is in it if it is an archive, within the student's budget."""
    spent, limits = reading.spent[reading.owner(entry.outer)], reading.limits
    if spent.over:
        return  # told once
    is_archive = entry.path.lower().endswith(".zip")
    spent.files += 1
    if depth == 1:
        spent.packed += entry.packed
    if entry.refused is None and entry.size > limits.file:
        entry = replace(entry, refused=f"it has {entry.size >> 20} MB, more than {limits.file >> 20}")
    if entry.refused is None:
        _spend(spent, entry.size, reading)
    if spent.over:
        yield replace(entry, refused=spent.over)
    elif is_archive and entry.refused is None:
        yield from _archive(entry, reading, depth)
    else:
        yield entry


def _spend(spent: _Spent, size: int, reading: _Reading) -> None:
    limits = reading.limits
    spent.size += size
    reading.all.size += size
    if spent.files > limits.files:
        spent.over = f"this student's upload has more than {limits.files} files; the others were not read"
    elif spent.size > limits.student:
        spent.over = f"this student's files have more than {limits.student >> 20} MB; the others were not read"
    elif spent.size >= limits.ratio_from and spent.size > limits.ratio * max(spent.packed, 1):
        times = spent.size // max(spent.packed, 1)
        spent.over = (
            f"this student's files are {times} times larger when unpacked (a zip bomb); the others were not read"
        )
    elif reading.all.size > limits.download:
        spent.over = (
            f"all files of the download have more than {limits.download >> 30} GB; this file was not read: "
            "collect the download in parts"
        )


def _is_system_file(path: str) -> bool:
    """Whether a file was added by an operating system or Jupyter: folder entries, __MACOSX, .DS_Store, checkpoints."""
    parts = PurePosixPath(path).parts
    return path.endswith("/") or any(part == "__MACOSX" or part.startswith((".DS_", ".ipynb_", "._")) for part in parts)


def _bad_name(path: str, limits) -> str | None:
    parts = PurePosixPath(path.replace("\\", "/")).parts
    if len(path) > limits.name:
        return "its name is too long"
    if not parts or path.startswith(("/", "\\")) or parts[0][1:2] == ":":
        return "its name is an absolute path"
    if ".." in parts:
        return "its name leads out of the archive (..)"
    if any(ord(character) < 32 for character in path):
        return "its name contains control characters"
    return None


def _archive(entry: Entry, reading: _Reading, depth: int) -> Iterator[Entry]:
    """The files in a student's archive: all have its date, since they carry none that can be trusted."""
    if depth > reading.limits.depth:
        yield replace(entry, refused=f"archives are nested more than {reading.limits.depth} deep")
        return
    with tempfile.TemporaryFile() as copy:  # going back in an archive within another means unpacking it again
        try:
            with entry.open() as source:
                shutil.copyfileobj(source, copy)  # a member yields no more than its size, which was checked
        except (*_DAMAGE, OSError) as reason:
            yield replace(entry, refused=f"it is damaged ({reason})")
            return
        directory = reading.limits.directory
        for member in _members(copy, entry, entry.path, reading.zone, directory):
            member = _named(replace(member, modified=entry.modified, outer=entry.outer), reading.limits)
            yield from _opened(member, reading, depth + 1)
            if reading.spent[reading.owner(entry.outer)].over:
                return


def _members(
    file: BinaryIO, archive: Entry, prefix: str | None, zone: tzinfo, directory: int | None = None
) -> Iterator[Entry]:
    """The members of an archive, notebooks first; one refused entry if it cannot be read."""
    try:
        with zipfile.ZipFile(_Bounded(file, directory) if directory else file) as opened:
            members = [(_name(member), member) for member in opened.infolist()]
            members = [(name, member) for name, member in members if not _is_system_file(name)]
            for name, member in sorted(members, key=lambda pair: not pair[0].lower().endswith(_FIRST)):
                yield _member(opened, member, f"{prefix}/{name}" if prefix else name, zone)
    except (*_DAMAGE, OSError) as reason:
        yield Entry(
            archive.path, archive.size, archive.modified, refused=f"it is not a complete zip archive ({reason})",
            outer=archive.outer,
        )  # fmt: skip


class _Bounded:
    """A file of which `zipfile` cannot read a list of members longer than `max_bytes` bytes into memory at once."""

    def __init__(self, file: BinaryIO, max_bytes: int):
        self.file, self.max_bytes = file, max_bytes
        self.seek, self.tell = file.seek, file.tell

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(self.max_bytes + 1 if size < 0 else size if size <= self.max_bytes else 0)
        if size > self.max_bytes or len(data) > self.max_bytes:
            raise zipfile.BadZipFile("its list of files is too long")
        return data


def _name(member: zipfile.ZipInfo) -> str:
    """macOS writes names in UTF-8 without saying so, and `zipfile` takes such a name for one of code page 437. Old
    versions of Windows' PowerShell write folder\\file."""
    name = member.filename
    if not (member.flag_bits & _UTF_8 or name.isascii()):
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/") if member.create_system == _WINDOWS and "/" not in name else name


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, zone) -> Entry:
    mode = member.external_attr >> 16
    try:
        modified = datetime(*member.date_time, tzinfo=zone).astimezone(UTC)
    except ValueError:  # month 0, second 62 …
        modified = None
    entry = Entry(name, member.file_size, modified, lambda: archive.open(member), packed=member.compress_size)
    if stat.S_ISLNK(mode):
        return replace(entry, refused="it is a symbolic link")
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return replace(entry, refused="it is not an ordinary file")
    if member.flag_bits & 1:
        return replace(entry, refused="it is encrypted")
    if member.compress_type not in _METHODS:
        return replace(entry, refused="it is packed in another way than zip's usual one; pack it again as a plain zip")
    return entry


def copy_out(entry: Entry, target: Path, largest: int = LARGEST_FILE) -> int:
    """Copies an entry's content into a new file; returns its size. Raises CollectError when it cannot be read."""
    size = 0
    with target.open("xb") as file:
        for block in _blocks(entry):
            size += len(block)
            if size > largest:
                raise CollectError(f"it has more than {largest >> 20} MB, the largest size allowed")
            file.write(block)
    return size


def _blocks(entry: Entry) -> Iterator[bytes]:
    try:
        with entry.open() as source:
            while block := source.read(1 << 20):
                yield block
    except (*_DAMAGE, OSError) as reason:
        raise CollectError(f"it is damaged ({reason})") from None
