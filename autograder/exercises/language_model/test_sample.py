"""`sample(model, prompt_ids, steps, temperature, generator, top_k=None)`: a model that writes by drawing."""

from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from autograder.checking import (
    FunctionSpec,
    asked,
    case,
    expect_device_neutral,
    expect_shapes,
    fail,
    needs,
    parts_of,
    points,
    reference,
    rule,
    sized,
)
from autograder.checking.specs.inputs import Given
from autograder.exercises.handed import (
    each_driven,
    elsewhere,
    expect_driven,
    expect_weights_untouched,
    made_here,
)
from autograder.exercises.seq2seq.given import Model, continued, expect_tokens, history
from autograder.exercises.several import expect_each_untouched

COLD = 1e-3
"""So low a temperature that the most probable token is the only one that is ever drawn."""
PROMPT, STEPS = 4, 16
"""Tokens of a prompt, and of a text: neither is a size of anything else, so a wrong shape can be read."""
IMPROBABLE = 1e-9
"""A right answer whose frequencies are less probable is one in a million tests at the very most."""

SEEDED = """
def seeded(seed):
    return torch.Generator().manual_seed(seed)
"""

ASKING = """
from torch.utils._python_dispatch import TorchDispatchMode


class Draws(TorchDispatchMode):
    made = 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        self.made += "multinomial" in operator.name()
        return operator(*args, **(kwargs or {}))


def counting(sample):
    def draws(*arguments):
        with Draws() as draws:
            sample(*arguments)
        return draws.made

    return draws


def where_the_prompt_is(sample):
    def sampled(model, prompt_ids, steps, temperature, seed):
        try:
            generator = torch.Generator(prompt_ids.device)
        except RuntimeError:  # a GPU that is simulated has the CPU's
            generator = torch.Generator()
        return sample(model, prompt_ids, steps, temperature, generator.manual_seed(seed))

    return sampled
"""
"""The task called with its draws counted, and with a generator on the device of the prompt."""

TABLE = """
class Table(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = nn.Parameter(table.clone())

    def forward(self, ids, state=None):
        count = ids.shape[1] + (0 if state is None else state[0][0, 0, 0])
        return self.table[ids], (self.table.new_ones(1, len(ids), 1) * count,) * 2
"""
"""A model whose logits are a row of a table, that of the newest token."""


@dataclass(frozen=True)
class Generator(Given):
    """A generator of random numbers, an object like a module for a specification."""

    def hand_over(self, submission):
        return submission.given("seeded", *self.args, source=SEEDED, dtype=None)


def generator(seed=1):
    """An input that is a generator; its numbers decide nothing where it is cold."""
    return lambda draw: Generator(nn.Module(), (seed,), {})


def prompt(length):
    """An input of token ids: so many for each sequence, or from the least to the most of two numbers."""
    return lambda draw: draw.ints(
        f"B {draw.size(*length) if isinstance(length, tuple) else length}", draw.sizes.V
    )


def right_tokens(model, prompt_ids, steps, temperature, generator):
    """The right tokens where it is cold; what a `History` says follows from the size of its vocabulary."""
    vocab_size = getattr(model, "vocab_size", None)
    return continued(model, prompt_ids, steps) if vocab_size is None else cold(vocab_size, prompt_ids, steps)


cold = reference("reference_sample:cold")
one_token_a_call = reference("reference_sample:one_token_a_call")
probabilities = reference("reference_sample:probabilities")


task = FunctionSpec(
    "sample",
    inputs={
        "model": lambda draw: history(draw.sizes.V),
        "prompt_ids": prompt(2),
        "steps": lambda draw: draw.sizes.T,  # the time of the results; a prompt has a length of its own
        "temperature": lambda draw: COLD,
        "generator": generator(),
    },
    outputs={"tokens": "B T"},
    reference=right_tokens,
)


def step_by_step(answer, call):
    """Tell of the first wrong step."""
    tokens = expect_shapes(answer, "B T", names="tokens", sizes=call.sizes)
    expect_tokens(tokens, task.right(call), call.arguments[1])


def table_of(draw, size):
    """A table of logits no two of which are equal, and the model that reads it."""
    table = draw.like((size, size)) + 0.01 * torch.arange(size)
    made = made_here(TABLE, "Table", table)
    return table, Model(made.double(), (table,), {}, TABLE)


