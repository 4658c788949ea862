"""`numerical_gradient(f, x, eps=1e-6)`: the slopes of a function by central differences."""

from autograder.checking import (
    USUAL,
    FunctionSpec,
    Handed,
    asked,
    expect,
    fail,
    leaving_out,
    needs,
    points,
    rule,
    standard,
    strided,
    worth,
)
from autograder.exercises.gradients.given import ENGINE
from autograder.exercises.handed import made_here

SURFACE = """
class Surface(nn.Module):
    "A number made of a tensor of one shape; it counts its calls, and its weights ask for gradients."

    def __init__(self, *shape):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(shape))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        z = self.weight * x
        return (z**3).mean() + z.sum().sin()


def kind():
    return Surface
"""
"""A function in which every entry matters to the slope of every other, and no slope is constant."""
Surface = made_here(SURFACE, "kind")


def of_shape(dims):
    """Return the task with an `x` of these dimensions."""
    return FunctionSpec(
        "numerical_gradient",
        inputs={
            "f": Handed(Surface, *dims.split(), source=SURFACE),
            "x": dims,
            "eps": lambda draw: 0.1,
        },
        outputs={"gradient": dims},
        reference="reference_numerical_gradient:central_differences",
        forbidden=ENGINE,
    )


task, number, vector, cube = of_shape("B D"), of_shape(""), of_shape("D"), of_shape("B T H")

standard(
    task,
    from_scratch=worth(title="Your code finds the slopes by calling `f`, not by torch's autograd."),
    shape=worth(title="The gradient has the shape of `x`."),
    values=worth(
        0.5,
        USUAL.named("with eps = 0.1"),
        leaving_out("eps"),
        title="Every slope is the central difference: with eps = 0.1, and with eps = 1e-6 if none is given.",
    ),
    any_size="what differs are dimensions: the check below",
    gradients="the result is off the graph",
    dtypes="differences of small steps need float64",
    devices=worth(gradients=False),
    leaves_arguments=worth(
        0.5, leaving_out("eps", words=""), strided(), title="Afterwards `x` is the same, bit for bit."
    ),
)


@points(0.5)
@rule("generality")
@needs("test_values")
def test_any_shape(submission, sizes, draw):
    """It works for `x` of any shape: a single number, one or three dimensions, not contiguous in memory."""
    calls = []
    for spec, chosen in (
        (number, leaving_out("eps", words="with a single number, of no dimensions")),
        (vector, leaving_out("eps", words="with one dimension")),
        (
            cube,
            leaving_out("eps", words="with three dimensions").sized("with three dimensions", B=2, T=3, H=5),
        ),
        (task, strided()),
    ):
        call = spec.prepare(submission, chosen, chosen.draw(draw))
        calls.append((call.target.request(*call.arguments), call, spec))
    for answer, call, spec in asked(calls):
        with call.case():
            expect(answer(), spec.right(call), **spec.form, sizes=call.sizes)


@points(0)
@rule("from-scratch")
@needs("test_values")
def test_two_calls_an_entry(submission, sizes, draw):
    """`f` is called twice for each entry of `x`, and not once more."""
    call = task.prepare(submission, leaving_out("eps", words=""), draw)
    call.target(*call.arguments)
    seen, wanted = call.arguments[0].attribute("calls"), 2 * sizes.B * sizes.D
    if seen != wanted:
        fail(
            f"`f` was called {seen} times for the {wanted // 2} entries of `x`; expected two calls for each."
        )


@points(0)
@rule("gradient")
@needs("test_values")
def test_off_the_graph(submission, sizes, draw):
    """The gradient is off the graph, although `f` has parameters of its own that ask for gradients."""
    call = task.prepare(submission, leaving_out("eps", words=""), draw)
    if any(call.target.run(call.arguments).attached):
        fail(
            "The result is still part of a graph: `f` has parameters that ask for gradients, so what it "
            "returns remembers how it was computed. The slopes are plain numbers: compute them without "
            "recording."
        )
