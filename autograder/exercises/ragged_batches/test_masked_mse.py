"""`masked_mse(prediction, target, lengths)`: the mean squared error over real steps only."""

import torch

from autograder.checking import FunctionSpec, expect_gradients, needs, points, rule, standard, worth
from autograder.exercises.ragged_batches.given import (
    EVERY_GRADIENT,
    EVERY_LENGTH,
    HUGE,
    ROOMY,
    each_place,
    padding,
    ragged_lengths,
    room,
)


def scaled(factor):
    """Return a change of inputs that makes them larger, or smaller, by a factor."""
    return lambda prediction, target, lengths: (prediction * factor, target * factor, lengths)


def first_target_zero(prediction, target, lengths):
    return prediction, target.index_fill(1, torch.tensor([0]), 0.0), lengths


def first_step_right(prediction, target, lengths):
    """A prediction without an error at the first step, which counts like any other."""
    return torch.cat([target[:, :1], prediction[:, 1:]], dim=1), target, lengths


task = FunctionSpec(
    "masked_mse",
    inputs={"prediction": "B T D", "target": "B T D", "lengths": ragged_lengths},
    outputs={"loss": ""},
    reference="reference_masked_mse:masked_loss",
)

standard(
    task,
    shape=worth(0, ROOMY, title="It returns one number for the whole batch, a tensor without dimensions."),
    values=worth(
        1,
        room("with zeros as padding of both", changed=padding(0.0, 0.0)),
        room("with zeros as padding of the target only", changed=padding(None, 0.0)),
        room("with padding that is not zero"),
        room("with huge numbers as padding", changed=padding(HUGE, -HUGE)),
        room("with a step that is predicted exactly", changed=first_step_right),
        room("with targets that are zero at a real step", changed=first_target_zero),
        name="mean_of_real_steps",
        title="Each real number of each real step counts once; padding does not, whatever it holds.",
        together=True,
    ),
    any_size=worth(
        0,
        *EVERY_LENGTH,
        room("with one feature (D = 1)", D=1),
        room("with every size 5", B=5, T=5, D=5),
        room("with inputs that are not contiguous in memory", is_strided=True),
        room("with very small numbers", changed=scaled(1e-3)),
        room("with very large numbers", changed=scaled(1e6)),
        title="It works for one sequence, one step, one feature, equal sizes, any lengths, non-contiguous "
        "inputs.",
    ),
    gradients="test_gradients below asks for those of the prediction alone",
    dtypes=worth(
        0,
        ROOMY,
        title="The loss has the dtype of the prediction and target; the mask does not change it.",
    ),
    devices=worth(
        0.5,
        *each_place(),
        title="With the data on a GPU, everything is created and computed there, wherever the lengths are.",
        needs=["shape", "dtype"],
    ),
    leaves_arguments=worth(
        0, ROOMY, title="The call leaves prediction, target, their padding and the lengths unchanged."
    ),
)


@points(0.5)
@rule("gradient")
@needs("mean_of_real_steps")
def test_gradients(submission, sizes, draw):
    """Gradients reach the prediction at every real step and at no padded one."""
    for chosen in (*EVERY_GRADIENT, room("with very large numbers", changed=scaled(1e6))):
        call = task.prepare(submission, chosen, chosen.draw(draw))
        with call.case(), task.if_right(call):
            # None is asked of the target's.
            expect_gradients(call.target, task.reference, call.arguments, names=("prediction",), draw=draw)
