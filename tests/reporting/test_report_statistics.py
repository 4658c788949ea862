"""The report's numbers: who passed what, how well a check tells students apart, how scores are spread."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.reporting.statistics import check_statistics, discrimination, spread, task_statistics
from autograder.verdict import CheckVerdict, TaskVerdict, Verdict


def verdict(*tasks: TaskVerdict, status: str = "graded") -> Verdict:
    return Verdict("x", "a", "n", status, 1.0, 1, (), tasks)


def task(name: str, *outcomes: str, points: float = 1.0) -> TaskVerdict:
    """Return a task with a check for each outcome; a passed one earns `points`."""
    checks = tuple(
        CheckVerdict(
            check=f"check{number}",
            rule="values",
            title=f"Check {number}.",
            outcome="failed" if outcome == "unwritten" else outcome,
            points=points if outcome == "passed" else 0.0,
            max_points=points,
            message="",
            unwritten=outcome == "unwritten",
        )
        for number, outcome in enumerate(outcomes)
    )
    return TaskVerdict(name, points * len(checks), checks)


def test_what_was_not_judged_is_no_failure():
    verdicts = [
        verdict(task("a", "passed", "passed")),
        verdict(task("a", "failed", "skipped")),
        verdict(task("a", "error", "skipped")),
        verdict(task("a", "unwritten", "skipped")),
        verdict(task("a", "failed", "failed"), status="corrupt"),
        verdict(task("a"), status="missing"),
    ]
    first, second = check_statistics(verdicts)
    assert (first.passed, first.failed, first.skipped, first.unwritten) == (1, 2, 0, 1)
    assert first.pass_rate == pytest.approx(1 / 3)
    assert (second.passed, second.failed, second.skipped, second.unwritten) == (1, 0, 2, 1)
    assert second.pass_rate == 1.0
    assert first.earned == second.earned == 0.25  # of what four submissions could have earned
    (only,) = task_statistics(verdicts)
    assert (only.judged, only.unwritten, only.full, only.mean, only.earned) == (4, 1, 1, 0.5, 0.25)


def test_discrimination_is_the_correlation_with_the_other_tasks():
    """Point-biserial by its textbook formula: (M1 - M0) / s * sqrt(p q), s with n below it."""
    rests = [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    passed = [0, 0, 0, 1, 0, 1, 1, 0, 1, 1]
    verdicts = [
        verdict(
            task("a", "passed" if ok else "failed", points=5),
            task("b", *["passed"] * n, *["failed"] * (3 - n)),
        )
        for ok, n in zip(passed, rests, strict=True)
    ]
    ones = [n for ok, n in zip(passed, rests, strict=True) if ok]
    zeros = [n for ok, n in zip(passed, rests, strict=True) if not ok]
    mean = sum(rests) / 10
    deviation = (sum((n - mean) ** 2 for n in rests) / 10) ** 0.5
    expected = (sum(ones) / 5 - sum(zeros) / 5) / deviation * 0.5
    found = check_statistics(verdicts)[0].discrimination
    assert found.value == pytest.approx(expected)
    assert found.count == 10
    assert found.why.startswith("only 10 submissions"), "few submissions are flagged"


@pytest.mark.parametrize(
    ("items", "rests", "why"),
    [
        ([0, 1] * 4, range(8), "fewer than 10"),
        ([1] * 10, range(10), "equally well here"),
        ([0, 1] * 5, [3] * 10, "equally well in the other tasks"),
    ],
)
def test_a_discrimination_that_says_nothing_is_not_told(items, rests, why):
    found = discrimination(list(items), list(rests))
    assert found.value is None
    assert why in found.why


@pytest.mark.parametrize("few", [1, 2])
def test_what_a_few_did_otherwise_is_no_word_about_the_check(few):
    found = discrimination([0.0] * few + [1.0] * (40 - few), list(range(40)))
    assert found.value is None
    assert f"only {few} of 40" in found.why
    assert discrimination([0.0] * 3 + [1.0] * 37, list(range(40))).value is not None


def test_many_submissions_carry_no_flag():
    assert discrimination([0, 1] * 20, list(range(40))).why == ""


@pytest.mark.parametrize(
    ("values", "bins"),
    [
        ([0.0], [1, 0, 0, 0]),
        ([4.0], [0, 0, 0, 1]),
        ([0.99, 1.0, 2.0, 3.0], [1, 1, 1, 1]),
        ([5.0, 0.0], [1, 0, 0, 1]),
    ],
)
def test_a_distribution_holds_every_value_once(values, bins):
    found = spread(values, 4.0, bars=4)
    assert [bar.count for bar in found.bins] == bins
    assert found.count == sum(bins)


def test_no_values_are_no_distribution():
    assert spread([]).median is None
    assert spread([]).bins == ()


@pytest.mark.parametrize(
    ("values", "edges"),
    [
        ([0.31, 1.46, 4.38], [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5]),
        ([0.2], [0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2]),
        ([0.0, 61.0], [0, 10, 20, 30, 40, 50, 60, 70]),
        ([0.0], [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
    ],
)
def test_bars_without_a_given_end_have_edges_that_people_count_in(values, edges):
    bins = spread(values).bins
    assert [bins[0].low, *(each.high for each in bins)] == pytest.approx(edges)
    assert sum(each.count for each in bins) == len(values)


def test_the_documentation_defines_what_the_report_shows():
    text = (Path(__file__).parents[2] / "docs" / "reporting.md").read_text(encoding="utf-8")
    for word in ("Pass rate", "Earned", "Discrimination", "Judged"):
        assert f"**{word}" in text
