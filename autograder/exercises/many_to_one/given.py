"""The networks that the tasks make or are given, the right training, and the words for slips."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import nn

from autograder.checking import (
    USUAL,
    Handed,
    Handle,
    Request,
    Sizes,
    compare,
    computed_once,
    expect_registered,
    fail,
    reference,
)
from autograder.checking.expectations.comparing import recognized
from autograder.checking.tolerance import are_rounded
from autograder.exercises.handed import made_here

OUTPUTS = 9
"""Outputs or classes: a size that is none of the drawn ones, nor twice or four times one of them."""

_LAYERS = ("RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell", "Linear", "Embedding")
"""Kinds of layers that are taken for each other; a class of the student's own has another name."""

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


def expect_parts(
    model: Handle, kind: str, expected: Mapping[str, tuple[str, tuple[int, ...]]], **layers: str
) -> None:
    """Expect a model with these layers under these names, as deep as asked for, with these parameters.

    `layers` are the names of torch's classes: `fc="Linear"`.
    """
    seen = model.registered()
    for name, kind_asked in layers.items():
        if name not in seen.modules:
            fail(
                f"{kind} has no layer named `{name}`: assign an `nn.{kind_asked}` to "
                f"`self.{name}`. In a Python list, or under another name, it is not found."
            )
        own = {part: shape for part, (_, shape) in expected.items() if part.startswith(f"{name}.")}
        kind_seen = seen.modules[name]
        fits = all(seen.shapes.get(part) == shape for part, shape in own.items())
        if not fits and kind_seen != kind_asked and kind_seen in _LAYERS:
            fail(f"`{name}` is an `nn.{kind_seen}`; expected an `nn.{kind_asked}`.")
        missing = [part for part in own if part not in seen.shapes]
        if missing and all(part[-1] in "123456789" for part in missing):
            fail(f"`{name}` has fewer layers than it should: do you pass `num_layers` on to it?")
        if missing:
            told = " and ".join(f"`{part.removeprefix(f'{name}.')}`" for part in missing[:2])
            fail(f"`{name}` has no parameter {told}: is it an `nn.{kind_asked}` itself, created with biases?")
    expect_registered(model, expected, kind)


def losses_in(answer: Any, steps: int) -> list[float]:
    """The losses that `fit` returned, one a step, as numbers; one-number tensors pass here."""
    if answer is None:
        fail("Expected the list of losses; you returned nothing (`None`). Is a `return` missing?")
    if not isinstance(answer, (list, tuple)):
        kind = "a tensor" if isinstance(answer, torch.Tensor) else f"a {type(answer).__name__}"
        if isinstance(answer, Handle):
            kind = f"an object of type {answer.type}"
        fail(f"Expected a list with the loss of every step; you returned {kind}.")
    values = [
        part.item() if isinstance(part, torch.Tensor) and part.numel() == 1 else part for part in answer
    ]
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            kind = getattr(value, "what", f"a {type(value).__name__}")
            if isinstance(value, Handle):
                kind = f"an object of type {value.type}"
            fail(f"Expected a list of numbers, the losses; yours holds {kind}.")
    if len(values) != steps:
        losses = "one loss" if len(values) == 1 else f"{len(values)} losses"
        fail(f"The list holds {losses} after a call with steps={steps}; expected one per step.")
    return [float(value) if math.isfinite(value) else math.nan for value in values]


def expect_losses(
    answer: Any,
    reference: list[float],
    right: Parameters,
    after: Request[dict[str, torch.Tensor]],
    model: nn.Module,
    sizes: Sizes,
) -> None:
    """Expect the reference's losses; its last one, after the last update, only serves to find a shift.

    `model` has the parameters from before the training, and `right` are those to which it leads. Where the
    student's model has these `after` it, the fault is in what is noted down.
    """
    seen, losses = losses_in(answer, len(reference) - 1), reference[:-1]
    wrong = [step for step, (mine, true) in enumerate(zip(seen, losses, strict=True)) if not near(mine, true)]
    if not wrong:
        return
    if all(near(mine, true) for mine, true in zip(seen, reference[1:], strict=True)):
        fail(
            "Each loss is taken after its step's update; expected the loss before it, which led to the "
            "update."
        )
    held = after.ask()
    if not _wrong(held, right):
        fail(
            f"The model is trained correctly, but from step {wrong[0]} on the list does not hold the "
            "losses of that training. What happens to a loss before you store it?"
        )
    if wrong[0] > 0:
        _expect_all_moved(model, held, right)
        fail(
            f"The loss of step 0 is right; from step {wrong[0]} on, the losses are not those of Adam. Look "
            "at the update: one optimizer for the whole call and for all parameters, torch's default "
            "settings except for `lr`, which is the same in every step, gradients cleared before each "
            "backward pass, all of `x` in each step, and `backward()` of the mean squared error as it is."
        )
    known = recognized(_number(seen[0]), _number(losses[0]), "", sizes)
    fail(
        "Even the loss of step 0, before any update, is not the mean squared error between the model's "
        f"prediction for all of `x` and `y`. {f'{known} ' if known else ''}Is it the mean over all numbers, "
        "do both have the same shape, and are `x` and the model as they were given?"
    )


