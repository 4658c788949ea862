"""Odd answers: what code may return in place of what is asked for, and the checks that trip over it."""

from __future__ import annotations

import itertools
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import PUBLIC_SEED
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from autograder.checking.runner.task_run import TaskRun
from autograder.protocol.values import map_tree
from autograder.worker.session.executor import Executor
from tests.exercises.test_exercises import EXERCISES, NOTEBOOKS, notebook_of
from tests.support.checking import run_alone

Pair = namedtuple("Pair", "one other")  # as students write it


class Subclass(torch.Tensor):
    """A tensor of a class of its own."""


def each_tensor(change: Callable[[torch.Tensor], Any]) -> Callable[[Any], Any]:
    return lambda value: map_tree(
        value, lambda leaf: change(leaf) if isinstance(leaf, torch.Tensor) else leaf
    )


def first_tensor(change: Callable[[torch.Tensor], Any]) -> Callable[[Any], Any]:
    def changed(value: Any) -> Any:
        turn = itertools.count()
        return each_tensor(lambda leaf: leaf if next(turn) else change(leaf))(value)

    return changed


def parts(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: change(value if isinstance(value, (list, tuple)) else (value,))


ODD: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda _: None,
    "a text": lambda _: "odd",
    "an empty text": lambda _: "",
    "zero": lambda _: 0,
    "a huge number": lambda _: 10**30,
    "nan": lambda _: float("nan"),
    "true": lambda _: True,
    "a complex number": lambda _: 1j,
    "bytes": lambda _: b"ab",
    "a set": lambda _: {1},
    "a generator": lambda value: (part for part in (value,)),
    "a dict": lambda value: {"h": value},
    "an empty dict": lambda _: {},
    "a dict of numbers": lambda value: {0: value, 1: value},
    "a function": lambda _: lambda: 1,
    "a class": lambda _: object,
    "an object": lambda _: object(),
    "a module": lambda _: nn.Linear(1, 1),
    "an exception": lambda _: ValueError("odd"),
    "an array": lambda _: np.ones(3),
    "a tensor of one number": lambda _: torch.tensor(1.0, dtype=torch.float64),
    "a tensor of no numbers": lambda _: torch.zeros(0),
    "a tensor of two": lambda _: torch.zeros(2),
    "a matrix": lambda _: torch.zeros(5, 7, dtype=torch.float64),
    "an expanded tensor": lambda _: torch.zeros(1).expand(5, 1000),
    "a tensor of three dimensions": lambda _: torch.zeros(2, 3, 5, dtype=torch.float64),
    "an empty tuple": lambda _: (),
    "an empty list": lambda _: [],
    "in a tuple": lambda value: (value,),
    "in a list": lambda value: [value],
    "twice": lambda value: (value, value),
    "three times": lambda value: (value, value, value),
    "nested deeply": lambda value: [[[[[[[[[[[[[[value]]]]]]]]]]]]]],
    "the first part": lambda value: value[0] if isinstance(value, (list, tuple)) and value else value,
    "one part less": parts(lambda value: value[:-1]),
    "one part more": parts(lambda value: (*value, None)),
    "parts in reverse": parts(lambda value: value[::-1]),
    "parts in a list": parts(list),
    "parts in a tuple more": parts(lambda value: ((value,),)),
    "parts as texts": parts(lambda value: tuple(str(type(part)) for part in value)),
    "no parts": parts(lambda value: (None,) * len(value)),
    "no first part": parts(lambda value: (None, *value[1:])),
    "no last part": parts(lambda value: (*value[:-1], None)),
    "numbers as parts": parts(lambda value: tuple(range(len(value)))),
    "a named tuple": parts(lambda value: Pair(*[*value, None, None][:2])),
    "no tensors": each_tensor(lambda _: None),
    "texts": each_tensor(lambda _: "odd"),
    "numbers": each_tensor(lambda _: 1.5),
    "lists": each_tensor(lambda tensor: tensor.tolist() if tensor.numel() < 500 else 3),
    "objects": each_tensor(lambda _: object()),
    "truth values": each_tensor(lambda tensor: tensor.bool()),
    "whole numbers": each_tensor(
        lambda tensor: tensor if tensor.is_complex() else tensor.nan_to_num().long()
    ),
    "complex numbers": each_tensor(lambda tensor: tensor.to(torch.complex128)),
    "half precision": each_tensor(lambda tensor: tensor.half()),
    "bfloat16": each_tensor(lambda tensor: tensor.bfloat16()),
    "bytes of tensors": each_tensor(lambda tensor: tensor.to(torch.uint8)),
    "not a number": each_tensor(lambda tensor: tensor * float("nan")),
    "one dimension": each_tensor(lambda tensor: tensor.reshape(-1)),
    "a dimension more": each_tensor(lambda tensor: tensor[None]),
    "no dimension": each_tensor(lambda tensor: tensor.double().sum()),
    "of length zero": each_tensor(lambda tensor: tensor[:0] if tensor.dim() else tensor[None][:0]),
    "one less": each_tensor(lambda tensor: tensor[:-1] if tensor.dim() else tensor),
    "a subclass": each_tensor(lambda tensor: tensor.as_subclass(Subclass)),
    "sparse": each_tensor(lambda tensor: tensor.to_sparse() if tensor.dim() else tensor),
    "without values": each_tensor(lambda tensor: tensor.to("meta")),
    "no first tensor": first_tensor(lambda _: None),
    "a flat first tensor": first_tensor(lambda tensor: tensor.reshape(-1)),
    "a number first": first_tensor(lambda _: 1.0),
    "a coarse first tensor": first_tensor(lambda tensor: tensor.float()),
}
WHEN: dict[str, Callable[[int], bool]] = {
    "in every call": lambda call: True,
    "in the first call": lambda call: call == 0,
    "in the second call": lambda call: call == 1,
    "after the first call": lambda call: call >= 1,
    "after the second call": lambda call: call >= 2,
}


def odd_task(right: Any, odd: Callable[[Any], Any], when: Callable[[int], bool], method: str = "") -> Any:
    """A task's function, or a method of its class, that answers as the right one does, or oddly."""
    calls = itertools.count()
    inner = getattr(right, method) if method else right

    def answered(*args: Any, **kwargs: Any) -> Any:
        value = inner(*args, **kwargs)
        return odd(value) if when(next(calls)) else value

    return type(right.__name__, (right,), {method: answered}) if method else answered


def faults(notebook: str, tried: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The faults of a notebook's checks that odd answers meet; each check is run, whatever it needs.

    `tried` has the names of answers and of when they come.
    """
    tasks, answers = NOTEBOOKS[notebook].SOLUTIONS, list(tried)

    def body(checks: Checks) -> list[str]:
        found = []
        for task, source in tasks.items():
            base = notebook_of(notebook, task, source)
            namespace = base.connection._perform.__self__.objects.namespace
            right = namespace[task]
            methods = [n for n in ("forward", "state_dict") if isinstance(right, type)]
            for method, (odd, when) in itertools.product(["", *methods], answers):
                for check in checks.of(task):
                    namespace[task] = odd_task(right, ODD[odd], WHEN[when], method)
                    without = checks.without(task)
                    perform = Executor(namespace, without=without).perform
                    odd_one = Submission(perform, base.sources, without=without)
                    result, _ = run_alone(TaskRun(checks, task, odd_one, PUBLIC_SEED, explain=False), check)
                    if result.fault is not None:
                        found.append(f"{task}.{check.name}, {odd} {when} {method}: {result.fault}")
            namespace[task] = right
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from body(collect(EXERCISES / notebook))
