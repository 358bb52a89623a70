"""`from mybert.attention import MultiHeadAttention`: the student's own package, completed by the library where needed.

This importer reads `mybert/attention.py` from the student's folder. A name that is not there, or a module that cannot
be run, is replaced by the library's version (`autograde/student/stand_ins/`), and one line is printed about it. So a
missing answer never blocks what comes after it.
"""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable
from pathlib import Path

PACKAGE = "mybert"
STAND_INS = "autograde.student.stand_ins"
MODULES = ("wordpiece", "embeddings", "attention", "encoder", "bert", "data", "pretraining", "finetuning")


class Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and runs `mybert` and its modules."""

    def __init__(self, folder: Path | Callable[[], Path] | None, say=print, prepare=lambda: None):
        self._folder, self.say, self.prepare = folder, say, prepare

    @property
    def folder(self) -> Path | None:
        return self._folder() if callable(self._folder) else self._folder

    def find_spec(self, name, path=None, target=None):
        module = name.removeprefix(f"{PACKAGE}.")
        if name != PACKAGE and (module == name or module not in MODULES):
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=name == PACKAGE)
        if name == PACKAGE and self.folder:
            spec.submodule_search_locations.append(str(self.folder / PACKAGE))
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if module.__name__ == PACKAGE:
            self.prepare()
            return
        source = self.folder and self.folder / PACKAGE / f"{module.__name__.rpartition('.')[2]}.py"
        if source and source.is_file():
            self._run(module, source)
        vars(module)["__getattr__"] = lambda name: self._stand_in(module, name)

    def _run(self, module, path: Path) -> None:
        before = dict(vars(module))
        module.__file__ = str(path)
        try:
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))
        except (Exception, SystemExit) as error:  # any error of a student's file: use the library's versions
            self.say(
                f"{PACKAGE}/{path.name} cannot be imported ({type(error).__name__}: {error}); "
                "using the library's version."
            )
            vars(module).clear()
            vars(module).update(before)

    def _stand_in(self, module, name: str):
        short = module.__name__.rpartition(".")[2]
        if name.startswith("_"):
            raise AttributeError(f"{module.__name__} has no {name}")
        try:
            made = importlib.import_module(f"{STAND_INS}.{short}")
        except ModuleNotFoundError as missing:
            if not (missing.name or "").startswith(STAND_INS):
                raise
            raise AttributeError(f"{module.__name__} has no {name}, and the library has no version of it") from None
        if name not in made.__all__:
            raise AttributeError(f"{module.__name__} has no {name}; it has {', '.join(made.__all__)}")
        if self.folder is not None:
            self.say(f"{module.__name__}.{name}: you have not passed this exercise yet; using the library's version.")
        setattr(module, name, getattr(made, name))
        return getattr(module, name)


def activate(
    folder: Path | Callable[[], Path] | None, say=print, prepare=lambda: None, stand_ins: Path | None = None
) -> None:
    """Makes `import mybert` read from a folder (None: the library's versions only), again if it was imported before.

    prepare: called before the package is read for the first time. stand_ins: the folder with the only library
    versions that may be used, in place of all (in the grader's sandbox).
    """
    _remove()
    sys.meta_path.insert(0, Importer(folder, say, prepare))
    if stand_ins is not None:
        importlib.import_module(STAND_INS).__path__[:] = [str(stand_ins)]


@contextlib.contextmanager
def only_stand_ins():
    """Within it `mybert` is the library's versions; afterwards it is again what it was."""
    finders = list(sys.meta_path)
    modules = _remove()
    sys.meta_path.insert(0, Importer(None))
    try:
        yield
    finally:
        _remove()
        sys.meta_path[:] = finders
        sys.modules.update(modules)


def forget(module: str) -> None:
    """The next import of this module reads its file again."""
    sys.modules.pop(f"{PACKAGE}.{module}", None)
    if PACKAGE in sys.modules:
        vars(sys.modules[PACKAGE]).pop(module, None)


def _remove() -> dict:
    """Takes out the importer and everything of `mybert` that is imported; returns the latter."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Importer)]
    names = [name for name in sys.modules if name.partition(".")[0] == PACKAGE]
    return {name: sys.modules.pop(name) for name in names}
