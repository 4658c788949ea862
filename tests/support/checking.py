"""Helpers for tests of the checks' language: sizes, inputs, a submission, the message of a failure."""

import pytest

from autograder.checking import CheckFailed, Draw, Sizes, Submission
from autograder.worker.session.executor import Executor

SIZES = Sizes(B=2, T=5, D=7, H=11, L=3, V=13)
PAIR = {"names": ("output", "h_n"), "dims": ("B T H", "L B H"), "sizes": SIZES}


def submission(**objects):
    return Submission(Executor(objects).perform)


def draw(seed=1):
    return Draw(seed, "test", SIZES)


def message(call, *args, **kwargs):
    with pytest.raises(CheckFailed) as caught:
        call(*args, **kwargs)
    return str(caught.value)
