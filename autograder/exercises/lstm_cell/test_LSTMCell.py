"""`class LSTMCell(nn.Module)`: one step as a module with twelve per-gate parameters."""

import torch

from autograder.checking import (
    EXTREMES,
    as_leaves,
    asked,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_follows,
    expect_gradients,
    expect_registered,
    expect_untouched,
    hidden,
    make_module,
    needs,
    points,
    rule,
    without,
)
from autograder.exercises.from_scratch import RECURRENT_MODULES, expect_from_scratch
from autograder.exercises.per_gate import (
    cell_parameters,
    cell_shapes,
    cell_step,
    expect_starting_weights,
)

CHAIN = """
def chain():
    def over_time(cell, x, state):
        for step in x.unbind(1):
            state = tuple(part.to(x.dtype) for part in cell(step, state))
        return state

    return over_time
"""
"""The student's cell fed its own state, step after step, as a layer does it. The dtype is another check's."""

RESULTS = {"names": ("h_next", "c_next"), "dims": "B H"}
TOLD = "`LSTMCell(input_size, hidden_size)`"


def new_cell(submission, sizes, dtype=torch.float64):
    """The student's cell as a user would make it for that dtype."""
    cell = make_module(submission.LSTMCell, sizes.D, sizes.H, told=TOLD)
    cell.to(dtype)
    return cell


def filled_cell(submission, draw, parameters):
    """The student's cell holding the given parameters."""
    cell = new_cell(submission, draw.sizes)
    cell.load_state_dict(parameters)
    return cell


def zeros(sizes):
    return torch.zeros(sizes.B, sizes.H, dtype=torch.float64)


@points(0)
@rule("from-scratch")
@without(RECURRENT_MODULES)
def test_from_scratch(submission, sizes, draw):
    """The module computes the step itself and holds none of torch's recurrent modules."""
    cell = new_cell(submission, sizes)
    expect_from_scratch(submission, "LSTMCell", cell, (draw("B D"), (draw("B H"), draw("B H"))))


@points(0.5)
@rule("registration")
@needs(test_from_scratch)
def test_parameters(submission, sizes, draw):
    """It registers the twelve per-gate parameters W_xi … b_o, with their shapes, and nothing else."""
    expect_registered(new_cell(submission, sizes), cell_shapes(sizes), "`LSTMCell`")


@points(0)
@rule("shape")
@needs(test_from_scratch)
def test_shape(submission, sizes, draw):
    """One step returns (h_next, c_next), each (batch, hidden)."""
    x, h, c = draw("B D"), draw("B H"), draw("B H")
    answer = new_cell(submission, sizes)(x, (h, c))
    expect(answer, (h, c), **RESULTS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_parameters)
def test_starting_weights(submission, sizes, draw):
    """The weights start Xavier-uniform, each gate by itself; the biases start at zero."""
    expect_starting_weights(submission.LSTMCell, draw, TOLD)


@points(0.5)
@rule("values")
@needs(test_shape, test_parameters, test_from_scratch)
def test_matches_torch(submission, sizes, draw):
    """With the same weights, one step gives the same h and c as nn.LSTMCell."""
    parameters = cell_parameters(draw)
    x, h, c = draw("B D"), draw("B H"), draw("B H")
    answer = filled_cell(submission, draw, parameters)(x, (h, c))
    expect(answer, cell_step(parameters, x, h, c), **RESULTS, sizes=sizes)


