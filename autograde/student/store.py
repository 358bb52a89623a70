"""Keeps passed answers in the student's own package, `mybert/` in the course's home (see home.py).

    mybert/
    ├── __init__.py  pyproject.toml  README.md
    ├── attention.py          from the answers of notebook 03, in the course's order
    ├── tests/test_attention.py
    └── .kept/scores.json     one file per answer: what everything above is made from

Every file is written whole or not at all, the answer first. So the package can always be imported, even after a kill or
when two notebooks write at the same time; the next check writes the missing files.

A generated file contains the digest of its own text. If the digest does not match, the file was edited by hand: it is
never overwritten without a copy.
"""

import contextlib
import hashlib
import importlib
import io
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

from autograde.boundary import call_answer, mybert_importer
from autograde.judging.judge import judge
from autograde.judging.verdict import Verdict
from autograde.student import home, kept_answers, plans, time_limit
from autograde.student.kept_answers import KeptAnswer, NotKept, gather, module_text
from bertlab.common.errors import BertLabError
from bertlab.common.files import write_bytes, write_json, write_text

PACKAGE = mybert_importer.PACKAGE
KEPT = ".kept"
_INIT = '"""My own BERT: what I built in the course, module by module."""\n'
_STAMP = re.compile(r"generated ([0-9a-f]{16}) from ([\w,-]*)")
_COMMENT = {".py": ("# ", ""), ".toml": ("# ", ""), ".md": ("<!-- ", " -->")}


def keep(facts: dict, space: dict) -> str:
    """Keeps a passed answer; returns the sentence for the student. Never raises because of the notebook's content."""
    folder = home.find()
    try:
        with home.locked(folder):
            said = _keep(facts, space, folder)
    except (NotKept, BertLabError, OSError) as reason:
        return f"Not kept in your package: {reason}."
    mybert_importer.forget(facts["kept_in"])  # the next import reads the new file
    return said


def _keep(facts: dict, space: dict, folder: Path) -> str:
    answers = load(folder)
    probes = [question["probe"] for question in plans.plan(facts["id"])["questions"]]
    answer = gather(facts, space, {probe["model"] for probe in probes if "model" in probe})
    known = answers.get(answer.exercise)
    changed = known is None or known.cells != answer.cells
    if changed:
        order = 1 + max((other.order for other in answers.values()), default=0)
        answers[answer.exercise] = answer = replace(answer, order=order)
        answers = _in_course_order(answers.values())
        _try_out(facts, answer, _of_module(answers, answer.module))
        kept = folder / PACKAGE / KEPT
        kept.mkdir(parents=True, exist_ok=True)
        write_json(kept / f"{answer.exercise}.json", asdict(answer))
    said = write(folder, answers, answer.module if changed else None)
    return f"Kept in {PACKAGE}/{answer.module}.py.{said}"


def _try_out(facts: dict, answer: KeptAnswer, answers: list[KeptAnswer]) -> None:
    """Checks an answer in the new version of its module. Raises NotKept if it does not pass.

    answers: all of the module. Their texts are not searched for what this exercise forbids: `adamw_step` must not use
    `keras.optimizers`, but the signature of `train_step` names it.
    """
    module = facts["kept_in"]
    names = {"__name__": f"{PACKAGE}.{module}"}
    source = module_text(module, answers)
    try:
        with contextlib.redirect_stdout(io.StringIO()), time_limit.limit(time_limit.SECONDS):
            exec(compile(source, f"<{PACKAGE}/{module}.py>", "exec"), names)
    except time_limit.TimeLimitExceeded:
        reason = f"its cells take longer than {time_limit.SECONDS:g} s; move what only tries it out to another cell"
        raise NotKept(reason) from None
    except (Exception, SystemExit) as error:  # any error of a student's code
        raise NotKept(f"it fails outside of the notebook ({type(error).__name__}: {str(error)[:200]})") from None
    own = "\n".join(answer.cells)
    if not judge(plans.plan(facts["id"]), lambda questions: call_answer.answer(questions, names), own).passed:
        raise NotKept("it does not pass its check outside of the notebook")


