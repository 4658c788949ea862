"""Python's own values across the wall, and what is said where one is not the right one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from autograder.checking import (
    CheckFailed,
    Submission,
    computed,
    expect_equal,
    expect_raises,
    expect_table,
)
from autograder.checking.remote.errors import NoAnswer
from autograder.protocol.answers import Called
from autograder.protocol.frames import SIZES, decode_frame, encode_frame
from autograder.protocol.messages import Batch
from autograder.protocol.packed import pack, unpack
from autograder.worker.session.executor import Executor

NOTEBOOK = """
import numpy as np
numbers = [1, {2}]

def counts(x):
    return {label: np.float64(1) for label in np.array(x)}

def same(x):
    return x

def refuses(n):
    raise ValueError("no")

class Account:
    def __init__(self, balance):
        self.balance = balance
    def deposit(self, amount):
        self.balance += amount
        return self
    def __len__(self):
        return self.balance
    def __eq__(self, other):
        return self.balance == other.balance
    def __str__(self):
        return f"{self.balance} coins"

class Alike:
    def __eq__(self, other):
        return True

def richer(one, other):
    return one if one.balance > other.balance else other
"""
VALUES = [
    {"two"},
    frozenset(),
    {(1, 2): [3], "four": None},
    {"\0set": [1]},
    10**30,
    -(2**63),
    3 + 4j,
    b"\0ab",
    float("inf"),
    np.arange(6).reshape(2, 3)[:, ::-1],
    np.zeros((0, 3), dtype=np.float32),
    np.array(5),
    np.array(["a", "bb"]),
    np.array([1, None, [2]], dtype=object),
    np.array([1, 2], dtype=np.uint16),
    np.array([1 + 2j]),
    np.array(["2026-01-02"], dtype="datetime64[D]"),
    [torch.ones(2), (True, "x")],
]


@pytest.fixture
def submission() -> Submission:
    """The notebook's objects, each batch and answer through the bytes of a frame."""
    namespace = {"__name__": "__main__"}
    exec(NOTEBOOK, namespace)
    executor = Executor(namespace)

    def sent(message):
        frame = encode_frame(message)
        header, _ = SIZES.unpack(frame[: SIZES.size])
        rest = frame[SIZES.size :]
        return decode_frame(rest[:header], bytearray(rest[header:]), type(message))

    def perform(messages):
        batch = sent(Batch(number=1, messages=tuple(messages)))
        return [sent(answer) for answer in executor.perform(batch.messages)]

    made = Submission(perform)
    made.connection.begin("same", 1)
    return made


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_goes_to_a_students_function_and_comes_back(submission, value):
    seen = submission.same.plain(value)
    assert type(seen) is type(value) or isinstance(value, frozenset)
    assert getattr(seen, "dtype", None) == getattr(value, "dtype", None)
    expect_equal(seen, value, "same(…)")


def test_tables_come_back_with_types_dates_and_names(submission):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=["p", "q"])
    frame["at"] = pd.to_datetime(["2025-03-28", "2025-04-01"])
    for table in (frame, frame.set_index("at"), frame["at"], frame.groupby(["b", "a"])["at"].count()):
        expect_table(submission.same.plain(table), table, "same(table)")
    with pytest.raises(
        CheckFailed, match=r"`same\(a\)` is not the table .* yours: \[1, 2\] expected: \[1, 3\]"
    ):
        expect_table(frame["a"], pd.Series([1, 3], ["p", "q"], name="a"), "same(a)")


def test_a_table_in_place_of_a_list_is_another_value():
    for seen, wanted in ((pd.Series([1, 2]), [1, 2]), ([1, 2], pd.Series([1, 2])), (pd.DataFrame(), {})):
        with pytest.raises(CheckFailed, match="must be"):
            expect_equal(seen, wanted, "f()")
    expect_equal(pd.Series([1, 2]), [1, 2], "f()", rtol=0, atol=0)
    expect_equal(("a", "b"), np.array(["a", "b"]), "f()", rtol=0, atol=0)


