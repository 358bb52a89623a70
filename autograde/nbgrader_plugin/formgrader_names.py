"""Records who gives points and comments in formgrader; a course's nbgrader_config.py calls `record_graders`.

nbgrader 0.9.6 writes what formgrader sends into the gradebook, without a name (`server_extensions/formgrader/
apihandlers.py`). Here its two handlers also record it, for `autograde points` and the class report. A request that
cannot be recorded still counts: the server's log has the reason, and the points are listed as formgrader's.
"""

import functools
import getpass
import os
import sys
from collections.abc import Callable
from pathlib import Path

_HANDLERS = "nbgrader.server_extensions.formgrader.apihandlers"
_PATIENCE = 5.0  # seconds that a request waits for another writer


def record_graders() -> None:
    """Makes formgrader in this process record its graders, once; does nothing in other programs."""
    module = sys.modules.get(_HANDLERS)
    if module is None or hasattr(module.GradeHandler.put, "records"):
        return
    module.GradeHandler.put = _recording(module.GradeHandler.put, lambda book, name: book.find_grade_by_id(name))
    module.CommentHandler.put = _recording(module.CommentHandler.put, lambda book, name: book.find_comment_by_id(name))


def _recording(put: Callable, find: Callable) -> Callable:
    """A handler's `put` that also records what it wrote. find: its entry in nbgrader's gradebook, by id."""

    @functools.wraps(put)
    def recorded(handler, name):
        answer = put(handler, name)
        try:
            _record(Path(handler.coursedir.root), find(handler.gradebook, name), grader_of(handler.current_user))
        except Exception:  # of any kind: the points are written already
            handler.log.exception("autograde: the grader of these points could not be recorded")
        return answer

    recorded.records = True
    return recorded


def grader_of(user) -> str:
    """The name of the person who sends a request: AUTOGRADE_GRADER of the server, else, on JupyterHub, the login of
    this person, also on somebody else's server, else the account that runs the server. user: as Jupyter knows it."""
    login = getattr(user, "username", "") if "JUPYTERHUB_USER" in os.environ else ""
    return os.environ.get("AUTOGRADE_GRADER") or login or getpass.getuser()


def _record(folder: Path, entry, grader: str) -> None:
    """Appends what the gradebook has now. entry: a grade or a comment of nbgrader's."""
    from autograde.grader.book.database import Database
    from autograde.grader.book.manual_points import parts_of_notebook
    from autograde.grader.book.sheets import record_formgrader
    from autograde.grader.book.variants import released

    notebook = entry.notebook
    assignment, path = notebook.assignment.assignment.name, Path(folder, "release")
    template = released(folder, assignment, path / assignment / f"{notebook.name}.ipynb")
    parts = parts_of_notebook(notebook, template)
    with Database(folder, _PATIENCE).only_writer():
        theirs = [part for part in parts if entry.cell.name in (part.cell, part.exercise)]
        record_formgrader(folder, assignment, theirs, grader)
