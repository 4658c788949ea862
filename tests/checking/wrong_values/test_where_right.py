"""Messages about where a wrong answer is right: for which lengths, and with zeros for which inputs."""

import pytest
import torch

from tests.support.checking import said

CELL = """
def right(x, h, c, w):
    gate = torch.sigmoid(x @ w + h)
    return gate * c + torch.tanh(x @ w)
task = FunctionSpec("f", inputs={"x": "B D", "h": "B H", "c": "B H", "w": "D H"}, outputs={"c_next": "B H"},
                    reference=right)
test_values = task.values(points=1)
"""
STATE = """
def right(x, state):
    return torch.tanh(x) + state[0] * state[0] + state[1] * state[1]
task = FunctionSpec("f", inputs={"x": "B D", "state": {"h": "B D", "c": "B D"}}, outputs={"y": "B D"},
                    reference=right)
test_values = task.values(points=1)
"""
LENGTHS = """
def lengths(draw):
    return torch.arange(draw.sizes.B) % 4 + 1
def right(x, lengths):
    return x * lengths[:, None]
task = FunctionSpec("f", inputs={"x": "B D", "lengths": lengths}, outputs={"y": "B D"}, reference=right)
test_values = task.values(sized("with many", B=9), points=1)
"""
FINISHED = """
def right(x, finished):
    return torch.where(finished[:, None], x * 0, x)
task = FunctionSpec("f", inputs={"x": "B D", "finished": lambda draw: draw.ints("B", 2).bool()},
                    outputs={"y": "B D"}, reference=right)
test_values = task.values(sized("with many", B=9), points=1)
"""
MODULE = """
def right(parameters, x, h):
    return torch.tanh(x @ parameters["w"] + h @ parameters["u"] + parameters["b"])
task = ModuleSpec("f", made_with={"d": "D", "h": "H"}, parameters={"w": "D H", "u": "H H", "b": "H"},
                  inputs={"x": "B D", "h": "B H"}, outputs={"y": "B H"}, reference=right)
test_values = task.values(points=1)
"""
HANDED = """
task = FunctionSpec("f", inputs={"rnn": Handed(nn.RNN, "D", "H", batch_first=True), "x": "B T D"},
                    outputs={"output": "B T H"}, reference=lambda rnn, x: rnn(x)[0])
test_values = task.values(points=1)
"""


def gate(x, h, w):
    return torch.sigmoid(x @ w + h)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda x, h, c, w: gate(x, h, w) * c.abs() + torch.tanh(x @ w), "in place of `c`"),
        (lambda x, h, c, w: gate(x, h * h, w) * c + torch.tanh(x @ w), "in place of `h` or of `c`"),
    ],
)
def test_an_input_with_zeros_for_which_it_is_right_is_named(tmp_path, answer, told):
    message = said(tmp_path, CELL, answer, "def f(x, h, c, w):\n    ...")
    assert f"With zeros {told} your answer is right: the mistake is in how" in message


@pytest.mark.parametrize(
    "answer",
    [
        lambda x, h, c, w: gate(x, h, w) * c + torch.tanh(x @ w) ** 3,  # zeros for x and w make zeros, too
        lambda x, h, c, w: gate(x, h, w) * c + torch.tanh(x @ w) + 0.1 * x.sum(1, keepdim=True).sign(),
    ],
)
def test_nothing_is_said_where_no_zeros_make_it_right(tmp_path, answer):
    source = "def f(x, h, c, w):\n    ..."
    assert "in place of `c`" not in said(tmp_path, CELL, answer, source)
    assert "in place of `h`" not in said(tmp_path, CELL, answer, source)


def test_zeros_that_make_every_right_number_alike_say_nothing(tmp_path):
    task = CELL.replace("return gate * c + torch.tanh(x @ w)", "return gate * c * torch.tanh(x @ w)")
    message = said(tmp_path, task, lambda x, h, c, w: gate(x, h, w) * c * torch.sin(x @ w))
    assert "With zeros" not in message


def test_the_parts_of_an_argument_are_tried_together(tmp_path):
    def answer(x, state):
        return torch.tanh(x) + 1.5 * (state[0] ** 2 + state[1] ** 2)

    told = said(tmp_path, STATE, answer, "def f(x, state):\n    ...")
    assert "With zeros in place of `state` your answer is right" in told


def test_a_parameter_is_named(tmp_path):
    class Cell(torch.nn.Module):
        def __init__(self, d, h):
            super().__init__()
            shapes = {"w": (d, h), "u": (h, h), "b": (h,)}
            self.w, self.u, self.b = (torch.nn.Parameter(torch.zeros(shape)) for shape in shapes.values())

        def forward(self, x, h):
            return torch.tanh(x @ self.w + h * h @ self.u + self.b)

    told = said(tmp_path, MODULE, Cell, "class f:\n    def forward(self, x, h):\n        ...")
    assert "With zeros in place of `h` or of `u` your answer is right" in told


