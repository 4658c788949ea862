"""Forged answers over all assignments: none gets more than an honest wrong answer of the same shape.

Each is judged as submissions are, in a confined worker of its own. One that stops before it attacks proves
nothing: it comes to its end, or, where it borrows torch's own work, is right in a worker that lacks nothing.
"""

from __future__ import annotations

import pytest

from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from autograder.grading.workers.forkserver import ForkServer
from tests.attacks import borrowing, handed, rewriting
from tests.attacks.forgery import Forgery
from tests.support.helpers import ROOT, SEED, make_bundle
from tests.support.hostile.forgeries import Bench, Judged

pytestmark = pytest.mark.slow

KINDS = (borrowing, handed, rewriting)
FORGERIES: dict[str, Forgery] = {name: forgery for kind in KINDS for name, forgery in kind.FORGERIES.items()}
ASSIGNMENTS = sorted({forgery.assignment for forgery in FORGERIES.values()})


@pytest.fixture(scope="module")
def judged(workers: ForkServer) -> dict[str, Judged]:
    """Each forgery's judging, an assignment's checks collected once."""
    found: dict[str, Judged] = {}
    for assignment in ASSIGNMENTS:

        def body(checks: Checks, assignment: str = assignment) -> None:
            bench = Bench(assignment, checks, workers)
            for name, forgery in FORGERIES.items():
                if forgery.assignment == assignment:
                    found[name] = bench.judged(forgery.task, forgery.source, SEED)

        with make_bundle(assignment).checks_folder() as folder:
            body(collect(folder))
    return found


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_answer_gains_nothing(name: str, judged: dict[str, Judged]):
    assert judged[name].score <= FORGERIES[name].earns, judged[name].told


@pytest.mark.parametrize("name", [name for name, forgery in FORGERIES.items() if not forgery.borrows])
def test_a_forgery_comes_to_its_end(name: str, judged: dict[str, Judged]):
    assert judged[name].over, judged[name].told


@pytest.mark.parametrize(
    "assignment",
    [
        a
        for a in ASSIGNMENTS
        if any(forgery.borrows for forgery in FORGERIES.values() if forgery.assignment == a)
    ],
)
def test_what_is_borrowed_is_right_where_nothing_lacks(assignment: str, workers: ForkServer):
    borrowed = {n: f for n, f in FORGERIES.items() if f.borrows and f.assignment == assignment}

    def body(checks: Checks) -> dict[str, float]:
        bench = Bench(assignment, checks, workers)
        return {name: bench.where_nothing_lacks(f.task, f.source) for name, f in borrowed.items()}

    with make_bundle(assignment).checks_folder() as folder:
        scores = body(collect(folder))
    stopped = {name: score for name, score in scores.items() if score <= borrowed[name].earns}
    assert not stopped


def test_there_are_forgeries_of_every_assignment():
    assert len(FORGERIES) == sum(len(kind.FORGERIES) for kind in KINDS), "no name twice"
    assert len(FORGERIES) >= 80
    for assignment in sorted(path.name for path in (ROOT / "source").iterdir() if path.is_dir()):
        assert sum(forgery.assignment == assignment for forgery in FORGERIES.values()) >= 3, assignment
