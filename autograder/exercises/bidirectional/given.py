"""Sizes, networks and references that tell two directions, several layers and the batch from one another."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from autograder.checking import (
    Case,
    Draw,
    Handle,
    Sizes,
    Submission,
    fail,
    recorded,
    sized,
    strided,
    with_inputs,
)
from autograder.exercises.several import far_apart

STAND_IN = """
class StandIn:
    def __init__(self, made, state, marks):
        self.calls = []
        for part, own in zip(("fwd", "bwd"), marks):
            self.change(part, getattr(made, part), state, own)

    def change(self, part, module, state, marks):
        plain = module.forward

        def forward(*args, **kwargs):
            self.calls.append(part)
            own = dict(module.named_parameters())
            kept = {name: value.data for name, value in own.items()}
            try:
                for name, value in own.items():
                    value.data = state[f"{part}.{name}"].to(value)
                output, final = plain(*args, **kwargs)
                return marked(output, marks), final
            finally:
                for name, value in own.items():
                    value.data = kept[name]

        module.forward = forward


def marked(output, marks):
    if isinstance(output, nn.utils.rnn.PackedSequence):
        return type(output)(output.data * marks.to(output.data), *output[1:])
    return output * marks.to(output)
"""
"""A stand-in that lets `fwd` and `bwd` of a student's module answer with other weights than their own.

The output of each is smaller, unit by unit, by marks (H) of its own: so it shows in what is made of it. The
states are as they are, so it does not matter in how many calls, and from which states, the steps are read.
`calls` lists which of them was called: for messages, since the student's code can write there what it likes.
"""


def _apart(sizes: Sizes) -> Sizes:
    return sizes.but(**{letter: 13 for letter in "BTDH" if getattr(sizes, letter) == 2})


APART = Case(arranged=_apart)
"""The usual case at sizes none of which is 2, the number of directions."""

OF_AN_OUTPUT = (
    sized("with one time step (T = 1)", T=1),
    sized("with two time steps", T=2),
    sized("with one sequence (B = 1)", B=1),
    sized("with one hidden unit per direction", H=1),
    sized("with every size 1", B=1, T=1, H=1),
    sized("with every size 4", B=4, T=4, H=4),
    sized("with as many time steps as numbers in the last dimension", T=6, H=3),
    sized("with a longer sequence", T=23),
    sized("with more of everything", B=(20, 70), T=(40, 130), H=(1, 2)),
    sized("with many hidden units", B=2, T=2, H=(33, 130)),
    strided("with an output that is not contiguous in memory"),
    with_inputs(
        "with numbers from very small to very large", output=lambda draw: far_apart(draw("B T 2H"), 1)
    ),
)
"""Cases of a task whose input is `output`."""

OF_STATES = (
    sized("with one layer (L = 1)", L=1),
    sized("with two layers", L=2),
    sized("with five layers", L=5),
    sized("with one sequence (B = 1)", B=1),
    sized("with one hidden unit per direction", H=1),
    sized("with every size 1", B=1, H=1, L=1),
    sized("with every size 2", B=2, H=2, L=2),
    sized("with as many sequences and hidden units as states", B=6, H=6, L=3),
    sized("with more of everything", B=(20, 70), H=2, L=(9, 13)),
    sized("with many hidden units", B=2, H=(33, 130), L=1),
    strided("with states that are not contiguous in memory"),
    with_inputs("with numbers from very small to very large", h_n=lambda draw: far_apart(draw("2L B H"), 0)),
    with_inputs("with numbers from very small to very large", h_n=lambda draw: far_apart(draw("2L B H"), 1)),
)
"""Cases of a task whose input is `h_n`."""


def reference_lstm(draw: Draw) -> nn.LSTM:
    """A bidirectional, batch-first LSTM of `sizes.L` layers with random weights and biases."""
    sizes = draw.sizes
    return draw.module(nn.LSTM, sizes.D, sizes.H, sizes.L, batch_first=True, bidirectional=True)


def results(lstm: nn.LSTM, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The output, h_n and c_n of torch's own network, without gradients; the output is contiguous."""
    with torch.no_grad():
        output, (h_n, c_n) = lstm(x)
    return output.contiguous(), h_n, c_n