def test_so_is_one_of_a_module_that_is_handed_over(tmp_path):
    def stepwise(rnn, x):
        h, steps = x.new_zeros(len(x), rnn.hidden_size), []
        for t in range(x.shape[1]):
            inside = x[:, t] @ rnn.weight_ih_l0.T + rnn.bias_ih_l0 + rnn.bias_hh_l0.abs()
            h = torch.tanh(inside + h @ rnn.weight_hh_l0.T)
            steps.append(h)
        return torch.stack(steps, 1)

    assert "With zeros in place of `bias_hh_l0` your answer is right" in said(tmp_path, HANDED, stepwise)


def test_a_whole_number_that_divides_right_from_wrong_is_named(tmp_path):
    def source(name):
        return f"def f(x, {name}):\n    ..."

    longest = said(tmp_path, LENGTHS, lambda x, n: x * (4 + 0 * n[:, None]), source("lengths"))
    assert "does not depend on `lengths`" in longest
    largest = said(tmp_path, LENGTHS, lambda x, n: x * (n + (n < 4))[:, None], source("lengths"))
    assert "It is right only where `lengths` is 4, the largest of all." in largest
    smallest = said(tmp_path, LENGTHS, lambda x, n: x * (n + (n == 1))[:, None], source("lengths"))
    assert "It is wrong only where `lengths` is 1, the smallest of all." in smallest


def test_a_factor_for_each_sequence_is_told(tmp_path):
    task = LENGTHS.replace('sized("with many", B=9)', 'sized("with many", B=9, D=5)')
    told = said(tmp_path, task, lambda x, n: x * (n * n + 1)[:, None], "def f(x, lengths):\n    ...")
    assert (
        "Each is the right number times a factor that does not change along features: 2, 2.5, 3.33, 4.25, …"
        in told
    )


def test_what_an_answer_does_not_depend_on_says_more_than_an_amount(tmp_path):
    class Cell(torch.nn.Module):
        def __init__(self, d, h):
            super().__init__()
            self.w, self.b = torch.nn.Parameter(torch.zeros(d, h)), torch.nn.Parameter(torch.zeros(h))

        def forward(self, x):
            return x @ self.w

    task = """
def right(parameters, x):
    return x @ parameters["w"] + parameters["b"]
task = ModuleSpec("f", made_with={"d": "D", "h": "H"}, parameters={"w": "D H", "b": "H"}, inputs={"x": "B D"},
                  outputs={"y": "B H"}, reference=right)
test_values = task.values(sized("", B=9), points=1)
"""
    told = said(tmp_path, task, Cell, "class f:\n    def forward(self, x):\n        ...")
    assert "does not depend on `b`" in told
    assert "an amount" not in told


TWICE = """
task = FunctionSpec("f", inputs={"x": "B D"}, outputs={"y": "B D"}, reference=lambda x: x)
test_values = task.values(sized("with one sequence", B=1), sized("with two sequences", B=2), points=1)
"""


def test_the_case_before_it_that_is_right_is_told(tmp_path):
    told = said(tmp_path, TWICE, lambda x: x if len(x) == 1 else x * x)
    assert told.startswith("With two sequences: `y` has the right shape")
    assert "It is right with one sequence." in told
    assert "It is right" not in said(tmp_path, TWICE, lambda x: x * x)


def test_so_is_a_truth(tmp_path):
    source = "def f(x, finished):\n    ..."
    told = said(tmp_path, FINISHED, lambda x, e: torch.where(e[:, None], x * x, x), source)
    assert "It is wrong just where `finished` is true." in told


def test_by_chance_nothing_divides_them(tmp_path):
    def answer(x, n):
        wrong = torch.arange(len(n)) % 3 == 0
        return x * (n + wrong)[:, None]

    told = said(tmp_path, LENGTHS, answer, "def f(x, lengths):\n    ...")
    assert "`lengths`" not in told.replace("place of `lengths`", "")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            lambda right, h, c: right + c,
            "Each number is the right one plus the number of `c` at the same place.",
        ),
        (
            lambda right, h, c: right - h,
            "Each number is the right one minus the number of `h` at the same place.",
        ),
        (
            lambda right, h, c: 0.9 * right + 0.1 * c,
            "Each number is 0.9 times the right one plus 0.1 times the number of `c` at the same place.",
        ),
    ],
)
def test_an_input_that_was_added_to_the_right_numbers_is_named(tmp_path, answer, told):
    def added(x, h, c, w):
        return answer(torch.sigmoid(x @ w + h) * c + torch.tanh(x @ w), h, c)

    assert told in said(tmp_path, CELL, added, "def f(x, h, c, w):\n    ...")


def test_of_another_mixture_nothing_is_said(tmp_path):
    def mixed(x, h, c, w):
        gate = torch.sigmoid(x @ w + h)
        return gate * (gate * c + torch.tanh(x @ w)) + (1 - gate) * c

    assert "the right one" not in said(tmp_path, CELL, mixed, "def f(x, h, c, w):\n    ...")
