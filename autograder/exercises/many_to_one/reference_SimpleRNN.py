"""References of `SimpleRNN`."""

from autograder.exercises.many_to_one.given import linear, run_network


def predictions(parameters, x):
    return linear(parameters, run_network(parameters, "rnn", x)[0][:, -1])
