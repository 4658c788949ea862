"""References in files of their own: computed where the file is, looked up where it was not handed out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter, Signature
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.checking.inputs.cache import computed_once
from autograder.checking.inputs.references import recorded
from autograder.checking.runner.handed_out import handed_out
from autograder.checking.runner.handed_out_file import FILE, goes_out


def reference(named: str) -> Callable[..., Any]:
    """Return a function that computes right answers, from a file that students do not get.

    `"reference_conv:kernel_sums"` is `kernel_sums` in `reference_conv.py`, beside the file of checks. It
    computes from its arguments alone and returns tensors, numbers, texts, or containers of such, into which
    nobody writes: results are kept for a whole class, and students' notebooks look up those for the public
    inputs. Raises `ValueError` for a name of another form, `FileNotFoundError` for a file that is not there,
    `AttributeError` for a function that is not in it.

        kernel_sums = reference("reference_conv:kernel_sums")
    """
    return reference_beside(Path(sys._getframe(1).f_code.co_filename), named)


def reference_beside(file: Path, named: str) -> Callable[..., Any]:
    """Return the reference of this name for the checks that a file states."""
    module, _, name = named.partition(":")
    path = file.parent / f"{module}.py"
    if goes_out(path.name) or not name.isidentifier():
        raise ValueError(f"{named!r} names no reference: write it as `reference_<task>:<function>`")
    if path.is_file():
        function = getattr(_loaded(path), name, None)
        if not callable(function):
            raise AttributeError(f"{path.name} has no function `{name}`")
        return recorded(computed_once(function), named)
    if not any([*file.parent.glob(FILE), *file.parent.glob(f"*/{FILE}")]):
        raise FileNotFoundError(f"there is no {path.name} beside {file.name}")
    return recorded(_absent(name, file.parent, named), named)


def _absent(name: str, folder: Path, named: str) -> Callable[..., Any]:
    """Return what stands in for a reference that was not handed out."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return NotImplemented

    found = handed_out(folder)
    made: Any = function
    made.__name__ = made.__qualname__ = name
    if found is not None and named in found.recorded.arguments:
        made.__signature__ = Signature([_parameter(*each) for each in found.recorded.arguments[named]])
    return function


def _parameter(name: str, *default: Any) -> Parameter:
    return Parameter(
        name, Parameter.POSITIONAL_OR_KEYWORD, default=default[0] if default else Parameter.empty
    )


def _loaded(path: Path) -> ModuleType:
    """Return a file as a module, loaded once; files of one name are different modules."""
    name = str(path)
    if name not in sys.modules:
        spec = spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
