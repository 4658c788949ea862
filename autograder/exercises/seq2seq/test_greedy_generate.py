"""`greedy_generate(model, prompt_ids, steps)`: the prompt once, then one token per call."""

from functools import partial

import torch

from autograder.checking import (
    Case,
    FunctionSpec,
    case,
    expect_shapes,
    fail,
    needs,
    parts_of,
    points,
    reference,
    rule,
    sized,
)
from autograder.exercises.handed import each_driven, elsewhere, expect_driven, expect_weights_untouched
from autograder.exercises.seq2seq.given import continued, expect_tokens, history
from autograder.exercises.several import expect_each_untouched

PROMPT = 4
"""Tokens of a prompt of which it shows how many are read in one call."""
STEPS = 16
"""Neither this many nor, with a prompt, a few more are a size of anything, so a wrong shape can be read."""


def prompt(length):
    """An input of token ids: so many for each sequence, or from the least to the most of two numbers."""

    def drawn(draw):
        tokens = draw.size(*length) if isinstance(length, tuple) else length
        return draw.ints(f"B {tokens}", draw.sizes.V)

    return drawn


def after(words, prompt_ids, **sizes):
    """A case with another prompt."""
    return Case(words, sizes, given={"prompt_ids": prompt_ids})


def right_tokens(model, prompt_ids, steps):
    """The right tokens; what a `History` says follows from the size of its vocabulary, and is kept."""
    vocab_size = getattr(model, "vocab_size", None)
    if vocab_size is None:
        return continued(model, prompt_ids, steps)
    return of_history(vocab_size, prompt_ids, steps)


of_history = reference("reference_greedy_generate:of_history")


one_token_a_call = reference("reference_greedy_generate:one_token_a_call")


task = FunctionSpec(
    "greedy_generate",
    inputs={
        "model": lambda draw: history(draw.sizes.V),
        "prompt_ids": prompt(2),
        "steps": lambda draw: draw.sizes.T,  # the time of the results; a prompt has a length of its own
    },
    outputs={"tokens": "B T"},
    reference=right_tokens,
)
USUAL_STEPS = sized("", T=STEPS)


def step_by_step(answer, call):
    """Tell of the first wrong step."""
    tokens = expect_shapes(answer, "B T", names="tokens", sizes=call.sizes)
    expect_tokens(tokens, task.right(call), call.arguments[1])


test_shape = task.shape(USUAL_STEPS, title="It returns the new tokens only, (batch, steps).")
test_each_row_its_own = task.values(
    after("", prompt(5), T=STEPS),
    explain=step_by_step,
    title="Each sequence continues with its own most probable token, given all tokens before it.",
    points=1,
    needs=[test_shape],
)


@points(0.5)
@rule("from-scratch")
@needs(test_each_row_its_own)
def test_one_token_a_call(submission, sizes, draw):
    """The model reads the whole prompt once, without a state, then one token per call with its state."""
    sizes, steps = sizes.but(T=PROMPT), STEPS
    draw = draw.at(sizes)
    marks = (*(1 + draw.ints("5", sizes.V - 1)).tolist(), 0)
    rounds = [(draw.ints("B T", sizes.V), steps) for _ in range(2)]
    model = history(sizes.V, marks=marks)
    given = model.hand_over(submission)
    right = [
        [one_token_a_call(sizes, marks, before, prompt_ids, steps) for before in possible]
        for possible, (prompt_ids, _) in zip(((0,), (steps, steps + 1)), rounds, strict=True)
    ]  # one superfluous last call passes
    answers = each_driven(submission.greedy_generate, given, model.module, rounds)
    explain = partial(told_of_calls, sizes, steps)
    expect_driven(answers, right, given, explain, names="tokens", dims="B T", sizes=sizes.but(T=steps))


def told_of_calls(sizes, steps, calls):
    """Words for calls that read ids of such shapes, with no state where a 1 comes last."""
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
                "The model was given the whole prompt more than once. Its first call already returns all "
                "you need: the logits and the state."
            )
        if fresh:
            return (
                "After the prompt, the model was called without a state. What it has read so far is in the "
                "state that the previous call returned: pass it on."
            )
        if tuple(shape) != (sizes.B, 1):
            return (
                f"After the prompt, the model was given ids of shape {tuple(shape)}. The state already "
                "holds all earlier tokens: give the model only the newest one of each sequence, (batch, "
                "1)."
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
    marks = (0, 0, 0, 0, 0, 1 + int(draw.ints("1", sizes.V - 1)))
    model = history(sizes.V, marks=marks).hand_over(submission)
    answer = submission.greedy_generate(model, prompt_ids, steps)
    (tokens,) = parts_of(answer, "tokens")
    if not torch.equal(tokens.double(), of_history(sizes.V, prompt_ids, steps).double()):
        fail(
            "The carried state brings its graph along, so the graphs of all calls stay in memory, one more "
            "with each token. Nothing is trained here: generate without gradients."
        )
    seen = model.registered()
    frozen = sorted(set(seen.shapes) - set(seen.trainable))
    if frozen:
        fail("After the call the model's parameters no longer require gradients. Leave the model as it was.")


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The tokens are int64, whatever dtype the model computes in."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        model = history(sizes.V, dtype).hand_over(submission)
        arguments = (model, draw.ints("B T", sizes.V), STEPS)
        with case(f"with a model in {dtype}"):
            value = submission.greedy_generate.run(arguments, default_dtype=None).value
        (answer,) = parts_of(value, "tokens")
        if answer.dtype != torch.int64:
            fail(f"The tokens are {answer.dtype}; expected torch.int64, the dtype of token ids.")


test_device = task.devices(
    USUAL_STEPS,
    gradients=False,
    title="With the model and the prompt on a GPU, everything is created and computed there.",
    needs=[test_shape, test_each_row_its_own, test_dtype],
)


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The call leaves the prompt and the model's weights unchanged."""
    model, prompt_ids = history(sizes.V), draw.ints("B T", sizes.V)
    given = model.hand_over(submission)
    names = ("model", "prompt_ids", "steps")
    calls = ((f"with steps={steps}", (given, prompt_ids, steps)) for steps in (STEPS, 1))
    expect_each_untouched(submission.greedy_generate, calls, names, unjudged=("mode",))
    expect_weights_untouched(given, model.module, "model")
