"""Checks of `greedy_generate` for grading only."""

import torch

from autograder.checking import Case, Draw, reference, sized
from autograder.exercises.handed import made_here
from autograder.exercises.seq2seq.given import Model
from autograder.exercises.seq2seq.test_greedy_generate import after, prompt, step_by_step, task

of_history = reference("reference_greedy_generate:of_history")

SPEAKER = """
class Speaker(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_size, num_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_size, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, vocab_size)

    def forward(self, ids, state=None):
        output, state = self.lstm(self.embedding(ids), state)
        return self.fc(output), state
"""
"""An ordinary LSTM language model. It stands here because 12_language_model asks for one."""


def speaker(draw: Draw) -> Model:
    """Return a `Speaker` with random numbers."""
    shape = draw.sizes.shape("V D H L")
    made = made_here(SPEAKER, "Speaker", *shape).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(draw.like(parameter.shape))
    return Model(made, shape, {}, SPEAKER)


def going_on_after_0(draw):
    """A prompt whose text has token 0 in it and other tokens after that."""
    for _ in range(50):
        prompt_ids = prompt(2)(draw)
        text = of_history(draw.sizes.V, prompt_ids, draw.sizes.T)
        if ((text[:, :-1] == 0) & (text[:, 1:] != 0)).any():
            break
    return prompt_ids


test_any_size = task.any_size(
    sized("with one sequence (B = 1)", B=1, T=4),
    after("with a prompt of one token (T = 1)", prompt(1), T=4),
    sized("with one step", T=1),
    after("with one sequence, one token and one step", prompt(1), B=1, T=1),
    after("with every size 4", prompt(4), B=4, T=4, V=4),
    sized("with many steps", T=(40, 50)),
    after("with a long prompt", prompt((40, 130)), B=2, T=2),
    sized("with many sequences and tokens", B=(20, 70), T=2, V=(40, 130)),
    after("with three tokens in the vocabulary, none of which ends a text", going_on_after_0, B=1, T=12, V=3),
    Case(
        "with an LSTM language model",
        {"T": 6},
        given={"model": speaker, "prompt_ids": lambda draw: draw.ints("5 B", draw.sizes.V).T},
    ),
    explain=step_by_step,
    title="It works for one sequence, a prompt of one token, one step, equal sizes, and an LSTM language "
    "model.",
    points=0.5,
    hidden="It works for other models, prompts and numbers of steps than the ones you have seen.",
    needs=["test_each_row_its_own"],
)
