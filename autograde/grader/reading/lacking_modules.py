"""Imports of modules that the grader does not have: such a line ends only itself.

`from google.colab import drive` or an unused `import seaborn` would otherwise end the cell, and its student would lose
the points of everything below it.
"""

import ast
import functools
import sys
from importlib.machinery import PathFinder
from itertools import groupby

from autograde.boundary import mybert_importer
from autograde.common.dependencies import ParsedCell

_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)
_OURS = ("autograde", "bertlab", mybert_importer.PACKAGE)
_COLABS = "google.colab"  # other packages have `google`, too
_SUPPRESSED = "with __import__('contextlib').suppress(ImportError, NameError): "


def without_lacking_modules(cell: ParsedCell) -> tuple[ParsedCell, list[str]]:
    """A cell in which a statement that needs a module that is not installed here ends only itself, and those modules.

    The line stays, in a `with` that suppresses the error; lines keep their numbers. Of several statements on one line
    (`import seaborn; import numpy`) those that need such a module are left out. Of several modules in one statement
    (`import seaborn, numpy`) those that are here come first.
    """
    tree = cell.tree if "import" in cell.source else None
    lines, lacking, names = cell.source.split("\n"), [], set()
    for number, group in groupby(tree.body if tree else [], key=lambda statement: statement.lineno):
        statements, needing = list(group), []
        for statement in statements:
            modules = _lacking_in(statement)
            lacking += modules
            names |= _bound_by(statement) if modules else set()
            if modules or (
                isinstance(statement, _SIMPLE)
                and names & {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            ):
                needing.append(statement)
        alone = len(statements) == 1
        for statement in reversed(needing):  # the last first: the others keep their places in the line
            text = _without_lacking(statement, alone)
            if statement.end_lineno == number and text is not None:
                line = lines[number - 1].encode()  # offsets count bytes
                line = line[: statement.col_offset] + text.encode() + line[statement.end_col_offset :]
                lines[number - 1] = line.decode()
        if needing and alone and not statements[0].col_offset:
            lines[number - 1] = _SUPPRESSED + lines[number - 1]
    changed = ParsedCell("\n".join(lines)) if lacking else cell
    return (changed, lacking) if changed.is_program else (cell, [])


def _without_lacking(statement: ast.stmt, alone: bool) -> str | None:
    """The text that replaces a statement that needs a module that is not here; None to keep it."""
    if isinstance(statement, ast.Import):
        here = [alias for alias in statement.names if not _is_lacking(alias.name)]
        if here:
            return ast.unparse(ast.Import(here + [it for it in statement.names if it not in here] if alone else here))
    return None if alone else "..."


def _lacking_in(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Import):
        modules = [alias.name for alias in statement.names]
    elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
        modules = [statement.module]
    else:
        modules = []
    return [module for module in modules if _is_lacking(module)]


def _bound_by(statement: ast.Import | ast.ImportFrom) -> set[str]:
    """The names of an import that are not there without its lacking modules."""
    aliases = statement.names
    if isinstance(statement, ast.Import):
        aliases = [alias for alias in aliases if _is_lacking(alias.name)]
    return {alias.asname or alias.name.partition(".")[0] for alias in aliases}


@functools.lru_cache(maxsize=1000)
def _is_lacking(module: str) -> bool:
    """Whether a student's module is not installed here.

    Only its first name is looked up, since for more Python would run code, and only among what is installed: a student
    could ask for names of the instructor's files.
    """
    first = module.partition(".")[0]
    if first in _OURS or first in sys.stdlib_module_names:
        return False
    folders = [folder for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))]
    return module.startswith(_COLABS) or PathFinder.find_spec(first, folders) is None
