"""Parts of torch that do not work where a task is judged: operators, functions written in Python, graphs.

What is right where they do not work was computed by the student, whatever the code looks like; nobody has
to watch. Operators are replaced in torch's dispatcher, which every road leads through: threads, modes,
TorchScript and handles that were taken before. Functions lose their code, wherever they may be kept.
"""

from __future__ import annotations

import ctypes
import gc
import re
import site
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import torch

from autograder.protocol.without import Without
from autograder.worker.session.answering import met

_KEY = re.compile(r"^(\w+)(?:\[alias\])?: ", re.MULTILINE)
_NO_KEYS = {"name", "schema", "debug"}
_WITHOUT_NUMBERS = "Meta"
"""The key at which operators tell shapes alone; a second registration there is refused."""
_EVERYWHERE = "CompositeImplicitAutograd"


class Unavailable(RuntimeError):
    """A call of a part of torch that is disabled where the task is judged."""


def take_away(without: Without) -> None:
    """Disable parts of torch in this process and all that it forks, for good."""
    gc.unfreeze()  # frozen objects are not listed
    libraries = [*_replace(_operators(without), without.say).values()]
    libraries += _record_nothing() if without.graphs else []
    for library in libraries:
        # Nothing in Python refers to it, so nothing in Python can undo it.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
    for function, empty in _emptied(without, _all_functions()):
        function.__code__ = empty
    gc.collect()
    gc.freeze()


class _TakenAway(AbstractContextManager[None]):
    """A block in which parts of torch are disabled: for a notebook, where nobody is hostile.

    What people call is replaced, and not all that this leads to: it is done for every request of a check.
    """

    def __init__(self, without: Without) -> None:
        public = {name: keys for name, keys in _operators(without).items() if _EVERYWHERE in keys}
        self._replace = partial(_replace, public, without.say)
        self._emptied = _emptied(without, _functions_of(without))
        self._codes: list[CodeType] = []
        self._libraries: dict[str, Any] = {}

    def __enter__(self) -> None:
        self._libraries = self._replace()
        self._codes = [function.__code__ for function, _ in self._emptied]
        for function, empty in self._emptied:
            function.__code__ = empty

    def __exit__(self, *raised: object) -> None:
        self._libraries.clear()  # the operators' own kernels are in use again
        for (function, _), own in zip(self._emptied, self._codes, strict=True):
            function.__code__ = own


_absence = lru_cache(maxsize=8)(_TakenAway)


def absent(without: Without | None) -> AbstractContextManager[None]:
    """Return a block in which parts of torch are disabled: references need them before and after."""
    return nullcontext() if without is None else _absence(without)


def unavailable(name: str, say: str) -> Any:
    """Raise `Unavailable`; it stands in for what was taken away."""
    met.any = True
    raise Unavailable(f"`{name}` does not work here. {say}".rstrip())


def _operators(without: Without) -> dict[str, set[str]]:
    """Return the keys that each of the operators is registered at."""
    pattern = re.compile(without.operators)
    names = [n for n in torch._C._dispatch_get_all_op_names() if pattern.search(n.partition(".")[0])]
    return {name: set(_KEY.findall(torch._C._dispatch_dump(name))) - _NO_KEYS for name in names}


def _replace(operators: Mapping[str, set[str]], say: str) -> dict[str, Any]:
    """Replace operators, and return what keeps them replaced, by namespace."""
    libraries: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is replaced
        for name, registered in operators.items():
            namespace, _, operator = name.partition("::")
            if namespace not in libraries:
                libraries[namespace] = torch._C._dispatch_library("IMPL", namespace, "")
            refuse = _refusing(name, say)
            for key in sorted(registered - {_WITHOUT_NUMBERS} | {_EVERYWHERE}):
                libraries[namespace].impl(operator, key, refuse)
    return libraries


