"""Checks of `sample` for grading only."""

from autograder.checking import Case, sized
from autograder.exercises.language_model.test_sample import prompt, step_by_step, task
from autograder.exercises.seq2seq.hidden_greedy_generate import speaker

test_any_size = task.any_size(
    sized("with one sequence (B = 1)", B=1, T=4),
    Case("with a prompt of one token", {"T": 4}, given={"prompt_ids": prompt(1)}),
    sized("with one step", T=1),
    Case("with one sequence, one token and one step", {"B": 1, "T": 1}, given={"prompt_ids": prompt(1)}),
    Case("with every size 4", {"B": 4, "T": 4, "V": 4}, given={"prompt_ids": prompt(4)}),
    sized("with many steps", T=(40, 50)),
    Case("with a long prompt", {"B": 2, "T": 2}, given={"prompt_ids": prompt((40, 130))}),
    sized("with many sequences and tokens", B=(20, 70), T=2, V=(40, 130)),
    Case("with an LSTM language model", {"T": 6}, given={"model": speaker}),
    explain=step_by_step,
    title="It works for one sequence, a prompt of one token, one step, and an LSTM language model.",
    points=0.5,
    hidden="It works for other models, prompts and numbers of steps than the ones you have seen.",
    needs=["test_cold"],
)
