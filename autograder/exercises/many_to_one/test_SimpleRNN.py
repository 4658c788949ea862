"""`class SimpleRNN(nn.Module)`: an nn.RNN over a sequence, and a linear layer on its last step."""

from autograder.checking import (
    USUAL,
    ModuleSpec,
    case,
    expect_registered,
    make_module,
    points,
    rule,
    sized,
    strided,
)
from autograder.exercises.many_to_one.given import (
    FRESH_START,
    OUTPUTS,
    network_parameters,
    remembering,
)

task = ModuleSpec(
    "SimpleRNN",
    made_with={"input_size": "D", "hidden_size": "H", "num_layers": "L", "output_size": OUTPUTS},
    parameters=lambda sizes: {
        **network_parameters("rnn", "H", sizes.L),
        "fc.weight": "{output_size} H",
        "fc.bias": "{output_size}",
    },
    inputs={"x": "B T D"},
    outputs={"prediction": "B {output_size}"},
    reference="reference_SimpleRNN:predictions",
)


@points(0)
@rule("registration")
def test_parameters(submission, sizes, draw):
    """Its parameters are those of `rnn`, an nn.RNN with all its layers, and of `fc`, an nn.Linear."""
    for outputs, told, context in (
        (OUTPUTS, (OUTPUTS,), f"with output_size={OUTPUTS}"),
        (1, (), "with output_size left out (1)"),
    ):
        model = make_module(submission.SimpleRNN, sizes.D, sizes.H, sizes.L, *told, told=task.told)
        with case(context):
            expect_registered(model, task.shapes(sizes, output_size=outputs), "`SimpleRNN`")


test_shape = task.shape(
    title="A batch of sequences gives one row of outputs per sequence, (batch, output_size).",
    needs=[test_parameters],
)
test_matches_torch = task.values(
    sized("", H=23),  # so many units that some are negative
    title="With the same weights, it gives what nn.RNN and nn.Linear give for the top layer's last step.",
    points=0.5,
    needs=[test_shape],
)
test_fresh_start = task.values(
    *FRESH_START,
    title="Every call starts from a zero state: earlier calls have no influence.",
    points=0.5,
    needs=[test_matches_torch],
)
test_follows_its_parameters = task.follows(
    title="After its parameters have changed, by training or loading, it computes with the new ones.",
    needs=[test_fresh_start],
)
test_any_size = task.any_size(
    sized("with one sequence (B = 1)", B=1),
    sized("with one time step (T = 1)", T=1),
    sized("with one layer (L = 1)", L=1),
    sized("with one feature and one output", D=1).with_options(output_size=1),
    sized("with every size 1", B=1, T=1, D=1, H=1, L=1).with_options(output_size=1),
    sized("with every size 4", B=4, T=4, D=4, H=4, L=4).with_options(output_size=4),
    sized("with more of everything", B=(20, 70), L=(5, 9)).with_options(output_size=(10, 40)),
    sized("with a long sequence in which every step counts", B=2, T=(70, 130), L=1).with_parameters(
        remembering
    ),
    strided(),
    sized("when the same model gets a batch of another size and length", B=4, T=6).again(),
    title="It works for one sequence, one step, one layer, equal sizes, one output, and changing batches.",
    points=0.5,
    needs=[test_matches_torch],
)
test_gradients = task.gradients(
    USUAL.named("with several sequences"),
    further=[sized("with one long sequence (B = 1)", B=1, T=(31, 70), L=1).with_parameters(remembering)],
    title="Gradients flow back through all time steps and layers to the input and every parameter.",
    points=0.5,
    needs=[test_matches_torch],
)
test_dtype = task.dtypes(
    title="A model and input of one dtype give a prediction of that dtype.", needs=[test_shape]
)
test_device = task.devices(
    title="With the model and its input on a GPU, everything is created and computed there.",
    points=0.5,
    needs=[test_shape, test_parameters, test_dtype],
)
test_input_untouched = task.leaves_arguments(
    title="The call leaves the input unchanged.", teaching_only=True, needs=[test_shape]
)
