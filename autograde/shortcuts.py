"""Finds forbidden library calls, which would do an exercise for the student, in the text of their code.

The text is parsed, never run. `import keras as k; k.ops.softmax`, `from keras.ops import softmax as s` and
`from keras import ops` all lead to `keras.ops.softmax`; a forbidden prefix forbids everything below it.
"""

import ast
import re

from autograde import syntax

# The namespaces under which a notebook has these packages without importing them in the answer's own cell.
USUAL_NAMES = {"keras": "keras", "ops": "keras.ops", "layers": "keras.layers", "tf": "tensorflow", "np": "numpy"}
LONGEST_SOURCE = 200_000  # characters; no honest answer is as long


def first_forbidden(source: str, forbidden: list[str]) -> str | None:
    """The first forbidden dotted name that the source uses, as the exercise states it; None if there is none.

    Text that is not Python (a magic, a broken cell) fails when it runs; text longer than any answer is not parsed
    (calls are still watched at run time, see `tracing.watching`).
    """
    if not forbidden or not source or len(source) > LONGEST_SOURCE:
        return None
    try:
        tree = syntax.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names = dict(USUAL_NAMES)
    for dotted in _uses(tree, names):
        for name in forbidden:
            if dotted == name or dotted.startswith(name + "."):
                return name
    return None


def _uses(tree, names):
    """Every dotted name that is imported or reached through an imported name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
                yield alias.name
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Name)):
            dotted = _dotted(node)
            if dotted and dotted.split(".")[0] in names:
                first, _, rest = dotted.partition(".")
                yield names[first] + (f".{rest}" if rest else "")


def _dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


# --- whether a program can reach something forbidden at all ---

# Modules from which nothing forbidden can be reached but by the names that are looked for below.
_PLAIN_MODULES = (
    "keras", "numpy", "tensorflow", "mybert", "autograde", "matplotlib", "math", "re", "time", "random", "collections",
    "itertools", "functools", "unicodedata", "string", "typing", "dataclasses", "heapq", "json", "statistics",
    "IPython",
)  # fmt: skip
# Names that lead to other names: by text, by an object's inner parts, by Keras's registry, by other modules.
_LEADING_ON = frozenset(
    "getattr setattr eval exec compile globals vars locals open dir type breakpoint get_ipython In Out attrgetter "
    "methodcaller sys modules importlib builtins inspect gc types operator os threading ctypes linecache subprocess "
    "import_module get deserialize deserialize_keras_object from_config clone_model load_model raw_ops src python "
    "compat backend load Activation Lambda".split()
)
_HARMLESS_DUNDERS = ("__init__", "__len__", "__call__")
_TAKE_AN_ACTIVATION = ("Dense", "EinsumDense", "SimpleRNN", "LSTM", "GRU", "Conv1D")  # by its name, a string


def may_reach(program: list[str], forbidden) -> bool:
    """Whether a program could use something forbidden, under its own name or under another one.

    False only where its text shows that it cannot: nothing in it is spelled like a forbidden name, it imports nothing
    unusual, and nothing in it takes a name that was made while it runs.
    """
    wanted = {name.rpartition(".")[2] for name in forbidden if not name.startswith("bertlab")}
    return any(_is_suspect(source, wanted) for source in program)


def _is_suspect(source: str, wanted: set[str]) -> bool:
    tree = syntax.parsed(source)
    return tree is None or any(_suspect_node(node, wanted) for node in ast.walk(tree))


def _suspect_node(node, wanted) -> bool:
    if isinstance(node, ast.Import):
        return any(not _is_plain_module(alias.name) or _named(alias.name, wanted) for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        words = (node.module or "", *(alias.name for alias in node.names))
        return bool(node.level) or not _is_plain_module(words[0]) or any(_named(word, wanted) for word in words)
    if isinstance(node, ast.Attribute):
        return _named(node.attr, wanted)
    if isinstance(node, ast.Name):  # exactly: `attention` is a student's function, `Attention` is Keras's
        return node.id in wanted or _named(node.id, ())
    if isinstance(node, ast.keyword):
        return node.arg == "activation" and not isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _plain(node.value) in map(_plain, wanted)
    if isinstance(node, ast.ClassDef):
        return any(_last_name(base) not in ("Layer", "Model") for base in node.bases)
    return isinstance(node, ast.Call) and _is_suspect_call(node)


def _is_suspect_call(node: ast.Call) -> bool:
    """Whether a layer could get an activation whose name is made while the program runs."""
    name = _last_name(node.func)
    spread = any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords)
    return (name[:1].isupper() and spread) or (name in _TAKE_AN_ACTIVATION and len(node.args) > 1)


def _last_name(node) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else "?"


def _is_plain_module(name: str) -> bool:
    return name.partition(".")[0] in _PLAIN_MODULES and "forbidding" not in name and "stand_ins" not in name


def _named(word: str, wanted) -> bool:
    parts = word.split(".")
    hidden = any(part.startswith("_") and part not in _HARMLESS_DUNDERS and part != "_" for part in parts)
    alike = set(map(_plain, wanted))
    return hidden or any(part in _LEADING_ON or part == "*" or _plain(part) in alike for part in parts)


def _plain(name: str) -> str:
    """A name without its spelling: LayerNormalization, layer_normalization."""
    return re.sub(r"(_v|V)\d+$", "", name).replace("_", "").lower()
