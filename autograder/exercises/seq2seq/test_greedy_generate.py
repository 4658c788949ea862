"""`greedy_generate(model, prompt_ids, steps)`: the prompt once, then one token a call."""

from functools import partial

import torch

from autograder.checking import (
    ask_all,
    case,
    computed_once,
    expect,
    expect_device_neutral,
    fail,
    hidden,
    needs,
    parts_of,
    points,
    recorded,
    rule,
)
from autograder.exercises.handed import each_driven, elsewhere, expect_driven, expect_weights_untouched
from autograder.exercises.seq2seq.given import (
    HISTORY,
    SPEAKER,
    continued,
    expect_tokens,
    history,
    made_here,
)
from autograder.exercises.several import expect_each_untouched

RESULTS = {"names": "tokens", "dims": "B T"}
STEPS = 16
"""Neither this many nor, with a prompt, a few more are a size of anything, so a wrong shape can be read."""


def going_on_after_0(draw, steps):
    """A prompt whose text has token 0 in it and other tokens after that."""
    for _ in range(50):
        prompt_ids = draw.ints("B T", draw.sizes.V)
        text = reference(draw.sizes, prompt_ids, steps)
        if ((text[:, :-1] == 0) & (text[:, 1:] != 0)).any():
            break
    return prompt_ids


@recorded
@computed_once
def reference(sizes, prompt_ids, steps):
    return continued(made_here(HISTORY, "History", sizes.V), prompt_ids, steps)


@recorded
def one_token_a_call(sizes, marks, before, prompt_ids, steps):
    """What a driven model says that reads the prompt, then its own tokens, after so many calls before."""
    model = made_here(HISTORY, "History", sizes.V, marks)
    model.calls.extend([None] * before)
    ids, state, tokens = prompt_ids, None, []
    with torch.no_grad():
        for _ in range(steps):
            logits, state = model(ids, state)
            ids = logits[:, -1:].argmax(2)
            tokens.append(ids)
    return torch.cat(tokens, dim=1)


def expect_text(answer, right, sizes):
    """The right tokens; a wrong shape is told of first."""
    expect(answer, right, **RESULTS, sizes=sizes.but(T=right.shape[1]), values=False)
    expect_tokens(answer, right)


def expect_generated(submission, sizes, prompt_ids, steps):
    """The text that a `History` goes on with."""
    answer = submission.greedy_generate(history(submission, sizes.V), prompt_ids, steps)
    expect_text(answer, reference(sizes, prompt_ids, steps), sizes)


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns the new tokens only, (batch, steps)."""
    prompt_ids, steps = draw.ints("B T", sizes.V), STEPS
    answer = submission.greedy_generate(history(submission, sizes.V), prompt_ids, steps)
    right = reference(sizes, prompt_ids, steps)
    expect(answer, right, **RESULTS, sizes=sizes.but(T=steps), values=False)


@points(1)
@rule("values")
@needs(test_shape)
def test_each_row_its_own(submission, sizes, draw):
    """Each sequence goes on with its own most probable token, given all tokens before it."""
    prompt_ids, steps = draw.ints("B T", sizes.V), STEPS
    expect_generated(submission, sizes, prompt_ids, steps)


@points(0.5)
@rule("from-scratch")
@needs(test_each_row_its_own)
def test_one_token_a_call(submission, sizes, draw):
    """The model reads the whole prompt once, from no state, then one token a call with the carried state."""
    steps = STEPS
    marks = (*(1 + draw.ints("5", sizes.V - 1)).tolist(), 0)
    rounds = [(draw.ints("B T", sizes.V), steps) for _ in range(2)]
    model = history(submission, sizes.V, marks=marks)
    right = [
        [one_token_a_call(sizes, marks, before, prompt_ids, steps) for before in possible]
        for possible, (prompt_ids, _) in zip(((0,), (steps, steps + 1)), rounds, strict=True)
    ]  # one superfluous last call passes
    answers = each_driven(submission.greedy_generate, model, made_here(HISTORY, "History", sizes.V), rounds)
    explain = partial(told_of_calls, sizes, steps)
    expect_driven(answers, right, model, explain, **RESULTS, sizes=sizes.but(T=steps))


def told_of_calls(sizes, steps, calls):
    """What is to be said of calls that read ids of such shapes, with no state where a 1 comes last."""
    calls = [call for call in calls if len(call) == 3]
    if not calls:
        return "The model was never called. Its logits choose the next token."
    (*shape, fresh), later = calls[0], calls[1:]
    if tuple(shape) != (sizes.B, sizes.T):
        return (
            f"The first call was given ids of shape {tuple(shape)}; expected the whole prompt, (batch, time)."
        )
    if not fresh:
        return "The first call was given a state. The prompt starts a new text: its state is `None`."
    for *shape, fresh in later:
        if fresh and tuple(shape) == (sizes.B, sizes.T):
            return (
                "The model was given the whole prompt more than once. The first call returns everything that "
                "can be learned from it: the logits and the state."
            )
        if fresh:
            return (
                "After the prompt the model was called with no state. What it has read is in the state that "
                "the call before returned: hand it on."
            )
        if tuple(shape) != (sizes.B, 1):
            return (
                f"After the prompt the model was given ids of shape {tuple(shape)}. The state already knows "
                "all earlier tokens: give it only the newest of each sequence, (batch, 1)."
            )
    if len(calls) not in (steps, steps + 1):
        return (
            f"The model was called {len(calls)} times for {steps} new tokens. The call on the prompt gives "
            "the first of them, each further call one more."
        )
    return elsewhere("model")


@points(0.5)
@rule("gradient")
@needs(test_each_row_its_own)
def test_no_gradients(submission, sizes, draw):
    """No graph grows from token to token."""
    prompt_ids, steps = draw.ints("B T", sizes.V), STEPS
    model = history(submission, sizes.V, marks=(0, 0, 0, 0, 0, 1 + int(draw.ints("1", sizes.V - 1))))
    answer = submission.greedy_generate(model, prompt_ids, steps)
    if not torch.equal(
        parts_of(answer, RESULTS["names"])[0].double(), reference(sizes, prompt_ids, steps).double()
    ):
        fail(
            "The carried state brings its graph along, so every token keeps the memory of all calls before "
            "it. Nothing is trained here: generate without gradients."
        )
    seen = model.registered()
    frozen = sorted(set(seen.shapes) - set(seen.trainable))
    if frozen:
        fail("After the call the model's parameters no longer ask for gradients. Leave the model as it is.")


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """Tokens are int64, whatever dtype the model computes in."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        model = history(submission, sizes.V, dtype)
        arguments = (model, draw.ints("B T", sizes.V), STEPS)
        with case(f"with a model in {dtype}"):
            value = submission.greedy_generate.run(arguments, default_dtype=None).value
        (answer,) = parts_of(value, RESULTS["names"])
        if answer.dtype != torch.int64:
            fail(f"The tokens are {answer.dtype}; expected torch.int64, the dtype of token ids.")


