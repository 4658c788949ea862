"""References of `run_stepwise`."""

import torch

from autograder.exercises.handed import driven_here


def one_step_a_call(rnn, numbers, before, x, state=None):
    """The results of a driven RNN that is called once for each step, after so many calls before."""
    given, outputs = driven_here(rnn, numbers, before), []
    for step in x.split(1, dim=1):
        output, state = given(step, state)
        outputs.append(output)
    return torch.cat(outputs, dim=1), state
