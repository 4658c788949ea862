"""`embed_then_rnn(token_ids, embedding, rnn)`: ids to vectors, vectors through a batch-first nn.RNN."""

from torch import nn

from autograder.checking import FunctionSpec, Handed, sized, standard, with_inputs, worth


def strided_ids(draw):
    return draw.ints("T B", draw.sizes.V).T


task = FunctionSpec(
    "embed_then_rnn",
    inputs={
        "token_ids": lambda draw: draw.ints("B T", draw.sizes.V),
        "embedding": Handed(nn.Embedding, "V", "D"),
        "rnn": Handed(nn.RNN, "D", "H", "L", batch_first=True),
    },
    outputs={"output": "B T H", "h_n": "L B H"},
    reference="reference_embed_then_rnn:embedded_run",
)

standard(
    task,
    shape=worth(
        0,
        title="It returns the top layer's steps (batch, time, hidden) and the final states (layers, batch, "
        "hidden).",
    ),
    values=worth(
        0.5,
        name="matches_torch",
        title="Every token is looked up in the given embedding, and the given RNN reads the vectors.",
    ),
    any_size=worth(
        0.5,
        sized("with one sequence (B = 1)", B=1),
        sized("with one token per sequence (T = 1)", T=1),
        sized("with one layer (L = 1)", L=1),
        sized("with every size 1", B=1, T=1, D=1, H=1, L=1),
        sized("with every size 4", B=4, T=4, D=4, H=4, L=4),
        sized("with longer sequences", B=6, T=23),
        with_inputs("with token ids that are not contiguous in memory", token_ids=strided_ids),
        with_inputs("with two other networks of that size", token_ids=strided_ids),
        title="It works for one sequence, one token, one layer, longer texts, and non-contiguous ids.",
    ),
    gradients=worth(
        0.5,
        title="Gradients reach the embedding's table and all of the RNN's weights, so that both can be "
        "trained.",
        tell="`weight` is the embedding's, the others are the RNN's. Do you detach one, or read it through "
        "`.data`?",
    ),
    dtypes=worth(title="The results have the dtype of the embedding and the RNN."),
    devices=worth(
        0, title="With the ids and both networks on a GPU, everything is created and computed there."
    ),
    leaves_arguments=worth(title="The call leaves the token ids and the weights unchanged."),
)