def expect_drawn(tokens, prompt_ids, right, temperature):
    """Expect tokens with the right frequencies: of each token after each."""
    size = len(right)
    before = torch.cat([prompt_ids[:, -1:], tokens[:, :-1].long()], dim=1)
    counts = torch.zeros(size, size, dtype=torch.float64)
    counts.view(-1).index_add_(
        0, (before * size + tokens).flatten().long(), torch.ones(tokens.numel()).double()
    )
    if counts[right == 0].any():
        fail("A token was drawn that is not among the `top_k` most probable ones of its own sequence.")
    wanted = counts.sum(1, keepdim=True) * right
    often = wanted >= 20  # the others together: of so few a chi-square says nothing
    rest = [each.where(~often, 0).sum(1, keepdim=True) for each in (counts, wanted)]
    squares = (counts - wanted) ** 2 / wanted.clamp(min=1e-9)
    total = squares[often].sum() + ((rest[0] - rest[1]) ** 2 / rest[1])[rest[1] >= 20].sum()
    free = often.sum() + (rest[1] >= 20).sum() - size
    if free == 0 or torch.special.gammaincc(free / 2, total / 2) >= IMPROBABLE:
        return
    logs = right.clamp(min=1e-12).log()
    sure = ((counts - wanted) * logs).sum() / counts.sum()
    told = "probable tokens are drawn too often" if sure > 0 else "improbable tokens are drawn too often"
    fail(
        f"At temperature {temperature} {told}: {tokens.numel():,} draws do not have the frequencies that "
        "`softmax(logits / temperature)` gives each sequence."
    )


test_shape = task.shape(sized("", T=STEPS), title="It returns the new tokens only, (batch, steps), int64.")
test_cold = task.values(
    sized("", T=STEPS),
    explain=step_by_step,
    title="Near temperature 0 each sequence goes on with its own most probable token, given all before it.",
    points=0.5,
    needs=[test_shape],
)


@points(0.5)
@rule("values")
@needs(test_cold)
def test_frequencies(submission, sizes, draw):
    """Tokens are drawn as often as softmax(logits / temperature) says, each sequence from its own."""
    table, model = table_of(draw, 6)
    prompt_ids = draw.ints("1500 2", 6)
    asks = []
    for number, temperature in enumerate((0.5, 1.0, 2.0)):
        arguments = model.hand_over(submission), prompt_ids, 4, temperature, Generator(model, (number,), {})
        arguments = (*arguments[:4], arguments[4].hand_over(submission))
        asks.append((submission.sample.request(*arguments), temperature))
    for answer, temperature in asked(asks):
        tokens = expect_shapes(answer(), "1500 4", names="tokens", sizes=sizes)
        expect_drawn(tokens, prompt_ids, probabilities(table, temperature, 6), temperature)


@points(0.5)
@rule("values")
@needs(test_frequencies)
def test_top_k(submission, sizes, draw):
    """With top_k, only the most probable tokens of each sequence are drawn, with the right frequencies."""
    table, model = table_of(draw, 7)
    prompt_ids = draw.ints("1200 2", 7)
    asks = []
    for number, top_k in enumerate((3, 1, 7)):
        given = model.hand_over(submission), prompt_ids, 4, 1.5
        seeded = Generator(model, (number,), {}).hand_over(submission)
        asks.append((submission.sample.request(*given, seeded, top_k), top_k))
    for answer, top_k in asked(asks):
        with case(f"with top_k={top_k} of 7 tokens"):
            tokens = expect_shapes(answer(), "1200 4", names="tokens", sizes=sizes)
            expect_drawn(tokens, prompt_ids, probabilities(table, 1.5, top_k), 1.5)


@points(0.5)
@rule("values")
@needs(test_frequencies)
def test_generator(submission, sizes, draw):
    """Equal generators give equal texts, different ones different texts, and one goes on where it was."""
    _, model = table_of(draw, 19)
    prompt_ids = draw.ints("5 2", 19)
    seeds = draw.ints("2", 1000).tolist()
    made = [
        Generator(model, (seed,), {}).hand_over(submission) for seed in (seeds[0], seeds[0], seeds[1] + 1000)
    ]
    rows = [
        (submission.sample.request(model.hand_over(submission), prompt_ids, 30, 3.0, each), None)
        for each in (*made, made[0])
    ]
    first, equal, other, again = (
        expect_shapes(answer(), "5 30", names="tokens", sizes=sizes) for answer, _ in asked(rows)
    )
    if not torch.equal(first, equal):
        fail(
            "Two calls with generators of the same seed gave different texts: the draws come from elsewhere. "
            "Does `multinomial` get `generator=generator`, and does nothing else draw?"
        )
    if torch.equal(first, other):
        fail("Generators of different seeds gave the same text: the draws do not depend on the generator.")
    if torch.equal(first, again):
        fail(
            "The same generator gave the same text twice. It is to be drawn from as it is, so that it goes "
            "on; a copy of it, or one that is seeded anew, begins again."
        )


