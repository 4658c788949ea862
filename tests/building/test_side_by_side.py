"""Work on several assignments in processes of their own: its results, its errors, and how it is stopped."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from autograder.cli.stopping import stoppable
from autograder.errors import UserError
from autograder.grading.building.side_by_side import side_by_side

NAMES = ["a", "b", "c", "d"]


def run(work, count=2, names=NAMES):
    heard: list[tuple[str, ...]] = []
    found = dict(side_by_side(names, count, work, lambda *told: heard.append(told)))
    return found, sorted(heard)


@pytest.mark.parametrize("count", [1, 2, 9])
def test_each_name_gets_its_result_and_its_progress_is_heard(count):
    def work(name, tell):
        tell("began")
        return name.upper()

    assert run(work, count) == ({name: name.upper() for name in NAMES}, [(name, "began") for name in NAMES])


def test_two_are_worked_on_at_a_time_in_processes_of_their_own(tmp_path):
    """Each waits for the other: one after the other they would wait for ever."""

    def work(name, tell):
        (tmp_path / name).touch()
        deadline = time.monotonic() + 20
        while len(list(tmp_path.iterdir())) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return os.getpid()

    found, _ = run(work, names=["a", "b"])
    assert len({*found.values(), os.getpid()}) == 3


def test_one_alone_is_done_in_this_process():
    assert run(lambda name, tell: os.getpid(), names=["a"])[0] == {"a": os.getpid()}


def test_the_first_error_in_order_is_raised_and_nothing_more_is_begun(tmp_path):
    def work(name, tell):
        (tmp_path / name).touch()
        if name != "c":
            raise UserError(f"{name} is wrong")

    with pytest.raises(UserError, match=r"^a is wrong$"):
        run(work)
    assert not (tmp_path / "d").exists()


def test_an_error_that_is_nobodys_foresight_keeps_its_traceback():
    def work(name, tell):
        raise ZeroDivisionError(name)

    with pytest.raises(ZeroDivisionError) as caught:
        run(work)
    assert "in work" in caught.value.__notes__[0]


def test_a_process_that_is_killed_is_told_as_such():
    def work(name, tell):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(UserError, match=r"^[ab]: its process ended unexpectedly \(exit status -9\)"):
        run(work)


def test_an_interrupt_ends_all_of_them_and_they_clear_up(tmp_path: Path):
    def work(name, tell):
        (tmp_path / name).touch()
        try:
            tell("ready")
            time.sleep(60)
            (tmp_path / "slept").touch()
        finally:
            (tmp_path / name).unlink()

    ready = []

    def heard(*told):
        ready.append(told)
        if len(ready) == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt), stoppable():
        list(side_by_side(NAMES, 2, work, heard))
    assert list(tmp_path.iterdir()) == []
