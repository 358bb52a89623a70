"""Reads a submitted file of any kind: a list of cells, or one clear sentence about why there are no cells.

Reading never raises. It tries in order: the encoding (byte-order marks, UTF-16, bytes that are not UTF-8), removing
outputs, valid JSON, JSON with raw line breaks in strings, the two sides of a merge conflict, and finally every single
cell that is still readable in a damaged file. A Python script is read as cells, too (source.py). Notebook formats 1
to 4 differ in the location of the cells and the name of their text; only these are read.
"""

import json
import mmap
import os
import re
import stat
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from autograde.common.dependencies import ParsedCell
from autograde.common.syntax import LARGEST
from autograde.grader.reading.scan import LARGEST_TEXT, TooLarge, without_outputs
from autograde.grader.reading.source import has_statements, split_script, what_it_is, without_calls

MAX_CELLS = 5_000
MAX_CODE = 500_000  # characters of all cells that can be programs: to parse that much takes about 3 s
_SALVAGE_WORK = 64 << 20  # characters looked at while cells of a damaged file are searched
_CELL_START = re.compile(r'\{\s*"(?:cell_type|attachments|execution_count|id|metadata|outputs|source|collapsed|input)"')
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_KINDS_OF_FILE = (
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive (or a Word document)"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x1f\x8b", "a compressed archive"),
)
HAND_IN_AGAIN = "In Jupyter: File > Save, in Colab: File > Download > Download .ipynb; then hand that file in again."


@dataclass(frozen=True)
class Cell:
    """One cell as it was handed in. position: its number in the file, from 0; grade_id: nbgrader's name for it."""

    source: str
    kind: str  # "code", "markdown" or "raw"
    position: int
    grade_id: str | None = None
    locked: bool = False
    graded: bool = False
    solution: bool = False
    points: float = 0.0
    tags: tuple[str, ...] = ()

    @cached_property
    def parsed(self) -> ParsedCell:
        """Its text with its tree and its names."""
        return ParsedCell(self.source)


@dataclass(frozen=True)
class DamagedFile:
    """Why a file could not be read. kind: a word for lists; message: for the student."""

    kind: str
    message: str


@dataclass
class Reading:
    """The content of a file. repairs: one sentence for each repair; problem: None unless no cell was found."""

    cells: list[Cell] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    problem: DamagedFile | None = None


class _Unreadable(Exception):
    """Kind and sentence of a `DamagedFile`."""


def read_notebook(source: bytes | str | Path) -> Reading:
    """Reads a submitted file, given as its bytes or its path. Never raises for anything in the file."""
    reading = Reading()
    try:
        if isinstance(source, bytes):
            _read(source, reading)
        else:
            with open_ordinary(Path(source)) as file:
                is_empty = not os.fstat(file.fileno()).st_size
                # as memory that the system can take back
                _read(b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), reading)
        if _code_size(cell.source for cell in reading.cells) > MAX_CODE:
            size = f"more than {MAX_CODE // 1000} kB, where the released one has about 40"
            what_to_do = "Put data into files, delete the cells that hold it, and hand it in again."
            raise _Unreadable("too large", f"Your notebook holds too much code: {size}. {what_to_do}")
        if not reading.cells:
            raise _Unreadable("no cells", "Your notebook has no cells.")
    except TooLarge as reason:
        kind, sentence = "too large", f"Your file could not be read: {reason}."
    except OSError as reason:
        kind, sentence = "unreadable", f"Your file could not be opened ({reason.strerror})."
    except _Unreadable as reason:
        kind, sentence = reason.args
    else:
        return reading
    return Reading([], reading.repairs, DamagedFile(kind, f"{sentence} {HAND_IN_AGAIN}"))


def open_ordinary(path: Path) -> BinaryIO:
    """A file, open to be read. Raises OSError; for links, pipes and devices, too."""
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(0, "it is not an ordinary file")
    return file