@points(0.5)
@rule("values")
@needs(test_shape, test_parameters, test_from_scratch)
def test_default_state(submission, sizes, draw):
    """Without a state it starts from zeros, for h and for c, on every call."""
    parameters = cell_parameters(draw)
    cell = filled_cell(submission, draw, parameters)
    calls = []
    for context in ("without a state", "without a state, called a second time"):
        x = draw("B D")
        calls.append((cell.request(x), x, context))
    cell.eval()
    for context in ("in eval() without a state", "in eval() without a state, called a second time"):
        x = draw("B D")
        calls.append((cell.request(x), x, context))
    for answer, x, context in asked(calls):
        with case(context):
            expect(answer(), cell_step(parameters, x, zeros(sizes), zeros(sizes)), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_matches_torch, test_default_state)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, equal sizes, non-contiguous inputs, and batches of changing size."""
    calls = []
    for other, context in (
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(D=1, H=1), "with one feature and one hidden unit"),
        (sizes.but(B=4, D=4, H=4), "with every size 4"),
    ):
        here = draw.at(other)
        parameters = cell_parameters(here)
        cell = filled_cell(submission, here, parameters)
        x, h, c = here("B D"), here("B H"), here("B H")
        calls.append((cell.request(x, (h, c)), parameters, x, h, c, context))
    parameters = cell_parameters(draw)
    cell = filled_cell(submission, draw, parameters)
    x, h, c = draw.strided("B D"), draw.strided("B H"), draw.strided("B H")
    context = "with inputs that are not contiguous in memory"
    calls.append((cell.request(x, (h, c)), parameters, x, h, c, context))
    smaller = draw.at(sizes.but(B=3))
    x, h, c = smaller("B D"), smaller("B H"), smaller("B H")
    context = "when the same cell gets a batch of another size"
    calls.append((cell.request(x, (h, c)), parameters, x, h, c, context))
    for here in (draw, smaller):
        x, zero = here("B D"), zeros(here.sizes)
        context = "when the same cell gets batches of different sizes without a state"
        calls.append((cell.request(x), parameters, x, zero, zero, context))
    for answer, held, x, h, c, context in asked(calls):
        other = sizes.but(B=x.shape[0], D=x.shape[1], H=h.shape[1])
        with case(context):
            expect(answer(), cell_step(held, x, h, c), **RESULTS, sizes=other)


@points(0)
@rule("values")
@needs(test_matches_torch)
def test_follows_its_parameters(submission, sizes, draw):
    """After its parameters have changed, by training or by loading, it computes with the new ones."""
    states = [cell_parameters(draw) for _ in range(3)]
    x, h, c = draw("B D"), draw("B H"), draw("B H")
    cell = filled_cell(submission, draw, states[0])
    expect_follows(
        submission,
        cell,
        lambda: cell.request(x, (h, c)),
        lambda held: cell_step(held, x, h, c),
        states,
        **RESULTS,
        sizes=sizes,
    )


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients reach the input, both states and all twelve parameters, in training and in eval()."""
    parameters = cell_parameters(draw)
    leaves = as_leaves(parameters)
    cell = filled_cell(submission, draw, parameters)
    expect_gradients(
        cell,
        lambda x, state: cell_step(leaves, x, *state),
        (draw("B D"), (draw("B H"), draw("B H"))),
        names=("x", "h", "c"),
        parameters=leaves,
        draw=draw,
        in_eval=True,
    )
    steps = draw.size(15, 25)
    here = draw.at(sizes.but(B=2, T=steps))

    def over_time(_, x, state):
        for step in x.unbind(1):
            state = cell_step(leaves, step, *state)
        return state

    with case(f"over {steps} steps, each from the state before"):
        expect_gradients(
            submission.given("chain", source=CHAIN, dtype=None),
            over_time,
            (cell, here("B T D"), (here("B H"), here("B H"))),
            names=("x", "h", "c"),
            parameters=leaves,
            draw=here,
            tell="Is a state detached or copied in `forward`?",
        )


@points(0)
@rule("dtype")
@needs(test_shape, test_from_scratch)
def test_dtype(submission, sizes, draw):
    """A cell and input of one dtype give states of that dtype, also when the state is left out."""
    x, state = draw("B D"), (draw("B H"), draw("B H"))
    form = {"made_with": (sizes.D, sizes.H), "names": RESULTS["names"]}
    with case("without a state"):
        expect_dtypes(submission.LSTMCell, (x,), **form, dtypes=EXTREMES, autocast=False)
    with case("with a state"):
        expect_dtypes(submission.LSTMCell, (x, state), **form)


@points(0.5)
@rule("device")
@needs(test_shape, test_from_scratch, test_parameters, test_matches_torch, test_dtype)
def test_device(submission, sizes, draw):
    """With the input on a GPU everything is made and stays there, also when the state is left out."""
    x, state = draw("B D"), (draw("B H"), draw("B H"))
    for arguments, context in (((x,), "without a state"), ((x, state), "with a state")):
        with case(context):
            expect_device_neutral(
                submission.LSTMCell,
                arguments,
                made_with=(sizes.D, sizes.H),
                names=RESULTS["names"],
                gradients=len(arguments) > 1,  # once is enough, and they are most of what this costs
            )


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The input and both states are the same after the call as before."""
    arguments = (draw("B D"), (draw("B H"), draw("B H")))
    cell = new_cell(submission, sizes)
    expect_untouched(cell.run(arguments), arguments, ("x", "state"))


@points(0.5)
@rule("generality")
@hidden("Fed its own state, step after step, the cell stays right.")
@needs(test_matches_torch)
def test_chain_of_steps(submission, sizes, draw):
    """Fed its own state, step after step, it stays equal to nn.LSTMCell, from a large one, too."""
    parameters = cell_parameters(draw)
    cell = filled_cell(submission, draw, parameters)
    state = (draw("B H"), 20 * draw("B H"))
    for step in range(sizes.T + 2):
        x = draw("B D")
        with case(f"at step {step} of a chain"):
            wanted = cell_step(parameters, x, *state)
            state = cell(x, state)
            expect(state, wanted, **RESULTS, sizes=sizes)
        state = tuple(part.to(x.dtype) for part in state)  # the dtype is another check's rule