def passes(exercise: str, folder: Path) -> Verdict:
    """The verdict on a kept answer in a folder's `mybert/`. Used by the tests within the package."""
    facts = plans.find(exercise)
    mybert_importer.activate(folder)
    module = importlib.import_module(f"{PACKAGE}.{facts['kept_in']}")
    verdict = judge(plans.plan(facts["id"]), lambda questions: call_answer.answer(questions, vars(module)), "")
    print(verdict)
    return verdict


# --- answers as files ---


def load(folder: Path) -> dict[str, KeptAnswer]:
    """The answers in a home, by exercise, in the course's order. A damaged file is left out."""
    found = []
    for path in sorted((folder / PACKAGE / KEPT).glob("*.json")):
        try:
            found.append(KeptAnswer.from_dict(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, RecursionError):
            continue
    return _in_course_order(found)


def _in_course_order(answers: Iterable[KeptAnswer]) -> dict[str, KeptAnswer]:
    numbers = {facts["id"]: number for number, facts in enumerate(plans.index())}
    ordered = sorted(answers, key=lambda answer: (numbers.get(answer.exercise, len(numbers)), answer.exercise))
    return {answer.exercise: answer for answer in ordered}


# --- the package ---


def activate_mybert() -> None:
    """Lets `import mybert` find the student's package, as the first cell of a notebook does by `load_backend()`."""
    mybert_importer.activate(home.find, prepare=repair)


def write(folder: Path, answers: dict[str, KeptAnswer], changed: str | None = None) -> str:
    """Writes missing and outdated files; files edited by hand stay, except that of the changed module, about which a
    sentence is returned."""
    package = folder / PACKAGE
    if not answers:
        return ""
    (package / "tests").mkdir(parents=True, exist_ok=True)
    if not (package / "__init__.py").exists():
        write_text(package / "__init__.py", _INIT)
    said = ""
    for module in sorted({answer.module for answer in answers.values()}):
        mine = _of_module(answers, module)
        said += _write_generated(package / f"{module}.py", module_text(module, mine), mine, force=module == changed)
        _write_generated(package / "tests" / f"test_{module}.py", kept_answers.test_text(module, mine), mine)
    everything = list(answers.values())
    _write_generated(package / "pyproject.toml", kept_answers.project_text(everything), everything)
    _write_generated(package / "README.md", kept_answers.readme_text(everything, plans.index()), everything)
    return said


def repair(folder: Path | None = None) -> None:
    """Writes the files that a killed check did not, in a folder or the home. Files that cannot be written stay."""
    folder = folder or home.find()
    try:
        if (folder / PACKAGE / KEPT).is_dir():
            with home.locked(folder):
                write(folder, load(folder))
    except (BertLabError, OSError):
        return


def _of_module(answers: dict[str, KeptAnswer], module: str) -> list[KeptAnswer]:
    return [answer for answer in answers.values() if answer.module == module]


def _write_generated(path: Path, text: str, answers: list[KeptAnswer], force: bool = False) -> str:
    content = stamped(text, path.suffix, answers)
    there = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else None
    is_edited = there is not None and not is_generated(there, answers)
    if there == content or is_edited and not force:
        return ""
    said = ""
    if is_edited:
        copy = edited_copy(path, there)
        if not copy.exists():
            write_bytes(copy, path.read_bytes())
        said = f" You had edited that file: your version is in {PACKAGE}/{copy.name}."
    write_text(path, content)
    return said


def edited_copy(path: Path, text: str) -> Path:
    """The path for a copy of an edited file: the same text always gets the same path."""
    return path.with_name(f"{path.stem}.edited-{_digest(text)[:6]}{path.suffix}")


def stamped(text: str, suffix: str, answers: Iterable[KeptAnswer]) -> str:
    """A text under a line with its digest and the answers that it was made from."""
    before, after = _COMMENT[suffix]
    made_from = ",".join(answer.exercise for answer in answers)
    return f"{before}generated {_digest(text)} from {made_from}{after}\n{text}"


def is_generated(content: str, answers: Iterable[KeptAnswer] | None = None) -> bool:
    """Whether a file is unchanged since it was generated, and contains no other answers than these."""
    line, _, text = content.partition("\n")
    stamp = _STAMP.search(line)
    is_whole = stamp is not None and stamp[1] == _digest(text)
    return is_whole and (answers is None or set(stamp[2].split(",")) <= {answer.exercise for answer in answers})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