@recorded
def every_direction(lstm: nn.LSTM, x: torch.Tensor) -> list[list[tuple[torch.Tensor, torch.Tensor]]]:
    """The output (B, T, H) and final state (B, H) of each direction, in a list for each layer.

    Each is made by a one-directional `nn.LSTM` that holds that direction's weights, so nothing here
    rests on how torch lays the two directions out.
    """
    layers = []
    with torch.no_grad():
        for layer in range(lstm.num_layers):
            found = []
            for suffix in ("", "_reverse"):
                alone = nn.LSTM(x.shape[2], lstm.hidden_size, batch_first=True, dtype=x.dtype)
                alone.load_state_dict(
                    {name: getattr(lstm, f"{name[:-1]}{layer}{suffix}") for name in alone.state_dict()}
                )
                output, (h_n, _) = alone(x.flip(1) if suffix else x)
                found.append((output.flip(1) if suffix else output, h_n[0]))
            layers.append(found)
            x = torch.cat([output for output, _ in found], dim=2)
    return layers


def of_the_top(lstm: nn.LSTM, x: torch.Tensor) -> torch.Tensor:
    """The forward, then the backward final state of the top layer (B, 2H), each by a network of its own."""
    return torch.cat([h_n for _, h_n in every_direction(lstm, x)[-1]], dim=1)


def bilstm_state(lstm: nn.LSTM) -> dict[str, torch.Tensor]:
    """The weights of a one-layer bidirectional LSTM under the names that a `BiLSTM` gives them."""
    return {
        f"{'bwd' if name.endswith('_reverse') else 'fwd'}.{name.removesuffix('_reverse')}": value.detach()
        for name, value in lstm.named_parameters()
    }


def stand_in(
    submission: Submission, made: Handle, state: Mapping[str, torch.Tensor], marks: torch.Tensor
) -> Handle:
    """Have the two networks of a `BiLSTM` answer with these weights, by marks (2, H); theirs stay."""
    return submission.given("StandIn", made, dict(state), marks, source=STAND_IN, dtype=None)


def drawn_marks(draw: Draw) -> torch.Tensor:
    """Numbers (2, H) from a half to one, by which the outputs of two networks are told from all else."""
    return draw.like((2, draw.sizes.H), spread=3.0).cos() / 4 + 0.75


def is_made_of(answer: Any, alone: Any, marks: torch.Tensor) -> bool:
    """Return whether each number is the one in `alone`: by a mark in the output, by one or none in states.

    By which mark says who gave it, and is a matter of values: units may have changed places.
    """
    by, none = marks.flatten(), torch.ones(1, dtype=marks.dtype)
    pairs = zip((answer[0], *answer[1]), (alone[0], *alone[1]), strict=True)
    return all(
        bool(
            torch.isclose(seen.double()[..., None], whole.double()[..., None] * each, 1e-6, 1e-9)
            .any(-1)
            .all()
        )
        for (seen, whole), each in zip(pairs, (by, *[torch.cat([by, none])] * 2), strict=True)
    )


def expect_both_directions(answer: Any, name: str, dims: str, sizes: Sizes) -> None:
    """Expect the last dimension not to be that of one direction where both are wanted; others pass."""
    wanted = sizes.shape(dims)
    if isinstance(answer, torch.Tensor) and tuple(answer.shape) == (*wanted[:-1], sizes.H):
        fail(
            f"`{name}` has {sizes.H} numbers in its last dimension, as many as one direction has; expected "
            f"{wanted[-1]}. Return both directions side by side, not one of them and not their sum."
        )


def expect_no_slip(answer: Any, slips: Mapping[str, Any]) -> None:
    """Expect the answer to be none of the well-known wrong ones, each named by the words that explain it."""
    for words, wrong in slips.items():
        if _alike(answer, wrong):
            fail(words)


def _alike(answer: Any, wrong: Any) -> bool:
    if isinstance(wrong, torch.Tensor):
        return (
            isinstance(answer, torch.Tensor)
            and answer.shape == wrong.shape
            and not answer.is_complex()
            and torch.allclose(answer.double(), wrong.double(), rtol=1e-6, atol=1e-9)
        )
    return (
        isinstance(answer, (list, tuple))
        and len(answer) == len(wrong)
        and all(_alike(one, other) for one, other in zip(answer, wrong, strict=True))
    )
