"""Reads the files of a folder or a zip archive one by one; refuses everything except plain small files.

An archive is never unpacked as a whole: each member is checked, then copied to a new name. Its own metadata (sizes,
names, links) is not trusted. Archives within the archive, as students hand them in, are opened too, two levels deep.
"""

import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from autograde.errors import AutogradeError
from autograde.grader.scan import LARGEST_FILE

# Raised by `zipfile` for archives that are broken, encrypted or of an unknown kind
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)


class CollectError(AutogradeError, ValueError):
    """A download that cannot be collected as a whole; single bad files within it are refused and listed instead."""


@dataclass(frozen=True)
class Limits:
    """Caps on one collection."""

    file: int = LARGEST_FILE  # bytes
    total: int = 16 << 30  # bytes
    files: int = 20_000
    ratio: float = 200.0  # a member's size by its packed size, from `ratio_from` bytes on
    ratio_from: int = 64 << 20
    depth: int = 2  # archives within archives
    name: int = 1_000  # characters


@dataclass(frozen=True)
class Entry:
    """One file. path: its path in the folder or archive, with /; refused: the reason, or None if it is accepted."""

    path: str
    size: int = 0
    modified: datetime | None = None
    open: Callable[[], BinaryIO] | None = None
    refused: str | None = None


@dataclass
class _Totals:
    files: int = 0
    total: int = 0


def entries(source: Path, limits: Limits = Limits(), zone: tzinfo = UTC) -> Iterator[Entry]:
    """All files of a folder, a zip archive, or the one file itself. zone: of the times in zip archives.

    Raises CollectError for anything else.
    """
    source, totals = Path(source), _Totals()
    if source.is_dir():
        found = _folder(source)
    elif source.is_file():
        found = iter([_file(source, source.name)])
    else:
        raise CollectError(f"{source}: expected a folder, a zip archive or a notebook, found nothing")
    yield from _opened(found, limits, zone, totals, depth=0)


def _folder(folder: Path) -> Iterator[Entry]:
    for place, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(names):
            path = Path(place, name)
            yield _file(path, path.relative_to(folder).as_posix())


def _file(path: Path, name: str) -> Entry:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return Entry(name, refused="it is a symbolic link")
    if not stat.S_ISREG(status.st_mode):
        return Entry(name, refused="it is not an ordinary file")
    modified = datetime.fromtimestamp(int(status.st_mtime), UTC)
    return Entry(name, status.st_size, modified, lambda: path.open("rb"))


def _opened(found: Iterator[Entry], limits, zone, totals, depth) -> Iterator[Entry]:
    """Entries within the limits, archives among them replaced by what is in them."""
    for entry in found:
        totals.files += 1
        if totals.files > limits.files:
            yield Entry(entry.path, refused=f"there are more than {limits.files} files; the others were not read")
            return
        if entry.refused or _is_system_file(entry.path):
            if entry.refused:
                yield entry
            continue
        is_archive = entry.path.lower().endswith(".zip")
        if not (is_archive and depth == 0):  # the download itself may be as large as the class
            entry = _checked(entry, limits, totals, is_archive)
        if is_archive and entry.refused is None:
            if depth == limits.depth:
                yield replace(entry, refused=f"archives are nested more than {limits.depth} deep")
            else:
                yield from _archive(entry, limits, zone, totals, depth)
        else:
            yield entry


def _is_system_file(path: str) -> bool:
    """Whether a file was added by an operating system or Jupyter: folder entries, __MACOSX, .DS_Store, checkpoints."""
    parts = PurePosixPath(path).parts
    return path.endswith("/") or any(part == "__MACOSX" or part.startswith((".DS_", ".ipynb_", "._")) for part in parts)


def _checked(entry: Entry, limits, totals, is_archive) -> Entry:
    if entry.size > limits.file:
        return replace(entry, refused=f"it has {entry.size >> 20} MB, more than {limits.file >> 20}")
    totals.total += 0 if is_archive else entry.size
    if totals.total > limits.total:
        return replace(entry, refused=f"all files together have more than {limits.total >> 20} MB")
    reason = _bad_name(entry.path, limits)
    return replace(entry, refused=reason) if reason else entry


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


def _archive(entry: Entry, limits, zone, totals, depth) -> Iterator[Entry]:
    try:
        with _seekable(entry, depth) as file, zipfile.ZipFile(file) as archive:
            prefix = f"{entry.path}/" if depth else ""
            members = (_member(archive, member, prefix, limits, zone) for member in archive.infolist())
            yield from _opened(members, limits, zone, totals, depth + 1)
    except (*_DAMAGE, OSError) as reason:
        yield Entry(entry.path, entry.size, entry.modified, refused=f"it is not a complete zip archive ({reason})")


def _seekable(entry: Entry, depth) -> BinaryIO:
    """An archive opened; one within another is copied first, since going back in it means unpacking it again."""
    if depth == 0:
        return entry.open()
    copy = tempfile.TemporaryFile()
    with entry.open() as source:
        shutil.copyfileobj(source, copy)  # a member yields no more than its size, which was checked
    return copy


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, prefix: str, limits, zone) -> Entry:
    name, mode = prefix + member.filename, member.external_attr >> 16
    try:
        modified = datetime(*member.date_time, tzinfo=zone).astimezone(UTC)
    except ValueError:  # month 0, second 62 …
        modified = None
    entry = Entry(name, member.file_size, modified, lambda: archive.open(member))
    if stat.S_ISLNK(mode):
        return replace(entry, refused="it is a symbolic link")
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return replace(entry, refused="it is not an ordinary file")
    if member.flag_bits & 1:
        return replace(entry, refused="it is encrypted")
    packed = max(member.compress_size, 1)
    if member.file_size >= limits.ratio_from and member.file_size / packed > limits.ratio:
        return replace(entry, refused=f"it is {member.file_size // packed} times larger when unpacked (a zip bomb)")
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
