"""The networks that the tasks make or are given, and the right training."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import nn

from autograder.checking import (
    USUAL,
    Handed,
    Request,
    compare,
    computed_once,
    fail,
    in_words,
    reference,
)
from autograder.exercises.handed import made_here

OUTPUTS = 9
"""Outputs or classes: a size that is none of the drawn ones, nor twice or four times one of them."""

Parameters = Mapping[str, torch.Tensor]
"""Parameters by name."""

FRESH_START = (
    USUAL.named("at the first call"),
    USUAL.named("at the second call").again(),
    USUAL.named("at the third call").again(),
    USUAL.named("in eval()").again().in_eval(),
)
"""Calls of one module, each of which begins anew."""

NETWORK = """
class Network(nn.Module):
    def __init__(self, input_size, hidden_size, output_size, reach=1.0):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size, batch_first=True)
        self.fc = nn.Linear(hidden_size, output_size)
        self.reach = reach

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.reach * self.fc(states.mean(dim=1))
"""
"""A network from (B, T, D) to (B, K), in which every step and the order of the steps count. Its predictions
are `reach` times as far from zero as they would be."""


def defined_by(source: str, name: str, *made_with: Any) -> Handed:
    """Return an input that is a module of the class that a source defines by this name."""
    return Handed(partial(made_here, source, name), *made_with, source=source)


def network(*made_with: Any) -> Handed:
    """Return an input that is the given network."""
    return defined_by(NETWORK, "Network", *made_with)


trained = reference("reference_given:trained")


def network_parameters(name: str, rows: str, layers: int) -> dict[str, str]:
    """The dimensions of the parameters of one of torch's networks, by name, in its order."""
    return {
        f"{name}.{part}_l{layer}": dims
        for layer in range(layers)
        for part, dims in (
            ("weight_ih", f"{rows} {'H' if layer else 'D'}"),
            ("weight_hh", f"{rows} H"),
            ("bias_ih", rows),
            ("bias_hh", rows),
        )
    }


def run_network(parameters: Parameters, name: str, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Run torch's network of this name, `rnn` or `lstm`, from zeros: all its steps, and its final states."""
    weights = [value for own, value in parameters.items() if own.startswith(f"{name}.")]
    layers = len(weights) // 4
    zeros = x.new_zeros(layers, len(x), weights[1].shape[1])
    settings = (weights, True, layers, 0.0, False, False, True)
    if name == "rnn":
        return torch.rnn_tanh(x, zeros, *settings)
    return torch.lstm(x, (zeros, zeros), *settings)


def linear(parameters: Parameters, states: torch.Tensor) -> torch.Tensor:
    """Apply the layer `fc` to states."""
    return nn.functional.linear(states, parameters["fc.weight"], parameters["fc.bias"])


@computed_once
def remembering(parameters: Parameters) -> dict[str, torch.Tensor]:
    """The parameters, those of `rnn` or `lstm` such that a step still shows after more than a hundred others.

    An LSTM's forget gates stay open. The state of an RNN changes its sign at every step, so it neither
    fades nor grows into the ends of tanh.
    """
    kept = dict(parameters)
    for name, value in parameters.items():
        layer, _, own = name.partition(".")
        if layer not in ("rnn", "lstm"):
            continue
        kept[name] = 0.02 * value
        if layer == "lstm" and own.startswith("bias_ih"):
            hidden = len(value) // 4
            kept[name][hidden : 2 * hidden] += 12.0
        if layer == "rnn" and own.startswith("weight_hh"):
            kept[name] -= torch.eye(len(value), dtype=value.dtype)
    return kept


def losses_in(answer: Any, steps: int) -> list[float]:
    """The losses that `fit` returned, one a step, as numbers; one-number tensors pass here."""
    if not isinstance(answer, (list, tuple)):
        why = " Is a `return` missing?" if answer is None else ""
        fail(f"Expected a list with the loss of every step; you returned {in_words(answer)}.{why}")
    values = [
        part.item() if isinstance(part, torch.Tensor) and part.numel() == 1 else part for part in answer
    ]
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            fail(f"Expected a list of numbers, the losses; yours holds {in_words(value)}.")
    if len(values) != steps:
        losses = "one loss" if len(values) == 1 else f"{len(values)} losses"
        fail(f"The list holds {losses} after a call with steps={steps}; expected one per step.")
    return [float(value) if math.isfinite(value) else math.nan for value in values]


UPDATES = (
    "One Adam for the whole call and for all parameters, with `lr` and otherwise torch's default settings; "
    "one update per step, the last step included; gradients cleared before each backward pass; all of `x` in "
    "each step; `backward()` of the mean squared error as it is, not of a sum or a part of it."
)
"""The right training in words."""


def expect_losses(answer: Any, reference: list[float]) -> None:
    """Expect the reference's losses, which has one more: that after the last update."""
    seen = losses_in(answer, len(reference) - 1)
    for step, (mine, true) in enumerate(zip(seen, reference, strict=False)):
        if not near(mine, true):
            before = f" The losses before it are right, so look at the updates: {UPDATES}" if step else ""
            fail(
                f"The loss of step {step} is not the mean squared error between `y` and the prediction for "
                f"all of `x` before that step's update.{before}"
            )


def expect_trained(after: Parameters, right: Parameters) -> None:
    """Expect the right parameters after a training."""
    wrong = [name for name, value in right.items() if compare(after[name], value)]
    if wrong:
        named = ", ".join(f"`{name}`" for name in wrong[:4]) + (" …" if wrong[4:] else "")
        fail(f"{len(wrong)} of {len(right)} parameters do not hold the right values: {named}. {UPDATES}")


def expect_long_training(
    answer: Any, reference: list[float], right: Parameters, after: Request[dict[str, torch.Tensor]]
) -> None:
    """Expect the reference's losses and parameters after many steps, to a hundredth: rounding grows."""
    seen, losses = losses_in(answer, len(reference) - 1), reference[:-1]
    pairs = enumerate(zip(seen, losses, strict=True))
    if wrong := [step for step, (mine, true) in pairs if not _about(mine, true)]:
        fail(
            f"The first {wrong[0]} of {len(losses)} losses are right, the later ones are not. Every step "
            "makes the same update with the same `lr`, however long training goes on and whatever the loss "
            "does."
        )
    held = after.ask()
    if not all(_about(held[name], value) for name, value in right.items()):
        fail(
            f"All {len(losses)} losses are right, but afterwards the model does not hold the parameters of "
            "the last update."
        )


def _about(mine: Any, true: Any) -> bool:
    one, other = (torch.as_tensor(each, dtype=torch.float64) for each in (mine, true))
    least = 1e-3 * float(other.abs().max())
    return one.shape == other.shape and torch.allclose(one, other, rtol=0.01, atol=least)


def near(mine: float, true: float) -> bool:
    one, other = (torch.tensor(value, dtype=torch.float64) for value in (mine, true))
    return not compare(one, other)
