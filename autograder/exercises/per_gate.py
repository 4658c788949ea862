"""The LSTM's parameters gate by gate, as students' own cells and layers hold them, beside torch's layout."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import torch
from torch import nn

from autograder.checking import (
    CheckFailed,
    Draw,
    Handle,
    Sizes,
    StudentError,
    Submission,
    agree,
    case,
    compare,
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


@cache
def cell_shapes(sizes: Sizes) -> Mapping[str, tuple[str, tuple[int, ...]]]:
    """The shape of each per-gate parameter, in words and in numbers."""
    words = {
        "W_x": ("(input_size, hidden_size)", "D H"),
        "W_h": ("(hidden_size, hidden_size)", "H H"),
        "b_": ("(hidden_size,)", "H"),
    }
    return {name: (words[name[:-1]][0], sizes.shape(words[name[:-1]][1])) for name in NAMES}


cell_step = reference("reference_per_gate:cell_step")


by_gate = reference("reference_per_gate:by_gate")


LARGE, SMALL = ((32, 40), (50, 60)), ((8, 12), (8, 12))
"""Input and hidden sizes for the look at the starting weights, from and to. A large matrix has 1,600 numbers
and more, which tell its start exactly, and another bound than one of other sizes; all of a small module's
together have 512."""


def starting_sizes(draw: Draw, sizes: tuple[tuple[int, int], tuple[int, int]]) -> tuple[int, int]:
    """Draw an input and a hidden size for a look at the starting weights."""
    inputs, hidden = sizes
    return draw.size(*inputs), draw.size(*hidden)


def expect_starting_weights(kind: Handle, draw: Draw, told: str) -> None:
    """Expect each gate's matrices to start Xavier-uniform, no two equal, and the biases at zero."""
    size = starting_sizes(draw, LARGE)
    one, another = (make_module(kind, *size, told=told).parameters_request() for _ in range(2))
    start, next_start = one.ask(), another.ask()
    for name, value in start.items():
        if name.startswith("b_"):
            if not torch.equal(value, torch.zeros_like(value)):
                fail(f"The bias `{name}` does not start at zero.")
        elif said := not_xavier([value]):
            fail(
                f"`{name}` does not start Xavier-uniform for its own shape {tuple(value.shape)}: {said}. "
                f"{_advice(value)}"
            )
    for first, other in itertools.combinations([name for name in start if name.startswith("W_")], 2):
        if torch.equal(start[first], start[other]):
            fail(f"`{first}` and `{other}` start with the same numbers: draw each gate's weights separately.")
    for name, value in start.items():
        if name.startswith("W_") and torch.equal(value, next_start.get(name, value[:0])):
            fail(
                f"Two modules start with the same numbers in `{name}`. Does `__init__` set a seed, or keep "
                "numbers from one module to the next? Each module draws its own."
            )
    small = make_module(kind, *starting_sizes(draw, SMALL), told=told).parameters()
    expect_small_start({name: value for name, value in small.items() if name.startswith("W_")})


def _advice(value: torch.Tensor) -> str:
    """Return how to start a large matrix, by how far its numbers go: in a stack of four less far."""
    if value.dim() != 2 or not value.numel():
        return "Apply `nn.init.xavier_uniform_` to each gate's matrix."
    rows, columns = value.shape
    of_a_stack = math.sqrt(6 / (rows + 4 * columns))
    if abs(value.abs().max().item() / of_a_stack - 1) < 0.02:
        return "Apply `nn.init.xavier_uniform_` to each gate's matrix, not to a stack of four."
    bound = math.sqrt(6 / (rows + columns))
    return (
        f"They should go up to {bound:.3g}, with a standard deviation of {bound / math.sqrt(3):.3g}: that is "
        "`nn.init.xavier_uniform_` on each gate's matrix, without a `gain`."
    )


def expect_small_start(weights: Mapping[str, torch.Tensor]) -> None:
    """Expect small matrices to start Xavier-uniform, as far as so few numbers tell: each, and together."""
    for name, value in weights.items():
        if said := not_xavier([value]):
            shape = tuple(value.shape)
            fail(f"`{name}`, of a small shape, {shape}, does not start Xavier-uniform: {said}.")
    if said := not_xavier(list(weights.values())):
        fail(f"In a small module the weights do not start Xavier-uniform: {said}.")


