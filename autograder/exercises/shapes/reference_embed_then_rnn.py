"""References of `embed_then_rnn`."""


def embedded_run(token_ids, embedding, rnn):
    return rnn(embedding(token_ids))
