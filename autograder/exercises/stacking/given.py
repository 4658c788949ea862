"""The reference stack in the course's per-gate parameters, and a way to see where a stack drops numbers."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch
from torch import nn

from autograder.checking import (
    Draw,
    Handle,
    Sizes,
    Submission,
    computed_once,
    expect_registered,
    expect_shapes,
    fail,
    make_module,
    recorded,
)
from autograder.exercises.per_gate import (
    GATES,
    LARGE,
    NAMES,
    SMALL,
    expect_small_start,
    not_xavier,
    starting_sizes,
)

STACK = {"names": ("output", "h_n", "c_n"), "dims": ("B T H", "L B H", "L B H")}
HEADED = {"names": ("logits", "h_n", "c_n"), "dims": ("B T D", "L B H", "L B H")}
"""The form of what `StackedLSTM` and `MultiLayerLSTM` return, for `expect`."""

RATE = 0.3
"""The dropout of the checks: `p` and `1 - p` are told apart."""


@cache
def stack_shapes(sizes: Sizes, *, proj: bool = False) -> Mapping[str, tuple[str, tuple[int, ...]]]:
    """The shape of each parameter of a stack, in words and in numbers."""
    hidden = ("(hidden_size, hidden_size)", sizes.shape("H H"))
    shapes = {}
    for layer in range(sizes.L):
        below = hidden if layer else ("(input_size, hidden_size)", sizes.shape("D H"))
        for name in NAMES:
            kind = name[:-1]
            shapes[f"layers.{layer}.{name}"] = (
                below if kind == "W_x" else hidden if kind == "W_h" else ("(hidden_size,)", sizes.shape("H"))
            )
    if proj:
        shapes["proj.weight"] = ("(input_size, hidden_size)", sizes.shape("D H"))
        shapes["proj.bias"] = ("(input_size,)", sizes.shape("D"))
    return shapes


def stack_parameters(draw: Draw, *, proj: bool = False) -> dict[str, torch.Tensor]:
    """Random parameters of a stack, no bias zero, by name."""
    shapes = stack_shapes(draw.sizes, proj=proj)
    return draw.named({name: shape for name, (_, shape) in shapes.items()}, spread=0.5)


def inputs(draw: Draw, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
    """x and a state that is not zero and not the same in any two layers."""
    return draw("B T D", dtype=dtype), (draw("L B H", dtype=dtype), draw("L B H", dtype=dtype))


@computed_once
def zero_state(sizes: Sizes) -> tuple[torch.Tensor, torch.Tensor]:
    zeros = torch.zeros(sizes.shape("L B H"), dtype=torch.float64)
    return zeros, zeros


@recorded
@computed_once
def run_stack(parameters: Mapping[str, torch.Tensor], x, state):
    """The result of torch's own LSTM with the parameters: (output, (h_n, c_n))."""
    layers = len(state[0])
    flat = []
    for layer in range(layers):
        gates = {name: parameters[f"layers.{layer}.{name}"] for name in NAMES}
        flat += [torch.cat([gates[kind + gate] for gate in GATES], dim=1).T for kind in ("W_x", "W_h")]
        bias = torch.cat([gates[f"b_{gate}"] for gate in GATES])
        flat += [bias, torch.zeros_like(bias)]
    output, h_n, c_n = torch.lstm(x, tuple(state), flat, True, layers, 0.0, False, False, True)
    return output, (h_n, c_n)


@recorded
@computed_once
def run_bottom(parameters: Mapping[str, torch.Tensor], x, state) -> torch.Tensor:
    """The output of the first layer alone."""
    return run_stack(parameters, x, tuple(part[:1] for part in state))[0]


@recorded
@computed_once
def run_headed(parameters: Mapping[str, torch.Tensor], x, state):
    """The result of `run_stack` with the projection on top: (logits, (h_n, c_n))."""
    output, last = run_stack(parameters, x, state)
    return nn.functional.linear(output, parameters["proj.weight"], parameters["proj.bias"]), last


def new_stack(
    submission: Submission, kind: str, sizes: Sizes, *, dropout: float | None = None, dtype=torch.float64
) -> Handle:
    """The student's module as a user would make it for that dtype."""
    options = {} if dropout is None else {"dropout": dropout}
    told = f"`{kind}(input_size, hidden_size, num_layers)`"
    module = make_module(getattr(submission, kind), sizes.D, sizes.H, sizes.L, **options, told=told)
    module.to(dtype)
    return module


