"""The sources of the built-in corpus: installed packages, their files, and the texts in a file.

Only what an explicit list names is read, and only files that a distribution's RECORD lists, so that other packages
never change a byte of the corpus. Python is read statically with `ast`; nothing is ever imported.
"""

import ast
import json
import platform
import re
import sysconfig
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath

STDLIB = "python"

# Distributions of the lock file with prose worth reading. Missing ones are left out, and the manifest lists them.
DISTRIBUTIONS = tuple(
    """absl-py alembic anyio argon2-cffi arrow asttokens attrs babel beautifulsoup4 bleach cffi charset-normalizer click
    cloudpickle comm contourpy cycler dask debugpy distributed executing fonttools fsspec google-pasta grpcio h11 h5py
    httpcore httpx hypothesis idna importlib-metadata ipykernel ipython ipywidgets jedi jinja2 jsonschema
    jupyter-client jupyter-core jupyter-events jupyter-lsp jupyter-server jupyterlab jupyterlab-server jupytext keras
    kiwisolver lark mako markdown-it-py markupsafe matplotlib matplotlib-inline mistune ml-dtypes nbclient nbconvert
    nbformat nbgrader notebook notebook-shim numpy opt-einsum optree packaging parso partd pexpect pillow platformdirs
    pluggy prometheus-client prompt-toolkit protobuf psutil pygments pyparsing pytest python-dateutil python-json-logger
    pyyaml pyzmq rapidfuzz referencing requests rich safetensors setuptools six sortedcontainers soupsieve sqlalchemy
    tblib tensorflow tensorflow-text terminado tinycss2 toolz tornado traitlets urllib3 wcwidth websocket-client wheel
    widgetsnbextension wrapt zict""".split()
)

# Some systems package these parts of the standard library separately, so they would make the bytes differ.
_STDLIB_SKIPPED = frozenset("distutils ensurepip idlelib lib-dynload lib2to3 site-packages tkinter turtledemo".split())
_SKIPPED_FOLDERS = frozenset(  # tests, other people's copies, generated tables, other languages
    "__pycache__ test tests _test _tests idle_test testdata test_data _vendor _vendored vendor vendored extern "
    "third_party node_modules site-packages licenses labextensions _pydevd_bundle pydevd_attach_to_process "
    "_api _tf_keras _unicode_data encodings lexers locale locales otData templates".split()
)
_SKIPPED_FILES = re.compile(
    r"(?:test_.*|.*_tests?|tests?|conftest|setup|.*_pb2(?:_grpc)?)\.py$|"
    r"(?:licen[cs]e|copying|notice|authors|changelog|changes|history|contributors|"
    r"code_of_conduct|third.?party).*\.(?:md|rst)$",
    re.IGNORECASE,
)
_PAGES = frozenset((".rst", ".md", ".ipynb"))


@dataclass(frozen=True)
class SourceFile:
    """A file to be read: its package, a name that is the same on every machine, and its path on this one."""

    package: str
    name: str
    path: str


@dataclass(frozen=True)
class RawText:
    """One docstring, comment or page as it was written. kind: module, class, function, comment, text (a long string)
    or page.
    """

    name: str
    kind: str
    parameters: tuple[str, ...]
    text: str


Found = tuple[int, RawText]  # with the line it begins on


# === Which files ===


