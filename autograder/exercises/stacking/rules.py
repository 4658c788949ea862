"""The cases in which `StackedLSTM` and `MultiLayerLSTM` are called, and what both obey after eval()."""

from autograder.checking import USUAL, Draw, ModuleSpec, Submission, asked, case, expect, sized, strided
from autograder.exercises.stacking.given import RATE

TWO = sized("", L=2)
"""Two layers show what many do, and cost less."""

OTHER_SIZES = (
    sized("with one layer", L=1),
    sized("with five layers", L=5),
    sized("with every size 2", B=2, T=2, D=2, H=2, L=2),
    sized("with every size 1", B=1, T=1, D=1, H=1, L=1),
    TWO.sized("with one sequence (B = 1)", B=1),
    # Made anew only where its own sizes are others: that costs as much as several calls.
    TWO.sized("with one time step (T = 1)", T=1).again(),
    TWO.sized("with another number of sequences and steps", B=3, T=4).again(),
    strided().sized("with inputs that are not contiguous in memory", L=2).again(),
)

# Every kernel takes long where it is watched, so one has two steps and the other two layers.
WITHOUT_STATE = sized("", L=1, T=2).leaving_out("state", words="without a state").with_options(dropout=RATE)
WITH_STATE = sized("with a state", L=2, T=1).with_options(dropout=RATE)


def expect_no_dropout_after_eval(task: ModuleSpec, submission: Submission, draw: Draw) -> None:
    """Expect a module with dropout, after training and eval(), to compute like one without.

    Its inputs have as many features as there are hidden units, as where dropout is read in training.
    """
    square = draw.at(draw.sizes.but(L=2, D=draw.sizes.H))
    call = task.prepare(submission, USUAL.with_options(dropout=RATE), square)
    module = call.target
    module.train()
    module.defer(*call.arguments)
    module.eval()
    after = f"after eval() with dropout={RATE}"
    contexts = (
        f"{after} and input_size = hidden_size",
        f"{after} and input_size = hidden_size, a second time",
    )
    for answer, context in asked((module.request(*call.arguments), context) for context in contexts):
        with case(context):
            expect(answer(), task.right(call), **task.form, sizes=call.sizes)
