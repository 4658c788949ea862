"""Messages about inputs that a wrong answer does not depend on, and about sequences that it mixes."""

import textwrap

import pytest
import torch
from torch import nn

from autograder.checking.diagnosis.match import Known
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.collection import collect
from autograder.protocol import answers, messages
from autograder.worker.session.executor import Executor
from tests.support.checking import submission

CHECKS = """
import torch
from torch import nn
from autograder.checking import FunctionSpec, Handed, ModuleSpec, leaving_out, recorded, weight

{task}
"""
FUNCTION = """
def right(x, h, w):
    (i, f) = (x @ w.T + torch.cat((h, h), 1)).chunk(2, 1)
    return i * f
task = FunctionSpec("f", inputs={"x": "B D", "h": "B H", "w": weight("2H D")}, outputs={"y": "B H"},
                    reference=right)
test_values = task.values(points=1)
"""
MODULE = """
def right(parameters, x):
    return x @ parameters["w"] + parameters["b"]
task = ModuleSpec("f", made_with={"d": "D", "h": "H"}, parameters={"w": "D H", "b": "H"}, inputs={"x": "B D"},
                  outputs={"y": "B H"}, reference=right)
test_values = task.values(points=1)
"""
HANDED = """
task = FunctionSpec("f", inputs={"rnn": Handed(nn.RNN, "D", "H", batch_first=True), "x": "B T D"},
                    outputs={"output": "B T H"}, reference=lambda rnn, x: rnn(x)[0])
test_values = task.values(points=1)
"""
STATE = """
task = FunctionSpec("f", inputs={"x": "B D", "state": {"h": "B D", "c": "B D"}}, outputs={"y": "B D"},
                    reference=lambda x, state=None: x if state is None else x + state[0] * state[1])
test_values = task.values(leaving_out("state", words="without a state"), points=1)
"""


def said(tmp_path, task, answer, source=""):
    (tmp_path / "test_f.py").write_text(CHECKS.replace("{task}", textwrap.dedent(task)))
    judged = submission(f=answer)
    judged.sources = {"f": source}
    (result,) = collect(tmp_path).run("f", judged, seed=1, include_hidden=True, renew=lambda: None)
    assert result.outcome == "failed", result.message
    return result.message


def gates(x, h, w):
    return (x @ w.T + torch.cat((h, h), 1)).chunk(2, 1)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda x, h, w: gates(x, h * 0, w)[0] * gates(x, h * 0, w)[1], "does not depend on `h`:"),
        (lambda x, h, w: torch.ones_like(h) * 2, "They do not change along batch, but they should."),
        (
            lambda x, h, w: torch.linspace(0, 1, h.numel()).view_as(h),
            "does not depend on the call's inputs at all",
        ),
        (
            lambda x, h, w: gates(x.cumsum(0), h, w)[0] * gates(x, h, w)[1],
            "given for sequence 0 change: are sequences mixed",
        ),
        (
            lambda x, h, w: gates(x.flip(0).cumsum(0).flip(0), h, w)[0] * gates(x, h, w)[1],
            "are sequences mixed somewhere?",
        ),
    ],
)
def test_what_an_answer_does_not_depend_on_is_said(tmp_path, answer, told):
    assert told in said(tmp_path, FUNCTION, answer)


def test_an_argument_has_the_name_that_the_student_gave_it(tmp_path):
    source = "%time\ndef f(x, state, w):\n    return x, state, w"
    told = said(tmp_path, FUNCTION, lambda x, h, w: gates(x, h * 0, w)[0] * gates(x, h * 0, w)[1], source)
    assert "does not depend on `state`:" in told


@pytest.mark.parametrize(
    "answer",
    [
        lambda x, h, w: gates(x, h, w)[0] + gates(x, h, w)[1],
        lambda x, h, w: (gates(x, h, w)[0] * gates(x, h, w)[1]).round(decimals=3),
    ],
)
def test_nothing_is_said_of_an_answer_that_depends_on_everything(tmp_path, answer):
    told = said(tmp_path, FUNCTION, answer)
    assert "depend" not in told
    assert "mixed" not in told


