"""Checks of `tbptt_step` for grading only."""

from autograder.checking import case, hidden, needs, points, rule
from autograder.exercises.state.given import random_state
from autograder.exercises.state.training import Bench, expect_step


@points(0.5)
@rule("values")
@hidden("Called chunk after chunk, with its own state, it trains the network as it should.")
@needs("test_gradients_cleared", "test_off_the_graph", "test_dtype")
def test_chunk_after_chunk(submission, sizes, draw):
    """Four chunks in a row, each continuing from the last one's state, train the network as torch does."""
    for kind, options in (("SGD", {"lr": 0.05, "momentum": 0.9}), ("Adam", {"lr": 0.02})):
        bench, state = Bench(submission, draw, kind, **options), random_state(draw)
        before = {name: value.clone() for name, value in bench.parameters().items()}
        mine = theirs = state
        for number in range(4):
            if number == 2:
                bench.change_pace(options["lr"] / 3)
            x, y = draw("B T D"), draw("B T V")
            answer, reference = bench.ask(x, y, theirs), bench.step(x, y, mine)
            with case(f"in chunk {number} with {kind}"):
                expect_step(answer, reference, sizes)
            theirs, mine = answer[1], reference[1]
        bench.expect_same_parameters(before)
