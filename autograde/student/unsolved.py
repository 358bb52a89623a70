"""The start of a notebook: a cell that uses an unsolved exercise prints one line, and *Run All* continues below it.

    Solve 3.4 attention_scores first: this cell uses it.

An exercise is unsolved while its code is missing or still raises NotImplementedError, and while its last check did not
pass. The names that a stopped cell did not define are remembered: a later cell that reads them is explained in the
same way. All other errors are shown as always. `%tb` shows the error behind the line.
"""

import ast
import builtins
import dis
import inspect
import linecache
import os
import sys
import traceback
from collections.abc import Iterator
from types import CodeType

from autograde.common import syntax
from autograde.common.dependencies import ParsedCell
from autograde.student import checking, pictures, plans, progress_file, store
from bertlab.common import backend

_MAX_NAMED = 3
_LONGEST = 160  # characters of an error's own message
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
_active = None


def load_backend() -> None:
    """Imports Keras and its backend without their start-up notes; lets `import mybert` find the student's package; lets
    a cell that uses an unsolved exercise say so in one line."""
    # TensorFlow repeats each error in the student's code on the terminal, in its own words; `check` explains it better.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    backend.load_backend()
    store.activate_mybert()
    explain_unsolved()


def explain_unsolved() -> None:
    """Starts the explanations in this notebook; does nothing elsewhere and under nbgrader's Validate."""
    global _active
    shell = pictures.shell()
    if shell is None or checking.is_validating() or (_active and _active.shell is shell):
        return
    _active = Explainer(shell)
    _active.start()


class Explainer:
    """Explains the errors of one IPython shell."""

    def __init__(self, shell):
        self.shell = shell
        self._waiting = {}  # name → ids of the exercises that its cell waits for
        self._explained = None  # the error of the current cell, if a line explained it
        self._others = shell.custom_exceptions, shell.CustomTB  # of Colab, for example

    def start(self) -> None:
        self.shell.set_custom_exc((Exception,), self._show)
        self.shell.events.register("post_run_cell", self._after)

    def _show(self, shell, kind, error, trace, tb_offset=None):
        """IPython calls this for every error of a cell."""
        line = self.explanation(error)
        if line is not None:
            self._explained = error
            sys.last_type, sys.last_value, sys.last_traceback = kind, error, trace  # for %tb
            print(line)
            return None
        types, handler = self._others
        if types and issubclass(kind, types):
            return handler(kind, error, trace, tb_offset)
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)
        if isinstance(error, NameError) and error.name and not hasattr(builtins, error.name):
            print(checking.ABOVE.format(name=error.name))
        return None

    def _after(self, result) -> None:
        """IPython calls this after every cell. A cell without an error does not stop *Run All*."""
        if result.error_in_exec is not None and result.error_in_exec is self._explained:
            result.error_in_exec = None
        elif result.success:
            for name in ParsedCell(result.info.raw_cell).defines:
                self._waiting.pop(name, None)
        self._explained = None

    def explanation(self, error: Exception) -> str | None:
        """The line about an error of the current cell; None if it has nothing to do with an unsolved exercise."""
        found = [(frame.f_code, line, frame.f_globals) for one in _chain(error)
                 for frame, line in traceback.walk_tb(one.__traceback__)]  # fmt: skip
        outermost = ((code, line) for code, line, names in found
                     if names is self.shell.user_ns and code.co_name == "<module>")  # fmt: skip
        code, stopped_in = next(outermost, (None, 0))
        source = "".join(linecache.getlines(code.co_filename)) if code else ""
        tree = syntax.parsed(source)
        nodes = tree.body if tree else []
        if code is None or any(isinstance(node, _DEFINITIONS) and plans.find(node.name) for node in nodes):
            return None  # not of a cell, or of an answer's own cell: its errors are the student's to read
        cell, rest = ParsedCell(source), [node for node in nodes if node.end_lineno >= stopped_in]
        lacking = ParsedCell("\n".join(source.split("\n")[rest[0].lineno - 1 :])).defines if rest else frozenset()
        for name in cell.defines - lacking:
            self._waiting.pop(name, None)
        waiting = sorted((cell.reads - cell.defines) & set(self._waiting))
        behind = {identity for name in waiting for identity in self._waiting[name]}
        used = {*self._reached(cell.reads), *(_plain(code) for code, _, _ in found)}
        used |= {name for facts in plans.index() if facts["id"] in behind for name in facts["names"]}
        own = [(facts, name) for facts in plans.index() for name in facts["names"] if name in used]
        stubs = {facts["id"]: facts for facts, name in own if self._is_empty(name, error)}
        failed = {facts["id"]: facts for facts, name in own if self._has_failed(facts, name)}
        unsolved = list((stubs or failed).values())
        if not unsolved and not waiting:
            return None
        ids = {facts["id"] for facts in unsolved} or behind
        self._waiting |= dict.fromkeys(lacking, ids)
        if not unsolved:
            said = _listed([facts for facts in plans.index() if facts["id"] in ids])
            return f"Run the cell above that defines `{waiting[0]}` again: it stopped because {said} was not solved."
        return _sentence(error, unsolved, bool(waiting))

    def _reached(self, names) -> Iterator[str]:
        """These names, and those that the notebook's functions, classes and models behind them use."""
        todo, seen = list(names), set()
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                yield name
                todo += [inner for code in _codes_of(self.shell.user_ns.get(name)) for inner in _globals_in(code)]

    def _is_empty(self, name: str, error: Exception) -> bool:
        """Whether the notebook's own code for this name is a stub, or missing."""
        if isinstance(error, NameError) and error.name == name:
            return True
        obj = self.shell.user_ns.get(name)
        return self._is_own(obj) and any("NotImplementedError" in _globals_in(code) for code in _codes_of(obj))

    def _has_failed(self, facts: dict, name: str) -> bool:
        status = progress_file.load().get(facts["id"], {}).get("status", "passed")
        return self._is_own(self.shell.user_ns.get(name)) and status != "passed"

    def _is_own(self, obj) -> bool:
        return getattr(obj, "__module__", None) == self.shell.user_ns["__name__"]


