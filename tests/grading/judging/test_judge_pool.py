"""Jobs are done by judges, results come together, and a batch that is left ends its judges without a word."""

from __future__ import annotations

import time

import pytest

from autograder.grading.judging.judge_pool import Setting, work_off, work_off_together
from tests.support.environments.clusters import Doubled
from tests.support.helpers import make_bundle


@pytest.fixture(scope="module")
def setting(workers):
    return Setting(make_bundle(), 1, workers)


def test_each_job_gets_its_own_result(setting):
    told = dict(work_off([Doubled(number) for number in range(5)], 2, setting))
    assert told == {Doubled(number): 2 * number for number in range(5)}


@pytest.mark.parametrize(("seconds", "most", "sizes"), [(60.0, 3, [3, 3, 1]), (60.0, 100, [7])])
def test_results_wait_for_each_other_up_to_so_many(setting, seconds, most, sizes):
    jobs = [Doubled(number) for number in range(7)]
    told = list(work_off_together(jobs, 1, setting, seconds=seconds, most=most))
    assert [len(each) for each in told] == sizes
    assert [result for each in told for _, result in each] == [2 * number for number in range(7)]


@pytest.mark.slow
def test_no_result_waits_longer_than_it_may_for_a_job_that_takes_long(setting):
    jobs = [Doubled(1), Doubled(2, seconds=6.0)]
    batches = work_off_together(jobs, 2, setting, seconds=0.2, most=100)
    started = time.monotonic()
    assert [job.number for job, _ in next(batches)] == [1]
    assert time.monotonic() - started < 5
    assert [job.number for job, _ in next(batches)] == [2]


def test_judges_that_wait_or_work_are_ended_without_a_word(setting, capfd):
    """The other judge has sent a result that nobody reads: it must not see its pipe end."""
    left = work_off([Doubled(1), Doubled(2), Doubled(3), Doubled(4, seconds=60)], 2, setting)
    next(left)
    time.sleep(1)
    left.close()
    assert capfd.readouterr().err == ""
