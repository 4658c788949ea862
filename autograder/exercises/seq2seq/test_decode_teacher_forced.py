"""`decode_teacher_forced(decoder, embedding, fc, target_ids, state)`: logits along a given text."""

import torch

from autograder.checking import (
    ask_all,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    needs,
    points,
    recorded,
    rule,
    teaching_only,
)
from autograder.exercises.handed import expect_weights_untouched
from autograder.exercises.seq2seq.given import (
    hand_over,
    named_parameters,
    reference_decoder,
)
from autograder.exercises.several import if_right

RESULTS = {"names": "logits", "dims": "B T V"}
MODULES = ("decoder", "embedding", "fc")


def given(draw, dtype=torch.float64):
    """Token ids and the state the decoder starts from."""
    return draw.ints("B T", draw.sizes.V), (draw("L B H", dtype=dtype), draw("L B H", dtype=dtype))


@recorded
def reference(decoder, embedding, fc, target_ids, state):
    return fc(decoder(embedding(target_ids), state)[0])


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns logits for every step, (batch, time, vocabulary)."""
    modules, arguments = reference_decoder(draw), given(draw)
    answer = submission.decode_teacher_forced(*hand_over(submission, *modules), *arguments)
    expect(answer, reference(*modules, *arguments), **RESULTS, sizes=sizes, values=False)


@points(1)
@rule("values")
@needs(test_shape)
def test_reads_the_given_text(submission, sizes, draw):
    """The logits of each step follow from the given tokens up to it and from the state at the start."""
    modules, arguments = reference_decoder(draw), given(draw)
    answer = submission.decode_teacher_forced(*hand_over(submission, *modules), *arguments)
    expect(answer, reference(*modules, *arguments), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_reads_the_given_text)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one token, any depth, sizes that coincide, and non-contiguous inputs."""
    calls = []
    many = sizes.but(B=draw.size(20, 40), T=2, H=2, L=draw.size(5, 9), V=draw.size(30, 60))
    for other, context in (
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(T=1), "with one token (T = 1)"),
        (sizes.but(L=1), "with one layer (L = 1)"),
        (sizes.but(B=1, T=1, L=1, D=1, H=1), "with every size 1"),
        (sizes.but(B=4, T=4, D=4, H=4, L=4, V=4), "with every size 4"),
        (sizes.but(B=2, T=draw.size(70, 130), L=1, V=5), "with a long text"),
        (many, "with many sequences, layers and tokens to choose from"),
    ):
        here = draw.at(other)
        calls.append((reference_decoder(here), given(here), other, context))
    arguments = (draw.ints("T B", sizes.V).T, (draw.strided("L B H"), draw.strided("L B H")))
    calls.append((reference_decoder(draw), arguments, sizes, "with inputs that are not contiguous in memory"))
    requests = [
        submission.decode_teacher_forced.request(*hand_over(submission, *modules), *arguments)
        for modules, arguments, _, _ in calls
    ]
    for answer, (modules, arguments, other, context) in zip(ask_all(requests), calls, strict=True):
        with case(context):
            expect(answer(), reference(*modules, *arguments), **RESULTS, sizes=other)


@points(0.5)
@rule("gradient")
@needs(test_reads_the_given_text)
def test_gradients(submission, sizes, draw):
    """Gradients reach the state, so the encoder, and the weights of decoder, embedding and fc."""
    for other, context in (
        (sizes, "with several sequences"),
        (sizes.but(B=1, T=draw.size(31, 45), L=1), "with one long text (B = 1)"),
    ):
        here = draw.at(other)
        modules, text = reference_decoder(here), given(here)
        task, arguments = submission.decode_teacher_forced, (*hand_over(submission, *modules), *text)
        with case(context), if_right(task, arguments, reference(*modules, *text), **RESULTS, sizes=other):
            expect_gradients(
                task,
                lambda _decoder, _embedding, _fc, *text, modules=modules: reference(*modules, *text),
                arguments,
                names=("h", "c"),
                parameters=named_parameters(*modules),
                draw=draw,
                tell="Is the state detached or overwritten, or are weights read through `.data`?",
            )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the modules and the state is the dtype of the logits."""
    draw = draw.at(sizes.but(T=2))  # steps cost, and change no dtype
    modules, arguments = reference_decoder(draw), given(draw)
    expect_dtypes(
        submission.decode_teacher_forced,
        lambda: (*hand_over(submission, *modules), *arguments),
        names="logits",
    )


@points(0)
@rule("device")
@needs(test_shape, test_reads_the_given_text, test_dtype)
def test_device(submission, sizes, draw):
    """With the modules, the ids and the state on a GPU everything is made and stays there."""
    modules, arguments = reference_decoder(draw), given(draw)
    expect_device_neutral(
        submission.decode_teacher_forced,
        lambda: (*hand_over(submission, *modules), *arguments),
        names="logits",
    )


@teaching_only
@points(0)
@rule("mutation")
@needs(test_reads_the_given_text)
def test_arguments_untouched(submission, sizes, draw):
    """The token ids, the state and the weights are the same after the call as before."""
    modules, arguments = reference_decoder(draw), given(draw)
    handed = hand_over(submission, *modules)
    call = submission.decode_teacher_forced.run((*handed, *arguments))
    expect_untouched(call, (None, None, None, *arguments), (*MODULES, "target_ids", "state"))
    for name, target, module in zip(MODULES, handed, modules, strict=True):
        expect_weights_untouched(target, module, name)
