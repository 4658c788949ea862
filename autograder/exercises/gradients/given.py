"""Steps made forward, and the parts of torch that the tasks on gradients are judged without."""

from dataclasses import replace

import torch

from autograder.checking import USUAL, Without
from autograder.exercises.from_scratch import RECURRENT

ENGINE = Without(
    operators=r"^aten::(_backward|_make_dual)$",
    code=(
        ("torch/autograd/__init__.py", r"backward|grad"),
        ("torch/autograd/graph.py", r"_engine_run_backward"),
        ("torch/autograd/gradcheck.py", r".*"),
    ),
    say="Here you compute the gradient yourself: torch's autograd must not do the work.",
)
"""Torch without what runs backward through a graph, or forward with derivatives."""
BY_HAND = Without(
    operators=f"{ENGINE.operators}|{RECURRENT.operators}",
    code=ENGINE.code + RECURRENT.code,
    say="Here you go backward yourself: torch's autograd and recurrent modules must not do the work.",
    graphs=True,
)
"""Without these and recurrent kernels, and nothing records a graph."""


def one_step(d_next, x, h, noise, w_ih, w_hh):
    """Put the state after the step in the place of drawn numbers, whose first row is the bias."""
    h_next = torch.rnn_tanh_cell(x, h, w_ih, w_hh, noise[0], torch.zeros_like(noise[0]))
    return d_next, x, h, h_next, w_ih, w_hh


def all_steps(d_output, d_h_n, x, h_0, noise, w_ih, w_hh):
    """Put the states after all steps in the place of drawn numbers, which begin with the bias."""
    weights = [w_ih, w_hh, noise[0, 0], torch.zeros_like(noise[0, 0])]
    output, _ = torch.rnn_tanh(x, h_0.unsqueeze(0), weights, True, 1, 0.0, False, False, True)
    return d_output, d_h_n, x, h_0, output, w_ih, w_hh


STEP, LAYER = replace(USUAL, changed=one_step), replace(USUAL, changed=all_steps)
"""The usual case, and what others begin from: the state, or the output, is that of the other inputs."""
