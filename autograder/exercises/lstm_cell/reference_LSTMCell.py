"""References of `LSTMCell`."""

from autograder.exercises.per_gate import cell_step


def next_state(parameters, x, state=None):
    zeros = x.new_zeros(x.shape[0], parameters["b_i"].shape[0])
    return cell_step(parameters, x, *(state or (zeros, zeros)))