def expect_trained(model: nn.Module, after: Parameters, right: Parameters) -> None:
    """Expect the right parameters after a training; the model has those from before."""
    before = model.state_dict()
    if all(torch.equal(after[name], value) for name, value in before.items()):
        fail(
            "The call did not change the model's parameters. Does the optimizer have this model's "
            "parameters, and is `optimizer.step()` called after `backward()`?"
        )
    wrong = _wrong(after, right)
    if wrong and all(are_rounded(after[name], right[name]) for name in wrong):
        fail(
            f"{len(wrong)} of {len(before)} parameters are a little off. Is `backward()` "
            "called on a multiple of the loss, such as a sum? Adam hides such a factor, but not quite. Or is "
            "something computed in a coarser dtype on the way?"
        )
    if wrong:
        _expect_all_moved(model, after, right)
        fail(
            f"{len(wrong)} of {len(before)} parameters do not hold the right "
            "values. Check five things: one Adam for the whole call and for all parameters, with `lr` and "
            "otherwise torch's default settings; one update per step, including the last step; gradients "
            "cleared before each backward pass; all of `x` in each step; `backward()` of the mean squared "
            "error as it is, not of a sum or a part of it."
        )


def _expect_all_moved(model: nn.Module, after: Parameters, right: Parameters) -> None:
    """Expect that a training which moved some of a model's parameters moved all that the right one moves."""
    before = model.state_dict()
    moved = [name for name, value in before.items() if not torch.equal(after[name], value)]
    kept = [name for name in right if name not in moved and not torch.equal(right[name], before[name])]
    if moved and kept:
        told = ", ".join(f"`{name}`" for name in kept[:4]) + (
            f" and {len(kept) - 4} more" if kept[4:] else ""
        )
        fail(
            f"Of the model's parameters the training has changed some, but not {told}. Does the optimizer "
            "have all of `model.parameters()`, and does the loss depend on all of them?"
        )


def expect_long_training(
    answer: Any, reference: list[float], right: Parameters, after: Request[dict[str, torch.Tensor]]
) -> None:
    """Expect the reference's losses and parameters after many steps, to a hundredth: rounding grows."""
    seen, losses = losses_in(answer, len(reference) - 1), reference[:-1]
    pairs = enumerate(zip(seen, losses, strict=True))
    wrong = [step for step, (mine, true) in pairs if not _about(mine, true)]
    if wrong and not wrong[0]:
        fail("The first loss, before any update, is not the mean squared error.")
    if wrong:
        fail(
            f"The first {wrong[0]} of {len(losses)} losses are right, the later ones are not. Every step "
            "makes the same update with the same `lr`, however long training goes on and whatever the loss "
            "does."
        )
    held = after.ask()
    if not all(_about(held[name], value) for name, value in right.items()):
        fail(
            f"All {len(losses)} losses are right, but afterwards the model does not hold the parameters of "
            "the last update. Do you put other parameters back, such as those of an earlier step?"
        )


def _wrong(after: Parameters, right: Parameters) -> list[str]:
    """The names of the parameters that are not the right ones."""
    return [name for name, value in right.items() if compare(after[name], value)]


def _about(mine: Any, true: Any) -> bool:
    one, other = (torch.as_tensor(each, dtype=torch.float64) for each in (mine, true))
    least = 1e-3 * float(other.abs().max())
    return one.shape == other.shape and torch.allclose(one, other, rtol=0.01, atol=least)


def near(mine: float, true: float) -> bool:
    return not compare(_number(mine), _number(true))


def _number(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)
