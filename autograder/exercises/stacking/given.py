"""The reference stack in the course's per-gate parameters, and a way to see where a stack drops numbers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from autograder.checking import (
    USUAL,
    CheckFailed,
    Draw,
    ModuleSpec,
    Sizes,
    StudentError,
    Submission,
    case,
    computed_once,
    expect,
    expect_shapes,
    fail,
    reference,
)
from autograder.exercises.per_gate import DIMS, GATES

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


# Where a stack drops numbers.
#
# Layers above the first get weights with which they have no memory and answer each number of their input
# with one number, h = tanh(tanh(SLOPE * x + SHIFT)). So each number that the stack returns is one of a few
# that follow from the number of layer 0 in its place: one for each dropout that may have been the last to
# drop it, and one for none.

SLOPE, SHIFT, WIDE_OPEN = 0.5, 0.3, 40.0
NEAR = 1e-5
"""How far a number may be from what dropout makes of it."""
DEVIATIONS = 8
"""The standard deviations by which the share of dropped numbers may miss `p`: once in 10 ** 10 it misses by
more, also where numbers are few."""
ALIKE, PAIRS = 0.97, 100
"""The share of equal choices from which on neighbours are not drawn independently, and of how many pairs.
Chance gives 0.68 at most, and that many less than once in 10 ** 12."""
DEEP = 3
"""The layers up to which a stack that fails to answer fails here."""


def wide_sizes(draw: Draw) -> Sizes:
    """Draw sizes for a look at dropout: 1,440 numbers and more."""
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
def see_through(drawn: Mapping[str, torch.Tensor]) -> Mapping[str, torch.Tensor]:
    """Return parameters of a stack whose first layer is as drawn, and whose others hide no number."""
    hidden, parameters = len(drawn["layers.0.b_i"]), dict(drawn)
    of_gate = dict(zip(GATES, (WIDE_OPEN, -WIDE_OPEN, SHIFT, WIDE_OPEN), strict=True))
    for name, value in drawn.items():
        kind, gate = name.rpartition(".")[2][:-1], name[-1]
        if name.startswith(("layers.0.", "proj.")):
            continue
        slope = SLOPE if (kind, gate) == ("W_x", "g") else 0.0
        parameters[name] = (
            torch.full_like(value, of_gate[gate]) if kind == "b_" else slope * torch.eye(hidden).to(value)
        )
    if "proj.weight" in drawn:
        parameters["proj.weight"] = torch.eye(hidden).to(drawn["proj.weight"])
    return parameters


def expect_dropout(
    task: ModuleSpec, submission: Submission, draw: Draw, looks: Iterable[tuple[Sizes, int]]
) -> None:
    """Expect stacks of these sizes, called so often in training, to drop numbers between the layers.

    A stack with a projection on top drops those that `proj` reads, too.
    """
    rate, rows = drawn_rate(draw), []
    for sizes, times in looks:
        chosen = USUAL.with_options(dropout=rate).with_parameters(see_through)
        call = task.prepare(submission, chosen, draw.at(sizes))
        call.target.train()
        rows.append((call, [call.target.request(*call.arguments) for _ in range(times)]))
    for call, requests in rows:
        layers, below = call.sizes.L, run_bottom(call.parameters, *call.arguments)
        with case(f"with {layers} layer{'s' if layers > 1 else ''} and a batch of {call.sizes.B}"):
            try:
                answers = [shaped(request.ask(), task.form, call.sizes) for request in requests]
            except (CheckFailed, StudentError):
                if layers > DEEP:  # such a depth at all is for another check
                    continue
                raise
            expect_layer_0_kept(answers[0][1], task.right(call)[1], call.sizes)
            seen = torch.stack([output for output, _ in answers])
            bias = call.parameters.get("proj.bias")
            expect_dropped(seen if bias is None else seen - bias, below, rate, layers, bias is not None)


def shaped(answer: Any, form: Mapping[str, Any], sizes: Sizes) -> Any:
    """The answer, `(output, (h_n, c_n))`, once it has the shapes of its `form`."""
    output, *states = form["dims"]
    return expect_shapes(answer, (output, tuple(states)), names=form["names"], sizes=sizes)


def expect_dropped(seen: torch.Tensor, below: torch.Tensor, rate: float, layers: int, headed: bool) -> None:
    """Expect what a stack returns in some calls (calls, B, T, H) to be `below` after its dropouts.

    `below` is the output of layer 0. A dropout is between each two layers, and one above the last if it is
    `headed`.
    """
    places = layers - 1 + headed
    found = [below]
    for place in range(places):
        found = [each / (1 - rate) for each in found] + [torch.zeros_like(below)]
        if place < layers - 1:
            found = [torch.tanh(torch.tanh(SLOPE * each + SHIFT)) for each in found]
    distance, last = (seen.double() - torch.stack(found)[:, None]).abs().min(dim=0)
    if not bool((distance < NEAR).all()):
        share = 1 - (distance < NEAR).double().mean().item()
        fail(
            f"In training with dropout={rate}, {share:.0%} of the numbers are not what dropout between the "
            f"layers{' and before `proj`' if headed else ''} makes of them. What a layer passes up is "
            "divided by 1 - p or is 0, each number by itself; nothing else is dropped."
        )
    for place in range(places, 0, -1):
        where = f"between layer {place - 1} and layer {place}" if place < layers else "before `proj`"
        dropped, known = last == place, last <= place  # those that no dropout above has dropped
        for axis, words in enumerate(("call", "sequence of the batch", "time step", "unit")):
            more = seen.shape[axis] - 1
            both = known.narrow(axis, 1, more) & known.narrow(axis, 0, more)
            one, other = dropped.narrow(axis, 1, more)[both], dropped.narrow(axis, 0, more)[both]
            if len(one) < PAIRS or not 0.1 < one.double().mean().item() < 0.9:
                continue
            if (one == other).double().mean().item() > ALIKE:
                fail(
                    f"In training, dropout {where} makes the same choice for every {words}. Each number of "
                    "(batch, time, hidden) is dropped or kept independently of all others, in every call."
                )
        share, count = dropped[known].double().mean().item(), int(known.sum())
        if abs(share - rate) > DEVIATIONS * math.sqrt(rate * (1 - rate) / max(count, 1)):
            fail(
                f"In training with dropout={rate}, {share:.0%} of the numbers {where} are dropped, and not "
                f"{rate:.0%}. Each dropout draws for itself."
            )


def expect_layer_0_kept(last: Sequence[torch.Tensor], right: Sequence[torch.Tensor], sizes: Sizes) -> None:
    """Expect layer 0's final states to be those without dropout: nothing below it or in it is dropped."""
    kept, wanted = ([part[0] for part in states] for states in (last, right))
    with case("in training with dropout"):
        expect(tuple(kept), tuple(wanted), names=("h_n[0]", "c_n[0]"), dims="B H", sizes=sizes)
