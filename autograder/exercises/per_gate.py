"""The LSTM's parameters gate by gate, as students' own cells and layers hold them, beside torch's layout."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import nn

from autograder.checking import (
    CheckFailed,
    Draw,
    Handle,
    ModuleSpec,
    StudentError,
    Submission,
    agree,
    case,
    expect_module_untouched,
    expect_not_shared,
    expect_settings_untouched,
    fail,
    make_module,
    reference,
)

GATES = "ifgo"
NAMES = [f"W_x{gate}" for gate in GATES] + [f"W_h{gate}" for gate in GATES] + [f"b_{gate}" for gate in GATES]
"""The per-gate parameters, in the order of the contract."""
DIMS = {name: {"W_x": "D H", "W_h": "H H", "b_": "H"}[name[:-1]] for name in NAMES}
"""The dimensions of each per-gate parameter, by name."""


HOLDER = """
class Holder(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        for gate in "ifgo":
            self.register_parameter(f"W_x{gate}", nn.Parameter(torch.zeros(input_size, hidden_size)))
            self.register_parameter(f"W_h{gate}", nn.Parameter(torch.zeros(hidden_size, hidden_size)))
            self.register_parameter(f"b_{gate}", nn.Parameter(torch.zeros(hidden_size)))
"""
"""A bare module with these parameters, to copy into where the student's own does not have them yet."""


cell_step = reference("reference_per_gate:cell_step")


by_gate = reference("reference_per_gate:by_gate")


LARGE, SMALL = ((32, 40), (50, 60)), ((8, 12), (8, 12))
"""Input and hidden sizes for the look at the starting weights, from and to. A large matrix has 1,600 numbers
and more, which tell its start exactly, and another bound than one of other sizes; all of a small module's
together have 512."""


def expect_start(task: ModuleSpec, submission: Submission, draw: Draw) -> None:
    """Expect matrices to start Xavier-uniform, each drawn by itself, and biases at zero."""
    starts = []
    large, small = ((draw.size(*inputs), draw.size(*hidden)) for inputs, hidden in (LARGE, SMALL))
    for inputs, hidden in (large, large, small):
        made = task.make(submission, draw.sizes.but(D=inputs, H=hidden))
        starts.append(made.parameters_request())
    one, another, few = (start.ask() for start in starts)
    for name, value in one.items():
        if is_bias(name) and value.any():
            fail(f"The bias `{name}` does not start at zero.")
    large_ones, other_ones, small_ones = (
        {name: value for name, value in start.items() if not is_bias(name)} for start in (one, another, few)
    )
    for name, value in (*large_ones.items(), *small_ones.items()):
        expect_xavier([value], f"`{name}`, of shape {tuple(value.shape)}, does")
    expect_xavier(list(small_ones.values()), "The weights of a small module, taken together, do")
    drawn = [
        *large_ones.items(),
        *((f"{name} of a second module", value) for name, value in other_ones.items()),
    ]
    for (name, value), (other, again) in itertools.combinations(drawn, 2):
        if torch.equal(value, again):
            fail(f"{name} and {other} start with the same numbers. Each matrix of each module draws its own.")


def is_bias(name: str) -> bool:
    """Return whether a parameter is a bias, by its name: `b_i`, `layers.0.b_f`, `proj.bias`."""
    return name.rpartition(".")[2].startswith("b")


def expect_xavier(weights: Sequence[torch.Tensor], what: str) -> None:
    """Expect matrices, taken together, to start Xavier-uniform, each for its own shape.

    `what` is their name and "does" or "do", for a message.

    Those that do fail less than once in 10 ** 11: that none of n numbers comes near enough to the bound has
    the probability exp(-28) at most, and their spread and the mean of their sizes may be seven standard
    deviations off, each of which is 0.258 / sqrt(n) and 0.289 / sqrt(n).
    """
    if not weights or not all(value.dim() and value.numel() for value in weights):
        fail(f"{what} not start Xavier-uniform: a matrix is wanted.")
    bounds = [math.sqrt(6 / sum(value.shape)) for value in weights]
    scaled = torch.cat([v.double().reshape(-1) / bound for v, bound in zip(weights, bounds, strict=True)])
    largest, spread, middle = (
        each.item() for each in (scaled.abs().max(), scaled.std(), scaled.abs().mean())
    )
    near, off = math.exp(-28 / scaled.numel()), 7 / math.sqrt(scaled.numel())
    if not (
        min(0.95, near) < largest <= 1.0001
        and abs(spread - 1 / math.sqrt(3)) < max(0.08, 0.258 * off)
        and abs(middle - 0.5) < max(0.08, 0.289 * off)
    ):
        fail(
            f"{what} not start Xavier-uniform: the largest number is {largest:.3g} times the Xavier bound, "
            f"the standard deviation {spread:.3g} times; expected 1 and 0.577. `nn.init.xavier_uniform_` on "
            "each matrix by itself gives that, without a `gain`."
        )


def own_or_bare(
    submission: Submission,
    kind: str,
    sizes: tuple[int, ...],
    shapes: Mapping[str, tuple[int, ...]],
    bare: str,
    source: str = HOLDER,
) -> Handle:
    """The student's own module, or `bare` from the source where theirs does not have the parameters yet."""
    try:
        own = make_module(getattr(submission, kind), *sizes, told=f"`{kind}`")
        seen = own.registered().shapes
    except (CheckFailed, StudentError):
        seen = {}  # that is another task's affair
    if seen == shapes:
        return own
    return submission.given(bare, *sizes, source=source)


def expect_copied(held: Mapping[str, torch.Tensor], wanted: Mapping[str, torch.Tensor]) -> None:
    """Expect each parameter to hold its gate's numbers."""
    wrong = [
        name
        for name, value in wanted.items()
        if name not in held or held[name].shape != value.shape or not agree([held[name]], [value])
    ]
    if wrong:
        named = ", ".join(f"`{name}`" for name in wrong[:12]) + (", …" if wrong[12:] else "")
        fail(f"{len(wrong)} of {len(wanted)} parameters do not hold their gate's numbers: {named}.")


REPLACED = """
class Replaced:
    def __init__(self, module):
        self.module, self.before = module, contents.parameters_of(module)

    def __call__(self):
        after = contents.parameters_of(self.module)
        return [name for name, p in after.items() if p is not self.before.get(name)]
"""
"""A callable that lists the module's parameters replaced since it was made."""


def expect_copied_in_place(
    submission: Submission, module: Handle, source: Handle, names: Iterable[str]
) -> None:
    """Expect `copy_from_torch` to leave the same parameters: registered, trainable, part of no graph."""
    replaced = submission.given("Replaced", module, source=REPLACED, dtype=None)
    submission.copy_from_torch.defer(module, source)
    names_replaced, seen = replaced.request(), module.registered()
    replaced_now = names_replaced.ask()
    for name in names:
        for is_wrong, how in (
            (name not in seen.shapes, "is no longer a registered parameter"),
            (name not in seen.trainable, "no longer requires gradients"),
            (name not in seen.leaves, "is part of a graph"),
            (name in replaced_now, "is a new parameter, which an optimizer made earlier does not know"),
        ):
            if is_wrong:
                fail(
                    f"After the copy, `{name}` {how}. Write the numbers into the existing parameter, under "
                    "`torch.no_grad()`."
                )


def expect_copies(
    submission: Submission,
    copies: Sequence[tuple[Handle, Handle, nn.Module, str]],
    names: Iterable[str],
    arguments: tuple[str, str],
) -> None:
    """Expect each `copy_from_torch` to change nothing but its module, which shares no memory with torch's.

    A copy is the student's module, the torch module that they are given, the same one here, and a text for
    `case`. All are made in one exchange. `names` are the parameters of each module, `arguments` what the task
    calls the two modules.
    """
    into, of = arguments
    calls = []
    for module, given, right, context in copies:
        call = submission.copy_from_torch.run_request((module, given))
        of_module, of_given = (each.parameters_request(computed=True) for each in (module, given))
        zeros = {name: torch.zeros_like(value) for name, value in right.state_dict().items()}
        given.load_state_dict(zeros)
        then = module.parameters_request(computed=True)
        calls.append((call, of_module, of_given, then, right, context))
    for call, of_module, of_given, then, right, context in calls:
        with case(context):
            ran, before, held, after = call.ask(), of_module.ask(), of_given.ask(), then.ask()
            for name, value in right.state_dict().items():
                if name not in held or not torch.equal(held[name], value):
                    fail(f"The copy changed `{of}.{name}`, which it should only read.")
            expect_module_untouched(ran, 0, into, unjudged=("gradients",))
            expect_module_untouched(ran, 1, of)
            expect_settings_untouched(ran)
            for name in names:
                expect_not_shared(before[name], after[name], name)
