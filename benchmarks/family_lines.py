"""Counts the lines that each family of encoders has of its own: its table, its parts, its tests.

    python -m benchmarks.family_lines

Its table is its file in bertlab/families. Its parts are the layers, models, objectives and collators that were written
for it; a part that several families use counts for the first one that needed it. Its tests are the files of tests/ that
have its name, and the test functions elsewhere that have it. Tests that run once for each family are not counted.
Shown are all lines, and in brackets the lines of code: without empty lines, comments and docstrings.
"""

import ast
import io
import tokenize
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parent.parent
# family: (its file, its parts), a part being a file or, of a file with other things too, FILE::NAME
FAMILIES = {
    "RoBERTa": ("roberta", ()),
    "DistilBERT": ("distilbert", ()),
    "ALBERT": (
        "albert",
        ("layers/factorised.py", "layers/shared_encoder.py", "training/objectives/sentence_order.py"),
    ),
    "ELECTRA": (
        "electra",
        ("layers/detection.py", "layers/sampling.py", "models/replaced_tokens.py",
         "training/objectives/replaced_token.py"),
    ),
    "XLNet": (
        "xlnet",
        ("layers/relative.py", "layers/embeddings.py::PositionlessEmbeddings", "layers/heads.py::LastTokenPooler",
         "training/objectives/permutation.py", "data/pretraining/collators.py::DrawOrder"),
    ),
    "ModernBERT": ("modernbert", ("layers/rotary.py", "layers/rotary_encoder.py")),
}  # fmt: skip
_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


class Lines(NamedTuple):
    """A number of lines, and how many of them are code."""

    all: int
    code: int

    def __str__(self):
        return f"{self.all} ({self.code})"


def total(parts) -> Lines:
    """The sum of several."""
    parts = list(parts)
    return Lines(sum(part.all for part in parts), sum(part.code for part in parts))


def lines_of(text: str) -> Lines:
    """The lines of some Python that parses by itself."""
    code = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return Lines(len(text.splitlines()), len(code - docstring_lines(text)))


def docstring_lines(text: str) -> set[int]:
    """The numbers of the lines of all docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented) and ast.get_docstring(node)]
    return {line for node in nodes for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)}


def definitions(path: Path) -> dict[str, str]:
    """Each function and class of a module, by its name, with its decorators."""
    text = path.read_text(encoding="utf-8")
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            found[node.name] = "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    return found


def part_lines(part: str) -> Lines:
    """The lines of FILE or FILE::NAME in bertlab."""
    file, _, name = part.partition("::")
    path = ROOT / "bertlab" / file
    return lines_of(definitions(path)[name] if name else path.read_text(encoding="utf-8"))


def test_lines(family: str) -> Lines:
    """The lines of the tests that have a family's name in their file's name or their own."""
    found = []
    for path in sorted((ROOT / "tests").glob("**/test_*.py")):
        if family in path.name:
            found.append(lines_of(path.read_text(encoding="utf-8")))
            continue
        found += [
            lines_of(text) for name, text in definitions(path).items() if name.startswith("test_") and family in name
        ]
    return total(found)


def main() -> None:
    table = Table("family", "table", "parts", "tests", "all")
    for family, (name, parts) in FAMILIES.items():
        counts = [part_lines(f"families/{name}.py"), total(map(part_lines, parts)), test_lines(name)]
        table.add_row(family, *map(str, [*counts, total(counts)]))
    Console().print(table)


if __name__ == "__main__":
    main()
