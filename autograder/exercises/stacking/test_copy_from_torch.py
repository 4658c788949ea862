"""`copy_from_torch(stacked, lstm)`: copy an nn.LSTM's weights into your own `StackedLSTM`."""

import torch
from torch import nn

from autograder.checking import (
    anywhere,
    asked,
    case,
    expect_device_neutral,
    fail,
    needs,
    points,
    rule,
)
from autograder.exercises.per_gate import (
    HOLDER,
    by_gate,
    expect_copied,
    expect_copied_in_place,
    expect_copies,
    own_or_bare,
)
from autograder.exercises.stacking.given import stack_dims

STACK_HOLDER = f"""{HOLDER}

class StackHolder(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        widths = [input_size] + [hidden_size] * (num_layers - 1)
        self.layers = nn.ModuleList(Holder(width, hidden_size) for width in widths)
"""


def reference_lstm(draw, dtype=torch.float64):
    sizes = draw.sizes
    return draw.module(nn.LSTM, sizes.D, sizes.H, sizes.L, batch_first=True, dtype=dtype)


def own_stack(submission, sizes):
    """The student's stack, or a bare holder of the parameters where theirs does not have them yet."""
    made_with = (sizes.D, sizes.H, sizes.L)
    shapes = {name: sizes.shape(dims) for name, dims in stack_dims(sizes).items()}
    return own_or_bare(submission, "StackedLSTM", made_with, shapes, "StackHolder", STACK_HOLDER)


def both_stacks(submission, sizes, lstm, dtype=torch.float64):
    """The student's stack, and the nn.LSTM on their side that is to be copied into it."""
    given = submission.given(
        "LSTM", sizes.D, sizes.H, sizes.L, batch_first=True, state=lstm.state_dict(), dtype=dtype
    )
    stack = own_stack(submission, sizes)
    stack.to(dtype)
    return stack, given


def copied(submission, sizes, lstm, dtype=torch.float64):
    """The student's stack after the copy."""
    stack, given = both_stacks(submission, sizes, lstm, dtype)
    submission.copy_from_torch.defer(stack, given)
    return stack


def numbers_of(lstm):
    """The numbers of an nn.LSTM by the names that a stack has for them."""
    found = {}
    for layer in range(lstm.num_layers):
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        stacked = (getattr(lstm, f"{kind}_l{layer}").detach() for kind in kinds)
        found |= {f"layers.{layer}.{name}": value for name, value in by_gate(*stacked).items()}
    return found


@points(1)
@rule("values")
@anywhere
def test_same_weights(submission, sizes, draw):
    """After the copy both stacks compute the same in every layer, and again after a copy of other weights."""
    lstm, other = reference_lstm(draw), reference_lstm(draw)
    stack = copied(submission, sizes, lstm)
    once = stack.parameters_request(computed=True)
    made_with = {"state": other.state_dict(), "dtype": torch.float64, "batch_first": True}
    again = submission.given("LSTM", sizes.D, sizes.H, sizes.L, **made_with)
    submission.copy_from_torch.defer(stack, again)
    twice = stack.parameters_request(computed=True)
    expect_copied(once.ask(), numbers_of(lstm))
    with case("after a second copy, from other weights"):
        expect_copied(twice.ask(), numbers_of(other))


@points(0)
@rule("generality")
@needs(test_same_weights)
def test_any_size(submission, sizes, draw):
    """It works for one layer, twelve layers, and when the input is as wide as the state."""
    copies = []
    for other, context in (
        (sizes.but(L=1), "with one layer"),
        (sizes.but(D=2, H=2, L=12), "with twelve layers"),
        (sizes.but(D=4, H=4, L=2), "with D = H = 4"),
        (sizes.but(D=1, H=1, L=2), "with D = H = 1"),
    ):
        lstm = reference_lstm(draw.at(other))
        with case(context):
            stack = copied(submission, other, lstm)
        copies.append((stack.parameters_request(computed=True), lstm, context))
    for held, lstm, context in asked(copies):
        with case(context):
            expect_copied(held(), numbers_of(lstm))


@points(0)
@rule("device")
@needs(test_same_weights)
def test_device(submission, sizes, draw):
    """With both stacks on a GPU, the numbers are copied there."""
    sizes = sizes.but(L=2)
    lstm = reference_lstm(draw.at(sizes))

    def both():
        state = {"state": lstm.state_dict(), "dtype": torch.float64, "batch_first": True}
        given = submission.given("LSTM", sizes.D, sizes.H, sizes.L, **state)
        return own_stack(submission, sizes), given

    expect_device_neutral(submission.copy_from_torch, both, names=(), gradients=False)


@points(0.5)
@rule("registration")
@needs(test_same_weights)
def test_still_trainable(submission, sizes, draw):
    """The copy is in place and outside the graph: the same parameters, which still require gradients."""
    sizes = sizes.but(L=2)
    both = both_stacks(submission, sizes, reference_lstm(draw.at(sizes)))
    expect_copied_in_place(submission, *both, stack_dims(sizes))


@points(0.5)
@rule("mutation")
@needs(test_same_weights)
def test_is_a_copy(submission, sizes, draw):
    """The nn.LSTM is left as it was, and changing it later does not change the copy."""
    # With one feature and one hidden unit a transposed matrix is laid out as before, so some copies are none.
    copies = []
    for other, context in ((sizes.but(L=2), ""), (sizes.but(D=1, H=1, L=2), "with D = H = 1")):
        lstm = reference_lstm(draw.at(other))
        copies.append((*both_stacks(submission, other, lstm), lstm, context))
    expect_copies(submission, copies, stack_dims(sizes.but(L=2)), ("stacked", "lstm"))


@points(0)
@rule("dtype")
@needs(test_same_weights)
def test_dtype(submission, sizes, draw):
    """A stack of another dtype keeps its dtype."""
    sizes = sizes.but(L=2)
    copies = []
    for dtype in (torch.float32, torch.bfloat16):
        stack = copied(submission, sizes, reference_lstm(draw.at(sizes), dtype), dtype)
        copies.append((stack.parameters_request(computed=True), dtype))
    for taken, dtype in asked(copies):
        with case(f"with a stack in {dtype}"):
            held = taken()
        for name, value in held.items():
            if value.dtype != dtype:
                fail(f"After the copy `{name}` is {value.dtype}, not {dtype}.")