def _sentence(error: Exception, unsolved: list[dict], is_waiting: bool) -> str:
    said, one = _listed(unsolved), len(unsolved) == 1
    chain = _chain(error)
    is_stub = any(isinstance(one, NotImplementedError) for one in chain) or "NotImplementedError" in str(error)
    is_missing = isinstance(error, NameError) and any(error.name in facts["names"] for facts in unsolved)
    if is_missing and not is_stub and all(progress_file.has_passed(facts["id"]) for facts in unsolved):
        cells = "its cell" if one else "their cells"
        passed = "You have passed it" if one else "You have passed them"
        return f"Run {cells} first: this cell uses {said}. ({passed}: nothing is lost.)"
    if is_stub or is_missing or is_waiting:
        return f"Solve {said} first: this cell uses {'it' if one else 'them'}."
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    reason = reason if len(reason) <= _LONGEST else reason[:_LONGEST] + "…"
    have = "has" if one else "have"
    return f"This cell uses {said}, which {have} not passed the check yet: {reason} (%tb shows where)"


def _listed(exercises: list[dict]) -> str:
    labels = [f"{facts['number']} {facts['names'][0]}" for facts in exercises]
    more = len(labels) - _MAX_NAMED
    labels = labels[:_MAX_NAMED] + ([f"{more} more"] if more > 0 else [])
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


# --- what an error and a value consist of ---


def _chain(error: BaseException) -> list[BaseException]:
    """An error, and the errors that it replaced."""
    found = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _plain(code: CodeType) -> str:
    """`attention_scores` of the function itself, and of AutoGraph's version of it."""
    return code.co_qualname.rpartition("<locals>.")[2].partition(".")[0].removeprefix("tf__")


def _codes_of(obj) -> Iterator[CodeType]:
    """The code of a function, of a class's methods, and of what a notebook's object was made from."""
    obj = inspect.unwrap(getattr(obj, "python_function", obj))  # of a tf.function
    if inspect.isfunction(obj):
        yield from _nested(obj.__code__)
    elif inspect.isclass(obj) and obj.__module__ == "__main__":
        for method in vars(obj).values():
            yield from _codes_of(method) if inspect.isfunction(method) else ()
    elif not inspect.ismodule(obj) and type(obj).__module__ == "__main__":
        yield from _codes_of(type(obj))


def _globals_in(code: CodeType) -> set[str]:
    return {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _nested(inner)
