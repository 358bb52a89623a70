"""The cells that IPython has run: whether a name comes from the newest version of its cell."""

import inspect
import linecache
import re
import sys


def older_version(name: str, obj) -> str:
    """A sentence if a newer cell defines this name, but stopped with an error before it did; otherwise "".

    Then the name still means the function or class of an older version of the cell.
    """
    cells = _cells()
    home = _text(_cell_of(obj))
    if home not in map(_text, cells):  # not of a cell, or of one that IPython does not remember
        return ""
    defines = re.compile(rf"^(?:(?:async )?def|class)\s+{name}\b|^{name}\s*[:=]", re.MULTILINE)
    newest = next((_text(cell) for cell in reversed(cells) if defines.search(cell)), home)
    if newest == home:
        return ""
    return (
        f"? The newest version of the cell that defines `{name}` stopped with an error, so `{name}` is still that of "
        "an older version. Mend that cell and run it, then check again."
    )


def _cells() -> list[str]:
    """The cells of this notebook's kernel in the order in which they ran, also those that failed."""
    if "IPython" not in sys.modules:
        return []
    from IPython import get_ipython

    shell = get_ipython()
    return list(shell.history_manager.input_hist_parsed) if shell else []


def _cell_of(obj) -> str:
    """The text of the cell in which a function or a class was defined; "" if it is not known."""
    methods = vars(obj).values() if inspect.isclass(obj) else (obj,)
    names = (inspect.unwrap(one).__code__.co_filename for one in methods if inspect.isfunction(inspect.unwrap(one)))
    return "".join(linecache.getlines(next(names, "")))


def _text(cell: str) -> str:
    return cell.strip()
