"""Messages about the part of an argument that wrong numbers are made from."""

import pytest
import torch

from tests.support.checking import said

STEPS = """
task = FunctionSpec("f", inputs={"x": "B T D"}, outputs={"y": "B D"}, reference=lambda x: x[:, -1] ** 3)
test_values = task.values(points=1)
"""
LAYERS = """
task = FunctionSpec("f", inputs={"x": "B D", "h": "L B D"}, outputs={"y": "B D", "z": "B D"},
                    reference=lambda x, h: (x + h[1], x * h[1]))
test_values = task.values(sized("", L=3), points=1)
"""
DERIVED = """
task = FunctionSpec("f", inputs={"h": lambda draw: torch.tanh(draw("L B D"))}, outputs={"y": "B D"},
                    reference=lambda h: h[2].exp())
test_values = task.values(sized("", L=4), points=1)
"""
SOURCE = "def f({}):\n    ..."


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            lambda x: x[:, 0] ** 3,
            "numbers change with those in `x[:, 0]`, and the right ones with those in `x[:, -1]` instead.",
        ),
        (
            lambda x: x[:, -1] ** 3 + 0.1 * x[:, 0] ** 2,
            "Your wrong numbers change with those in `x[:, 0]`; the right ones in their places do not.",
        ),
        (
            lambda x: torch.cat((x[:, -1, :1] ** 3 + x[:, 0, :1].exp(), x[:, -1, 1:] ** 3 + 1), dim=1),
            "Some of your wrong numbers change with those in `x[:, 0]`; the right ones in their places",
        ),
        (
            lambda x: x[:, :1].tanh().sum(1),
            "numbers change with those in `x[:, 0]`, and the right ones with those in `x[:, -1]` instead.",
        ),
    ],
)
def test_parts_of_a_drawn_argument_are_compared_with_what_the_right_answer_reads(tmp_path, answer, told):
    assert told in said(tmp_path, STEPS, answer, SOURCE.format("x"))


def test_a_part_that_only_the_right_answer_reads_is_told(tmp_path):
    told = said(tmp_path, LAYERS, lambda x, h: (x.clone() ** 2, x * h[1]), SOURCE.format("x, h"))
    assert "The right numbers there change with those in `h[1]`; your wrong ones do not." in told


def test_only_the_wrong_one_of_several_results_counts(tmp_path):
    told = said(tmp_path, LAYERS, lambda x, h: (x + h[1], x * h[0] * h[0]), SOURCE.format("x, h"))
    assert (
        "Your wrong numbers change with those in `h[0]`, and the right ones with those in `h[1]` instead."
        in told
    )


def test_of_an_argument_that_was_not_drawn_only_the_answer_itself_is_told(tmp_path):
    told = said(tmp_path, DERIVED, lambda h: h[0].exp() ** 2, SOURCE.format("h"))
    assert "Of `h` your wrong numbers depend on `h[0]` alone." in told


@pytest.mark.parametrize("answer", [lambda x: x[:, -1] ** 2, lambda x: torch.sin(x[:, -1])])
def test_nothing_is_said_where_both_read_the_same(tmp_path, answer):
    assert "the numbers in" not in said(tmp_path, STEPS, answer, SOURCE.format("x"))


def test_what_reads_every_part_has_no_part_named_alone(tmp_path):
    assert "alone" not in said(tmp_path, DERIVED, lambda h: h.tanh().mean(0), SOURCE.format("h"))


def test_numbers_that_are_not_finite_change_with_nothing(tmp_path):
    told = said(tmp_path, LAYERS, lambda x, h: (x + h[1] + float("nan"), x * h[1]), SOURCE.format("x, h"))
    assert "change with" not in told


def test_numbers_wrong_in_one_place_are_not_said_to_be_made_from_it(tmp_path):
    def answer(h):
        right = h[2].exp()
        return torch.cat((right[:, :1] + h.sum(0)[:, :1], right[:, 1:]), 1)

    assert "`h[:, :, 0]`" not in said(
        tmp_path, DERIVED.replace("L=4", "L=4, D=5"), answer, SOURCE.format("h")
    )
