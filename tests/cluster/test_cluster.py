"""A class graded on a real Dask cluster: like an undisturbed local run, whatever is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psutil
import pytest

from autograder.errors import UserError
from autograder.grading.cluster import judges as judges_of_cluster
from autograder.grading.cluster import roll
from autograder.grading.cluster.judges import ClusterJudges
from autograder.grading.cluster.order import Start
from autograder.grading.course.course import Course
from autograder.grading.judging.jobs import Failure
from tests.support.environments.clusters import (
    FORK_SERVER,
    QUICK_TO_GIVE_UP,
    Cluster,
    Deadly,
    DeadlyToTheHost,
    Doubled,
    Wire,
    cluster,
    free_port,
    wait_for,
)
from tests.support.helpers import ASSIGNMENT, autograder, make_bundle
from tests.support.resuming import (
    copy,
    finished,
    leftovers,
    make_class,
    start_grading,
    state,
    wait_for_verdicts,
)

SECONDS = 300


@pytest.fixture(scope="module")
def ungraded(tmp_path_factory) -> Course:
    return make_class(tmp_path_factory.mktemp("ungraded"))


@pytest.fixture(scope="module")
def graded(ungraded, tmp_path_factory) -> Course:
    """The same class after an undisturbed run on this machine; tests only read it."""
    course = copy(ungraded, tmp_path_factory.mktemp("graded") / "course")
    told = autograder("grade", ASSIGNMENT, "--course", course.root, "--jobs", "2")
    assert told.returncode == 0, told.stderr
    return course


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A cluster of two workers that tests leave as it is."""
    with cluster(tmp_path_factory.mktemp("cluster"), (1, 1)) as made:
        yield made


def assert_undisturbed(course: Course, graded: Course) -> None:
    assert leftovers(course) == []
    found, expected = state(course), state(graded)
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name] == expected[name], name


def sentences(told: str) -> list[str]:
    """Return the output without the progress bar and the table."""
    return [line for line in told.splitlines() if line and "ETA" not in line]


def has_ended(process: psutil.Process) -> bool:
    """Return whether a process ran to its end, of which its parent need not have taken notice."""
    return process.status() == psutil.STATUS_ZOMBIE


def nothing_judges(cluster: Cluster) -> None:
    wait_for(lambda: not (cluster.judges() or cluster.confined()), 60)


@pytest.mark.slow
def test_one_process_and_a_second_run_give_what_two_processes_give(ungraded, graded, tmp_path):
    course = copy(ungraded, tmp_path / "course")
    for more in ((), ("--force",)):
        told = autograder("grade", ASSIGNMENT, "--course", course.root, "--jobs", "1", *more)
        assert told.returncode == 0, told.stderr
        assert_undisturbed(course, graded)


@pytest.mark.slow
def test_what_comes_of_it_is_what_comes_of_a_local_run(running, ungraded, graded, tmp_path):
    course = copy(ungraded, tmp_path / "course")
    told = autograder("grade", ASSIGNMENT, "--course", course.root, "--scheduler", running.address)
    assert told.returncode == 0, told.stderr + running.log()
    assert sentences(told.stderr) == []
    assert_undisturbed(course, graded)
    nothing_judges(running)
    before = finished(course)
    again = ("grade", ASSIGNMENT, "--course", course.root, "--scheduler", running.address)
    assert autograder(*again).returncode == 0
    assert finished(course) == before, "judged again"
    assert autograder(*again, "--force", "--student", "cai").returncode == 0
    changed = {name for name, each in finished(course).items() if each != before[name]}
    assert changed == {"cai"}
    assert_undisturbed(course, graded)


@pytest.mark.slow
def test_a_job_that_kills_two_judges_fails_and_stops_nobody(running):
    jobs = [Doubled(1), Deadly(), *map(Doubled, range(2, 8))]
    with ClusterJudges(running.address) as judges:
        told = [each for some in judges.work_off(iter(jobs), make_bundle(), 1, {}) for each in some]
    assert len(told) == len(jobs)
    found = dict(told)
    assert isinstance(failure := found.pop(Deadly()), Failure)
    assert "ended unexpectedly" in failure.reason
    assert found == {job: 2 * job.number for job in found}
    nothing_judges(running)


