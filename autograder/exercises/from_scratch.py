"""Tasks from scratch: torch's own recurrent modules and kernels do not work where they are judged.

Whatever is right there was computed by the student. Not a word of the source decides about points: it may
name torch's modules in annotations, messages and methods that the task does not call.
"""

from __future__ import annotations

from typing import Any

from autograder.checking import CheckFailed, Handle, StudentError, Submission, Without, expect_no_mention

KERNELS = r"(^|::|_)(lstm|gru|rnn)(_|$)"
"""Torch's recurrent kernels by name: aten::lstm, aten::rnn_tanh_cell, aten::_thnn_fused_lstm_cell, …"""

NAMES = (
    r"(RNN|LSTM|GRU)(Base|Cell|CellBase)?|(rnn_tanh|rnn_relu|lstm|gru)(_cell)?"
    r"|_VF|_C|ops|_decomp|decompositions|(one|many)_layer_\w+"
)
"""The names in torch through which they are reached."""

SAY = "This task is from scratch: torch's own recurrent modules and functions must not do the work."

_IN_PYTHON = (
    ("torch/_decomp/decompositions.py", r".*(lstm|gru|rnn).*"),
    ("torch/export/_patches.py", r".*(lstm|gru).*"),
    ("torch/ao/nn/quantizable/modules/rnn.py", r".*"),
    ("torch/ao/quantization/fx/lstm_utils.py", r".*"),
)
"""The code of torch's recurrent networks written in Python. Found in torch 2.13 by looking for gates."""

# Giving a network its weights another place in memory computes nothing of it, and `.to("cuda")` does it.
_WORKING = KERNELS.replace("(_|$)", "(_(?!flatten)|$)")

RECURRENT = Without(operators=_WORKING, code=_IN_PYTHON, say=SAY)
"""The argument of `@without(RECURRENT)`: torch's recurrent modules can be made, but not computed with."""

RECURRENT_MODULES = Without(
    operators=_WORKING,
    code=(
        *_IN_PYTHON,
        ("torch/nn/modules/rnn.py", r"RNN(Cell)?Base\.__init__"),
        ("torch/ao/nn/quantized/dynamic/modules/rnn.py", r"RNN(Cell)?Base\.__init__"),
    ),
    say=SAY,
)
"""The argument of `@without(RECURRENT_MODULES)`, for tasks that are given none: none can be made, either."""


def expect_from_scratch(
    submission: Submission, task: str, target: Handle, arguments: tuple[Any, ...]
) -> None:
    """Expect the call not to reach torch's recurrent modules or kernels.

    That is sure where the task is judged without them (`@without(RECURRENT)`). Elsewhere it is what the
    source says.
    """
    if submission.without is None:
        expect_no_mention(submission, task, NAMES, SAY)
    try:
        target.run(arguments, arguments=False)
    except (StudentError, CheckFailed) as error:
        if isinstance(error, StudentError) and error.type in ("Unavailable", "NotImplementedError"):
            raise
        # Other checks say what else is wrong; nothing was borrowed up to there.
