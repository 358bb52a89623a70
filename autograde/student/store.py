"""Keeps passed answers in the student's own package, `mybert/` in the course's home (see home.py).

    mybert/
    ├── __init__.py  pyproject.toml  README.md
    ├── attention.py          from the pieces of notebook 03, in the course's order
    ├── tests/test_attention.py
    └── .kept/scores.json     one file per piece: what everything above is made from

Every file is written whole or not at all, the piece first. So whoever is killed, and whichever two notebooks write at a
time, the package is always one that can be imported; what a killed check left out, the next one writes.

A generated file carries the digest of its own text. One whose digest no longer fits was edited by hand: it is never
written over without a copy beside it.
"""

import hashlib
import importlib
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from autograde import probe
from autograde.judge import judge
from autograde.student import home, own, plans
from autograde.student.pieces import NotKept, Piece, gather
from autograde.student.written import module_text, project_text, readme_text, test_text
from autograde.verdict import Verdict
from bertlab.errors import BertLabError
from bertlab.files import write_bytes, write_text

PACKAGE = own.PACKAGE
PIECES = ".kept"
_INIT = '"""My own BERT: what I built in the course, module by module."""\n'
_STAMP = re.compile(r"generated ([0-9a-f]{16}) from ([\w,-]*)")
_COMMENT = {".py": ("# ", ""), ".toml": ("# ", ""), ".md": ("<!-- ", " -->")}


def keep(facts: dict, space: dict) -> str:
    """Keeps a passed answer; returns the sentence for the student. Never raises for what is in the notebook."""
    folder = home.find()
    try:
        with home.locked(folder):
            said = _keep(facts, space, folder)
    except NotKept as reason:
        return f"Not kept in your package: {reason}."
    except (BertLabError, OSError) as reason:
        return f"Not kept in your package: {reason}."
    own.forget(facts["kept_in"])  # the next import reads the new file
    return said


def _keep(facts: dict, space: dict, folder: Path) -> str:
    pieces = load(folder)
    piece = _gathered(facts, space, pieces)
    known = pieces.get(piece.exercise)
    changed = known is None or known.statements != piece.statements
    if changed:
        order = 1 + max((other.order for other in pieces.values()), default=0)
        pieces[piece.exercise] = piece = replace(piece, order=order)
        pieces = _in_course_order(pieces.values())
        problem = _trial(facts, _of_module(pieces, piece.module))
        if problem:
            raise NotKept(problem)
        _write_piece(folder, piece)
    said = write(folder, pieces, piece.module if changed else None)
    return f"Kept in {PACKAGE}/{piece.module}.py.{said}"


def _gathered(facts: dict, space: dict, pieces: dict[str, Piece]) -> Piece:
    module = facts["kept_in"]
    others = [piece for piece in pieces.values() if piece.module == module and piece.exercise != facts["id"]]
    asked = [question["probe"] for question in plans.plan(facts["id"])["questions"]]
    models = sorted({one["model"] for one in asked if "model" in one})
    return gather(facts, space, {name for piece in others for name in piece.names}, models)


def _trial(facts: dict, pieces: list[Piece]) -> str:
    """Whether the module as it would be still passes this check; a clause that says why not."""
    module = facts["kept_in"]
    names = {"__name__": f"{PACKAGE}.{module}"}
    source = module_text(module, pieces)
    try:
        exec(compile(source, f"<{PACKAGE}/{module}.py>", "exec"), names)
    except (Exception, SystemExit) as error:  # whatever a student's code can raise
        return f"it fails outside of the notebook ({type(error).__name__}: {str(error)[:200]})"
    verdict = judge(plans.plan(facts["id"]), lambda questions: probe.answer(questions, names), source)
    return "" if verdict.passed else "it does not pass its check outside of the notebook"


def passes(exercise: str, folder: Path) -> Verdict:
    """The verdict on a kept piece as it stands in a folder's `mybert/`. Used by the tests within the package."""
    facts = plans.find(exercise)
    own.install(folder)
    module = importlib.import_module(f"{PACKAGE}.{facts['kept_in']}")
    verdict = judge(plans.plan(facts["id"]), lambda questions: probe.answer(questions, vars(module)), "")
    print(verdict)
    return verdict