@pytest.mark.slow
def test_the_judges_of_a_worker_share_a_host_which_ends_when_nobody_wants_it(tmp_path, monkeypatch):
    monkeypatch.setattr(judges_of_cluster, "Start", partial(Start, idle_seconds=3.0))
    with cluster(tmp_path / "cluster", (3,)) as made, ClusterJudges(made.address) as judges:
        kept = []
        for number in range(3):
            if number == 2:
                (fork_server,) = (each for each in made.hosts() if FORK_SERVER in each.cmdline())
                fork_server.kill()
                wait_for(partial(has_ended, fork_server), 10)
            batch = judges.work_off([Doubled(n, 5) for n in range(3)], make_bundle(), 1, {})
            told = list(next(batch))
            assert len(made.judges()) == 3
            kept.append({*made.hosts()} - {*made.judges()})
            told += [each for some in batch for each in some]
            assert sorted(result for _, result in told) == [0, 2, 4]
            nothing_judges(made)
        assert len(kept[0]) == 2, "more than a host and its fork server"
        assert kept[0] == kept[1], "another host for the second batch"
        assert kept[1] - kept[2] == {fork_server}, "another host, where only the fork server is gone"
        assert len(kept[2]) == 2
        wait_for(lambda: not made.hosts(), 60)


@pytest.mark.slow
def test_a_job_that_kills_two_hosts_fails_and_stops_nobody(running):
    jobs = [Doubled(1), DeadlyToTheHost(), *map(Doubled, range(2, 8))]
    with ClusterJudges(running.address) as judges:
        told = [each for some in judges.work_off(iter(jobs), make_bundle(), 1, {}) for each in some]
    found = dict(told)
    assert isinstance(found.pop(DeadlyToTheHost()), Failure)
    assert found == {job: 2 * job.number for job in found}
    assert len(found) == len(jobs) - 1
    nothing_judges(running)


@pytest.mark.slow
def test_results_come_together_and_jobs_are_taken_when_there_is_room(running):
    taken = []

    def jobs():
        for number in range(40):
            taken.append(number)
            yield Doubled(number)

    with ClusterJudges(running.address) as judges:
        batch = judges.work_off(jobs(), make_bundle(), 1, {}, seconds=60, most=10)
        first = next(batch)
        assert len(first) >= 10
        assert len(taken) <= len(first) + 6, "more is with the scheduler than the judges can do soon"
        batch.close()
    nothing_judges(running)


@pytest.mark.slow
def test_the_doctor_examines_every_worker(running):
    told = autograder("doctor", "--scheduler", running.address, "--json")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert (found["can_grade"], found["judges"]) == (True, 2)
    for worker in found["workers"]:
        assert (worker["problem"], worker["judges"], worker["level"]) == ("", 1, "namespaces")
        assert 0 < worker["seconds"] < 60
        assert {layer["name"] for layer in worker["layers"]} >= {"pid-namespace", "seccomp"}
    told = autograder("doctor", "--scheduler", running.address)
    assert told.stdout.rstrip().endswith("2 judges can grade.")


@pytest.mark.slow
def test_ctrl_c_ends_the_batch_and_all_that_judges(running, ungraded, graded, tmp_path):
    course = copy(ungraded, tmp_path / "course")
    batch = start_grading(course, "--scheduler", running.address)
    wait_for_verdicts(course, 1, batch, SECONDS)
    batch.send_signal(signal.SIGINT)
    told = batch.communicate(timeout=120)[0].decode()
    assert batch.returncode == 130, told
    assert "the same command goes on from there" in told
    nothing_judges(running)
    before = finished(course)
    again = autograder("grade", ASSIGNMENT, "--course", course.root, "--scheduler", running.address)
    assert again.returncode == 0, again.stderr
    assert {student: finished(course)[student] for student in before} == before, "judged again"
    assert_undisturbed(course, graded)


@pytest.mark.slow
def test_a_network_that_comes_back_loses_nothing(running):
    wire = Wire(running.port)
    try:
        with ClusterJudges(f"tcp://127.0.0.1:{wire.port}") as judges:
            batch = judges.work_off(map(Doubled, range(30)), make_bundle(), 1, {}, seconds=0, most=1)
            told = [*next(batch), *next(batch)]
            wire.cut()
            mending = threading.Timer(3, wire.mend)
            mending.start()
            told += [each for some in batch for each in some]
    finally:
        wire.close()
    assert sorted(result for _, result in told) == [2 * number for number in range(30)]
    nothing_judges(running)


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing(ungraded, graded, tmp_path):
    course = copy(ungraded, tmp_path / "course")
    with cluster(tmp_path / "cluster", (1, 1)) as made:
        batch = start_grading(course, "--scheduler", made.address)
        wait_for(lambda: len(made.hosts()) >= 6 or batch.poll() is not None, SECONDS)
        begun = made.hosts()
        made.kill_worker(0)
        wait_for_verdicts(course, 2, batch, SECONDS)
        made.kill_worker(1)
        told = batch.communicate(timeout=SECONDS)[0].decode()
        assert batch.returncode == 0, told + made.log()
        nothing_judges(made)
        assert psutil.wait_procs(begun, timeout=30)[1] == []
    assert_undisturbed(course, graded)


