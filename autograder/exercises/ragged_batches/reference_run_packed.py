"""References of `run_packed`."""

from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from autograder.exercises.handed import driven_here


def packed_run(lstm, x, lengths):
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    output, state = lstm(packed)
    return pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])[0], state


def one_packed_call(lstm, numbers, before, x, lengths):
    """The results of a driven LSTM that is called with the packed batch, after so many calls before."""
    return packed_run(driven_here(lstm, numbers, before), x, lengths)
