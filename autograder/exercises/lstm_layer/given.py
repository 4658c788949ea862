"""What the tasks are given, a cell that counts its calls, and the references."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from autograder.checking import CheckFailed, Draw, Submission, Target, compare, expect, fail
from autograder.exercises.lstm_cell.given import cell_step

COUNTING = """
def counting_cell(*args, **kwargs):
    cell = nn.LSTMCell(*args, **kwargs)
    cell.shapes = []
    forward = cell.forward

    def counted(input, hx=None):
        cell.shapes.append(tuple(input.shape))
        return forward(input, hx)

    cell.forward = counted
    return cell
"""
"""An nn.LSTMCell and nothing else, by its type too, that notes the shape of the input of each call."""


def reference_cell(draw: Draw, dtype: torch.dtype = torch.float64) -> nn.LSTMCell:
    """A cell with random weights and biases."""
    return draw.module(nn.LSTMCell, draw.sizes.D, draw.sizes.H, dtype=dtype)


def hand_over(submission: Submission, cell: nn.LSTMCell, dtype: torch.dtype = torch.float64) -> Target:
    """The same cell on the student's side, counting its calls."""
    return submission.given(
        "counting_cell",
        cell.input_size,
        cell.hidden_size,
        source=COUNTING,
        state=cell.state_dict(),
        dtype=dtype,
    )


def over_time(cell: nn.LSTMCell, x, state=None):
    """What torch's own LSTM makes of the sequence with the cell's weights: (output, (h_n, c_n))."""
    h, c = state if state is not None else zeros(x, cell.hidden_size)
    weights = [cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh]
    output, h_n, c_n = torch.lstm(x, (h[None], c[None]), weights, True, 1, 0.0, False, False, True)
    return output, (h_n[0], c_n[0])


def every_state(parameters: Mapping[str, torch.Tensor], x, state=None):
    """Both states at every step, by torch's own step with per-gate parameters: (hidden, cells)."""
    state = state if state is not None else zeros(x, parameters["b_i"].shape[0])
    states = list(
        itertools.accumulate(x.unbind(1), lambda s, now: cell_step(parameters, now, *s), initial=state)
    )
    hidden, cells = zip(*states[1:], strict=True)
    return torch.stack(hidden, dim=1), torch.stack(cells, dim=1)


def zeros(x: torch.Tensor, hidden_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    return x.new_zeros(x.shape[0], hidden_size), x.new_zeros(x.shape[0], hidden_size)


def expect_states(answer: Any, reference: Any, **form: Any) -> None:
    """As `expect` where the shapes are right; points at what is carried if only step 0 is right."""
    try:
        expect(answer, reference, **form)
    except CheckFailed as error:
        seen, wanted = answer[0], reference[0]
        if compare(seen, wanted) and not compare(seen[:, 0], wanted[:, 0]):
            hint = "Step 0 is right: does each later step get both states, h and c, of the step before?"
            raise CheckFailed(f"{error} {hint}") from None
        raise


def expect_weights_untouched(given: Target, cell: nn.LSTMCell) -> None:
    """The cell that was handed over still has its weights."""
    after = given.state_dict()
    for name, value in cell.state_dict().items():
        if not torch.equal(after[name], value):
            fail(f"The call changed the cell's own weights: `{name}`. Call the cell, do not write into it.")


def expect_starting_weights(start: Mapping[str, torch.Tensor]) -> None:
    """Each gate's matrices are Xavier-uniform by themselves, no two alike, and the biases are zero."""
    for name, value in start.items():
        if name.startswith("b_"):
            if not torch.equal(value, torch.zeros_like(value)):
                fail(f"The bias `{name}` does not start at zero.")
            continue
        bound = math.sqrt(6 / (value.shape[0] + value.shape[1]))
        largest, spread = value.abs().max().item(), value.double().std().item()
        if not (
            0.95 * bound < largest <= bound * 1.0001 and abs(spread - bound / math.sqrt(3)) < 0.08 * bound
        ):
            fail(
                f"`{name}` does not start Xavier-uniform for its own shape {tuple(value.shape)}: its "
                f"numbers reach {largest:.3f} with a spread of {spread:.3f}. See "
                "`nn.init.xavier_uniform_`, applied to each gate's matrix and not to a stack of four."
            )
    for one, other in itertools.combinations([name for name in start if name.startswith("W_")], 2):
        if torch.equal(start[one], start[other]):
            fail(f"`{one}` and `{other}` start with the same numbers: draw each gate's weights anew.")
