"""The reference stack in the course's per-gate parameters, and a way to see where a stack drops numbers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from autograder.checking import (
    USUAL,
    Draw,
    ModuleSpec,
    Sizes,
    Submission,
    computed_once,
    expect_registered,
    expect_shapes,
    fail,
    reference,
)
from autograder.exercises.per_gate import (
    DIMS,
    GATES,
    LARGE,
    SMALL,
    expect_small_start,
    not_xavier,
    starting_sizes,
)

RATE = 0.3
"""The dropout of the checks: `p` and `1 - p` are told apart."""


def stack_dims(sizes: Sizes) -> dict[str, str]:
    """Return the dimensions of each parameter of a stack, by name."""
    below = {name: dims.replace("D", "H") for name, dims in DIMS.items()}
    return {
        f"layers.{layer}.{name}": dims
        for layer in range(sizes.L)
        for name, dims in (below if layer else DIMS).items()
    }


def headed_dims(sizes: Sizes) -> dict[str, str]:
    """Return those of a stack with a projection on top."""
    return {**stack_dims(sizes), "proj.weight": "D H", "proj.bias": "D"}


run_stack = reference("reference_given:run_stack")


run_bottom = reference("reference_given:run_bottom")


run_headed = reference("reference_given:run_headed")


def expect_parameters(task: ModuleSpec, submission: Submission, sizes: Sizes) -> None:
    """Expect a module that registers its layers' parameters (and `proj`'s) by their names, and no others."""
    kind, shapes = f"`{task.task}`", task.shapes(sizes)
    seen = task.make(submission, sizes).registered()
    layers = [any(n.startswith(f"layers.{layer}.") for n in seen.shapes) for layer in range(sizes.L + 1)]
    if not any(layers):
        ends = {name.rpartition(".")[2] for name in shapes if name.startswith("layers.")}
        for name in seen.shapes:
            if (end := name.rpartition(".")[2]) in ends:
                fail(
                    f"{kind} registers `{name}` where `layers.0.{end}` should be. Keep the layers in an "
                    "`nn.ModuleList` called `layers`, and under that name alone."
                )
        fail(
            f"{kind} has no registered layer: no name in its `state_dict()` begins with `layers.0.`, so an "
            "optimizer would not train any. Create the layers once, in `__init__`, and keep them in an "
            "`nn.ModuleList` called `layers`; a Python list is invisible to PyTorch."
        )
    if not all(layers[:-1]):
        fail(
            f"{kind} with num_layers={sizes.L} has no parameters of its own under "
            f"`layers.{layers.index(False)}`. Each layer must be a separate `LSTMLayer`: one that is in "
            "the list several times counts once."
        )
    if layers[-1]:
        fail(f"{kind} with num_layers={sizes.L} has one layer too many: there is a `layers.{sizes.L}`.")
    if "proj.bias" in shapes and not any(name.startswith("proj.") for name in seen.shapes):
        fail(f"{kind} has no layer named `proj`: that must be the name of the linear layer on top.")
    expect_registered(seen, shapes, kind)


def expect_xavier_layers(task: ModuleSpec, submission: Submission, draw: Draw) -> dict[str, torch.Tensor]:
    """Expect every matrix to start Xavier-uniform and the layers' biases at zero; return large matrices."""
    starts = []
    for span in (LARGE, SMALL):
        input_size, hidden_size = starting_sizes(draw, span)
        starts.append(task.make(submission, draw.sizes.but(D=input_size, H=hidden_size)).parameters())
    if starts[0].get("proj.bias", torch.zeros(1)).any():
        fail("The bias of `proj` does not start at zero. What does `nn.Linear` put there?")
    start, small = (
        {name: v for name, v in each.items() if ".W_" in name or name == "proj.weight"} for each in starts
    )
    for name, value in start.items():
        if said := not_xavier([value]):
            bound = math.sqrt(6 / sum(value.shape))
            fail(
                f"`{name}`, of shape {tuple(value.shape)}, does not start Xavier-uniform: {said}. They "
                f"should go up to {bound:.3f}, as `nn.init.xavier_uniform_` draws them without a `gain`."
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
OWN_DROPOUT = " Each pair of layers has its own dropout."
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


@computed_once
def see_through(drawn: Mapping[str, torch.Tensor], sizes: Sizes) -> Mapping[str, torch.Tensor]:
    """Return parameters of a stack whose first layer is as drawn and whose others can be read backwards."""
    hidden, parameters = sizes.H, dict(drawn)
    for layer in range(1, sizes.L):
        for gate, bias in zip(GATES, (WIDE_OPEN, -WIDE_OPEN, SHIFT, WIDE_OPEN), strict=True):
            slope = SLOPE if gate == "g" else 0.0
            parameters[f"layers.{layer}.W_x{gate}"] = slope * torch.eye(hidden, dtype=torch.float64)
            parameters[f"layers.{layer}.W_h{gate}"] = torch.zeros(hidden, hidden, dtype=torch.float64)
            parameters[f"layers.{layer}.b_{gate}"] = torch.full((hidden,), bias, dtype=torch.float64)
    if "proj.weight" in drawn:
        parameters["proj.weight"] = torch.eye(sizes.D, hidden, dtype=torch.float64)
    return parameters


def seen_through(task: ModuleSpec, submission: Submission, draw: Draw, rate: float):
    """Prepare a call, in training, of a stack with such parameters and dropout of this rate."""
    call = task.prepare(submission, USUAL.with_options(dropout=rate), draw)
    call.parameters = see_through(call.parameters, call.sizes)
    call.target.load_state_dict(call.parameters)
    call.target.train()
    return call


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
            f"In training with dropout={rate}, the numbers {place} are too large: dropout scales by no "
            f"more than 1 / (1 - p). Is it applied once there, and nowhere else?{tell}"
        )
    if kept.all() and torch.allclose(given, whole, rtol=1e-3, atol=1e-6):
        fail(f"In training with dropout={rate}, no number {place} is dropped.{tell}")
    if given.dim() == 3:
        expect_everywhere(given, whole, rate, place, tell)
    seen, right = given[kept], whole[kept]
    if not torch.allclose(seen * (1 - rate), right, rtol=1e-3, atol=1e-6):
        if torch.allclose(seen, right, rtol=1e-3, atol=1e-6):
            what = "are not scaled up"
        else:
            what = _scaled_by(seen, right) or "are not all scaled by 1 / (1 - p)"
        dropped = 1 - kept.double().mean().item()
        fail(
            f"In training with dropout={rate}, {dropped:.0%} of the numbers {place} are dropped, and the "
            f"others {what}. Dropout divides what it keeps by 1 - p, and changes nothing else.{tell}"
        )
    share = 1 - kept.double().mean().item()
    if abs(share - rate) > DEVIATIONS * math.sqrt(rate * (1 - rate) / kept.numel()):
        if kept.dim() == 3:  # where whole rows are dropped, the share is that of a few rows
            expect_independent(kept, place, exactly=not 0.2 < share < 0.8)
        fail(
            f"In training with dropout={rate}, {share:.0%} of the numbers {place} are dropped, and not "
            f"{rate:.0%}.{tell}"
        )
    return kept


