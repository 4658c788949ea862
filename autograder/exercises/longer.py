"""A sequence much longer than the others, for what shows only after many steps."""

from autograder.checking import Case, Sizes, sized

SINGLE_SIZES = (
    sized("with one time step (T = 1)", T=1),
    sized("with one sequence (B = 1)", B=1),
    sized("with every size 1", B=1, T=1, D=1, H=1),
)
LONG = sized("with {T} time steps", B=2, T=(40, 70))


def _fewer_sequences(sizes: Sizes) -> Sizes:
    few, many = sorted((sizes.B, sizes.T))
    return sizes.but(B=few, T=many)


FEWER_SEQUENCES_THAN_STEPS = Case(arranged=_fewer_sequences)
"""The usual case, in which a loop over the batch ends early: its shape tells why."""