@points(0.5)
@rule("from-scratch")
@needs(test_cold)
def test_one_token_a_call(submission, sizes, draw):
    """The prompt is read once, without a state, then one token a call with its state, and drawn in one go."""
    marks = (*(1 + draw.ints("5", sizes.V - 1)).tolist(), 0)
    seeded = Generator(nn.Module(), (1,), {}).hand_over(submission)
    rounds = [(draw.ints(f"B {PROMPT}", sizes.V), STEPS, COLD, seeded) for _ in range(2)]
    model = history(sizes.V, marks=marks)
    given = model.hand_over(submission)
    right = [
        [one_token_a_call(sizes.V, marks, before, prompt_ids, STEPS) for before in possible]
        for possible, (prompt_ids, *_) in zip(((0,), (STEPS, STEPS + 1)), rounds, strict=True)
    ]  # one superfluous last call passes
    answers = each_driven(submission.sample, given, model.module, rounds)
    explain = partial(told_of_calls, sizes.B)
    expect_driven(answers, right, given, explain, names="tokens", dims="B T", sizes=sizes.but(T=STEPS))
    counting = submission.given("counting", submission.sample.attribute(), source=ASKING, dtype=None)
    count = counting(given, *rounds[0])
    if isinstance(count, int) and count > STEPS:
        fail(
            f"`torch.multinomial` was called {count} times for {STEPS} tokens of each sequence. One call "
            "draws for the whole batch: it takes a row of probabilities for each sequence."
        )


def told_of_calls(batch_size, calls):
    """Words for calls that read ids of such shapes, with no state where a 1 comes last."""
    calls = [call for call in calls if len(call) == 3]
    if not calls:
        return "The model was never called."
    (*shape, fresh), later = calls[0], calls[1:]
    if tuple(shape) != (batch_size, PROMPT) or not fresh:
        return "The first call must read the whole prompt, (batch, time), with `None` for the state."
    for *shape, fresh in later:
        if fresh:
            return (
                "After the prompt the model was called without a state. What it has read so far is in the "
                "state that the previous call returned: pass it on."
            )
        if tuple(shape) != (batch_size, 1):
            return (
                f"After the prompt, the model was given ids of shape {tuple(shape)}. The state already holds "
                "all earlier tokens: give the model only the newest one of each sequence, (batch, 1)."
            )
    if len(calls) not in (STEPS, STEPS + 1):
        return f"The model was called {len(calls)} times for {STEPS} new tokens."
    return elsewhere("model")


@points(0)
@rule("gradient")
@needs(test_cold)
def test_no_gradients(submission, sizes, draw):
    """No graph grows from token to token."""
    prompt_ids = draw.ints("B 2", sizes.V)
    marks = (0, 0, 0, 0, 0, 1 + int(draw.ints("1", sizes.V - 1)))
    model = history(sizes.V, marks=marks).hand_over(submission)
    seeded = Generator(nn.Module(), (1,), {}).hand_over(submission)
    (tokens,) = parts_of(submission.sample(model, prompt_ids, STEPS, COLD, seeded), "tokens")
    if not torch.equal(tokens.double(), cold(sizes.V, prompt_ids, STEPS).double()):
        fail(
            "The carried state brings its graph along, so the graphs of all calls stay in memory, one more "
            "with each token. Nothing is trained here: write without gradients."
        )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The tokens are int64, whatever dtype the model computes in."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        model = history(sizes.V, dtype).hand_over(submission)
        seeded = Generator(nn.Module(), (1,), {}).hand_over(submission)
        with case(f"with a model in {dtype}"):
            arguments = (model, draw.ints("B 2", sizes.V), STEPS, 1.0, seeded)
            (answer,) = parts_of(submission.sample.run(arguments, default_dtype=None).value, "tokens")
            if answer.dtype != torch.int64:
                fail(f"The tokens are {answer.dtype}; expected torch.int64, the dtype of token ids.")


@points(0)
@rule("device")
@needs(test_cold, test_dtype)
def test_device(submission, sizes, draw):
    """With the model, the prompt and the generator on a GPU, so are the tokens."""
    given = submission.sample.attribute()
    target = submission.given("where_the_prompt_is", given, source=ASKING, dtype=None)
    prompt_ids = draw.ints("B 2", sizes.V)
    expect_device_neutral(
        target,
        lambda: (history(sizes.V).hand_over(submission), prompt_ids, 5, 1.0, 1),
        names="tokens",
        gradients=False,
    )


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The call leaves the prompt and the model's weights unchanged."""
    model, prompt_ids = history(sizes.V), draw.ints("B 2", sizes.V)
    given = model.hand_over(submission)
    seeded = Generator(nn.Module(), (1,), {}).hand_over(submission)
    calls = ((f"with steps={steps}", (given, prompt_ids, steps, 1.0, seeded)) for steps in (STEPS, 1))
    names = ("model", "prompt_ids", "steps", "temperature", "generator")
    expect_each_untouched(submission.sample, calls, names, unjudged=("mode",))
    expect_weights_untouched(given, model.module, "model")
