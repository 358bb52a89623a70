"""The sentences of an exercise that a student reads, and which part tests each: `solutions/requirements/NN_topic.toml`.

    [scores]
    "The products are divided by the square root of d." = "values"
    "returns (tokens of q, tokens of k)" = ["values", "another batch"]
    "The scores are not yet weights." = "explains"          demands nothing

The sentences are those of the exercise's text and of the docstrings of its stub; a parameter with a default value, and
`**kwargs`, count as sentences too, because they promise that the argument has an effect. The command
`python -m scripts.requirements` keeps the table up to date, and a test complete.
"""

import ast
import json
import re
import tomllib

from autograde.common import syntax
from autograde.exercises import catalogue, cells, notebooks
from autograde.exercises.spec import Exercise

EXPLAINS = "explains"  # the entry of a sentence that demands nothing
_ITEM = re.compile(r"^(\d+\.|[-*>|]) |^\$\$|^#+ |^>>> ")  # a line that begins a sentence of its own
_PARAMETER = re.compile(r"^(returns|raises|call:|[\w, ]+:) ?")  # so does a line of a docstring about an argument
_RULE = re.compile(r"[|\s:-]+-[|\s:-]+")  # the second line of a table
_ABBREVIATED = r"(?<!\b[A-Z]\.)(?<!e\.g\.)(?<!al\.)(?<!^\d\.)"  # no end of a sentence: "J. K.", "e.g.", "et al.", "1."
_END = re.compile(rf"(?:(?<=[.!?])|(?<=[.!?][)*])){_ABBREVIATED} +(?=[A-Z`$*(\[])|   +(?=\w+:)")


def sentences_of(exercise: Exercise) -> list[str]:
    """All sentences of an exercise, in reading order, each once."""
    tree = syntax.parse(cells.stub_cell(cells.answer_cell(exercise)))
    sentences = _text_of(exercise) + [text for node in tree.body for text in _promises(node)]
    return list(dict.fromkeys(sentences))


def table_of(notebook: str) -> dict[str, dict]:
    """The table of one notebook: exercise id → sentence → part, list of parts, or "explains"."""
    path = notebooks.path_beside("requirements", notebook)
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def untested(exercise: Exercise) -> list[str]:
    """The sentences of an exercise for which its table names no part, nor "explains"."""
    table = table_of(exercise.notebook).get(exercise.id, {})
    return [text for text in sentences_of(exercise) if not names_in(table.get(text, ""))]


def unknown_parts(exercise: Exercise) -> list[str]:
    """A sentence for each entry that names no part of the exercise."""
    table, parts = table_of(exercise.notebook).get(exercise.id, {}), {part.name for part in exercise.parts}
    return [
        f"expected parts among {sorted(parts)} for {text!r}, got {entry!r}"
        for text, entry in table.items()
        if not {*names_in(entry)} <= {EXPLAINS, *parts}
    ]


def names_in(entry: str | list[str]) -> list[str]:
    """The names in one entry."""
    return [name for name in ([entry] if isinstance(entry, str) else entry) if name]


def write_table(notebook: str) -> list[str]:
    """Brings the table of a notebook up to date; returns what is still to be filled in.

    New sentences get an empty entry, entries of sentences that are gone are removed, and the order is the notebook's.
    """
    old, lines, empty = table_of(notebook), [], []
    for exercise in catalogue.of_notebook(notebook):
        lines += [f"[{exercise.id}]"]
        for text in sentences_of(exercise):
            entry = old.get(exercise.id, {}).get(text, "")
            lines.append(f"{_quoted(text)} = {_quoted(entry)}")
            empty += [] if names_in(entry) else [f"{exercise.id}: {text}"]
        lines.append("")
    path = notebooks.path_beside("requirements", notebook)
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")
    return empty


def _quoted(value) -> str:
    """A text or a list of texts as TOML, which writes them as JSON does."""
    return json.dumps(value, ensure_ascii=False)


# --- reading ---


def _text_of(exercise: Exercise) -> list[str]:
    """The sentences of the text between the exercise's heading and its answer's cell."""
    lines: list[str] = []
    for cell in notebooks.cells_of(exercise.notebook):
        if cell.is_code and cell.graded.get("grade_id") == exercise.id:
            break
        if not cell.is_code:
            lines += [line.removeprefix("#").removeprefix(" ") for line in cell.source.split("\n")] + [""]
    heading = max(number for number, line in enumerate(lines) if line.startswith(f"## {exercise.number} "))
    return _sentences(lines[heading + 1 :], _ITEM)


def _promises(node: ast.stmt) -> list[str]:
    """The sentences of a function's or class's docstrings, and of its parameters that have a default."""
    promises = []
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        lines = (ast.get_docstring(node) or "").split("\n")
        promises += _sentences(lines, re.compile(f"{_ITEM.pattern}|{_PARAMETER.pattern}"))
    if isinstance(node, ast.ClassDef):
        promises += [text for method in node.body for text in _promises(method)]
    if isinstance(node, ast.FunctionDef):
        arguments = node.args.posonlyargs + node.args.args
        defaults = list(zip(arguments[::-1], node.args.defaults[::-1]))[::-1]
        defaults += [pair for pair in zip(node.args.kwonlyargs, node.args.kw_defaults) if pair[1] is not None]
        promises += [f"{node.name}(…, {argument.arg}={ast.unparse(value)})" for argument, value in defaults]
        promises += [f"{node.name}(…, **{node.args.kwarg.arg})"] if node.args.kwarg else []
    return promises


def _sentences(lines: list[str], item: re.Pattern) -> list[str]:
    """Sentences of some lines: a paragraph is divided at the ends of sentences, an item of a list begins a new one."""
    pieces, open_formula = [""], False
    for line in (line for line in lines if not _RULE.fullmatch(line.strip())):
        text = line.strip()
        starts = not open_formula and (not text or item.match(text) or re.match(r"^\S.*?  +\S+: ", text))
        pieces = [*pieces, text] if starts else [*pieces[:-1], f"{pieces[-1]} {text}".strip()]
        open_formula ^= text.count("$$") % 2 == 1
    whole = [" ".join(text.split()) for piece in pieces for text in _divided(piece)]
    return [text for text in whole if re.search(r"\w", text)]


def _divided(piece: str) -> list[str]:
    """One paragraph's sentences; a formula, a line of a table and a quotation stay whole."""
    return [piece] if piece.startswith(("$$", "|", ">")) else _END.split(piece)
