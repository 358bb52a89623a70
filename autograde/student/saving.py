"""Saves a student's work as one file, for machines that delete it: Colab after a disconnect, shared computers.

The file is not trusted: only names that `save_state` writes are accepted, sizes are limited, and all of it is checked
before anything is unpacked. Loading runs no code of it.
"""

import json
import os
import re
import shutil
import zipfile
import zlib
from pathlib import Path

from autograde.boundary import mybert_importer
from autograde.common.errors import AutogradeError
from autograde.student import home, progress_file, store
from autograde.student.kept_answers import KeptAnswer
from autograde.student.pictures import Shown
from bertlab.common.files import write_atomically, write_bytes

FILE = "mybert_state.zip"
_PACKAGE_FILE = re.compile(
    rf"{home.PACKAGE}/(?:[a-z_][a-z0-9_]{{0,60}}(?:\.edited-[0-9a-f]{{6}})?\.py|pyproject\.toml|README\.md"
    rf"|tests/[a-z_][a-z0-9_]{{0,60}}\.py|\{store.KEPT}/[a-z0-9][a-z0-9_-]{{0,60}}\.json)"
)
_MAX_FILES = 500
_LARGEST = 1 << 20  # bytes of one file
_LARGEST_TOTAL = 16 << 20
_DRIVE = Path("/content/drive/MyDrive")
_CACHE = "BERTLAB_CACHE"  # the library's folder for texts that it has gathered
_WITHOUT_DRIVE = (
    "Your Drive was not opened ({}). You can work without it, but Colab deletes all files when it disconnects: "
    "run save_state() before you stop and load_state() next time, or run this cell again."
)


class StateError(AutogradeError, ValueError):
    """A file that is not a saved state."""


class Notice(Shown):
    """A sentence for the notebook. `path`: the file or folder it is about."""

    def __new__(cls, sentence: str, path: Path):
        said = super().__new__(cls, sentence)
        said.path = path
        return said


def _count(answers: int) -> str:
    return "1 answer" if answers == 1 else f"{answers} answers"


def save_state(path: str | Path | None = None) -> Notice:
    """Writes the package and the progress into one zip file, `mybert_state.zip` in the course's home by default; on
    Colab the browser downloads it. The same state gives the same bytes."""
    folder = home.find()
    target = Path(path) if path is not None else folder / FILE
    with home.locked(folder):
        files = _files(folder)

    def pack(partial: Path) -> None:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # always dated 1980

    write_atomically(target, pack)
    if path is None:
        download(target)
    answers = sum(name.startswith(f"{home.PACKAGE}/{store.KEPT}/") for name in files)
    return Notice(f"Saved {_count(answers)} and your progress in {target}.", target)


def load_state(path: str | Path | None = None) -> Notice:
    """Adds a saved state to the course's home. Raises StateError, and then has changed nothing.

    path: the file; on Colab, without one, the browser asks for it. If an answer is both here and in the file, the
    one here stays; the better progress counts; a file that was edited by hand is saved beside the one here.
    """
    folder = home.find()
    source = Path(path) if path is not None else _uploaded(folder)
    taken = _take_over(_unpacked(source), folder)
    return Notice(f"Loaded {_count(taken)} from {source.name} into {folder / home.PACKAGE}.", folder)


def keep_in_drive(folder: str = "BertLab", drive: str | Path = _DRIVE) -> Notice:
    """Makes a folder in Google Drive the home of the course, for this notebook; copies existing work there.

    Call it in the first cell of every notebook on Colab; it asks for access if the Drive is not mounted yet. Without
    access everything else still works: the returned sentence explains what to do instead.
    """
    drive = Path(drive)
    if not drive.is_dir():
        refused = _mount(drive)
        if refused:
            return Notice(_WITHOUT_DRIVE.format(refused), home.find())
    before, target = home.find(), drive / folder
    target.mkdir(parents=True, exist_ok=True)
    if before.absolute() != target.absolute():
        _take_over(_files(before), target)
    os.environ[home.VARIABLE] = str(target)
    if not os.environ.get(_CACHE):
        os.environ[_CACHE] = str(target / "cache")
    store.activate_mybert()
    kept = "answers that passed their check, and the training run of notebook 07, survive a disconnect"
    return Notice(f"Your course is stored in {target} now; {kept}.", target)


