"""The inputs of the tasks on one step, and their sizes."""

from autograder.checking import sized, weight

WEIGHTS = {"w_ih": weight("4H D"), "w_hh": weight("4H H"), "b_ih": weight("4H"), "b_hh": weight("4H")}
"""Torch's stacked weights."""
SIZES = (
    sized("with one sequence (B = 1)", B=1),
    sized("with one feature and one hidden unit", D=1, H=1),
    sized("with every size 4", B=4, D=4, H=4),
)
