"""Checks of `greedy_generate` for grading only."""

from autograder.checking import Case, reference, sized
from autograder.exercises.seq2seq.given import speaker
from autograder.exercises.seq2seq.test_greedy_generate import after, prompt, step_by_step, task

of_history = reference("reference_greedy_generate:of_history")


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
