"""Makes what an exercise forbids inert, in the agent's process, before any code of the student runs.

    forbid(["keras.ops.softmax", "bertlab.layers"], stand_ins=["attention"])

- The code of a forbidden function is replaced by code that raises `ForbiddenCallError`, in the function object itself:
  every name of it, every reference that somebody keeps and every thread gets the inert function. Of a class this
  happens to all methods. Functions of the same name anywhere in Keras and TensorFlow are treated alike, since they
  compute the same: `keras.ops.softmax`, its backend's `softmax`, `tensorflow.nn.softmax_v2`, `raw_ops.Softmax`.
- A forbidden module that is not loaded is never loaded: an import finds an empty module whose names are inert.
- The library's code that stand-ins for earlier notebooks need stays: it is found by the names that their code uses.
- TensorFlow's private executors refuse kernels of these names, those that compute the same under another name
  (`_KERNELS`), and those of a forbidden package. Modules that are loaded later are made inert, too.
- A hook (`sys.addaudithook`) refuses to open the files of inert code. It is a hint: there are ways round it. So the
  files of the library and of forbidden packages are covered by empty folders before (`isolation.cover`).

A program that computes the same by other means is not stopped. docs/threat_model.md lists what is left.
"""

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import os
import re
import sys
import types
from collections.abc import Callable

