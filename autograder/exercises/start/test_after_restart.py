"""`after_restart`: the shapes that three names have when printed cells are run again from top to bottom."""

from typing import Any

from autograder.checking import NotWritten, fail, in_words, needs, points, reference, rule

shapes_left = reference("reference_after_restart:shapes_left")
NAMES, OPEN = ("x", "y", "means"), "?"


def answers_in(submission) -> dict[str, Any]:
    """Return the answer for each of the three names, or fail and say what `after_restart` is instead."""
    told = submission.after_restart.attribute()
    if not isinstance(told, dict):
        fail(f"`after_restart` must be a dict with a shape for each name; it is {in_words(told)}.")
    if missing := [name for name in NAMES if name not in told]:
        fail(f"The dict has no key `{missing[0]!r}`. For a name that does not exist any more, write `None`.")
    return {name: told[name] for name in NAMES}


def expect_shape(name: str, answer: Any) -> None:
    """Expect `None`, or the shape that the cells leave."""
    right = shapes_left()[name] or None
    if (tuple(answer) if answer is not None else None) != right:
        seen = "no tensor any more" if answer is None else f"a tensor of shape {tuple(answer)}"
        fail(f"You say that after the restart `{name}` is {seen}. Which cells make it, from the top down?")


@points(0)
@rule("shape")
def test_form(submission, sizes, draw):
    """It holds a shape for each name, whole numbers in a tuple or list, or None."""
    told = answers_in(submission)
    still_open = [name for name, answer in told.items() if answer == OPEN]
    if len(still_open) == len(told):
        raise NotWritten("Not written yet: no name has a shape.")
    if still_open:
        fail(f"Still open: {', '.join(still_open)}. Replace `{OPEN!r}` by a shape, or by `None`.")
    for name, answer in told.items():
        if answer is not None and not isinstance(answer, (tuple, list)):
            fail(f"`{name}` holds {in_words(answer)}. A shape is a tuple of whole numbers, as (4, 5).")
        if answer is not None and not all(type(size) is int for size in answer):
            fail(f"The shape under `{name}` holds something that is not a whole number (`int`).")


@points(0.5)
@rule("values")
@needs(test_form)
def test_shapes(submission, sizes, draw):
    """`x` and `y` have the shapes that they have after Restart and run all."""
    told = answers_in(submission)
    for name in ("x", "y"):
        expect_shape(name, told[name])


@points(0.5)
@rule("values")
@needs(test_form)
def test_means(submission, sizes, draw):
    """It says what has become of `means`."""
    expect_shape("means", answers_in(submission)["means"])
