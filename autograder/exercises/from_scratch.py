"""What "from scratch" forbids: torch's own recurrent modules and kernels, by whatever road.

Two witnesses: the names of the kernels that ran, told by the student's process, and the student's
source, read outside it.
"""

from __future__ import annotations

from typing import Any

from autograder.checking import Submission, Target, expect_no_kernel, expect_no_mention, fail
from autograder.checking.submission import StudentError

KERNELS = r"(^|::|_)(lstm|gru|rnn)(_|$)"
"""Torch's fused recurrent kernels as a dispatch mode sees them: aten::lstm, aten::rnn_tanh_cell, …"""

NAMES = r"(RNN|LSTM|GRU)(Base|Cell|CellBase)?|(rnn_tanh|rnn_relu|lstm|gru)(_cell)?|_VF|_C|ops"
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
        call = target.run(arguments, kernels=True)
    except StudentError:
        return  # other checks say what stops the code; without a result nothing was borrowed
    expect_no_kernel(call, KERNELS, SAY)


def expect_own_module(target: Target) -> None:
    """The module is not, and does not contain, one of torch's recurrent modules."""
    if MODULES & set(target.describe().kinds):
        fail(f"{SAY} Your module is or contains one of them.")
