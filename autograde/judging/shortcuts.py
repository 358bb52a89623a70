"""Finds forbidden library calls, which would do an exercise for the student, in the text of their code.

The text is parsed, never run. `import keras as k; k.ops.softmax`, `from keras.ops import softmax as s` and
`from keras import ops` all lead to `keras.ops.softmax`; a forbidden prefix forbids everything below it.
"""

import ast

from autograde.common import syntax

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
                root = alias.name.split(".")[0]
                names[alias.asname or root] = alias.name if alias.asname else root
                yield alias.name
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Name)):
            attributes = []
            while isinstance(node, ast.Attribute):
                attributes.append(node.attr)
                node = node.value
            if isinstance(node, ast.Name) and node.id in names:
                yield ".".join([names[node.id], *reversed(attributes)])
