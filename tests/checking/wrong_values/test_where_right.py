"""Messages about where a wrong answer is right: for which lengths, for which truths."""

import torch

from tests.support.checking import said

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


def test_a_whole_number_that_divides_right_from_wrong_is_named(tmp_path):
    def source(name):
        return f"def f(x, {name}):\n    return x, {name}"

    longest = said(tmp_path, LENGTHS, lambda x, n: x * (4 + 0 * n[:, None]), source("lengths"))
    assert "does not depend on `lengths`" in longest
    largest = said(tmp_path, LENGTHS, lambda x, n: x * (n + (n < 4))[:, None], source("lengths"))
    assert "It is right only where `lengths` is 4, the largest of all." in largest
    smallest = said(tmp_path, LENGTHS, lambda x, n: x * (n + (n == 1))[:, None], source("lengths"))
    assert "It is wrong only where `lengths` is 1, the smallest of all." in smallest


def test_a_factor_for_each_sequence_is_told(tmp_path):
    task = LENGTHS.replace('sized("with many", B=9)', 'sized("with many", B=9, D=5)')
    told = said(
        tmp_path, task, lambda x, n: x * (n * n + 1)[:, None], "def f(x, lengths):\n    return x, lengths"
    )
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
    told = said(tmp_path, task, Cell, "class f:\n    def forward(self, x):\n        return x")
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
    source = "def f(x, finished):\n    return x, finished"
    told = said(tmp_path, FINISHED, lambda x, e: torch.where(e[:, None], x * x, x), source)
    assert "It is wrong just where `finished` is true." in told


def test_by_chance_nothing_divides_them(tmp_path):
    def answer(x, n):
        wrong = torch.arange(len(n)) % 3 == 0
        return x * (n + wrong)[:, None]

    told = said(tmp_path, LENGTHS, answer, "def f(x, lengths):\n    return x, lengths")
    assert "`lengths`" not in told