def installed_versions() -> dict[str, str | None]:
    """The version of each distribution of the list, None if it is absent, and Python's own."""
    versions: dict[str, str | None] = {STDLIB: platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return versions


def source_files(packages: list[str]) -> list[SourceFile]:
    """The files of these packages that are read, sorted by name. `python` is the standard library."""
    found = []
    for package in packages:
        found += _stdlib_files() if package == STDLIB else _distribution_files(package)
    return sorted(found, key=lambda file: (file.package, file.name))


def _distribution_files(package: str) -> list[SourceFile]:
    distribution = metadata.distribution(package)
    files = []
    for entry in distribution.files or ():
        name = PurePosixPath(entry.as_posix())
        is_readme = name.name == "METADATA" and name.parent.suffix == ".dist-info"
        if is_readme or _is_wanted(name):
            # The version in a .dist-info folder's name would move a document between train and validation.
            shown = f"{package}/README" if is_readme else str(name)
            files.append(SourceFile(package, shown, str(distribution.locate_file(entry))))
    return files


def _is_wanted(name: PurePosixPath) -> bool:
    folders = name.parts[:-1]
    if name.suffix not in _PAGES and name.suffix != ".py":
        return False
    if ".." in folders or any(part in _SKIPPED_FOLDERS or part.endswith(".dist-info") for part in folders):
        return False
    return not _SKIPPED_FILES.match(name.name)


def _stdlib_files() -> list[SourceFile]:
    root = Path(sysconfig.get_paths()["stdlib"])
    files = []
    for top in root.iterdir():
        if top.name in _STDLIB_SKIPPED or top.name.startswith(("config-", "_sysconfigdata")):
            continue
        for path in top.rglob("*.py") if top.is_dir() else [top]:
            relative = PurePosixPath(path.relative_to(root).as_posix())
            if relative.suffix == ".py" and _is_wanted(relative):
                files.append(SourceFile(STDLIB, f"{STDLIB}/{relative}", str(path)))
    return files


# === Which texts in a file ===


def raw_texts(file: SourceFile) -> list[RawText]:
    """The texts in a file, in order. Raises ValueError or SyntaxError if its contents do not match its suffix."""
    content = Path(file.path).read_bytes().decode("utf-8")
    suffix = PurePosixPath(file.name).suffix
    if suffix == ".py":
        parts = list(PurePosixPath(file.name).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        module, tree = ".".join(parts[1:] if parts[0] == STDLIB else parts), ast.parse(content)
        found = _comments(content, module)
        _add_docstring(tree, module, "module", found)
        _walk(tree, module, found)
        return [text for _, text in sorted(found, key=lambda each: each[0])]
    if suffix == ".ipynb":
        cells = [cell for cell in json.loads(content).get("cells", ()) if cell.get("cell_type") == "markdown"]
        content = "\n\n".join("".join(cell["source"]) for cell in cells)
    elif file.name.endswith("/README"):  # the text after the header fields of a METADATA file, up to a list of changes
        content = _CHANGE_LOG.split(content.partition("\n\n")[2])[0]
    return [RawText(file.name, "page", (), content)]


_CHANGE_LOG = re.compile(r"^[#\s]*(?:change ?log|changes|release (?:notes|history)|history)\s*$", re.I | re.M)


_COMMENT_BLOCK = re.compile(r"(?:^[ \t]*#(?: .*)?\n)+", re.MULTILINE)
_COMMENT_MARK = re.compile(r"^[ \t]*# ?", re.MULTILINE)


def _comments(content: str, module: str) -> list[Found]:
    """Comments on their own lines, without licences."""
    found = []
    line, end = 1, 0
    for match in _COMMENT_BLOCK.finditer(content):
        line += content.count("\n", end, match.start())
        end = match.start()
        text = _COMMENT_MARK.sub("", match[0])
        if text.count(" ") >= 7 and "Copyright" not in text and "License" not in text:
            found.append((line, RawText(module, "comment", (), text)))
    return found


def _walk(node: ast.AST, prefix: str, found: list[Found]) -> None:
    """Visits statements only: expressions contain no docstrings, and skipping them is several times faster."""
    for body in ("body", "orelse", "finalbody", "handlers"):
        for child in getattr(node, body, ()):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{prefix}.{child.name}" if prefix else child.name
                _add_docstring(child, name, "class" if isinstance(child, ast.ClassDef) else "function", found)
                _walk(child, name, found)
            elif isinstance(child, (ast.Expr, ast.Assign, ast.AnnAssign)):
                if child.end_lineno - child.lineno >= 2:
                    _add_long_strings(child, prefix, found)
            else:
                _walk(child, prefix, found)


def _add_docstring(node, name: str, kind: str, found: list[Found]) -> None:
    if text := ast.get_docstring(node, clean=False):
        parameters = ()
        if kind == "function":
            args = node.args
            every = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
            parameters = tuple(each.arg for each in every if each is not None and each.arg not in ("self", "cls"))
        found.append((node.body[0].lineno, RawText(name, kind, parameters, text)))


def _add_long_strings(statement: ast.stmt, name: str, found: list[Found]) -> None:
    """Documentation that is given as an argument or a table: `add_newdoc("…")`, `help="…"`, pydoc's topics."""
    value = statement.value
    if value is None or isinstance(value, ast.Constant):  # a docstring, which is already in the list
        return
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") >= 12:
            found.append((node.lineno, RawText(name, "text", (), node.value)))