@pytest.mark.slow
def test_results_lost_with_every_worker_are_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(judges_of_cluster, "FETCH_SECONDS", 2.0)
    with (
        ThreadPoolExecutor() as pool,  # left last: a batch that would never end ends with its scheduler
        cluster(tmp_path / "cluster", (1, 1), **QUICK_TO_GIVE_UP) as made,
        ClusterJudges(made.address) as judges,
    ):
        batch = judges.work_off(map(Doubled, range(20)), make_bundle(), 1, {}, seconds=0, most=1)
        told = list(next(batch))
        time.sleep(1)  # the jobs that went out are done now, and nobody has asked for their results
        for number in range(2):
            made.kill_worker(number)
        wait_for(lambda: made.log().count("Registered to") >= 4, 60)
        told += pool.submit(lambda: [each for some in batch for each in some]).result(timeout=120)
    assert sorted(result for _, result in told) == [2 * number for number in range(20)]


@pytest.mark.slow
def test_without_its_scheduler_a_batch_ends_in_one_sentence_and_goes_on_later(ungraded, graded, tmp_path):
    course = copy(ungraded, tmp_path / "course")
    command = ("grade", ASSIGNMENT, "--course", course.root, "--scheduler")
    with cluster(tmp_path / "cluster", (1,), **QUICK_TO_GIVE_UP) as made:
        batch = subprocess.Popen(
            [sys.executable, "-m", "autograder", *map(str, command), made.address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **QUICK_TO_GIVE_UP},
        )
        wait_for_verdicts(course, 1, batch, SECONDS)
        made.scheduler.kill()
        _, told = batch.communicate(timeout=SECONDS)
        assert batch.returncode == 1
        (sentence,) = sentences(told)
        assert sentence.startswith(f"The Dask scheduler at {made.address} went away"), told
        before = finished(course)
        made.start_scheduler()
        made.start_worker()
        again = autograder(*command, made.address)
        assert again.returncode == 0, again.stderr + made.log()
        assert {student: finished(course)[student] for student in before} == before, "judged again"
    assert_undisturbed(course, graded)


@pytest.mark.slow
def test_workers_with_another_version_or_without_the_package_are_left_out(tmp_path):
    other = tmp_path / "other" / "numpy-1.0.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    lacking = tmp_path / "lacking"
    lacking.mkdir()
    (lacking / "autograder.py").write_text("raise ImportError('no such package')\n")
    said: list[str] = []
    with cluster(tmp_path / "cluster", ()) as made:
        made.start_worker(PYTHONPATH=str(other.parent))
        made.start_worker(PYTHONPATH=str(lacking))
        wait_for(lambda: made.log().count("Registered to") >= 2, 180)
        with pytest.raises(UserError, match="None of the cluster's workers can judge"):
            ClusterJudges(made.address, said.append)
        assert sum("left out: it has numpy 1.0, and this machine has" in line for line in said) == 1, said
        assert sum("left out: it cannot be examined, as where autograder" in line for line in said) == 1, said
        made.start_worker()
        wait_for(lambda: made.log().count("Registered to") >= 3, 180)
        with ClusterJudges(made.address, said.append) as judges:
            told = [
                each
                for some in judges.work_off(map(Doubled, range(4)), make_bundle(), 1, {})
                for each in some
            ]
        assert sorted(result for _, result in told) == [0, 2, 4, 6]
        assert len(said) == 4


def test_a_cluster_without_workers_is_told_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(roll, "FIRST_SECONDS", 1.0)
    with cluster(tmp_path, ()) as made, pytest.raises(UserError, match="had no worker for 1 seconds"):
        ClusterJudges(made.address)


@pytest.mark.slow
def test_bad_input_is_told_in_one_sentence(graded, tmp_path, monkeypatch):
    course = ("grade", ASSIGNMENT, "--course", graded.root)
    address = f"tcp://127.0.0.1:{free_port()}"
    blocked = tmp_path / "distributed.py"
    blocked.write_text("raise ImportError\n")
    for options, environment, begins in (
        (("--scheduler", address), QUICK_TO_GIVE_UP, f"No Dask scheduler can be reached at {address}"),
        (("--scheduler", "nonsense://x"), {}, "nonsense://x cannot be used as a Dask scheduler"),
        (("--scheduler", address, "--jobs", "2"), {}, "--jobs is about this machine"),
        (("--scheduler", address, "--unsafe"), {}, "--unsafe is about this machine"),
        (("--scheduler", address), {"PYTHONPATH": str(tmp_path)}, "`--scheduler` needs Dask"),
    ):
        told = autograder(*course, *options, **environment)
        assert told.returncode == 1, (options, told.stdout)
        (sentence,) = sentences(told.stderr)
        assert sentence.startswith(begins), told.stderr


@pytest.mark.slow
def test_dask_is_imported_only_where_a_scheduler_is_named():
    code = "import sys, autograder.cli, autograder.grading.batch; print({'distributed'} & {*sys.modules})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"
