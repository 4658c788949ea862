"""Several answers to one task, judged one after the other in one worker."""

from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.judge import judge_answers
from autograder.grading.workers.forkserver import ForkServer
from tests.support.helpers import SEED, make_bundle


def test_an_answer_that_makes_nothing_is_not_judged_by_the_one_before_it(workers: ForkServer):
    bundle = make_bundle(solution=True)
    answers = {
        "right": bundle.solution["lstm_gates"],
        "nothing": "lstm_gates = None\n",
        "another name": "def gates(*tensors):\n    return tensors\n",
        "no Python": "def lstm_gates(:\n",
    }
    with checks_of(bundle) as checks:
        judged = judge_answers(bundle, "lstm_gates", answers, seed=SEED, checks=checks, workers=workers)
    assert {name: task.score for name, task in judged.items()} == {
        "right": 2.0,
        "nothing": 0.0,
        "another name": 0.0,
        "no Python": 0.0,
    }