def _read(data, reading: Reading) -> None:
    start = bytes(data[:4096]).lstrip()
    if not start:
        raise _Unreadable("empty", "Your file is empty.")
    for mark, name in _KINDS_OF_FILE:
        if start.startswith(mark):
            raise _Unreadable("not a notebook", f"Your file is {name}, not a notebook.")
    text = _text(data, reading)
    content = _json(text, reading)
    if content is not None:
        _take_cells(content, reading)
    elif text.lstrip()[:1] in ("{", "["):
        _salvage(text, reading)
    elif text.lstrip()[:9].lower().startswith(("<!doctype", "<html")):
        raise _Unreadable("not a notebook", "Your file is a web page, not a notebook.")
    else:
        _take_script(text, reading)


def _text(data, reading) -> str:
    """The characters of a file, without outputs. Adds a sentence if the encoding had to be repaired."""
    start = bytes(data[:4])
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        reading.repairs.append("The file was saved as UTF-16; notebooks are UTF-8.")
        if len(data) > 4 * LARGEST_TEXT:
            raise TooLarge("it is saved as UTF-16 and too large")
        data = bytes(data).decode("utf-16", "replace").encode("utf-8", "replace")
    raw = without_outputs(data)
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
        reading.repairs.append("The file began with a byte-order mark.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        reading.repairs.append("Some bytes are not UTF-8 text; they were replaced by �.")
        return raw.decode("utf-8", "replace")


def _json(text: str, reading) -> object | None:
    """The parsed file; None if it is not JSON, even after two common kinds of damage are repaired."""
    content = _loads(text)
    if content is not None or "\n<<<<<<<" not in f"\n{text}":
        return content
    for side, name in (("<", "first"), (">", "second")):
        content = _loads(_one_side(text, side))
        if content is not None:
            reading.repairs.append(
                f"The file contains an unresolved merge conflict (<<<<<<<); the {name} of its two versions was used."
            )
            return content
    return None


def _one_side(text: str, side: str) -> str:
    """A file with merge conflicts as the side before (<) or after (>) each line of ======= has it."""
    lines, inside = [], ""
    for line in text.split("\n"):
        mark = line[:7]
        if mark == "<" * 7:
            inside = "<"
        elif inside and mark == "|" * 7:  # what both sides had before, in git's diff3 style
            inside = "|"
        elif inside and mark == "=" * 7:
            inside = ">"
        elif inside and mark == ">" * 7:
            inside = ""
        elif inside in ("", side):
            lines.append(line)
    return "\n".join(lines)


def _loads(text: str):
    try:
        return json.loads(text, strict=False)  # raw line breaks within strings are let through
    except (ValueError, RecursionError):
        return None


def _take_cells(content, reading) -> None:
    """Cells of a notebook of any format: 4 has `cells`, 2 and 3 have `worksheets`, and the text changed its name."""
    items, is_notebook = [], False
    if isinstance(content, dict):
        sheets = content["worksheets"] if isinstance(content.get("worksheets"), list) else []
        for holder in (content, *sheets):
            if isinstance(holder, dict) and isinstance(holder.get("cells"), list):
                is_notebook = True
                items += holder["cells"]
        if sheets:
            reading.repairs.append("The notebook has an old format (nbformat 3 or older); its cells were read.")
    elif isinstance(content, list) and any(isinstance(item, dict) and "cell_type" in item for item in content):
        is_notebook, items = True, content
        reading.repairs.append("The file contains only a list of cells; it was read as a notebook.")
    if not is_notebook:
        raise _Unreadable("not a notebook", "Your file contains data, but is not a notebook.")
    _note_too_many(items, reading)
    for item in items[:MAX_CELLS]:
        _take_cell(item, reading)


def _take_cell(item, reading) -> None:
    if not isinstance(item, dict):
        return
    text = next((item[name] for name in ("source", "input", "code", "text") if item.get(name) is not None), "")
    metadata = item.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    graded = metadata.get("nbgrader")
    graded = graded if isinstance(graded, dict) else {}
    name = graded.get("grade_id")
    points = graded.get("points")
    tags = metadata["tags"] if isinstance(metadata.get("tags"), list) else []
    cell = Cell(
        source=_clean(_joined(text), reading),
        kind=item["cell_type"] if item.get("cell_type") in ("code", "raw") else "markdown",
        position=len(reading.cells),
        grade_id=_LONE_SURROGATE.sub("�", name) if isinstance(name, str) and 0 < len(name) <= 128 else None,
        locked=graded.get("locked") is True,
        graded=graded.get("grade") is True,
        solution=graded.get("solution") is True,
        points=float(points) if type(points) in (int, float) and 0 <= points < 1e6 else 0.0,
        tags=tuple(tag for tag in tags if isinstance(tag, str)),
    )
    reading.cells.append(cell)


def _joined(text) -> str:
    """A cell's text: a string, or a list of lines that keep their line ends (some tools drop those)."""
    if isinstance(text, str):
        return text
    lines = [line for line in text if isinstance(line, str)] if isinstance(text, list) else []
    if len(lines) > 1 and not any(line.endswith(("\n", "\r")) for line in lines[:-1]):
        return "\n".join(lines)
    return "".join(lines)


def _clean(text: str, reading) -> str:
    """Line ends as Python has them; no NUL; no half characters."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        _say_once(reading, "Line ends of another system (CR LF) were replaced.")
    if "\0" in text or _LONE_SURROGATE.search(text):
        text = _LONE_SURROGATE.sub("�", text.replace("\0", ""))
        _say_once(reading, "Characters that are not allowed in a program (NUL, half of a surrogate pair) were removed.")
    return text


def _say_once(reading, sentence: str) -> None:
    if sentence not in reading.repairs:
        reading.repairs.append(sentence)


def _salvage(text: str, reading) -> None:
    """Every readable cell of damaged JSON, in order, each parsed separately."""
    decoder, offset, work = json.JSONDecoder(strict=False), 0, 0
    while work < _SALVAGE_WORK and len(reading.cells) < MAX_CELLS:
        start = _CELL_START.search(text, offset)
        if start is None:
            break
        try:
            item, offset = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            work += max(getattr(error, "pos", 0) - start.start(), 4096)
            offset = start.end()
            continue
        if isinstance(item, dict) and "cell_type" in item:
            _take_cell(item, reading)
        else:
            offset = start.end()
    if not reading.cells:
        raise _Unreadable("damaged", f"Your file is damaged: it is not valid JSON ({_damage(text)}).")
    reading.repairs.append(
        f"The file is damaged (it is not valid JSON: {_damage(text)}); {len(reading.cells)} cells were still "
        f"readable and were graded. If work is missing: {HAND_IN_AGAIN}"
    )


def _damage(text: str) -> str:
    """The position and the reason why the text is not JSON, in words."""
    if "<<<<<<<" in text and ">>>>>>>" in text:
        return "it contains the marks of an unresolved merge conflict"
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        ends = len(text.rstrip()) - error.pos < 2 or error.msg.startswith("Unterminated")
        return "it ends in the middle" if ends else f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError):
        pass
    return "its brackets are nested too deep"


def _take_script(text: str, reading) -> None:
    """The cells of a Python script, as Colab and Jupyter export it."""
    parts = split_script(_clean(text, reading))
    _note_too_many(parts, reading)
    parts = parts[:MAX_CELLS]
    if _code_size(parts) <= MAX_CODE:
        parts = [without_calls(part) for part in parts]
        if not any(map(has_statements, [*parts, text])):
            raise _Unreadable("not a notebook", f"Your file is {what_it_is(text)}.")
    reading.cells += [Cell(part.strip("\n"), "code", position) for position, part in enumerate(parts)]
    reading.repairs.append("The file is a Python script, not a notebook; its code was graded.")


def _note_too_many(cells: list, reading) -> None:
    if len(cells) > MAX_CELLS:
        reading.repairs.append(f"The notebook has {len(cells)} cells; the first {MAX_CELLS} were read.")


def _code_size(sources) -> int:
    """Number of characters of all cells that can be programs."""
    return sum(len(source) for source in sources if len(source) <= LARGEST)
