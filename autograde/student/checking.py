"""`check(thing)`, the cell under every stub: runs the student's code on the visible inputs and reports the result.

A wrong answer raises nothing, so that *Run All* continues. nbgrader's Validate (the button in JupyterLab, `nbgrader
validate`) runs a copy of the notebook, in which a graded cell fails if it raises or writes to standard error: only
there a failed check raises, a sentence without a traceback.
"""

import ast
import contextlib
import difflib
import functools
import inspect
import linecache
import os
import re
import sys
import textwrap
from dataclasses import replace

from autograde.boundary.calls import changed_precision
from autograde.common.errors import AutogradeError
from autograde.common.texts import article
from autograde.judging.judge import judge
from autograde.judging.verdict import WIDTH, Verdict, as_html, as_text, points_text
from autograde.student import plans, progress_file, store, time_limit
from autograde.student.pictures import Shown, shell

_FAILED = ("partly", "wrong", "raised")
_UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")


class Outcome:
    """The result of `check`: shown as text or HTML by the notebook; `.verdict` is its data, `.kept` its file."""

    def __init__(self, verdict: Verdict, kept: str = ""):
        self.verdict, self.kept = verdict.with_advice(*[kept] if kept else []), kept

    def __repr__(self):
        return as_text(self.verdict)

    def _repr_html_(self):
        return as_html(self.verdict)


class Message(Shown):
    """A sentence instead of a verdict."""

    verdict = None


class CheckFailed(AutogradeError, AssertionError):
    """A check that did not pass, where nbgrader asks for an exception."""

    def _render_traceback_(self) -> list[str]:
        """Shown by IPython instead of a traceback, in lines that fit nbgrader's dialog, which does not wrap lines."""
        return textwrap.wrap(str(self), WIDTH, subsequent_indent="  ")


def is_validating() -> bool:
    """Whether nbgrader's Validate runs this notebook: it sets this variable for the kernel that it starts."""
    return os.environ.get("NBGRADER_EXECUTION") == "validate"


def check(thing, seconds: float = time_limit.SECONDS) -> Outcome | Message | None:
    """Checks the exercise that `thing` belongs to: the function or layer itself, or its name as a string.

    seconds: time limit of one call; an endless loop is stopped then, and its line is shown. The inputs are the same for
    everybody and every time; the grader uses others. Nothing leaves this machine.
    Raises nothing, except CheckFailed where nbgrader's Validate runs the notebook.
    """
    found = _outcome(thing, sys._getframe(1).f_globals, seconds)
    if not is_validating():
        return found
    verdict = found.verdict
    if verdict is None:
        raise CheckFailed(str(found))
    if not verdict.passed:
        lost = [f"{part.title}: {part.message}" for part in verdict.parts if verdict.points and not part.earned]
        seen = [f"{label}: {text}" for label, text in verdict.facts if label != "tried"]
        reason = next(iter([*verdict.advice, *lost, *seen]), "Run its cell to see more.")
        points = f"{points_text(verdict.points)} of {points_text(verdict.max_points)} points"
        raise CheckFailed(f"✗ {verdict.label}: {verdict.status}, {points}. {' '.join(reason.split())}")
    return None  # nbgrader would read a shown result as a number of points


def _outcome(obj, space: dict, seconds: float) -> Outcome | Message:
    name = _name_of(obj, space)
    facts = plans.find(name)
    if facts is None:
        close = difflib.get_close_matches(name, [known for one in plans.index() for known in one["names"]], n=1)
        meant = f"Did you mean `{close[0]}`?" if close else "Pass the function or layer that you wrote, or its name."
        return Message(f"? There is no exercise for `{name}`. {meant}")
    space, own = dict(space), facts["names"][0]
    if not isinstance(obj, str):
        space[own] = obj
    variant = plans.variant_in(facts, space)
    if variant is None:
        return Message("? VARIANT is not the number of a variant. Run the cell with your values as you got it.")
    plan = plans.plan(facts["id"], variant)
    if own in space and (words := _not_checkable(facts, plan, space[own]) or _older_version(own, space[own])):
        return Message(words)
    if own not in space and progress_file.has_passed(facts["id"]):
        return Message(_run_first(facts, "it is not defined in this notebook"))
    source = _source_of(space.get(own))
    with _full_precision():
        verdict = judge(plan, lambda questions: time_limit.answer_in_time(questions, space, seconds), source)
    lacking = _UNDEFINED.search(dict(verdict.facts).get("error", ""))
    if lacking and (other := plans.find(lacking[1])) and progress_file.has_passed(other["id"]):
        return Message(_run_first(other, f"`{own}` uses it"))
    if lacking:
        verdict = verdict.with_advice(ABOVE.format(name=lacking[1]))
    if settings := changed_precision():
        verdict = replace(verdict, notes=(*verdict.notes, _PRECISION.format(settings=" and ".join(settings))))
    failures = progress_file.record(facts["id"], verdict.status, verdict.points, _with_helpers(source, space))
    kept = store.keep(facts, space) if verdict.passed and facts["kept_in"] else ""
    advice = *_failed_prerequisites(facts, verdict, source, space), *_hints(plan, verdict, failures)
    return Outcome(verdict.with_advice(*advice), kept)


ABOVE = "Does a cell above define `{name}`? Run it first. After a restart of the kernel, run all cells above."
_PRECISION = (
    "A cell called `{settings}`. This check used float32, as BERT's layers do; in the rest of your notebook the "
    "setting still holds."
)


