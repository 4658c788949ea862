"""References of `SequenceClassifier`."""

from autograder.exercises.many_to_one.given import linear, run_network


def scores(parameters, ids):
    _, h_n, _ = run_network(parameters, "lstm", parameters["embedding.weight"][ids])
    return linear(parameters, h_n[-1])


def slips(parameters, ids):
    """Results of the well-known slips, by the hint for each."""
    output, h_n, c_n = run_network(parameters, "lstm", parameters["embedding.weight"][ids])
    given = {
        "It is what the bottom layer's state gives; expected the top layer's.": h_n[0],
        "It is what the cell state gives; expected the hidden state.": c_n[-1],
        "It is what the first time step gives; expected the state after the last.": output[:, 0],
        "It is what the mean over all steps gives; expected the last state.": output.mean(1),
    }
    right = linear(parameters, h_n[-1])
    return {hint: linear(parameters, states) for hint, states in given.items()} | {
        "They are probabilities. Return the scores themselves, without a softmax: `cross_entropy` applies "
        "the softmax itself.": right.softmax(1),
        "They are logarithms of probabilities. Return the scores themselves: `cross_entropy` does the "
        "rest.": right.log_softmax(1),
    }