def filled_stack(
    submission: Submission,
    kind: str,
    sizes: Sizes,
    parameters: Mapping[str, torch.Tensor],
    *,
    dropout: float | None = None,
) -> Handle:
    """The student's module holding the given parameters."""
    module = new_stack(submission, kind, sizes, dropout=dropout)
    module.load_state_dict(parameters)
    return module


def expect_parameters(module: Handle, kind: str, sizes: Sizes, *, proj: bool = False) -> None:
    """Expect a module that registers its layers' parameters (and `proj`'s) by their names, and no others."""
    seen = module.registered()
    layers = [any(n.startswith(f"layers.{layer}.") for n in seen.shapes) for layer in range(sizes.L + 1)]
    if not any(layers):
        fail(
            f"{kind} registers no layer: `state_dict()` holds no name that begins with `layers.0.`, and an "
            "optimizer would not train it. Make the layers once, in `__init__`, and keep them in an "
            "`nn.ModuleList` called `layers`; a Python list is invisible to PyTorch."
        )
    if not all(layers[:-1]):
        fail(
            f"{kind} with num_layers={sizes.L} registers nothing under `layers.{layers.index(False)}`. Each "
            "layer is an `LSTMLayer` of its own: one that stands in the list several times counts once."
        )
    if layers[-1]:
        fail(f"{kind} with num_layers={sizes.L} has a layer too many: there is a `layers.{sizes.L}`.")
    if proj and not any(name.startswith("proj.") for name in seen.shapes):
        fail(f"{kind} registers nothing called `proj`: the linear layer on top goes by that name.")
    expect_registered(seen, stack_shapes(sizes, proj=proj), kind)


def expect_xavier_layers(kind: str, submission: Submission, draw: Draw) -> dict[str, torch.Tensor]:
    """Expect every matrix to start Xavier-uniform and the layers' biases at zero; return large matrices."""
    starts = []
    for span in (LARGE, SMALL):
        input_size, hidden_size = starting_sizes(draw, span)
        starts.append(new_stack(submission, kind, draw.sizes.but(D=input_size, H=hidden_size)).parameters())
    if starts[0].get("proj.bias", torch.zeros(1)).any():
        fail("The bias of `proj` does not start at zero. What does `nn.Linear` put there?")
    start, small = (
        {name: v for name, v in each.items() if ".W_" in name or name == "proj.weight"} for each in starts
    )
    for name, value in start.items():
        if said := not_xavier([value]):
            fail(
                f"`{name}`, of shape {tuple(value.shape)}, does not start Xavier-uniform: {said}. See "
                "`nn.init.xavier_uniform_`."
            )
    expect_small_start(small)
    expect_zero_biases(starts[0])
    return start


def expect_zero_biases(start: Mapping[str, torch.Tensor]) -> None:
    """Expect the layers' biases to start at zero, as the given layer's do."""
    for name, value in start.items():
        if ".b_" in name and value.any():
            fail(f"`{name}` does not start at zero. The given `LSTMLayer` starts all its biases there.")


# Where a stack drops numbers.
#
# Layers above the first get weights with which they have no memory and answer each number of their input
# with one number, h = tanh(tanh(SLOPE * x + SHIFT)), from which x can be computed back. So what every layer
# was given can be read from what the stack returns, number by number, and with it every dropped number.

SLOPE, SHIFT, WIDE_OPEN = 0.5, 0.3, 40.0
DEVIATIONS = 6.5
"""The standard deviations by which the share of dropped numbers may miss `p`: it misses by more once in
10 ** 10."""
ALIKE = 0.85
"""The share of equal choices from which on neighbours are not drawn independently. Chance gives 0.68 at most,
and for 720 pairs and more that is ten standard deviations away."""


def seen_through_sizes(draw: Draw) -> Sizes:
    """Draw sizes for reading dropout: 1,440 numbers and more."""
    width = draw.size(12, 18)
    return draw.sizes.but(B=draw.size(60, 90), T=draw.size(2, 3), D=width, H=width)


def few_numbers(sizes: Sizes) -> tuple[Sizes, int]:
    """Sizes for a look at dropout in batches as small as any, and how many calls tell enough together."""
    few = sizes.but(D=sizes.H, L=2)
    return few, min(24, math.ceil(400 / math.prod(few.shape("B T H"))))


def drawn_rate(draw: Draw) -> float:
    """Draw a rate of dropout for which `p` and `1 - p` are told apart."""
    return draw.size(20, 40) / 100


