"""`class CharLM(nn.Module)`: embedding, LSTM and output layer, a weight shared or not."""

from functools import partial

import torch

from autograder.checking import (
    USUAL,
    ModuleSpec,
    as_leaves,
    case,
    expect_gradients,
    fail,
    leaving_out,
    needs,
    points,
    reference,
    rule,
    sized,
    standard,
    with_inputs,
    worth,
)

ENDS = ("embedding.weight", "fc.weight")
"""The two ends of the network, one parameter where they are tied."""
TIED = """
from copy import deepcopy


def copied(module):
    return deepcopy(module)


def looking():
    return lambda module: [torch.equal(module.embedding.weight, module.fc.weight)]
"""


tied_ends = reference("reference_CharLM:tied_ends")


def tie(parameters):
    """The parameters, with the numbers of the embedding at both ends."""
    return {**parameters, "fc.weight": parameters["embedding.weight"]}


def parameters(sizes):
    of_layer = {"weight_ih": "4H H", "weight_hh": "4H H", "bias_ih": "4H", "bias_hh": "4H"}
    layers = {f"lstm.{part}_l{layer}": dims for layer in range(sizes.L) for part, dims in of_layer.items()}
    return {"embedding.weight": "V H", **layers, "fc.weight": "V H", "fc.bias": "V"}


task = ModuleSpec(
    "CharLM",
    made_with={"vocab_size": "V", "size": "H", "num_layers": "L", "tied": False},
    defaults={"num_layers": 1, "tied": False},
    parameters=parameters,
    inputs={"ids": lambda draw: draw.ints("B T", draw.sizes.V), "state": {"h": "L B H", "c": "L B H"}},
    outputs={"logits": "B T V", "state": {"h_n": "L B H", "c_n": "L B H"}},
    reference="reference_CharLM:logits_and_state",
)
NO_STATE = leaving_out("state")

standard(
    task,
    registered=worth(
        0.5, title="Its parameters are those of `embedding`, of `lstm` with all its layers, and of `fc`."
    ),
    shape=worth(title="It returns logits for every step, and the state (h_n, c_n)."),
    values=worth(
        0.5,
        title="With the same weights, it gives the logits of every step, and the last state of every layer.",
    ),
    any_size=worth(
        0.5,
        NO_STATE,
        USUAL.named("with a state, when it is called again").again(),
        NO_STATE.named("without a state, after two calls").again(),
        sized("with one sequence (B = 1)", B=1),
        sized("with one token (T = 1)", T=1),
        sized("with one layer", L=1),
        sized("with every size 1", B=1, T=1, H=1, L=1),
        sized("with every size 4", B=4, T=4, H=4, L=4, V=4),
        sized("with a long text", B=2, T=(70, 90), L=1),
        sized("with weights tied").with_options(tied=True).with_parameters(tie),
        with_inputs(
            "with ids that are not contiguous in memory", ids=lambda draw: draw.ints("T B", draw.sizes.V).T
        ),
        title="Every call starts from the state that it is given, or from zeros; it works for any sizes.",
    ),
    gradients=worth(
        0.5,
        title="Gradients reach every parameter and the given state, through the logits and the state.",
        tell="Is the state, or a part of the computation, detached?",
    ),
    dtypes=worth(briefly=[sized("without a state", T=2).leaving_out("state", words="without `state`")]),
    devices=worth(
        0, NO_STATE, USUAL, title="With the model and the ids on a GPU, everything is created there."
    ),
    leaves_arguments=worth(0, teaching_only=True, title="The call leaves the ids and the state unchanged."),
)


def expect_one_parameter(module, sizes, told=""):
    """Expect a tied module to have one parameter for both ends, and return its name."""
    seen, expected = module.registered(), task.shapes(sizes)
    lost = [name for name in expected if name not in seen.saved]
    if lost:
        fail(
            f"With `tied=True` its `state_dict()` has no `{lost[0]}`: `fc` and `embedding` keep their "
            "weights, under the same names."
        )
    held = [name for name in ENDS if name in seen.shapes]
    if len(held) == 2:
        same = (
            "in the same memory, of which an optimizer knows nothing" if any(seen.shared) else "of their own"
        )
        fail(
            f"With `tied=True`, `embedding.weight` and `fc.weight` are still two parameters, {same}. "
            f"Expected one: the very same `nn.Parameter` under both names.{told}"
        )
    if not held or len(seen.shapes) != len(expected) - 1:
        fail("With `tied=True` it has other parameters than without, besides the one that is shared.")
    return held[0]


def tied(submission, sizes, held):
    """A tied model of the student's that holds these numbers."""
    model = task.make(submission, sizes, tied=True)
    model.to(torch.float64)
    model.load_state_dict(held)
    return model


@points(0.5)
@rule("registration")
@needs("parameters")
def test_tied(submission, sizes, draw):
    """With tied=True, fc.weight is embedding.weight: one parameter, and still one after all that moves it."""
    held = draw.named({name: shape for name, (_, shape) in task.shapes(sizes).items()}, spread=0.5)
    model = task.make(submission, sizes, tied=True)
    (equal,) = submission.given("looking", source=TIED, dtype=None)(model)
    told = " They began with the same numbers; the first step of training moves them apart." if equal else ""
    tied(submission, sizes, held)(draw.ints("B T", sizes.V))  # which end it uses, where there are two
    expect_one_parameter(model, sizes, told)
    with case("after `.to(…)`, `load_state_dict` and `copy.deepcopy`"):
        copy = submission.given("copied", tied(submission, sizes, tie(held)), source=TIED, dtype=None)
        expect_one_parameter(copy, sizes)


@points(0.5)
@rule("gradient")
@needs("gradients", test_tied)
def test_tied_gradient(submission, sizes, draw):
    """With tied=True, the gradient of the shared weight is the sum of both uses."""
    held = tie(draw.named({name: shape for name, (_, shape) in task.shapes(sizes).items()}, spread=0.5))
    model = tied(submission, sizes, held)
    name = expect_one_parameter(model, sizes)
    (gone,) = set(ENDS) - {name}
    leaves = as_leaves({own: value for own, value in held.items() if own != gone})
    expect_gradients(
        model,
        partial(tied_ends, name, leaves),
        (draw.ints("B T", sizes.V), (draw("L B H"), draw("L B H"))),
        names=("h", "c"),
        parameters=leaves,
        draw=draw,
        tell="The shared weight is used twice, to look ids up and to make logits: is one of the two cut off?",
        results=task.names,
    )