def test_a_parameter_that_is_not_used_is_named(tmp_path):
    class Linear(nn.Module):
        def __init__(self, d, h):
            super().__init__()
            self.w, self.b = nn.Parameter(torch.zeros(d, h)), nn.Parameter(torch.zeros(h))

        def forward(self, x):
            return x @ self.w

    assert "does not depend on `b`:" in said(tmp_path, MODULE, Linear)


def test_so_is_one_of_a_module_that_is_handed_over(tmp_path):
    def stepwise(rnn, x):
        h, steps = x.new_zeros(len(x), rnn.hidden_size), []
        for t in range(x.shape[1]):
            h = torch.tanh(x[:, t] @ rnn.weight_ih_l0.T + rnn.bias_ih_l0 + h @ rnn.weight_hh_l0.T)
            steps.append(h)
        return torch.stack(steps, 1)

    assert "does not depend on `bias_hh_l0`:" in said(tmp_path, HANDED, stepwise)


def test_of_an_input_with_a_name_nothing_is_said(tmp_path):
    """Without a state the right answer depends on no state either."""
    assert "depend" not in said(
        tmp_path, STATE, lambda x, state=None: x * 1.5 + torch.linspace(0, 1, x.shape[1])
    )


def test_nothing_is_said_where_the_right_answer_is_the_same_for_all(tmp_path):
    task = FUNCTION.replace("return i * f", "return torch.zeros_like(h)")
    assert "depend" not in said(tmp_path, task, lambda x, h, w: h * 0 + torch.linspace(0, 1, h.shape[1]))


def test_an_answer_that_was_never_filled_is_not_said_to_mix(tmp_path):
    told = said(tmp_path, FUNCTION, lambda x, h, w: torch.rand_like(h))
    assert "The same call, repeated" in told
    assert "mixed" not in told