def see_through(draw: Draw, *, proj: bool = False) -> dict[str, torch.Tensor]:
    """Parameters of a stack whose first layer is random and whose others can be read backwards."""
    return dict(_seen_through(stack_parameters(draw, proj=proj), draw.sizes, proj=proj))


@computed_once
def _seen_through(
    drawn: Mapping[str, torch.Tensor], sizes: Sizes, *, proj: bool
) -> Mapping[str, torch.Tensor]:
    hidden, parameters = sizes.H, dict(drawn)
    for layer in range(1, sizes.L):
        for gate, bias in zip(GATES, (WIDE_OPEN, -WIDE_OPEN, SHIFT, WIDE_OPEN), strict=True):
            slope = SLOPE if gate == "g" else 0.0
            parameters[f"layers.{layer}.W_x{gate}"] = slope * torch.eye(hidden, dtype=torch.float64)
            parameters[f"layers.{layer}.W_h{gate}"] = torch.zeros(hidden, hidden, dtype=torch.float64)
            parameters[f"layers.{layer}.b_{gate}"] = torch.full((hidden,), bias, dtype=torch.float64)
    if proj:
        parameters["proj.weight"] = torch.eye(sizes.D, hidden, dtype=torch.float64)
    return parameters


def shaped(answer: Any, form: Mapping[str, Any], sizes: Sizes) -> Any:
    """The answer, `(output, (h_n, c_n))`, once it has the shapes of its `form`."""
    output, *states = form["dims"]
    return expect_shapes(answer, (output, tuple(states)), names=form["names"], sizes=sizes)


def layer_input(hidden: torch.Tensor) -> torch.Tensor:
    """The input of a see-through layer, computed back from its answer; nan where no input gives that."""
    return (torch.atanh(torch.atanh(hidden.double())) - SHIFT) / SLOPE


def expect_dropped(
    given: torch.Tensor, whole: torch.Tensor, rate: float, place: str, tell: str = ""
) -> torch.Tensor:
    """Expect `given` to be `whole` after dropout of `rate`; return a mask of the numbers kept.

    `place` says in words where that is, as in `"between layer 0 and layer 1"`.
    """
    kept = ~(given.abs() < 0.5 * whole.abs())
    if not torch.isfinite(given).all():
        fail(
            f"In training with dropout={rate}, the numbers {place} are larger than dropout makes them, which "
            f"scales by 1 / (1 - p). Is it applied once there, and nowhere else?{tell}"
        )
    if kept.all() and torch.allclose(given, whole, rtol=1e-3, atol=1e-6):
        fail(f"In training with dropout={rate}, no number {place} is dropped.{tell}")
    seen, right = given[kept], whole[kept]
    if not torch.allclose(seen * (1 - rate), right, rtol=1e-3, atol=1e-6):
        unscaled = torch.allclose(seen, right, rtol=1e-3, atol=1e-6)
        what = "are not scaled up" if unscaled else "are neither zero nor scaled by 1 / (1 - p)"
        fail(
            f"In training with dropout={rate}, the numbers {place} that are not dropped {what}. "
            f"Dropout divides what it keeps by 1 - p, and changes nothing else.{tell}"
        )
    share = 1 - kept.double().mean().item()
    if abs(share - rate) > DEVIATIONS * math.sqrt(rate * (1 - rate) / kept.numel()):
        fail(f"In training with dropout={rate}, {share:.0%} of the numbers {place} are dropped.{tell}")
    return kept


def expect_independent(kept: torch.Tensor, place: str) -> None:
    """Expect a mask of numbers kept (B, T, H) to be drawn anew for every sequence, time step and unit."""
    for axis, words in enumerate(("sequence of the batch", "time step", "unit")):
        if alike(kept.narrow(axis, 1, kept.shape[axis] - 1), kept.narrow(axis, 0, kept.shape[axis] - 1)):
            fail(
                f"In training, dropout {place} makes the same choice for every {words}. Each number of "
                "(batch, time, hidden) is dropped or kept independently of all others."
            )


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two patterns agree in far more places than chance would have it."""
    return (one == other).double().mean().item() > ALIKE


def expect_same_state(
    seen: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor], names: Sequence[str]
) -> None:
    """Expect layer 0's final states to be those without dropout: nothing below it or in it is dropped."""
    for name, one, other in zip(names, seen, wanted, strict=True):
        if not torch.allclose(one[0].double(), other[0], rtol=1e-4, atol=1e-6):
            fail(
                f"In training with dropout, `{name}[0]` is not the final state of layer 0. Dropout acts on "
                "what a layer hands up to the next one: not on `x`, and not on the states that are returned."
            )
