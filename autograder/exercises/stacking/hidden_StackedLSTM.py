"""Checks of `StackedLSTM` for grading only."""

from autograder.checking import carried, case, expect, hidden, needs, points, rule, with_inputs
from autograder.exercises.stacking.given import run_stack
from autograder.exercises.stacking.rules import OTHER_SIZES
from autograder.exercises.stacking.test_StackedLSTM import task


@points(0.5)
@rule("generality")
@hidden("It works for stacks of other depths and sizes, and continues from the state it returned.")
@needs("test_matches_torch")
def test_any_depth(submission, sizes, draw):
    """It works for other depths and sizes, for non-contiguous inputs, and in two successive calls."""
    task.any_size(*OTHER_SIZES)(submission, sizes, draw)
    # A long sequence may have counted c up.
    counted = with_inputs("", state=lambda draw: (draw("L B H"), draw("L B H", spread=20))).sized("", L=2)
    here = counted.draw(draw)
    call, further = task.prepare(submission, counted, here), here("B T D")
    middle = task.right(call)[1]
    with case("in a second call that goes on from the state of the first"):
        begun = carried(call.target(*call.arguments)[1], middle)
        right = run_stack(call.parameters, further, middle)
        expect(call.target(further, begun), right, **task.form, sizes=call.sizes)
