"""`gradient_by_step(network, x)`: how much the last output depends on the input at each step."""

from torch import nn

from autograder.checking import (
    USUAL,
    FunctionSpec,
    Handed,
    fail,
    needs,
    points,
    rule,
    sized,
    standard,
    strided,
    with_inputs,
    worth,
)

LOOK = """
def looking():
    def look(gradient_by_step, network, x, asks):
        "What differs after a call: x that asks for gradients or not, its `.grad`, the graph of the result."
        x = x.clone().requires_grad_(asks)
        x.grad = torch.ones_like(x)
        for parameter in network.parameters():
            parameter.requires_grad_(False)
        result = gradient_by_step(network, x)
        kept = x.grad is not None and bool((contents.numbers_of(x.grad) == 1).all())
        frozen = not any(contents.asks_for_gradients(each) for each in network.parameters())
        return [contents.asks_for_gradients(x) == asks, kept, frozen, not contents.has_graph(result)]

    return look
"""
SAID = (
    "The call changes whether `x` asks for gradients. `x` is the caller's: let a tensor of your own ask.",
    "The call changes `x.grad`, which is the caller's. `backward()` writes into `.grad`; another function of "
    "torch's hands the gradient to you.",
    "The call makes parameters of a frozen network ask for gradients. They need not: ask for the gradient of "
    "`x` alone.",
    "The result is still part of a graph: whoever adds up such norms keeps every graph in memory.",
)


task = FunctionSpec(
    "gradient_by_step",
    inputs={"network": Handed(nn.LSTM, "D", "H", batch_first=True), "x": "B T D"},
    outputs={"norms": "T"},
    reference="reference_gradient_by_step:norms",
)
OTHERS = tuple(
    with_inputs(f"with an nn.{kind.__name__}", network=Handed(kind, "D", "H", batch_first=True))
    for kind in (nn.RNN, nn.GRU)
)

standard(
    task,
    shape=worth(title="It returns one norm for each time step, (time)."),
    values=worth(
        0.5,
        USUAL.named("with an nn.LSTM"),
        *OTHERS,
        title="It gives the norms for an nn.LSTM, an nn.RNN and an nn.GRU.",
    ),
    any_size=worth(
        0,
        sized("with one sequence (B = 1)", B=1),
        sized("with one time step (T = 1)", T=1),
        sized("with every size 4", B=4, T=4, D=4, H=4),
        strided(),
    ),
    gradients="the result is off the graph",
    devices=worth(gradients=False),
    leaves_arguments=worth(0.5, title="Nobody's `.grad` changes, and the network stays as it was."),
)


@points(0)
@rule("mutation")
@needs("test_values")
def test_x_untouched(submission, sizes, draw):
    """`x` may ask for gradients or not, and stays so; the result is off the graph."""
    call = task.prepare(submission, USUAL, draw)
    look = submission.given("looking", source=LOOK, dtype=None)
    for asks in (False, True):
        seen = look(submission.gradient_by_step.attribute(), *call.arguments, asks)
        for holds, said in zip(seen, SAID, strict=True):
            if not holds:
                fail(said)
