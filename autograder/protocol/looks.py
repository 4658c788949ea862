"""Numbers that a student's code looks at, and the ways in which a worker may answer it."""

WAYS = 5
"""Ways to answer otherwise: nearly the same, of the other sign, much larger, none at all, zero."""
NOT_A_NUMBER = 3
"""The one of them that shows in whatever is computed from it."""
AS_IT_IS = -1
"""The way that answers with the true numbers."""
