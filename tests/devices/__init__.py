"""A corpus of small modules: each with one device or dtype fault, or with none, in many styles.

A case is source text, as a student would write it, with what it is made with and called with.
"""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from autograder.checking import CheckFailed, Submission, expect_device_neutral, expect_dtypes
from autograder.checking.remote.errors import StudentError
from autograder.worker.session.executor import Executor

B, T, D, H, V = 2, 5, 3, 4, 7


@dataclass(frozen=True)
class Case:
    """One piece of code; `rule` is the one that it breaks, `""` if none, `line` a part of the guilty line."""

    source: str
    inputs: str = "x"
    made_with: tuple[int, ...] | None = (D, H)
    rule: str = ""
    line: str = ""
    names: tuple[str, ...] = ("output", "h_n", "c_n")

    @property
    def name(self) -> str:
        """What the source defines for the check."""
        return "f" if self.made_with is None else "Model"


def text_of(case: Case) -> str:
    return textwrap.dedent(case.source).strip() + "\n"


def namespace_of(case: Case) -> dict:
    """The case's source run as a notebook's cell."""
    source = text_of(case)
    filename = f"<cell {hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"torch": torch, "nn": nn, "F": F, "__name__": "__main__"}
    exec(compile(source, filename, "exec"), namespace)
    return namespace


def inputs_of(kind: str) -> tuple:
    """What a case is called with, float64 and the same every time."""
    generator = torch.Generator().manual_seed(3)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    every: Mapping[str, torch.Tensor] = {
        "x": draw(B, T, D),
        "h": draw(B, H),
        "q": draw(B, H),
        "e": draw(B, T, H),
        "y": draw(B, T, D),
        "s": draw(3, B, H),
        "row": draw(B, D),
        "ids": torch.randint(V, (B, T), generator=generator),
        "lengths": torch.tensor([T, 3]),
        "mask": torch.tensor([[True] * T, [True, True, True, False, False]]),
        "finished": torch.tensor([True, False]),
    }
    return tuple(every[name] for name in kind.split())


def failures(case: Case, submission: Submission | None = None) -> dict[str, str]:
    """What the two checks say of a case, by rule: nothing of a right one."""
    handle = submission or Submission(Executor(namespace_of(case)).perform)
    target, found = getattr(handle, case.name), {}
    form = {"names": case.names, "made_with": case.made_with}
    for rule, judge in (
        ("device", lambda: expect_device_neutral(target, inputs_of(case.inputs), **form)),
        (
            "dtype",
            lambda: expect_dtypes(target, inputs_of(case.inputs), **form),
        ),
    ):
        try:
            judge()
        except (CheckFailed, StudentError) as error:
            found[rule] = str(error)
    return found
