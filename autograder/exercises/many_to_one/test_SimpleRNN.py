"""`class SimpleRNN(nn.Module)`: an nn.RNN over a sequence, and a linear layer on its last step."""

import torch
from torch import nn

from autograder.checking import (
    asked,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    make_module,
    needs,
    points,
    recorded,
    rule,
    teaching_only,
)
from autograder.exercises.many_to_one.given import (
    OUTPUTS,
    expect_answer,
    expect_current,
    expect_fresh_start,
    expect_parts,
    leaves_of,
    numbers_of,
    shapes_of,
)
from autograder.exercises.several import if_right, remembering

KIND = "`SimpleRNN(input_size, hidden_size, num_layers, output_size)`"
DIMS = f"B {OUTPUTS}"


class Reference:
    """torch's RNN and linear layer with random weights: what the student's module must compute."""

    def __init__(self, draw, outputs=OUTPUTS):
        sizes = draw.sizes
        self.rnn = draw.module(nn.RNN, sizes.D, sizes.H, sizes.L, batch_first=True)
        self.fc = draw.module(nn.Linear, sizes.H, outputs)
        self.parts = {"rnn": self.rnn, "fc": self.fc}

    def __call__(self, x):
        return predicted(self.rnn, self.fc, x)

    def remembering(self):
        """The same, with an RNN on whose last step every step has a say."""
        self.rnn = self.parts["rnn"] = remembering(self.rnn)
        return self

    def slips(self, x):
        """What the well-known slips give."""
        return slips(self.rnn, self.fc, x)


@recorded
def predicted(rnn, fc, x):
    return fc(rnn(x)[0][:, -1])


@recorded
def slips(rnn, fc, x):
    output, h_n = rnn(x)
    return {
        "It is what the first time step gives; expected the last.": fc(output[:, 0]),
        "It is what the bottom layer's state gives; expected the top layer's.": fc(h_n[0]),
        "It is what the mean over all steps gives; expected the last step alone.": fc(output.mean(1)),
    }


def new_model(submission, sizes, *outputs, dtype=torch.float64):
    """The student's module as a user would make it for that dtype."""
    model = make_module(submission.SimpleRNN, sizes.D, sizes.H, sizes.L, *outputs, told=KIND)
    model.to(dtype)
    return model


def filled_model(submission, draw, reference):
    """The student's module holding the reference's weights."""
    model = new_model(submission, draw.sizes, reference.fc.out_features)
    model.load_state_dict(numbers_of(**reference.parts))
    return model


@points(0)
@rule("registration")
def test_parameters(submission, sizes, draw):
    """Its parameters are those of `rnn`, an nn.RNN with all its layers, and of `fc`, an nn.Linear."""
    for outputs in (OUTPUTS, 1):
        words = {"input_size": sizes.D, "hidden_size": sizes.H, "output_size": outputs}
        model = new_model(submission, sizes, *([outputs] if outputs > 1 else []))
        with case(f"with output_size={outputs}" if outputs > 1 else "with output_size left out (1)"):
            parts = Reference(draw, outputs).parts
            expect_parts(model, "`SimpleRNN`", shapes_of(words, **parts), **parts)


