"""What a task is handed on the student's side: a recurrent module of torch's that notes its calls."""

from collections.abc import Iterator

import torch
from torch import nn

from autograder.checking import Submission, Target, fail

NOTING = """
NOTES = {
    "lengths": lambda x: x.shape[-2],
    "shapes": lambda x: tuple(x.shape),
    "packed": lambda x: isinstance(x, nn.utils.rnn.PackedSequence),
}


def noting(notes, kind, *args, **kwargs):
    module, seen = getattr(nn, kind)(*args, **kwargs), []
    forward = module.forward

    def noted(input, hx=None):
        seen.append(NOTES[notes](input))
        return forward(input, hx)

    setattr(module, notes, seen)
    module.forward = noted
    return module
"""
"""Makes a module of torch's and nothing else, by its type too, but for one more attribute."""


def noting(
    submission: Submission, module: nn.RNNBase | nn.LSTMCell, notes: str, dtype: torch.dtype = torch.float64
) -> Target:
    """The same module on the student's side, an RNN or LSTM as a batch-first one.

    Its attribute `notes` lists what each call was given: how many time steps (`"lengths"`), an input of
    what shape (`"shapes"`), or whether the input was packed (`"packed"`).
    """
    layers = {"num_layers": module.num_layers, "batch_first": True} if isinstance(module, nn.RNNBase) else {}
    return submission.given(
        "noting",
        notes,
        type(module).__name__,
        module.input_size,
        module.hidden_size,
        **layers,
        source=NOTING,
        state=module.state_dict(),
        dtype=dtype,
    )


def each_place_of_lengths(position: int) -> Iterator[tuple[tuple[int, ...], str]]:
    """Where the lengths, the argument at `position`, may be while the data is on a GPU.

    Each place as the arguments that stay on the CPU (`on_cpu`) and the words for it.
    """
    yield (position,), "with the lengths on the CPU"
    yield (), "with the lengths on the GPU, too"


def expect_weights_untouched(given: Target, module: nn.Module, name: str) -> None:
    """What was handed over as `name` still has its weights."""
    after = given.state_dict()
    for parameter, value in module.state_dict().items():
        if not torch.equal(after[parameter], value):
            fail(f"The call changed `{name}.{parameter}`. Use the weights, do not write into them.")