def not_xavier(weights: Sequence[torch.Tensor]) -> str:
    """Words for how matrices, taken together, do not start Xavier-uniform each for its shape, or `""`.

    Those that do are found wanting less than once in 10 ** 11: that none of n numbers comes near enough to
    the bound has the probability exp(-28) at most, and their spread and the mean of their sizes may be seven
    standard deviations off, each of which is 0.258 / sqrt(n) and 0.289 / sqrt(n).
    """
    if not weights or not all(value.numel() for value in weights):
        return "there are no numbers in them"
    if not all(value.dim() for value in weights):
        return "a single number is no matrix"
    bounds = [math.sqrt(6 / sum(value.shape)) for value in weights]
    scaled = torch.cat([v.double().reshape(-1) / bound for v, bound in zip(weights, bounds, strict=True)])
    largest, spread, count = scaled.abs().max().item(), scaled.std().item(), scaled.numel()
    least, allowed = min(0.95, math.exp(-28 / count)), max(0.08, 7 * 0.258 / math.sqrt(count))
    middle = scaled.abs().mean().item()
    if (
        least < largest <= 1.0001
        and abs(spread - 1 / math.sqrt(3)) < allowed
        and abs(middle - 0.5) < max(0.08, 7 * 0.289 / math.sqrt(count))
    ):
        return ""
    if not math.isfinite(largest):
        return "some of its numbers are not finite (nan or inf): are they ever filled?"
    if len(weights) == 1:
        largest, spread = largest * bounds[0], spread * bounds[0]
        return f"its largest number is {largest:.3g}, its standard deviation {spread:.3g}"
    return f"the largest is {largest:.3g} times the Xavier bound, the standard deviation {spread:.3g} times"


def own_or_bare(
    submission: Submission,
    kind: str,
    sizes: tuple[int, ...],
    shapes: Mapping[str, tuple[str, tuple[int, ...]]],
    bare: str,
    source: str = HOLDER,
) -> Handle:
    """The student's own module, or `bare` from the source where theirs does not have the parameters yet."""
    try:
        own = make_module(getattr(submission, kind), *sizes, told=f"`{kind}`")
        seen = own.registered().shapes
    except (CheckFailed, StudentError):
        seen = {}  # that is another task's affair
    if seen == {name: shape for name, (_, shape) in shapes.items()}:
        return own
    return submission.given(bare, *sizes, source=source)


def not_copied(held: Mapping[str, torch.Tensor], wanted: Mapping[str, torch.Tensor], what: str) -> list[str]:
    """The parameters that do not hold their gate's numbers after a copy into `what`; all are still there."""
    for name, value in wanted.items():
        if name not in held:
            fail(f"After the copy, {what} no longer has a parameter `{name}`. Write into the existing one.")
        if held[name].shape != value.shape:
            shapes = f"{tuple(held[name].shape)}, not {tuple(value.shape)}"
            fail(f"After the copy `{name}` has shape {shapes}. Write into the existing parameter.")
    if agree([held[name] for name in wanted], list(wanted.values())):
        return []
    return [name for name, value in wanted.items() if compare(held[name], value)]


def held_instead(
    held: Mapping[str, torch.Tensor], wanted: Mapping[str, torch.Tensor], wrong: Sequence[str]
) -> str:
    """Say of the first of some wrong parameters that holds another's numbers whose; `""` if none does."""
    for name in wrong:
        for other, value in wanted.items():
            if other != name and value.shape == held[name].shape and not compare(held[name], value):
                return f" `{name}` holds the numbers of `{other}`."
    return ""


def quoted(names: Sequence[str]) -> str:
    """Return names in code style, the first twelve of many."""
    return ", ".join(f"`{name}`" for name in names[:12]) + (", …" if len(names) > 12 else "")


def expect_replaced(held: Mapping[str, torch.Tensor], wanted: Mapping[str, torch.Tensor], what: str) -> None:
    """Raise `CheckFailed` unless a second copy into `what`, from other weights, left nothing of the first."""
    wrong = not_copied(held, wanted, what)
    if wrong:
        fail(
            f"One copy into {what} is right, but a second one, from other weights, leaves wrong numbers in "
            f"{quoted(wrong)}. A copy replaces the old numbers: do you add to them, or do something only "
            "the first time?"
        )


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
    for name in names:
        if name not in seen.shapes:
            fail(
                f"After the copy, `{name}` is no longer a registered parameter. Write into the existing one."
            )
        if name not in seen.trainable:
            fail(f"After the copy `{name}` no longer requires gradients. Copy only the numbers.")
        if name not in seen.leaves:
            fail(f"After the copy `{name}` is part of a graph. Copy under `torch.no_grad()`.")
    replaced_now = names_replaced.ask()
    for name in names:
        if name in replaced_now:
            fail(
                f"The copy replaced `{name}` with a new parameter; an optimizer created earlier would go "
                "on training the old one. Write the numbers into the existing parameter."
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
