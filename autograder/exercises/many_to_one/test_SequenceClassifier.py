"""`class SequenceClassifier(nn.Module)`: embedding, LSTM, and class scores from the last hidden state."""

from copy import deepcopy

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

KIND = "`SequenceClassifier(vocab_size, embedding_dim, hidden_size, num_classes, num_layers)`"
DIMS = f"B {OUTPUTS}"


class Reference:
    """torch's modules with random weights: what the student's module must compute."""

    def __init__(self, draw, classes=OUTPUTS):
        sizes = draw.sizes
        self.embedding = draw.module(nn.Embedding, sizes.V, sizes.D)
        self.lstm = draw.module(nn.LSTM, sizes.D, sizes.H, sizes.L, batch_first=True)
        self.fc = draw.module(nn.Linear, sizes.H, classes)
        self.parts = {"embedding": self.embedding, "lstm": self.lstm, "fc": self.fc}

    def __call__(self, ids):
        return scored(self.embedding, self.lstm, self.fc, ids)

    def remembering(self):
        """The same, with an LSTM on whose last state every token has a say."""
        self.lstm = self.parts["lstm"] = remembering(self.lstm)
        return self

    def reading_far(self):
        """The same, with vectors a hundred thousand times as long, of which the LSTM makes as little."""
        self.embedding = self.parts["embedding"] = deepcopy(self.embedding)
        self.lstm = self.parts["lstm"] = deepcopy(self.lstm)
        with torch.no_grad():
            self.embedding.weight *= 1e5
            self.lstm.weight_ih_l0 /= 1e5
        return self

    def slips(self, ids):
        """What the well-known slips give."""
        return slips(self.embedding, self.lstm, self.fc, ids)


@recorded
def scored(embedding, lstm, fc, ids):
    return fc(lstm(embedding(ids))[1][0][-1])


@recorded
def slips(embedding, lstm, fc, ids):
    output, (h_n, c_n) = lstm(embedding(ids))
    right = fc(h_n[-1])
    return {
        "It is what the bottom layer's state gives; expected the top layer's.": fc(h_n[0]),
        "It is what the cell state gives; expected the hidden state.": fc(c_n[-1]),
        "It is what the first time step gives; expected the state after the last.": fc(output[:, 0]),
        "It is what the mean over all steps gives; expected the last state.": fc(output.mean(1)),
        "They are probabilities. Return the scores themselves, without a softmax: `cross_entropy` takes the "
        "softmax itself.": right.softmax(1),
        "They are logarithms of probabilities. Return the scores themselves: `cross_entropy` does the "
        "rest.": right.log_softmax(1),
    }


def new_model(submission, sizes, classes=OUTPUTS, dtype=torch.float64):
    """The student's module as a user would make it for that dtype; one layer is left to the default."""
    layers = () if sizes.L == 1 else (sizes.L,)
    sized = (sizes.V, sizes.D, sizes.H, classes, *layers)
    model = make_module(submission.SequenceClassifier, *sized, told=KIND)
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
    """Its parameters are those of `embedding`, of `lstm` with all its layers, and of `fc`."""
    for other, context in (
        (sizes, f"with num_layers={sizes.L}"),
        (sizes.but(L=1), "with num_layers left out (1)"),
    ):
        words = {
            "hidden_size": other.H,
            "embedding_dim": other.D,
            "vocab_size": other.V,
            "num_classes": OUTPUTS,
        }
        parts = Reference(draw.at(other)).parts
        with case(context):
            model = new_model(submission, other)
            expect_parts(model, "`SequenceClassifier`", shapes_of(words, **parts), **parts)


