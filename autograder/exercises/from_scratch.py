"""What "from scratch" forbids: torch's own recurrent modules and kernels, by whatever road.

Two witnesses: the names of the kernels that ran, told by the student's process, and the student's
source, read outside it. The call whose kernels are watched must answer as the others do.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import torch

from autograder.checking import (
    Submission,
    Target,
    compare,
    expect_no_kernel,
    expect_no_mention,
    fail,
    tree_leaves,
)
from autograder.checking.errors import StudentError

KERNELS = r"(^|::|_)(lstm|gru|rnn)(_|$)"
"""Torch's fused recurrent kernels as a dispatch mode sees them: aten::lstm, aten::rnn_tanh_cell, …"""

NAMES = (
    r"(RNN|LSTM|GRU)(Base|Cell|CellBase)?|(rnn_tanh|rnn_relu|lstm|gru)(_cell)?"
    r"|_VF|_C|ops|_decomp|decompositions|(one|many)_layer_\w+"
)
"""The names in torch through which they are reached."""

MODULES = {"RNNBase", "RNNCellBase"}
"""The classes in `torch.nn` that every recurrent module descends from."""

SAY = "This task is from scratch: torch's own recurrent modules and functions may not do the work."


def expect_from_scratch(
    submission: Submission, task: str, target: Target, arguments: tuple[Any, ...]
) -> None:
    """Neither the call nor the task's source uses torch's recurrent modules or kernels."""
    expect_no_mention(submission, task, NAMES, SAY)
    try:
        before, call, after = target.watched(arguments)
    except StudentError:
        return  # other checks say what stops the code; without a result nothing was borrowed
    expect_no_kernel(call, KERNELS, SAY)
    # A state that is kept from call to call makes all three differ, which is another check's affair.
    if _alike(before, after) and not _alike(before, call.value):
        fail(f"{SAY} While its kernels are watched, your code answers otherwise than when they are not.")


def _alike(one: Any, other: Any) -> bool:
    """Whether two answers are the same numbers, to tolerance, in containers of any kind."""
    pairs = list(zip_longest(tree_leaves(one), tree_leaves(other)))
    if any(isinstance(each, torch.Tensor) != isinstance(two, torch.Tensor) for each, two in pairs):
        return False
    tensors = [(each, two) for each, two in pairs if isinstance(each, torch.Tensor)]
    return all(each.shape == two.shape and not compare(each, two) for each, two in tensors)


def expect_own_module(target: Target) -> None:
    """The module is not, and does not contain, one of torch's recurrent modules."""
    if MODULES & set(target.describe().kinds):
        fail(f"{SAY} Your module is or contains one of them.")
