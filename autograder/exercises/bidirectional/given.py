"""Sizes that tell directions, layers and the batch apart, and a stand-in for a network's two halves."""

from collections.abc import Mapping
from typing import Any

import torch

from autograder.checking import (
    Case,
    Handle,
    Sizes,
    Submission,
    sized,
    strided,
    with_inputs,
)
from autograder.exercises.handed import made_here
from autograder.exercises.several import far_apart

STAND_IN = """
class StandIn:
    def __init__(self, made, state, waves, ends):
        self.calls = []
        for part, wave in zip(("fwd", "bwd"), waves):
            self.change(part, getattr(made, part), state, wave, ends)

    def change(self, part, module, state, wave, ends):
        own_forward, below = module.forward, False

        def forward(*args, plain=own_forward, **kwargs):
            nonlocal below
            self.calls.append(part)
            own = dict(module.named_parameters())
            kept = {name: value.data for name, value in own.items()}
            outer, below = below, True
            try:
                for name, value in own.items():
                    value.data = state[f"{part}.{name}"].to(value)
                output, final = plain(*args, **kwargs)
                if ends:
                    final = shrunk(final[0], wave), *final[1:]
                return shrunk(output, wave), final
            finally:
                below = outer
                for name, value in own.items():
                    value.data = kept[name]

        class Between(nn.LSTM):
            def forward(this, *args, **kwargs):
                of_torch = super().forward
                return of_torch(*args, **kwargs) if below else forward(*args, plain=of_torch, **kwargs)

        module.forward = forward
        if isinstance(module, nn.LSTM) and type(module) is not nn.LSTM:
            try:
                module.__class__ = type(type(module).__name__, (type(module), Between), {})
            except Exception:  # a class that cannot be derived from: then its `forward` has to be called
                pass


def shrunk(values, wave):
    if isinstance(values, nn.utils.rnn.PackedSequence):
        return type(values)(shrunk(values.data, wave), *values[1:])
    return values * ((wave.to(values) + 9 * values).cos() / 4 + 0.75)
"""
"""A stand-in that lets `fwd` and `bwd` of a student's module answer with other weights than their own.

The numbers in the output of each are smaller, by a wave (H) of its own and the number itself: so it shows in
what is made of them, and what one is divided by says nothing of another. The states are as they are, so it
does not matter in how many calls, and from which states, the steps are read; with `ends` h_n is as small as
the output, for code that asserts that the output ends in it.
A class of the student's own may read by `super().forward`, past the `forward` of the instance: behind such a
class another one is put, which answers so, too.
`calls` lists which of them was called: for messages, since the student's code can write there what it likes.
"""


def _apart(sizes: Sizes) -> Sizes:
    return sizes.but(T=7) if sizes.T == 2 else sizes


APART = Case(arranged=_apart)
"""The usual case with more than two steps: two is the number of directions."""

OF_AN_OUTPUT = (
    sized("with one time step (T = 1)", T=1),
    sized("with two time steps", T=2),
    sized("with one sequence (B = 1)", B=1),
    sized("with one hidden unit per direction", H=1),
    sized("with every size 1", B=1, T=1, H=1),
    sized("with every size 4", B=4, T=4, H=4),
    sized("with as many time steps as numbers in the last dimension", T=6, H=3),
    sized("with a longer sequence", T=23, H=2),
    sized("with more of everything", B=(20, 40), T=(40, 70), H=(1, 2)),
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


def stand_in(
    submission: Submission,
    made: Handle,
    state: Mapping[str, torch.Tensor],
    waves: torch.Tensor,
    *,
    ends: bool,
) -> Handle:
    """Have the two networks of a `BiLSTM` answer with these weights, by waves (2, H); theirs stay."""
    return submission.given("StandIn", made, dict(state), waves, ends, source=STAND_IN, dtype=None)


def is_made_of(answer: Any, alone: Any, waves: torch.Tensor) -> bool:
    """Return whether each number is that in `alone`, shrunk by a wave, or in states perhaps as it is.

    By which wave says who gave it, and is a matter of values: units may have changed places.
    """
    pairs = zip((answer[0], *answer[1]), (alone[0], *alone[1]), strict=True)
    for place, (seen, whole) in enumerate(pairs):
        values = whole.double()[..., None]
        given = made_here(STAND_IN, "shrunk", values, waves.flatten())
        if place:
            given = torch.cat([given, values], dim=-1)
        if not torch.isclose(seen.double()[..., None], given, 1e-6, 1e-9).any(-1).all():
            return False
    return True