ODD = {
    "another dtype each time": lambda y, n: y.to((torch.float64, torch.float32)[n % 2]),
    "eight bits": lambda y, n: y.to(torch.float8_e4m3fn),
    "sixteen bits, then others": lambda y, n: y.to((torch.bfloat16, torch.float16)[n // 2 % 2]),
    "another shape after a while": lambda y, n: y if n < 2 else y[:1],
    "nothing after a while": lambda y, n: y if n < 2 else None,
    "complex numbers": lambda y, n: y.to(torch.complex128),
    "complex after a while": lambda y, n: y if n < 2 else y.to(torch.complex64),
    "whole numbers": lambda y, n: (100 * y).long(),
    "truth": lambda y, n: y > 0,
    "objects after a while": lambda y, n: y if n < 2 else [object(), 10**400, float("nan")],
    "more after a while": lambda y, n: y if n < 2 else (y, y),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_answers_are_no_fault_of_a_check(tmp_path, odd):
    calls = []

    def answer(x, h, w):
        calls.append(x)
        return odd(torch.linspace(0, 1, h.numel(), dtype=h.dtype).view_as(h), len(calls) - 1)

    assert said(tmp_path, FUNCTION, answer)


def test_a_worker_that_answers_something_else_is_no_fault_of_a_check(tmp_path):
    (tmp_path / "test_f.py").write_text(CHECKS.replace("{task}", FUNCTION))
    honest = Executor({"f": lambda x, h, w: h * x.sum()}).perform
    batches = []

    def perform(messages):
        batches.append(messages)
        told = honest(messages)
        return told if len(batches) < 3 else [answers.Done() for _ in told]

    (result,) = collect(tmp_path).run(
        "f", Submission(perform), seed=1, include_hidden=True, renew=lambda: None
    )
    assert len(batches) > 2
    assert result.outcome == "failed"


def test_no_more_calls_are_made_than_a_right_answer_takes(tmp_path):
    calls = []

    def wrong(x, h, w):
        calls.append(x)
        return gates(x, h, w)[0] * gates(x, h, w)[1].tanh()

    said(tmp_path, FUNCTION, wrong)
    assert 2 < len(calls) <= 1 + 12


def test_where_a_hint_fits_nothing_is_tried(tmp_path):
    calls = []

    def wrong(x, h, w):
        calls.append(x)
        return gates(x, h, w)[0]

    def known(answers):
        return [Known("first_gate_alone", "Use both.", answers, {"values": "failed"}, ["values"])]

    (tmp_path / "test_f.py").write_text(CHECKS.replace("{task}", FUNCTION))
    checks, judged = collect(tmp_path), submission(f=wrong)
    for mistakes, is_tried in ((known, False), (lambda answers: [], True)):
        calls.clear()
        checks.run("f", judged, seed=1, include_hidden=True, renew=lambda: None, known=mistakes)
        assert (len(calls) > 1) == is_tried


LENGTHS = """
def right(x, lengths):
    return torch.stack([each[:n].sum(0) for each, n in zip(x, lengths.tolist())])
def some(draw):
    lengths = draw.ints("B", draw.sizes.T) + 1
    lengths[0], lengths[-1] = 1, draw.sizes.T
    return lengths
task = FunctionSpec("f", inputs={"x": "B T D", "lengths": some}, outputs={"y": "B D"}, reference=right)
test_values = task.values(points=1)
"""


@pytest.mark.parametrize(
    ("answer", "is_said"),
    [
        (lambda x, lengths: x.sum(1), True),
        (lambda x, lengths: x[:, : lengths.max()].sum(1), False),
        (lambda x, lengths: x[:, : lengths.min()].sum(1), False),
    ],
)
def test_an_answer_that_uses_an_extreme_of_whole_numbers_depends_on_them(tmp_path, answer, is_said):
    assert ("does not depend on `lengths`" in said(tmp_path, LENGTHS, answer)) == is_said


def test_what_a_module_made_of_its_first_parameters_changes_from_module_to_module(tmp_path):
    class Joined(nn.Module):
        def __init__(self, d, h):
            super().__init__()
            self.w, self.b = nn.Parameter(torch.rand(d, h)), nn.Parameter(torch.rand(h))
            self.copy = torch.cat([self.w.detach(), self.b.detach()[None]])

        def forward(self, x):
            return x @ self.copy[:-1].to(x) + self.copy[-1].to(x)

    assert "copied from the parameters in `__init__`" in said(tmp_path, MODULE, Joined)


@pytest.mark.parametrize("together", ["False", "True"])
@pytest.mark.parametrize("wrong", [lambda y: 2 * y, lambda y: y[:, None], lambda y: y @ y])
def test_the_call_that_failed_is_the_one_that_is_told(tmp_path, together, wrong):
    task = FUNCTION.replace(
        "task.values(points=1)",
        f"task.values(sized('usually'), sized('with one', B=1), sized('later'), together={together})",
    )
    (tmp_path / "test_f.py").write_text(CHECKS.replace("{task}", task).replace("weight\n", "sized, weight\n"))

    def answer(x, h, w):
        right = gates(x, h, w)[0] * gates(x, h, w)[1]
        return wrong(right) if len(x) == 1 else right

    (result,) = collect(tmp_path).run("f", submission(f=answer), seed=1, include_hidden=True)
    assert "With one" in result.message
    assert len(result.call[-1].args[0]) == 1


TWO = """
task = FunctionSpec("f", inputs={"x": "B D"}, outputs={"up": "B D", "down": "B D"},
                    reference=lambda x: (x + 1, x - 1))
test_values = task.values(points=1)
"""


def test_one_tensor_for_two_results_is_not_another_order(tmp_path):
    assert "They are the values of `up`, which is right" in said(tmp_path, TWO, lambda x: (x + 1, x + 1))
    assert "are your results in another order?" in said(tmp_path, TWO, lambda x: (x - 1, x + 1))


def test_a_call_that_stops_over_dtypes_is_made_again_with_the_default_of_a_notebook():
    def asserting(x):
        assert torch.allclose(x.sum().float() * 0, torch.zeros(1))
        return x + 1

    def rounding(x):
        return x @ x.float().T

    x = torch.rand(3, 3, dtype=torch.float64)
    for each, kind in ((asserting, answers.Called), (rounding, answers.Raised)):
        call = messages.Call(target=messages.Target("f"), args=(x,), default_dtype="float64")
        (answer,) = Executor({"f": each}).perform([call])
        assert isinstance(answer, kind), answer
        assert torch.get_default_dtype() is torch.float32


def test_a_part_of_a_pair_has_the_name_that_the_task_gives_it(tmp_path):
    task = STATE.replace(
        'task.values(leaving_out("state", words="without a state"), points=1)', "task.values(points=1)"
    )
    told = said(tmp_path, task, lambda x, state: x * state[0] ** 2, "def f(*given):\n    return given")
    assert "does not depend on `c`:" in told