def test_numpys_own_texts_and_numbers_are_pythons(submission):
    assert set(submission.counts.plain(["a", "b", "a"])) == {"a", "b"}


def test_a_variable_is_asked_for_by_its_value(submission):
    expect_equal(submission.numbers.value, [1, {2}], "numbers")


def test_objects_stay_where_they_are(submission):
    poor, rich = submission.Account.plain(1), submission.Account.plain(10)
    assert poor.deposit(2).balance == 3
    assert submission.richer.plain(poor, rich).balance == 10
    assert (len(poor), str(poor), poor == rich, poor == submission.Account.plain(3)) == (
        3,
        "3 coins",
        False,
        True,
    )
    with pytest.raises(TypeError):
        list(rich)  # a student's object may have no end
    with pytest.raises(TypeError, match="type object cannot be handed"):
        submission.same.plain(object())


def test_an_error_is_expected_of_a_call_that_takes_any_value(submission):
    expect_raises(submission.refuses.plain.request({1}), ValueError)


@pytest.mark.parametrize(
    ("seen", "wanted", "told"),
    [
        ([1, 4, 9, 17], [1, 4, 9, 16], "They differ first at index 3: `16` and `17`."),
        (None, 3, "It is `None`. Is a `return` missing?"),
        ((1, 2), [1, 2], "must be `[1, 2]`. It is `(1, 2)`."),
        (np.float64(2), 3, "must be `3`. It is `2.0`."),
        ([1], [1, 2], "It has 1 parts and not 2."),
        (np.arange(3), np.arange(4), "must be `array([0, 1, 2, 3])`. It is `array([0, 1, 2])`."),
        (lambda: len(None), 3, "cannot be computed from what your code returns: TypeError"),
    ],
)
def test_a_message_says_the_call_what_was_expected_and_what_came(seen, wanted, told):
    with pytest.raises(CheckFailed) as failed:
        expect_equal(seen, wanted, "f(2)")
    assert str(failed.value).startswith("`f(2)` ")
    assert told in str(failed.value)


def test_numbers_are_compared_with_a_tolerance_and_by_their_shape():
    expect_equal([0.1 + 0.2, 1.0], np.array([0.3, 1]), "f()", rtol=1e-9)
    expect_equal(2.0000001, 2, "f()", atol=1e-6)
    for seen in (2.1, "two", None, [2, 2, 2], {2}):
        with pytest.raises(CheckFailed, match="must be about"):
            expect_equal(seen, np.array([2, 2]), "f()", atol=1e-3)
    assert computed(lambda: 1 + 1, "1 + 1") == 2


@pytest.mark.parametrize(
    "sent",
    [
        {"\0nothing": 1},
        {"\0set": [[1]]},
        {"\0int": "f" * 5000},
        {"\0int": "x"},
        {"\0dict": [1]},
        {"\0array": ["<U900000000", [9, 9], ["a"]]},
        {"\0array": ["O", [2], []]},
        {"\0array": [3]},
        {"\0frame": [1, 2]},
    ],
    ids=repr,
)
def test_what_no_value_is_packed_as_is_no_answer(sent):
    hostile = Submission(lambda batch: [Called(value=sent, attached=()) for _ in batch])
    with pytest.raises(NoAnswer):
        hostile.same.plain(1)


def test_a_value_nested_without_end_is_packed_to_its_depth():
    endless: list[object] = []
    endless.append({"more": endless})
    assert unpack(pack((1, {"a": [2]}))) == (1, {"a": [2]})
    assert "nested too deeply" in repr(pack(endless))


def test_an_object_that_equals_everything_is_no_plain_value(submission):
    with pytest.raises(CheckFailed, match="must be `1`"):
        expect_equal(submission.Alike.plain(), 1, "f()")
    with pytest.raises(CheckFailed):
        expect_equal([submission.Alike.plain()], [1], "f()")