def _run_first(facts, reason: str) -> str:
    """A sentence about a passed answer whose cell has not run since the kernel was restarted."""
    return (
        f"? Run the cell of {facts['number']} `{facts['names'][0]}` first: {reason}. (You have passed it: nothing is "
        "lost. After a restart of the kernel, choose Run → Run All Above.)"
    )


@contextlib.contextmanager
def _full_precision():
    """Turns off TensorFloat-32, in which newer GPUs round the factors of float32 products to 10 bits."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        yield
        return
    settings = tensorflow.config.experimental
    before = settings.tensor_float_32_execution_enabled()
    settings.enable_tensor_float_32_execution(False)
    try:
        yield
    finally:
        settings.enable_tensor_float_32_execution(before)


def _name_of(obj, space):
    """The name by which an exercise knows the object: its own name, or a variable that holds it."""
    if isinstance(obj, str):
        return obj
    own = getattr(obj, "__name__", "")
    if plans.find(own):
        return own
    held = (name for name, value in list(space.items()) if value is obj and plans.find(name))
    return next(held, own or type(obj).__name__)


def _not_checkable(facts, plan, obj) -> str:
    """A sentence if this is neither the function nor the class that the exercise asks for, but what it returned."""
    name = facts["names"][0]
    if plan["questions"][0]["probe"]["kind"] == "layer":
        if isinstance(obj, type) or not type(obj).__name__ == name:
            return ""
        return (
            f"? Expected the class, got a layer that was made with it: write `check({name})`, not `check({name}(…))`."
        )
    if isinstance(obj, functools.partial):
        return (
            f"? Expected the function `{name}`, got a `functools.partial`, whose arguments the check cannot give. "
            f"Write `def {name}(…)` and call your other function in it."
        )
    if callable(obj):
        return ""
    kind = type(obj).__name__
    return f"? Expected the function `{name}`, got {article(kind)}. Run the cell that defines `{name}` again."


def _source_of(obj) -> str:
    """The text of a function or class; of a class whose cell cannot be found, that of its methods."""
    try:
        return inspect.getsource(obj)
    except (OSError, TypeError):  # a class of a notebook, or nothing with a source at all
        methods = vars(obj).values() if inspect.isclass(obj) else ()
        return "\n".join(textwrap.dedent(_source_of(method)) for method in methods if inspect.isfunction(method))


def _with_helpers(source: str, space: dict) -> str:
    """An answer's text and that of the student's own functions it names: a change in one of them is another try."""
    helpers = [space[name] for name in sorted(_names_in(source)) if _written_here(space, name)]
    return "\n".join([source, *(_source_of(helper) for helper in helpers if inspect.isfunction(helper))])


def _hints(plan, verdict, failures):
    """One hint from the second failing try on, each time a more specific one.

    They explain the exercise as a whole. Where a sentence already names the mistake, or only a later part is wrong,
    they would point elsewhere: then the first one comes after three failing tries.
    """
    hints = plan["exercise"]["hints"]
    is_explained = verdict.advice or verdict.status == "partly"
    if not hints or verdict.status not in _FAILED or failures < (4 if is_explained else 2):
        return ()
    level = progress_file.next_hint(plan["exercise"]["id"], failures, len(hints))
    return (f"Hint {level} of {len(hints)}: {hints[level - 1]}",)


def _failed_prerequisites(facts, verdict, source, space):
    """A sentence for each earlier answer that this one uses and that failed its own check when it was last tried."""
    if verdict.status not in _FAILED:
        return ()
    entries, used, said = progress_file.load(), _names_in(source), []
    for other in plans.index():
        entry = entries.get(other["id"], {})
        if entry.get("status") not in _FAILED or other["id"] == facts["id"]:
            continue
        text = _source_of(space.get(other["names"][0]))
        is_changed = text and progress_file.digest_of(_with_helpers(text, space)) != entry.get("last")
        said += [
            f"Your code uses `{name}`, which failed its own check ({other['number']}): "
            + (f"run `check({name})` again." if is_changed else "fix that one first.")
            for name in other["names"]
            if name in used and _written_here(space, name)
        ]
    return tuple(said)


def _names_in(source) -> set[str]:
    try:
        return {node.id for node in ast.walk(ast.parse(textwrap.dedent(source))) if isinstance(node, ast.Name)}
    except SyntaxError:  # of a lambda, the source is the line around it
        return set()


def _written_here(space, name) -> bool:
    """Whether the student defined a name in this notebook, instead of importing it from `mybert`."""
    return name in space and getattr(space[name], "__module__", None) == space.get("__name__")


# --- the cells that IPython has run ---


def _older_version(name: str, obj) -> str:
    """A sentence if a newer cell defines this name, but stopped before it did, so that it means what an older version
    of the cell defined; otherwise ""."""
    cells = list(shell().history_manager.input_hist_parsed) if shell() else []  # also those that failed
    methods = vars(obj).values() if inspect.isclass(obj) else (obj,)
    files = (inspect.unwrap(one).__code__.co_filename for one in methods if inspect.isfunction(inspect.unwrap(one)))
    home = "".join(linecache.getlines(next(files, ""))).strip()  # the cell in which it was defined
    if home not in map(str.strip, cells):  # not of a cell, or of one that IPython does not remember
        return ""
    defines = re.compile(rf"^(?:(?:async )?def|class)\s+{name}\b|^{name}\s*[:=]", re.MULTILINE)
    newest = next((cell.strip() for cell in reversed(cells) if defines.search(cell)), home)
    if newest == home:
        return ""
    return (
        f"? The newest version of the cell that defines `{name}` stopped with an error, so `{name}` is still that of "
        "an older version. Mend that cell and run it, then check again."
    )
