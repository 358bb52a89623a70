"""The student wheel has every module of the autograder that its own modules import."""

import ast
from pathlib import Path

from autograde.release.student_wheel import MODULES, ROOMS, ROOT

AUTOGRADE = ROOT / "autograde"


def imported(path: Path) -> set[str]:
    """The modules `autograde.NAME` that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "autograde":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autograde."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("autograde.")}
    return found


def test_no_module_is_left_out():
    files = [path for room in ROOMS for path in (AUTOGRADE / room).rglob("*.py")]
    files += [AUTOGRADE / f"{name}.py" for name in MODULES]
    missing = {f"{path.name} imports {name}" for path in files for name in imported(path) - {*ROOMS, *MODULES}}
    assert not missing
