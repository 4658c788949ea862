"""`torch.compile` without compiling: what it is given runs as plain Python, with the same answers.

A worker has no room for what inductor builds and may start no compiler; and a check calls with so many shapes
and dtypes that compiling for each would take minutes, in a notebook, too. All else about what was compiled is
torch's own: names in `state_dict`, `_orig_mod`, stances, `torch.compiler.reset()`.
"""

from __future__ import annotations

import functools
import inspect
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch


def as_plain_python() -> AbstractContextManager[Any]:
    """Run compiled code uncompiled, if torch has imported its compiler."""
    compiler: Any = sys.modules.get("torch._dynamo")
    set_stance = getattr(compiler, "set_stance", None)  # not there yet while it is imported
    return nullcontext() if set_stance is None else set_stance("force_eager")


def compile_nothing() -> None:
    """Replace `torch.compile` for good by a function that does not import the compiler."""
    original = torch.compile
    signature = inspect.signature(original)

    @functools.wraps(original)
    def compile(model: Any = None, **options: Any) -> Any:
        given = signature.bind(model, **options).arguments  # what torch does not know is an error here, too
        if model is None:
            return functools.partial(compile, **options)
        from torch import _dynamo  # takes a second, so only here

        # With the stance no code is looked at; should a student set another, "eager" builds nothing either.
        _dynamo.set_stance("force_eager")
        told = {name: given[name] for name in ("dynamic", "disable") if name in given}
        return _dynamo.optimize(backend="eager", nopython=given.get("fullgraph", False), **told)(model)

    torch.compile = compile