def expect_everywhere(given: torch.Tensor, whole: torch.Tensor, rate: float, place: str, tell: str) -> None:
    """Expect dropout of numbers (B, T, H) to leave out no sequence, time step or unit."""
    same = torch.isclose(given, whole, rtol=1e-3, atol=1e-6)
    for axis, word in enumerate(("sequence", "time step", "unit")):
        others = [other for other in range(3) if other != axis]
        left_out = same.all(dim=others).nonzero().flatten().tolist()
        if left_out:
            named = f"{', '.join(map(str, left_out[:3]))}{' …' if len(left_out) > 3 else ''}"
            fail(
                f"In training with dropout={rate}, no number {place} is dropped in {word}"
                f"{'s' if len(left_out) > 1 else ''} {named}; in other {word}s some are.{tell}"
            )


def _scaled_by(seen: torch.Tensor, right: torch.Tensor) -> str:
    """Say by which factor all numbers are multiplied, and of which rate that would be; `""` if by none."""
    factor = float((seen * right).sum() / right.square().sum()) if right.any() else 0.0
    if factor <= 1 or not torch.allclose(seen, right * factor, rtol=1e-3, atol=1e-6):
        return ""
    return f"are multiplied by {factor:.3g}, as by a rate of {1 - 1 / factor:.2g}"


def expect_independent(
    kept: torch.Tensor, place: str, *, exactly: bool = False, known: torch.Tensor | None = None
) -> None:
    """Expect a mask of numbers kept (B, T, H) to be drawn anew for every sequence, time step and unit.

    Where few numbers are dropped, or few kept, independent choices look alike, too: `exactly` then asks for
    the very same ones. `known` is where the mask can be told, if that is not everywhere.
    """
    known = torch.ones_like(kept) if known is None else known
    for axis, words in enumerate(("sequence of the batch", "time step", "unit")):
        last = kept.shape[axis] - 1
        both = known.narrow(axis, 1, last) & known.narrow(axis, 0, last)
        one, other = kept.narrow(axis, 1, last)[both], kept.narrow(axis, 0, last)[both]
        if (
            (last > 0 and kept.any() and not kept.all() and torch.equal(one, other))
            if exactly
            else alike(one, other)
        ):
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
                "what a layer passes up to the next one: not on `x`, and not on the states that are "
                "returned."
            )
