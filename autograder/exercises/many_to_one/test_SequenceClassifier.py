"""`class SequenceClassifier(nn.Module)`: embedding, LSTM, and class scores from the last hidden state."""

import torch

from autograder.checking import (
    Case,
    ModuleSpec,
    case,
    computed_once,
    expect_registered,
    points,
    rule,
    sized,
    with_inputs,
)
from autograder.exercises.many_to_one.given import (
    FRESH_START,
    OUTPUTS,
    network_parameters,
    remembering,
)


@computed_once
def reading_far(parameters):
    """The parameters with vectors a hundred thousand times as long, of which the LSTM makes as little."""
    kept = remembering(parameters)
    vectors, weight = kept["embedding.weight"], kept["lstm.weight_ih_l0"]
    return {**kept, "embedding.weight": 1e5 * vectors, "lstm.weight_ih_l0": weight / 1e5}


@computed_once
def ending_differently(ids):
    """The ids with each of the vocabulary at the end of one sequence."""
    return torch.cat([ids[:, :-1], torch.arange(len(ids))[:, None]], dim=1)


task = ModuleSpec(
    "SequenceClassifier",
    made_with={
        "vocab_size": "V",
        "embedding_dim": "D",
        "hidden_size": "H",
        "num_classes": OUTPUTS,
        "num_layers": "L",
    },
    defaults={"num_layers": 1},
    parameters=lambda sizes: {
        "embedding.weight": "V D",
        **network_parameters("lstm", "4H", sizes.L),
        "fc.weight": "{num_classes} H",
        "fc.bias": "{num_classes}",
    },
    inputs={"ids": lambda draw: draw.ints("B T", draw.sizes.V)},
    outputs={"scores": "B {num_classes}"},
    reference="reference_SequenceClassifier:scores",
)


@points(0)
@rule("registration")
def test_parameters(submission, sizes, draw):
    """Its parameters are those of `embedding`, of `lstm` with all its layers, and of `fc`."""
    for other, context in (
        (sizes, f"with num_layers={sizes.L}"),
        (sizes.but(L=1), "with num_layers left out (1)"),
    ):
        with case(context):
            expect_registered(task.make(submission, other), task.shapes(other), "`SequenceClassifier`")


test_shape = task.shape(
    title="A batch of token ids gives one row of class scores per sequence, (batch, num_classes).",
    needs=[test_parameters],
)
test_matches_torch = task.values(
    sized("", H=23),  # so many units that some are negative
    title="With the same weights, it gives the scores of the top layer's final hidden state.",
    points=0.5,
    needs=[test_shape],
)
test_fresh_start = task.values(
    *FRESH_START,
    title="Every call starts from zero states: earlier batches have no influence.",
    points=0.5,
    needs=[test_matches_torch],
)
test_follows_its_parameters = task.follows(
    title="After its parameters have changed, by training or loading, it computes with the new ones.",
    needs=[test_fresh_start],
)
test_any_size = task.any_size(
    sized("with one sequence (B = 1)", B=1),
    sized("with one token (T = 1)", T=1),
    sized("with one layer", L=1),
    sized("with two layers and two classes", L=2).with_options(num_classes=2),
    sized("with every size 1", B=1, T=1, D=1, H=1, L=1).with_options(num_classes=1),
    sized("with every size 4", B=4, T=4, D=4, H=4, L=4, V=4).with_options(num_classes=4),
    sized("with more of everything", B=(20, 70), L=(5, 9), V=(60, 300)).with_options(num_classes=(10, 40)),
    sized("with a long sequence of very long vectors", B=2, T=(70, 130), L=1).with_parameters(reading_far),
    with_inputs(
        "with ids that are not contiguous in memory", ids=lambda draw: draw.ints("T B", draw.sizes.V).T
    ),
    sized("when the same model gets a batch of another size and length", B=4, T=6).again(),
    Case(
        "with every id of the vocabulary in one sequence",
        sizes={"B": 1, "T": "V"},
        given={"ids": lambda draw: torch.arange(draw.sizes.V)[None]},
        is_again=True,
    ),
    title="It works for one sequence, one token, one layer, equal sizes, two classes, and changing batches.",
    points=0.5,
    needs=[test_matches_torch],
)
test_gradients = task.gradients(
    Case(
        "with several sequences",
        sizes={"B": "V"},
        given={"ids": lambda draw: ending_differently(draw.ints("B T", draw.sizes.V))},
    ),
    further=[sized("with one long sequence (B = 1)", B=1, T=(31, 70), L=1).with_parameters(remembering)],
    tell="Is part of the computation cut off, or is one id treated differently from the others?",
    title="Gradients reach every parameter, including the embedding of every id.",
    points=0.5,
    needs=[test_matches_torch],
)
test_dtype = task.dtypes(
    sized("", T=2),  # steps cost, and change no dtype
    title="A model of one dtype gives scores of that dtype.",
    needs=[test_shape],
)
test_device = task.devices(
    title="With the model and the ids on a GPU, everything is created and computed there.",
    needs=[test_shape, test_parameters, test_dtype],
)
test_ids_untouched = task.leaves_arguments(
    title="The call leaves the ids unchanged.", teaching_only=True, needs=[test_shape]
)