@points(0)
@rule("shape")
@needs(test_parameters)
def test_shape(submission, sizes, draw):
    """A batch of sequences gives one row of outputs a sequence, (batch, output_size)."""
    answer = new_model(submission, sizes, OUTPUTS)(draw("B T D"))
    expect(answer, draw(DIMS), names="prediction", dims=DIMS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_matches_torch(submission, sizes, draw):
    """With the same weights it gives what nn.RNN and nn.Linear give for the last step of the top layer."""
    here = draw.at(sizes.but(H=23))  # so many units that some are negative
    reference, x = Reference(here), here("B T D")
    answer = filled_model(submission, here, reference)(x)
    expect_answer(answer, reference(x), reference.slips(x), name="prediction", dims=DIMS, sizes=here.sizes)


@points(0.5)
@rule("values")
@needs(test_matches_torch)
def test_fresh_start(submission, sizes, draw):
    """Every call starts from a zero state: what it was called with before has no influence."""
    reference = Reference(draw)
    model = filled_model(submission, draw, reference)
    expect_fresh_start(model, reference, lambda: draw("B T D"), names="prediction", dims=DIMS, sizes=sizes)


@points(0)
@rule("values")
@needs(test_fresh_start)
def test_follows_its_parameters(submission, sizes, draw):
    """After its parameters have changed, by training or by loading, it computes with the new ones."""
    expect_current(
        submission,
        lambda reference: filled_model(submission, draw, reference),
        [Reference(draw) for _ in range(3)],
        draw("B T D"),
        names="prediction",
        dims=DIMS,
        sizes=sizes,
    )


@points(0.5)
@rule("generality")
@needs(test_matches_torch)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, one layer, equal sizes, one output, and changing batches."""
    calls = []
    for other, outputs, context in (
        (sizes.but(B=1), OUTPUTS, "with one sequence (B = 1)"),
        (sizes.but(T=1), OUTPUTS, "with one time step (T = 1)"),
        (sizes.but(L=1), OUTPUTS, "with one layer (L = 1)"),
        (sizes.but(D=1), 1, "with one feature and one output"),
        (sizes.but(B=1, T=1, D=1, H=1, L=1), 1, "with every size 1"),
        (sizes.but(B=4, T=4, D=4, H=4, L=4), 4, "with every size 4"),
        (sizes.but(B=draw.size(20, 70), L=draw.size(5, 9)), draw.size(10, 40), "with more of everything"),
    ):
        here = draw.at(other)
        reference, x = Reference(here, outputs), here("B T D")
        request = filled_model(submission, here, reference).request(x)
        calls.append((request, reference, x, other, outputs, context))
    long = draw.at(sizes.but(B=2, T=draw.size(70, 130), L=1))
    reference, x = Reference(long).remembering(), long("B T D")
    request = filled_model(submission, long, reference).request(x)
    calls.append(
        (request, reference, x, long.sizes, OUTPUTS, "with a long sequence, of which every step counts")
    )
    reference = Reference(draw)
    model = filled_model(submission, draw, reference)
    smaller = draw.at(sizes.but(B=4, T=6))
    for x, other, context in (
        (draw.strided("B T D"), sizes, "with inputs that are not contiguous in memory"),
        (smaller("B T D"), smaller.sizes, "when the same model gets a batch of another size and length"),
    ):
        calls.append((model.request(x), reference, x, other, OUTPUTS, context))
    for answer, reference, x, other, outputs, context in asked(calls):
        with case(context):
            expect(answer(), reference(x), names="prediction", dims=f"B {outputs}", sizes=other)


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients flow back through all time steps and layers to the input and every parameter."""
    long = draw.at(sizes.but(B=1, T=draw.size(31, 70), L=1))
    for here, reference, in_eval, context in (
        (draw, Reference(draw), True, "with several sequences"),
        (long, Reference(long).remembering(), False, "with one long sequence (B = 1)"),
    ):
        model, x = filled_model(submission, here, reference), here("B T D")
        form = {"names": "prediction", "dims": DIMS, "sizes": here.sizes}
        with case(context), if_right(model, (x,), reference(x), always=in_eval, **form):
            expect_gradients(
                model,
                reference,
                (x,),
                names=("x",),
                parameters=leaves_of(**reference.parts),
                draw=draw,
                in_eval=in_eval,
            )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """A model and input of one dtype give a prediction of that dtype."""
    expect_dtypes(
        submission.SimpleRNN,
        (draw("B T D"),),
        made_with=(sizes.D, sizes.H, sizes.L, OUTPUTS),
        names="prediction",
    )


@points(0.5)
@rule("device")
@needs(test_shape, test_parameters, test_dtype)
def test_device(submission, sizes, draw):
    """With the model and its input on a GPU everything is made and stays there."""
    expect_device_neutral(
        submission.SimpleRNN,
        (draw("B T D"),),
        made_with=(sizes.D, sizes.H, sizes.L, OUTPUTS),
        names="prediction",
    )


@teaching_only
@points(0)
@rule("mutation")
@needs(test_shape)
def test_input_untouched(submission, sizes, draw):
    """The input is the same after the call as before."""
    arguments = (draw("B T D"),)
    expect_untouched(new_model(submission, sizes, OUTPUTS).run(arguments), arguments, ("x",))