# --- what a state consists of ---


def _files(folder: Path) -> dict[str, bytes]:
    """The files of a home that belong to a state: name → content."""
    files = {}
    for path in sorted((folder / home.PACKAGE).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if _PACKAGE_FILE.fullmatch(name) and path.is_file() and not path.is_symlink():
            files[name] = path.read_bytes()
    progress = folder / home.PROGRESS
    if progress.is_file():
        files[home.PROGRESS] = progress.read_bytes()
    return files


def _unpacked(source: Path) -> dict[str, bytes]:
    """A saved state's files. Raises StateError for a file with anything else in it."""
    files, left = {}, _LARGEST_TOTAL
    try:
        with zipfile.ZipFile(source) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > _MAX_FILES:
                raise StateError(f"{source}: expected a saved state of at most {_MAX_FILES} files, got {len(members)}")
            for member in members:
                name = member.filename
                if name != home.PROGRESS and not _PACKAGE_FILE.fullmatch(name):
                    raise StateError(f"{source}: {name[:80]!r} does not belong in a saved state; nothing was loaded")
                with archive.open(member) as file:
                    content = file.read(min(_LARGEST, left) + 1)  # the size that the archive declares is not trusted
                left -= len(content)
                if len(content) > _LARGEST or left < 0:
                    raise StateError(f"{source}: {name} is too large for a saved state; nothing was loaded")
                if not _fits(name, content):
                    raise StateError(f"{source}: {name} is damaged; nothing was loaded")
                files[name] = content
    except FileNotFoundError:
        raise StateError(f"{source}: the file does not exist; save_state() prints the path of its file") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise StateError(f"{source}: cannot be read ({error}); save the state again") from None
    return files


def _fits(name: str, content: bytes) -> bool:
    try:
        if name == home.PROGRESS:
            progress_file.parse(content)
        elif name.endswith(".json"):
            answer = KeptAnswer.from_dict(json.loads(content))
            return name == f"{home.PACKAGE}/{store.KEPT}/{answer.exercise}.json"
    except (ValueError, RecursionError):
        return False
    return True


def _take_over(files: dict[str, bytes], folder: Path) -> int:
    """Adds a state's files to a home; returns the number of added answers."""
    taken = 0
    with home.locked(folder):
        for name, content in files.items():
            path = folder / name
            if name == home.PROGRESS:
                continue
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_bytes(path, content)
                taken += name.endswith(".json")
            elif path.read_bytes() != content and name.endswith(".py") and not store.is_generated(_text(content)):
                shown = store.edited_copy(path, _text(content))
                if not shown.exists():
                    write_bytes(shown, content)
        store.write(folder, store.load(folder))
    if home.PROGRESS in files:
        progress_file.merge(progress_file.parse(files[home.PROGRESS]), folder / home.PROGRESS)
    for module in mybert_importer.MODULES:
        mybert_importer.forget(module)
    return taken


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


# --- Colab's own ---


def _colab():
    try:
        import google.colab
    except ImportError:
        return None
    return google.colab


def download(path: Path) -> bool:
    """On Colab, lets the browser download a file; elsewhere returns False."""
    if not _colab():
        return False
    from google.colab import files

    files.download(str(path))
    return True


def _uploaded(folder: Path) -> Path:
    if not _colab():
        return folder / FILE
    from google.colab import files

    names = list(files.upload())
    if len(names) != 1:
        raise StateError("expected one file; choose the file that save_state() made")
    uploaded = folder / FILE
    if Path(names[0]).absolute() != uploaded.absolute():
        shutil.move(names[0], uploaded)
    return uploaded


def _mount(drive: Path) -> str:
    """Mounts the Drive; returns the reason if that failed, otherwise ""."""
    if not _colab():
        raise StateError(f"{drive}: the folder does not exist; outside of Colab set ${home.VARIABLE} instead")
    from google.colab import drive as google_drive

    try:
        google_drive.mount(str(drive.parent))
    except Exception as refused:  # Colab's own errors have no common class; also a closed window
        return str(refused)[:200] or type(refused).__name__
    return ""
