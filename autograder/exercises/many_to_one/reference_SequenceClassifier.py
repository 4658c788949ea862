"""References of `SequenceClassifier`."""

from autograder.exercises.many_to_one.given import linear, run_network


def scores(parameters, ids):
    _, h_n, _ = run_network(parameters, "lstm", parameters["embedding.weight"][ids])
    return linear(parameters, h_n[-1])