def _record_nothing() -> list[Any]:
    """Have all operators pass over autograd, which then has no graph, and return what keeps it so.

    No mode and no context of torch's turns that back, and forward-mode derivatives are carried there, too.
    """
    libraries: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is replaced
        for name, registered in _operators(Without(operators="")).items():
            namespace, _, operator = name.partition("::")
            if namespace not in libraries:
                libraries[namespace] = torch._C._dispatch_library("IMPL", namespace, "")
            for key in sorted(key for key in registered if key.startswith("Autograd")):
                libraries[namespace].impl(operator, key, torch.library.fallthrough_kernel)
    return [*libraries.values()]


def _refusing(operator: str, say: str) -> Callable[..., Any]:
    namespace, _, name = operator.partition(".")[0].partition("::")
    known = f"torch.{name}" if namespace == "aten" else f"torch.ops.{namespace}.{name}"

    def refuse(*_: Any, **__: Any) -> Any:
        unavailable(known, say)

    return refuse


def _emptied(without: Without, functions: Iterable[FunctionType]) -> list[tuple[FunctionType, CodeType]]:
    """Return those of the functions that it names, each with code that refuses."""
    packages = Path(torch.__file__).parent.parent
    patterns = {str(packages / file): re.compile(names) for file, names in without.code}
    found = []
    for function in functions:
        pattern = patterns.get(function.__code__.co_filename)
        if pattern is not None and pattern.fullmatch(function.__qualname__):
            found.append((function, _empty(function, without.say)))
    return found


def _all_functions() -> list[FunctionType]:
    """Return every function there is, whoever keeps it."""
    return [each for each in gc.get_objects() if type(each) is FunctionType]


def _functions_of(without: Without) -> list[FunctionType]:
    """Return the functions of some files that are imported: to look at all functions takes long."""
    found: list[FunctionType] = []
    for file, _ in without.code:
        name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        module = sys.modules.get(name)
        places: list[Mapping[str, Any]] = [vars(module)] if module is not None else []
        places += [vars(each) for place in tuple(places) for each in place.values() if isinstance(each, type)]
        found += [each for place in places for each in place.values() if type(each) is FunctionType]
    return found


def _empty(function: FunctionType, say: str) -> CodeType:
    """Return code that refuses, with as many free variables as the function's."""
    free = function.__code__.co_freevars
    lines = ["def outside():"]
    lines += [f"    {name} = None" for name in free]
    lines += ["    def refuse(*args, **kwargs):"]
    lines += [f"        {name}" for name in free]
    lines += ["        from autograder.worker.session.taken_away import unavailable, name_of"]
    lines += [f"        unavailable(name_of({function.__qualname__!r}, args), {say!r})", "    return refuse"]
    made: dict[str, Any] = {}
    exec("\n".join(lines), made)
    code: CodeType = made["outside"]().__code__
    return code


def unreadable(without: Without) -> list[str]:
    """Return the files that a worker may not read: it could restore from them what is disabled."""
    packages = Path(torch.__file__).parent.parent
    written = [packages / file for file, _ in without.code]
    compiled = [each for file in written for each in file.parent.glob(f"__pycache__/{file.stem}.*.pyc")]
    native = [*(packages / "torch").glob("_C*.so"), *(packages / "torch/lib").glob("libtorch*.so*")]
    return [str(file) for file in (*written, *compiled, *native, *_other_copies(packages))]


def name_of(qualified: str, args: tuple[Any, ...]) -> str:
    """Return the name by which people know a function: of a constructor, torch's class that is made."""
    if not qualified.endswith(".__init__") or not args:
        return qualified
    own = (each for each in type(args[0]).__mro__ if each.__module__.startswith("torch."))
    made = next(own, type(args[0]))
    return f"{'nn.' if made.__module__.startswith('torch.nn.') else ''}{made.__name__}"


def _other_copies(packages: Path) -> list[Path]:
    """Return other installations of torch that a worker could import: of the Python below this one."""
    prefixes: Mapping[str, None] = dict.fromkeys([sys.base_prefix, "/usr", "/usr/local"])
    places = [*map(Path, site.getsitepackages()), *map(Path, sys.path)]
    places += [place for prefix in prefixes for place in Path(prefix).glob("lib*/python3*/*-packages")]
    return [
        place / "torch"
        for place in dict.fromkeys(places)
        if (place / "torch").is_dir() and not (place / "torch").samefile(packages / "torch")
    ]
