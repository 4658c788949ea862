"""References of `run_in_chunks`."""

import torch

from autograder.exercises.handed import driven_here


def in_chunks(lstm, numbers, before, lengths, x, state=None):
    """The results of a driven LSTM, called with chunks of these lengths after so many calls before."""
    given, outputs = driven_here(lstm, numbers, before), []
    for chunk in x.split(lengths, dim=1):
        output, state = given(chunk, state)
        outputs.append(output)
    return torch.cat(outputs, dim=1), state
