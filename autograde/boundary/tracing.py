"""Finds the line of a student's code that raised an error, and the library functions it used. Runs in their process."""

import contextlib
import importlib
import inspect
import linecache
import sys
import traceback

LONGEST_MESSAGE = 600
LONGEST_LINE = 160


def describe_error(error: BaseException, namespace: dict, question: dict) -> dict:
    """The error's type and message with the student's own innermost line: {"type", "message", "line", "text", …}.

    base: the nearest class of Python's own that the error belongs to; a student may define a kind of ValueError.
    """
    own = _student_frame(error, namespace, question)
    line, text = None, ""
    if own is not None:
        frame, line = own
        text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()[:LONGEST_LINE]
        other = _other_function(frame, namespace, question)
        text += f"   (in `{other}`)" if other.isidentifier() else ""
    base = next(own.__name__ for own in type(error).__mro__ if own.__module__ == "builtins")
    return {"type": type(error).__name__, "base": base, "message": _message(error), "line": line, "text": text}


def empty_stub_used(error: BaseException, namespace: dict, question: dict) -> str:
    """The name of another function of the student, still an empty stub, that the checked one uses; "" if it is itself
    one."""
    own = _student_frame(error, namespace, question)
    return "" if own is None else _other_function(own[0], namespace, question)


def _other_function(frame, namespace, question) -> str:
    """The name of the function or class that a frame belongs to; "" if it is the checked one."""
    obj = _asked(namespace, question)
    if obj is None:
        return ""
    name, asked = frame.f_code.co_qualname, getattr(obj, "__qualname__", "")
    return "" if name == asked or name.startswith(f"{asked}.") else name.partition(".")[0]


def _message(error):
    try:
        message = str(error)
        if message.startswith("Graph execution error"):  # a page about the graph, with names that always differ
            message = message.rpartition("\n\n")[2].partition("\n")[0]  # the cause alone
        return message[:LONGEST_MESSAGE]
    except Exception:  # an exception class of the student's own may fail to describe itself
        return ""


def student_frames(error: BaseException, namespace: dict, question: dict) -> list[tuple]:
    """The student's own frames in an error's traceback, each with its line, the outermost first.

    Their globals are the notebook's, or those of the module in which the student defined the tested function or class.
    """
    obj = _asked(namespace, question)
    functions = vars(obj).values() if inspect.isclass(obj) else [obj]
    homes = {id(namespace), *(id(one.__globals__) for one in functions if inspect.isfunction(one))}
    return [entry for entry in traceback.walk_tb(error.__traceback__) if id(entry[0].f_globals) in homes]


def _student_frame(error, namespace, question):
    """The student's own innermost frame and its line; None if the error is not in their code."""
    return next(reversed(student_frames(error, namespace, question)), None)


def _asked(namespace, question):
    probe = question["probe"]
    return namespace.get(probe.get("name") or probe.get("of", {}).get("name"))


@contextlib.contextmanager
def watching(names):
    """Collects in a set the named functions and layers that run inside the block.

    A trace function is called for each Python function only, a profile function also for each built-in one and for each
    return: it takes several times as long, but leaves a debugger its trace function.
    """
    ran: set[str] = set()
    codes = {code: name for name in names for code in _codes(name)}
    if not codes:
        yield ran
        return

    def note(frame, event, _):
        if event == "call" and frame.f_code in codes:
            ran.add(codes[frame.f_code])

    get, put = (sys.gettrace, sys.settrace) if sys.gettrace() is None else (sys.getprofile, sys.setprofile)
    previous = get()
    put(note)
    try:
        yield ran
    finally:
        put(previous)


def _codes(dotted: str):
    """The code objects behind a dotted name such as "keras.layers.MultiHeadAttention"; none if it is not there."""
    parts = dotted.split(".")
    obj = importlib.import_module(parts[0]) if parts[0] in sys.modules else None
    for part in parts[1:]:
        obj = getattr(obj, part, None)
    methods = [vars(obj).get("__init__"), vars(obj).get("call")] if inspect.isclass(obj) else [obj]
    return [inspect.unwrap(method).__code__ for method in methods if hasattr(inspect.unwrap(method), "__code__")]