@points(0)
@rule("shape")
@needs(test_parameters)
def test_shape(submission, sizes, draw):
    """A batch of token ids gives one row of class scores a sequence, (batch, num_classes)."""
    answer = new_model(submission, sizes)(draw.ints("B T", sizes.V))
    expect(answer, draw(DIMS), names="scores", dims=DIMS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_matches_torch(submission, sizes, draw):
    """With the same weights it gives the scores of the top layer's final hidden state."""
    here = draw.at(sizes.but(H=23))  # so many units that some are negative
    reference, ids = Reference(here), here.ints("B T", sizes.V)
    answer = filled_model(submission, here, reference)(ids)
    expect_answer(answer, reference(ids), reference.slips(ids), name="scores", dims=DIMS, sizes=here.sizes)


@points(0.5)
@rule("values")
@needs(test_matches_torch)
def test_fresh_start(submission, sizes, draw):
    """Every call starts from zero states: the batches before have no influence."""
    reference = Reference(draw)
    model = filled_model(submission, draw, reference)
    expect_fresh_start(
        model, reference, lambda: draw.ints("B T", sizes.V), names="scores", dims=DIMS, sizes=sizes
    )


@points(0)
@rule("values")
@needs(test_fresh_start)
def test_follows_its_parameters(submission, sizes, draw):
    """After its parameters have changed, by training or by loading, it computes with the new ones."""
    expect_current(
        submission,
        lambda reference: filled_model(submission, draw, reference),
        [Reference(draw) for _ in range(3)],
        draw.ints("B T", sizes.V),
        names="scores",
        dims=DIMS,
        sizes=sizes,
    )


@points(0.5)
@rule("generality")
@needs(test_matches_torch)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one token, one layer, equal sizes, two classes, and changing batches."""
    calls = []
    many = sizes.but(B=draw.size(20, 70), L=draw.size(5, 9), V=draw.size(60, 300))
    for other, classes, context in (
        (sizes.but(B=1), OUTPUTS, "with one sequence (B = 1)"),
        (sizes.but(T=1), OUTPUTS, "with one token (T = 1)"),
        (sizes.but(L=1), OUTPUTS, "with one layer"),
        (sizes.but(L=2), 2, "with two layers and two classes"),
        (sizes.but(B=1, T=1, D=1, H=1, L=1), 1, "with every size 1"),
        (sizes.but(B=4, T=4, D=4, H=4, L=4, V=4), 4, "with every size 4"),
        (many, draw.size(10, 40), "with more of everything"),
    ):
        here = draw.at(other)
        reference, ids = Reference(here, classes), here.ints("B T", other.V)
        request = filled_model(submission, here, reference).request(ids)
        calls.append((request, reference, ids, other, classes, context))
    long = draw.at(sizes.but(B=2, T=draw.size(70, 130), L=1))
    reference, ids = Reference(long).remembering().reading_far(), long.ints("B T", sizes.V)
    request = filled_model(submission, long, reference).request(ids)
    calls.append((request, reference, ids, long.sizes, OUTPUTS, "with a long sequence of very long vectors"))
    reference = Reference(draw)
    model = filled_model(submission, draw, reference)
    other, every = sizes.but(B=4, T=6), sizes.but(B=1, T=sizes.V)
    for ids, size, context in (
        (draw.ints("T B", sizes.V).T, sizes, "with ids that are not contiguous in memory"),
        (
            draw.at(other).ints("B T", sizes.V),
            other,
            "when the same model gets a batch of another size and length",
        ),
        (torch.arange(sizes.V)[None], every, "with every id of the vocabulary in one sequence"),
    ):
        calls.append((model.request(ids), reference, ids, size, OUTPUTS, context))
    for answer, reference, ids, size, classes, context in asked(calls):
        with case(context):
            expect(answer(), reference(ids), names="scores", dims=f"B {classes}", sizes=size)


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients reach every parameter, the embedding of every id included."""
    ids = draw.at(sizes.but(B=sizes.V)).ints("B T", sizes.V)
    ids[:, -1] = torch.arange(sizes.V)
    long = draw.at(sizes.but(B=1, T=draw.size(31, 70), L=1))
    for here, batch, reference, in_eval, context in (
        (draw, ids, Reference(draw), True, "with several sequences"),
        (
            long,
            long.ints("B T", sizes.V),
            Reference(long).remembering(),
            False,
            "with one long sequence (B = 1)",
        ),
    ):
        model, size = filled_model(submission, here, reference), here.sizes.but(B=len(batch))
        form = {"names": "scores", "dims": DIMS, "sizes": size}
        with case(context), if_right(model, (batch,), reference(batch), always=in_eval, **form):
            expect_gradients(
                model,
                reference,
                (batch,),
                names=(),
                parameters=leaves_of(**reference.parts),
                draw=draw,
                in_eval=in_eval,
                tell="Is a part of the computation cut off, or is one id treated apart from the others?",
            )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """A model of one dtype gives scores of that dtype."""
    short = draw.at(sizes.but(T=2))  # steps cost, and change no dtype
    expect_dtypes(
        submission.SequenceClassifier,
        (short.ints("B T", sizes.V),),
        made_with=(sizes.V, sizes.D, sizes.H, OUTPUTS, sizes.L),
        names="scores",
    )


@points(0)
@rule("device")
@needs(test_shape, test_parameters, test_dtype)
def test_device(submission, sizes, draw):
    """With the model and the ids on a GPU everything is made and stays there."""
    expect_device_neutral(
        submission.SequenceClassifier,
        (draw.ints("B T", sizes.V),),
        made_with=(sizes.V, sizes.D, sizes.H, OUTPUTS, sizes.L),
        names="scores",
    )


@teaching_only
@points(0)
@rule("mutation")
@needs(test_shape)
def test_ids_untouched(submission, sizes, draw):
    """The ids are the same after the call as before."""
    arguments = (draw.ints("B T", sizes.V),)
    expect_untouched(new_model(submission, sizes).run(arguments), arguments, ("ids",))