@points(0)
@rule("device")
@needs(test_shape, test_each_row_its_own, test_dtype)
def test_device(submission, sizes, draw):
    """With the model and the prompt on a GPU everything is made and stays there."""
    prompt_ids = draw.ints("B T", sizes.V)
    # Whoever writes a text may look at its tokens on the way, to print them or to stop.
    expect_device_neutral(
        submission.greedy_generate,
        lambda: (history(submission, sizes.V), prompt_ids, STEPS),
        names="tokens",
        reads=True,
        gradients=False,
    )


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The prompt and the model's weights are the same after the call as before."""
    prompt_ids = draw.ints("B T", sizes.V)
    model = history(submission, sizes.V)
    names = ("model", "prompt_ids", "steps")
    calls = ((f"with steps={steps}", (model, prompt_ids, steps)) for steps in (STEPS, 1))
    expect_each_untouched(submission.greedy_generate, calls, names, unjudged=("mode",))
    expect_weights_untouched(model, made_here(HISTORY, "History", sizes.V).double(), "model")


@points(0.5)
@rule("generality")
@hidden("It works for other models, prompts and numbers of steps than the ones you saw.")
@needs(test_each_row_its_own)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, a prompt of one token, one step, equal sizes, and an LSTM language model."""
    few = sizes.but(B=1, T=5, V=3)
    calls = [
        (other, draw.at(other).ints("B T", other.V), steps, context)
        for other, steps, context in (
            (sizes.but(B=1), 4, "with one sequence (B = 1)"),
            (sizes.but(T=1), 4, "with a prompt of one token (T = 1)"),
            (sizes, 1, "with one step"),
            (sizes.but(B=1, T=1), 1, "with one sequence, one token and one step"),
            (sizes.but(B=4, T=4, V=4), 4, "with every size 4"),
            (sizes, draw.size(40, 50), "with many steps"),
            (sizes.but(B=2, T=draw.size(40, 130)), 2, "with a long prompt"),
            (sizes.but(B=draw.size(20, 70), V=draw.size(40, 130)), 2, "with many sequences and tokens"),
        )
    ]
    told = "with three tokens in the vocabulary, none of which ends a text"
    calls.append((few, going_on_after_0(draw.at(few), 12), 12, told))
    requests = [
        submission.greedy_generate.request(history(submission, other.V), prompt_ids, steps)
        for other, prompt_ids, steps, _ in calls
    ]
    for answer, (other, prompt_ids, steps, context) in zip(ask_all(requests), calls, strict=True):
        with case(context):
            expect_text(answer(), reference(other, prompt_ids, steps), other)
    own = made_here(SPEAKER, "Speaker", sizes.V, sizes.D, sizes.H, sizes.L).double()
    with torch.no_grad():
        for parameter in own.parameters():
            parameter.copy_(draw.like(parameter.shape))
    shape = (sizes.V, sizes.D, sizes.H, sizes.L)
    model = submission.given("Speaker", *shape, source=SPEAKER, state=own.state_dict())
    prompt_ids = draw.ints("T B", sizes.V).T
    with case("with an LSTM language model"):
        answer = submission.greedy_generate(model, prompt_ids, 6)
        expect_text(answer, continued(own, prompt_ids, 6), sizes)
