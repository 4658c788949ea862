"""The catalogue at work in a course: what it explains of a class, and what it says of the checks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from autograder.checking.diagnosis.match import Known
from autograder.grading.batch import grade
from autograder.grading.course.course import Course
from autograder.grading.judging.judge_pool import LocalJudges
from autograder.grading.records.clusters import clusters
from autograder.grading.records.results import results
from autograder.grading.validating.mistaken import judged_together, mistaken_together
from autograder.grading.workers.forkserver import ForkServer
from autograder.verdict import CheckVerdict, Diagnosis, TaskVerdict, Verdict
from tests.support.helpers import (
    ASSIGNMENT,
    answer,
    autograder_here,
    make_course,
    released,
    submission,
    submit,
)

GATES, CELL = answer("lstm_gates"), answer("lstm_cell")
SWAPPED = GATES.replace("i, f, g, o = sums", "i, f, o, g = sums")
SWAPPED_OTHERWISE = """
def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):
    a = F.linear(x, w_ih, b_ih) + F.linear(h, w_hh, b_hh)
    i, f, o, g = torch.split(a, h.shape[1], dim=1)
    return [i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()]
"""
NO_TANH = CELL.replace("o * torch.tanh(c_next)", "o * c_next")

SWAP = """
[gates_in_another_order]
task = "lstm_gates"
find = "i, f, g, o = sums"
replace = "i, f, o, g = sums"
caught_by = "values"
hint = "Two gates have changed places."
"""
TANH = """
[shown_without_tanh]
task = "lstm_cell"
find = "o * torch.tanh(c_next)"
replace = "o * c_next"
caught_by = "values"
hint = "The memory is shown as it is."
"""

MODULE = """
[module_shown_without_tanh]
task = "LSTMCell"
find = "o * torch.tanh(c_next)"
replace = "o * c_next"
caught_by = "values"
hint = "The memory is shown as it is."
"""
PATCHED = """
[a_function_of_torch_changed]
task = "lstm_gates"
find = "def lstm_gates("
replace = "torch.tanh = torch.sigmoid\\ndef lstm_gates("
caught_by = "values"
hint = "This changes what every other cell computes."
"""


@pytest.fixture
def course(tmp_path) -> Course:
    course = make_course(tmp_path)
    answers = {
        "ada": {},
        "bela": {"lstm_gates": SWAPPED},
        "chidi": {"lstm_gates": SWAPPED_OTHERWISE},
        "dana": {"lstm_cell": NO_TANH},
    }
    for student, changed in answers.items():
        submit(course, student, submission(changed))
    submit(course, "emil", json.dumps(released()).encode())
    return course


def catalogue(course: Course, text: str) -> None:
    path = course.catalogue_path(ASSIGNMENT)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def fresh(course: Course, workers: ForkServer) -> set[str]:
    """Who is judged now, and not known from before."""
    return {
        done.verdict.student
        for done in grade(course, ASSIGNMENT, judges=LocalJudges(workers, 1))
        if done.fresh
    }


def named(course: Course) -> dict[str, set[str]]:
    """The mistakes named for each student."""
    return {
        result.verdict.student: {
            check.diagnosis.mistake
            for task in result.verdict.tasks
            for check in task.checks
            if check.diagnosis
        }
        for result in results(course, ASSIGNMENT)
    }


@pytest.mark.slow
def test_an_entry_serves_all_who_answer_alike_and_nobody_else_is_judged_again(course, workers):
    catalogue(course, "")
    assert fresh(course, workers) == {"ada", "bela", "chidi", "dana", "emil"}
    first, second = clusters(course, ASSIGNMENT)
    assert (first["task"], first["count"], first["students"]) == ("lstm_gates", 2, ["bela", "chidi"])
    assert "i, f, o, g" in first["example"]["cell"]
    assert (second["task"], second["students"]) == ("lstm_cell", ["dana"])  # and nobody who wrote nothing

    catalogue(course, SWAP)
    assert fresh(course, workers) == {"bela", "chidi"}
    assert named(course) == {
        "ada": set(),
        "bela": {"gates_in_another_order"},
        "chidi": {"gates_in_another_order"},
        "dana": set(),
        "emil": set(),
    }
    assert [cluster["students"] for cluster in clusters(course, ASSIGNMENT)] == [["dana"]]
    notebook = course.folder("autograded", "chidi", ASSIGNMENT) / "lstm_cell.ipynb"
    assert "Two gates have changed places." in notebook.read_text()

    catalogue(course, SWAP + TANH)
    assert fresh(course, workers) == {"dana"}
    assert clusters(course, ASSIGNMENT) == []
    catalogue(course, TANH)  # what is taken out is taken back
    assert fresh(course, workers) == {"bela", "chidi"}
    assert fresh(course, workers) == set()


@pytest.mark.slow
def test_the_command_prints_clusters(course, workers):
    catalogue(course, SWAP)
    fresh(course, workers)
    told = autograder_here("results", ASSIGNMENT, "--clusters", "--course", course.root)
    assert told.returncode == 0, told.stderr
    assert "lstm_cell: 1 submission alone" in told.stdout
    assert "o * c_next" in told.stdout
    found = json.loads(
        autograder_here("results", ASSIGNMENT, "--clusters", "--json", "--course", course.root).stdout
    )
    assert [cluster["students"] for cluster in found] == [["dana"]]


def test_a_broken_catalogue_stops_grading_before_anything_is_run(course):
    catalogue(course, SWAP.replace("i, f, g, o = sums", "i, f, g, o = nothing"))
    told = autograder_here("grade", ASSIGNMENT, "--course", course.root)
    assert told.returncode == 1
    assert "gates_in_another_order: what it replaces stands nowhere" in told.stderr
    assert not (course.root / "autograded").exists()


def test_mistakes_share_a_notebook_unless_one_task_uses_the_other(tmp_path):
    course = make_course(tmp_path)
    catalogue(course, SWAP + TANH + MODULE)
    together = mistaken_together(course.bundle(ASSIGNMENT))
    assert [[mistake.name for mistake in mistakes] for mistakes in together] == [
        ["gates_in_another_order", "module_shown_without_tanh"],  # lstm_cell calls lstm_gates
        ["shown_without_tanh"],
    ]


RIGHT = {"lstm_gates": "passed", "lstm_cell": "passed", "LSTMCell": "passed"}
WRONG = {"lstm_gates": "failed", "lstm_cell": "passed", "LSTMCell": "failed"}
NAMED = {"lstm_gates": "gates_in_another_order", "LSTMCell": "module_shown_without_tanh"}


def verdict_of(outcomes: dict[str, str], named: dict[str, str]) -> Verdict:
    """Each task judged by one check; where that failed, a mistake may be named."""
    tasks = [
        TaskVerdict(
            task,
            2.0,
            (
                CheckVerdict(
                    check="right",
                    rule="values",
                    title="It is right",
                    outcome=outcome,
                    points=2.0 if outcome == "passed" else 0.0,
                    max_points=2.0,
                    message="",
                    diagnosis=Diagnosis(named[task], "") if task in named else None,
                ),
            ),
        )
        for task, outcome in outcomes.items()
    ]
    return Verdict("a mistake", ASSIGNMENT, "lstm_cell", "graded", 0.0, 0, (), tuple(tasks))


@pytest.mark.parametrize(
    ("outcomes", "named", "stand"),
    [
        (WRONG, NAMED, True),
        (WRONG | {"lstm_cell": "failed"}, NAMED, False),
        (WRONG | {"LSTMCell": "crashed"}, NAMED, False),
        (WRONG | {"LSTMCell": "passed"}, {"lstm_gates": "gates_in_another_order"}, False),
        (WRONG, {"lstm_gates": "gates_in_another_order"}, False),
        (WRONG, NAMED | {"LSTMCell": "gates_in_another_order"}, False),
    ],
    ids=[
        "as alone",
        "costs a right answer",
        "another outcome",
        "not caught",
        "not named",
        "named as another",
    ],
)
def test_mistakes_are_judged_alone_where_one_may_have_touched_another_task(tmp_path, outcomes, named, stand):
    course = make_course(tmp_path)
    catalogue(course, SWAP + MODULE)
    bundle = course.bundle(ASSIGNMENT)
    [mistakes] = mistaken_together(bundle)
    known = {
        mistake.task: [Known(mistake.name, mistake.hint, {}, {"right": "failed"}, ["right"])]
        for mistake in mistakes
    }
    verdicts = {"solution": verdict_of(RIGHT, {}), "mistakes 0": verdict_of(outcomes, named)}
    judged, alone = judged_together({"mistakes 0": mistakes}, verdicts, known)
    names = {mistake.name for mistake in mistakes}
    assert (set(judged), set(alone)) == (
        (names, set()) if stand else (set(), {f"mistake {name}" for name in names})
    )
    assert not stand or judged["module_shown_without_tanh"].costs == {"LSTMCell": 2.0}


FAULTS = {
    "costs points in lstm_cell, LSTMCell, too": PATCHED,
    "is not caught": SWAP.replace("i, f, o, g = sums", "i, f, g, o = 1 * sums"),
    "is caught by the rule values, not by shape": SWAP.replace('"values"', '"shape"'),
    "is diagnosed as nothing": SWAP + SWAP.replace("gates_in_another_order", "the_same_again"),
    "is the only catcher of no mistake and not marked as teaching only": SWAP,
    "these hints are not those of the catalogue": SWAP,
}


@pytest.mark.slow
def test_validate_says_what_does_not_hold(tmp_path):
    course = make_course(tmp_path)
    entries = []
    for number, text in enumerate(FAULTS.values()):
        text = text.replace("gates_in_another_order", f"mistake_{number}")
        entries.append(text.replace("the_same_again", f"again_{number}"))
    catalogue(course, MODULE + "".join(entries))
    told = autograder_here("validate", ASSIGNMENT, "--json", "--course", course.root)
    assert told.returncode == 1, told.stderr
    found = json.loads(told.stdout)
    [one] = found["assignments"]
    assert not found["ok"]
    assert not one["ok"]
    for fault in FAULTS:
        assert any(fault in problem for problem in one["problems"]), (fault, one["problems"])
    assert not any("the solution fails" in problem for problem in one["problems"])
    printed = autograder_here("validate", ASSIGNMENT, "--course", course.root)
    assert printed.returncode == 1
    assert "mistake_1" in printed.stdout
    place = "solutions/mistakes/03_lstm_cell.toml, line "
    assert re.search(rf"^! {place}\d+: the mistake mistake_1 is not caught$", printed.stdout, re.MULTILINE)


@pytest.mark.slow
def test_validate_fails_a_check_that_fails_a_right_answer(tmp_path):
    course = make_course(tmp_path)
    variants = course.root / "tests" / "variants"
    variants.mkdir(parents=True)
    right, wrong = (f'"""{name}"""' for name in ("right", "wrong"))
    (variants / "lstm_cell.py").write_text(
        f"CORRECT = {{'lstm_gates': {{'swapped': {SWAPPED!r}, 'plain': {GATES!r}}}}}\n{right}\n{wrong}\n"
    )
    told = autograder_here("validate", ASSIGNMENT, "--json", "--course", course.root)
    [one] = json.loads(told.stdout)["assignments"]
    assert one["counts"]["variants"] == 2
    assert one["variants_failed"] == ["lstm_gates: swapped"]


def test_validate_wants_an_assignment_that_is_there(tmp_path):
    course = make_course(tmp_path)
    told = autograder_here("validate", "99_nothing", "--course", course.root)
    assert (told.returncode, told.stdout) == (1, "")
    assert "There is no assignment '99_nothing'" in told.stderr
    assert Path(course.root, "source").is_dir()