# --- pieces as files ---


def load(folder: Path) -> dict[str, Piece]:
    """The pieces in a home, by exercise, in the course's order. A file that is none is left alone."""
    found = []
    for path in sorted((folder / PACKAGE / PIECES).glob("*.json")):
        try:
            found.append(Piece.from_dict(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, RecursionError):
            continue
    return _in_course_order(found)


def _in_course_order(pieces: Iterable[Piece]) -> dict[str, Piece]:
    places = {facts["id"]: place for place, facts in enumerate(plans.index())}
    ordered = sorted(pieces, key=lambda piece: (places.get(piece.exercise, len(places)), piece.exercise))
    return {piece.exercise: piece for piece in ordered}


def _write_piece(folder: Path, piece: Piece) -> None:
    place = folder / PACKAGE / PIECES
    place.mkdir(parents=True, exist_ok=True)
    write_text(place / f"{piece.exercise}.json", json.dumps(piece.to_dict(), indent=1, ensure_ascii=False) + "\n")


# --- the package ---


def write(folder: Path, pieces: dict[str, Piece], changed: str | None = None) -> str:
    """Writes what is not as it should be; files edited by hand stay, except that of the module that changed.

    Returns what the student has to know about that one: a sentence, or nothing.
    """
    place = folder / PACKAGE
    if not pieces:
        return ""
    (place / "tests").mkdir(parents=True, exist_ok=True)
    if not (place / "__init__.py").exists():
        write_text(place / "__init__.py", _INIT)
    said = ""
    for module in sorted({piece.module for piece in pieces.values()}):
        mine = _of_module(pieces, module)
        said += _put(place / f"{module}.py", module_text(module, mine), mine, force=module == changed)
        _put(place / "tests" / f"test_{module}.py", test_text(module, mine), mine)
    everything = list(pieces.values())
    _put(place / "pyproject.toml", project_text(everything), everything)
    _put(place / "README.md", readme_text(everything, plans.index()), everything)
    return said


def mend(folder: Path | None = None) -> None:
    """Writes what a killed check left out, in a folder or the home. One that cannot be written stays as it is."""
    folder = folder or home.find()
    try:
        if (folder / PACKAGE / PIECES).is_dir():
            with home.locked(folder):
                write(folder, load(folder))
    except (BertLabError, OSError):
        return


def _of_module(pieces: dict[str, Piece], module: str) -> list[Piece]:
    return [piece for piece in pieces.values() if piece.module == module]


def _put(path: Path, text: str, pieces: list[Piece], force: bool = False) -> str:
    """Writes a generated file; see `write`."""
    content = stamped(text, path.suffix, pieces)
    there = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else None
    if there == content:
        return ""
    said = ""
    if there is not None and not is_generated(there, pieces):
        if not force:
            return ""
        copy = beside(path, there)
        if not copy.exists():
            write_bytes(copy, path.read_bytes())
        said = f" You had edited that file: your version is in {PACKAGE}/{copy.name}."
    write_text(path, content)
    return said


def beside(path: Path, text: str) -> Path:
    """Where an edited version of a file is kept: the same text in the same place."""
    return path.with_name(f"{path.stem}.edited-{_digest(text)[:6]}{path.suffix}")


def stamped(text: str, suffix: str, pieces: Iterable[Piece]) -> str:
    """A text under a line with its digest and the pieces that it was made from."""
    before, after = _COMMENT[suffix]
    made_from = ",".join(piece.exercise for piece in pieces)
    return f"{before}generated {_digest(text)} from {made_from}{after}\n{text}"


def is_generated(content: str, pieces: Iterable[Piece] | None = None) -> bool:
    """Whether nobody has touched a file since it was generated, and nothing is in it that these pieces lack."""
    line, _, text = content.partition("\n")
    stamp = _STAMP.search(line)
    if not stamp or stamp[1] != _digest(text):
        return False
    known = None if pieces is None else {piece.exercise for piece in pieces}
    return known is None or set(stamp[2].split(",")) <= known


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