_SAME_NAMES_IN = ("keras", "tensorflow")
_LIBRARY = "bertlab"
_REFUSED_EVENTS = ("ctypes.dlopen", "ctypes.dlsym", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.system")
_EXECUTOR_MODULES = ("tensorflow.python.pywrap_tfe", "tensorflow.python._pywrap_tfe",
                     "tensorflow.python.client.pywrap_tf_session",
                     "tensorflow.python.client._pywrap_tf_session")  # fmt: skip
# A forbidden name → parts of the names of kernels that compute it, or of which one result or gradient is it.
_KERNELS = {
    "softmax": ("softmax",),
    "take": ("gather", "lookup"),
    "layernormalization": ("batchnorm", "layernorm", "instancenorm", "rmsnorm"),
    "gelu": ("gelu", "fusedmatmul", "fusedconv", "fusedbatchmatmul"),
}
_SUFFIX = re.compile(r"(_v|V)\d+$|_eager_fallback$|_internal$")


class ForbiddenCallError(RuntimeError):
    """The exercise asks to write this oneself."""


def forbid(names: list[str], stand_ins: list[str]) -> None:
    """Makes these dotted names inert: modules with all below them, functions, classes. stand_ins: modules that stay."""
    roots = [importlib.import_module(f"autograde.student.stand_ins.{name}") for name in stand_ins]
    modules = [name for name in names if _is_module(name)]
    needed = _needed(roots)  # first, since it loads modules of the library
    called = [name for name in names if name not in modules and _is_below(name, _SAME_NAMES_IN)]
    wanted = frozenset(_plain(name.rpartition(".")[2]) for name in called)
    plugins = [one for one in list(sys.modules.values()) if getattr(one, "_IS_TENSORFLOW_PLUGIN", False)]
    kernels, parts = set(wanted), [part for name in wanted for part in _KERNELS.get(name, ())]
    if "tensorflow_text" in modules:  # each of its kernels has a function of its name, and one for the slow way
        names_in = [(vars(module), name) for module in plugins for name in vars(module)]
        kernels |= {_plain(name) for there, name in names_in if f"{name}_eager_fallback" in there}

    def is_kernel(name: str) -> bool:
        return _plain(name) in kernels or any(part in _plain(name) for part in parts)

    forbidden = _forbidden(modules, wanted, plugins, is_kernel)
    named = list(filter(None, map(_function_of_the_library, names)))  # also where a stand-in needs it
    needed -= set(map(id, named))
    files: set[str] = set()
    for obj in forbidden + named:
        if id(obj) not in needed:
            _make_inert(obj, files, needed)
    for module in filter(None, map(sys.modules.get, _EXECUTOR_MODULES)):
        for name, index in _EXECUTORS.items():
            if hasattr(module, name):
                setattr(module, name, _refusing_kernels(getattr(module, name), index, is_kernel))
    sys.meta_path[:0] = [_EmptyModules(modules), _LateModules(wanted, needed)]
    sys.addaudithook(functools.partial(_refuse_sources, frozenset(map(os.path.realpath, files)), _folders(modules)))


def _is_module(name: str) -> bool:
    """Whether a dotted name is a module's, also of a package that is not installed."""
    try:
        return importlib.util.find_spec(name) is not None or "." not in name
    except ModuleNotFoundError:  # its parent is no package, or is not installed
        return name.partition(".")[0] not in sys.modules and not name.startswith(f"{_LIBRARY}.")


# --- what is forbidden ---


def _function_of_the_library(name: str):
    """The function or class called, for example, "bertlab.layers.gather_positions", or None."""
    home, _, last = name.rpartition(".")
    if not home.startswith(f"{_LIBRARY}.") or home not in sys.modules:
        return None
    obj = vars(sys.modules[home]).get(last)
    return obj if isinstance(obj, (types.FunctionType, type)) else None


def _forbidden(modules: list[str], wanted: frozenset[str], plugins: list, is_kernel: Callable[[str], bool]) -> list:
    """The functions and classes of these modules, those of these plain names in Keras and TensorFlow, and those that
    call a kernel. plugins: modules of other packages with kernels of their own."""
    for name in modules:  # a module of Keras that is only loaded when somebody asks for it
        if _is_below(name, _SAME_NAMES_IN):
            importlib.import_module(name)
    loaded = [(name, module) for name, module in list(sys.modules.items()) if module]
    forbidden = [obj for name, module in loaded if _is_below(name, modules) for obj in _defined_in(module, modules)]
    for name, module in loaded if wanted else ():
        if _is_below(name, _SAME_NAMES_IN) and isinstance(module, types.ModuleType):
            forbidden += _called_like(module, wanted)
    homes = [module for name, module in loaded if name.startswith("tensorflow.python.ops.gen_")] + plugins
    objects = [obj for module in homes for obj in list(vars(module).values())]
    kernels = [obj for obj in objects if isinstance(obj, types.FunctionType) and is_kernel(obj.__name__)]
    return forbidden + kernels


def _is_below(name: str, prefixes) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def _defined_in(module, prefixes) -> list:
    """The functions and classes of a module and its package; those that it imports from elsewhere stay."""
    named = [obj for name, obj in list(vars(module).items()) if not name.startswith("__")]  # not its `__getattr__`
    objects = [obj for obj in named if isinstance(obj, (types.FunctionType, type))]
    # `keras.losses` only shows what is defined in `keras.src`; the library's modules import from each other.
    homes = prefixes if module.__name__.startswith(_LIBRARY) else [module.__name__.partition(".")[0]]
    return [obj for obj in objects if _is_below(getattr(obj, "__module__", None) or "", homes)]


def _called_like(module: types.ModuleType, wanted: frozenset[str]) -> list:
    """The functions and classes of a module that are called like one of the names."""
    return [
        obj
        for called, obj in list(vars(module).items())
        if isinstance(obj, (types.FunctionType, type)) and {_plain(called), _plain(obj.__name__)} & wanted
    ]


def _plain(name: str) -> str:
    """A name without its spelling: LayerNormalization, layer_normalization; Gather, gather_v2."""
    return _SUFFIX.sub("", name).replace("_", "").lower()


# --- what stand-ins need ---


def _needed(roots: list[types.ModuleType]) -> set[int]:
    """The ids of the library's functions and classes that these modules use, directly or through others.

    Only the library's: what they use of Keras and TensorFlow is what an exercise forbids in so many words.
    """
    seen: set[int] = set()
    found: set[int] = set()
    values = [value for root in roots for value in list(vars(root).values())]
    waiting = [value for value in values if not isinstance(value, types.ModuleType)]
    while waiting:
        obj = waiting.pop()
        if id(obj) not in seen:
            seen.add(id(obj))
            waiting += _used_by(obj)
            if isinstance(obj, (types.FunctionType, type)) and _is_ours(obj):
                found.add(id(obj))
    return found


def _used_by(obj):
    """The objects of the library, or of a stand-in, that one of them uses."""
    if isinstance(obj, (staticmethod, classmethod)):
        yield obj.__func__
    elif isinstance(obj, property):
        yield from filter(None, (obj.fget, obj.fset))
    elif isinstance(obj, functools.partial):
        yield obj.func
    elif isinstance(obj, (list, tuple)):
        yield from obj
    elif isinstance(obj, dict):
        yield from obj.values()
    elif not _is_ours(obj):
        return
    elif isinstance(obj, types.FunctionType):
        yield from _names_used(obj.__code__, obj.__globals__)
        yield from [cell.cell_contents for cell in obj.__closure__ or () if cell.cell_contents is not obj]
        yield from filter(None, (obj.__defaults__, obj.__kwdefaults__, getattr(obj, "__wrapped__", None)))
    elif isinstance(obj, type):
        yield from [value for own in obj.__mro__ if _is_ours(own) for value in vars(own).values()]
    else:
        yield type(obj)
        yield from getattr(obj, "__dict__", {}).values()


def _is_ours(obj) -> bool:
    home = getattr(obj if isinstance(obj, (type, types.FunctionType)) else type(obj), "__module__", None) or ""
    return home.startswith((_LIBRARY, "autograde.student"))


def _names_used(code, names: dict):
    for name in code.co_names:
        value = names.get(name)
        if isinstance(value, types.ModuleType):
            yield from [vars(value).get(attribute) for attribute in code.co_names]
        elif value is not None:
            yield value
        if name.startswith(f"{_LIBRARY}."):  # what an import inside of the function can give
            module = importlib.import_module(name)
            yield from [vars(module).get(attribute) for attribute in code.co_names]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_used(constant, names)


# --- inert objects ---


def _refusing(*arguments, **keywords):
    raise "the error"  # noqa: B016 - the class takes its place, which a function with other globals could not find


def _make_inert(obj, files: set[str], needed: set[int]) -> None:
    functions = [obj] if isinstance(obj, types.FunctionType) else list(_methods(obj))
    if isinstance(obj, type) and obj.__module__ != "builtins":
        obj.__new__ = _refuse
    while functions:
        function = functions.pop()
        if function.__code__.co_consts and ForbiddenCallError in function.__code__.co_consts or id(function) in needed:
            continue
        files.add(function.__code__.co_filename)
        inner = [getattr(function, "__wrapped__", None)]
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # an empty cell
                inner.append(cell.cell_contents)
        functions += [one for one in inner if isinstance(one, types.FunctionType) and one.__name__ == function.__name__]
        code = _refusing.__code__
        constants = tuple(ForbiddenCallError if constant == "the error" else constant for constant in code.co_consts)
        free = function.__code__.co_freevars
        function.__code__ = code.replace(co_consts=constants, co_name=function.__name__, co_freevars=free)


def _refuse(*arguments, **keywords):
    raise ForbiddenCallError


def _methods(cls: type):
    for value in list(vars(cls).values()):
        value = getattr(value, "__func__", getattr(value, "fget", value))
        if isinstance(value, types.FunctionType) and _package(value) == _package(cls):  # `typing` lends its own
            yield value


def _package(obj) -> str:
    return (obj.__module__ or "").partition(".")[0]


# Functions by which TensorFlow's Python calls its kernels, or puts them into a graph → which argument is the name.
_EXECUTORS = {"TFE_Py_FastPathExecute": 1, "TFE_Py_Execute": 2, "TFE_Py_ExecuteCancelable": 2, "TF_NewOperation": 1}


def _refusing_kernels(call, index: int, is_kernel):
    def checked(*arguments):
        kernel = arguments[index]  # the methods of the class itself: a subclass of the student's could lie
        kernel = bytes.decode(kernel) if isinstance(kernel, bytes) else str.encode(kernel).decode()
        if is_kernel(kernel):
            raise ForbiddenCallError
        return call(*arguments)

    return checked


class _EmptyModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds an empty module for every forbidden one that is not loaded."""

    def __init__(self, prefixes: list[str]):
        self.prefixes = prefixes

    def find_spec(self, name, path=None, target=None):
        if _is_below(name, self.prefixes):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        vars(module)["__getattr__"] = _refusing_class


class _LateModules(importlib.abc.MetaPathFinder):
    """Makes inert what a module of Keras or TensorFlow brings that is loaded later, such as an older layer."""

    def __init__(self, wanted: frozenset[str], needed: set[int]):
        self.wanted, self.needed = wanted, needed

    def find_spec(self, name, path=None, target=None):
        if not self.wanted or not _is_below(name, _SAME_NAMES_IN):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader.exec_module = functools.partial(self._load, spec.loader.exec_module)
        return spec

    def _load(self, load, module) -> None:
        load(module)
        for obj in _called_like(module, self.wanted):
            _make_inert(obj, set(), self.needed)


def _refusing_class(name: str) -> type:
    """The attribute of an empty module."""
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (), {"__new__": _refuse, "__init_subclass__": classmethod(lambda cls, **keywords: None)})


# --- files ---


def _folders(modules: list[str]) -> tuple[str, ...]:
    """The folders of the library's forbidden packages, so that code is not read there that was never loaded."""
    found = []
    for name in modules:
        spec = sys.modules[name].__spec__ if name in sys.modules else importlib.machinery.PathFinder.find_spec(
            name.rpartition(".")[2], getattr(sys.modules.get(name.rpartition(".")[0]), "__path__", None)
        )  # fmt: skip
        found += [os.path.realpath(location) for location in (spec.submodule_search_locations or () if spec else ())]
    return tuple(found)


def _path_text(path) -> str:
    """The text of a path by the methods of the class itself: a subclass of the student's could lie.

    Only `io.FileIO` passes other objects on; it calls their `__fspath__` again, which could then give another path.
    """
    if isinstance(path, str):
        return str.__str__(path)
    if isinstance(path, bytes):
        return bytes.decode(path, "utf-8", "surrogateescape")
    raise PermissionError("not available in this sandbox")


def _refuse_sources(files: frozenset[str], folders: tuple[str, ...], event: str, arguments: tuple) -> None:
    """The hook: no forbidden source, no way round it through C or another program."""
    if event in _REFUSED_EVENTS:
        raise PermissionError("not available in this sandbox")
    if event == "open" and not issubclass(type(arguments[0]), int):  # a number is a file that is open already
        path = _path_text(arguments[0])
        real = os.path.realpath(path)
        is_elsewhere = not os.path.isabs(path) and not os.path.exists(real)  # relative to a folder's descriptor
        names = {os.path.basename(file) for file in files} if is_elsewhere else ()
        if real in files or real.startswith(folders) or os.path.basename(path) in names:
            raise PermissionError("not available in this sandbox")
