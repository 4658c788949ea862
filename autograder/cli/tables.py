"""What the command line prints: a class as a table, one verdict as text, a machine's examination."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from autograder.cards.card import points
from autograder.reporting.common_mistakes import first_failure

_SIGNS = {"passed": "✓", "skipped": "–", "fault": "!"}
_GIVEN, _WAITING = "*", "?"
_STYLES = {"graded": "", "infra_error": "bold red"}


def results_table(verdicts: list[dict[str, Any]]) -> Table:
    """A line for each student: status, score, the tasks' points in order, and what to look at first.

    Points are those that count, as `legend` says; of a verdict without a mark, those of its checks.
    """
    tasks = list(dict.fromkeys(task for verdict in verdicts for task in _points_by_task(verdict)))
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for title in ("student", "status", "score", "tasks", "seconds"):
        table.add_column(title, justify="right" if title in ("score", "seconds") else "left", no_wrap=True)
    table.add_column("first thing to see", overflow="ellipsis", no_wrap=True, ratio=1)
    for verdict in verdicts:
        shown = _points_by_task(verdict)
        table.add_row(
            Text(verdict["student"]),
            Text(status(verdict), style=_STYLES.get(status(verdict), "yellow")),
            _score(verdict),
            " ".join(shown.get(task, "–").ljust(4) for task in tasks),
            f"{verdict['seconds']:.1f}",
            Text(_first_thing(verdict)),
        )
    return table


def legend(verdicts: list[dict[str, Any]]) -> str:
    """Return the meaning of the signs beside points, if there are any."""
    marks = [verdict["mark"] for verdict in verdicts if verdict.get("mark") and not _unread(verdict)]
    tasks = [task for mark in marks for task in mark["tasks"]]
    given = any(task["by_hand"] and task["points"] is not None for task in tasks)
    waiting = any(task["points"] is None for task in tasks)
    signs = [f"{_GIVEN} points that a person gave"] if given else []
    return "   ".join([*signs, f"{_WAITING} waits for a person's points"] if waiting else signs)


def status(verdict: dict[str, Any]) -> str:
    """The verdict's status, or that a graded submission has no score before a person gives points."""
    mark = verdict.get("mark")
    waits = mark is not None and mark["state"] == "needs_manual_grade" and verdict["status"] == "graded"
    return "waits for points" if waits else str(verdict["status"])


def summary(verdicts: list[dict[str, Any]]) -> str:
    """Return the number of submissions of each status, and the mean of the scores that there are."""
    counts = Counter(status(verdict) for verdict in verdicts)
    said = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    scored = [mark["score"] for verdict in verdicts if (mark := verdict.get("mark"))]
    scored = [score for score in scored if score is not None]
    mean = f"; mean of {len(scored)} scores {sum(scored) / len(scored):.2f}" if scored else ""
    return f"{len(verdicts)} submissions: {said}{mean}"


def _score(verdict: dict[str, Any]) -> str:
    """The score that counts of what there is to earn; the points so far where some are missing."""
    mark = verdict.get("mark")
    if verdict["status"] == "infra_error" and (mark is None or mark["score"] is None):
        return "–"
    if mark is None:
        return f"{points(verdict['score'])}/{points(verdict['max_score'])}"
    given = [task["points"] for task in mark["tasks"] if task["points"] is not None]
    so_far = max(0.0, sum(given) - mark["penalty"]) if given else None
    score = mark["score"] if mark["score"] is not None else so_far
    return f"{'–' if score is None else points(score)}/{points(mark['max_score'])}"


def _points_by_task(verdict: dict[str, Any]) -> dict[str, str]:
    mark = verdict.get("mark")
    if mark is None:
        return {task["task"]: points(task["score"]) for task in verdict["tasks"]}
    return {task["task"]: "–" if _unread(verdict) else _task_points(task) for task in mark["tasks"]}


def _unread(verdict: dict[str, Any]) -> bool:
    """Return whether the status says already that nobody has given any points."""
    return verdict["status"] != "graded" and all(task["points"] is None for task in verdict["mark"]["tasks"])


def _task_points(task: dict[str, Any]) -> str:
    if task["points"] is None:
        return _WAITING
    return points(task["points"]) + (_GIVEN if task["by_hand"] else "")


def print_verdict(console: Console, verdict: dict[str, Any]) -> None:
    """One verdict for a person: findings first, then task by task, the failing checks with their messages."""
    say = console.print
    earned = f"{points(verdict['score'])} of {points(verdict['max_score'])} points"
    by_hand = sum(each["max_score"] for each in verdict.get("by_hand", ()))
    earned += f", and {points(by_hand)} that a person gives" if by_hand else ""
    said = f"{verdict['assignment']}: {verdict['status']}, {earned}"
    say(said, style="bold", markup=False)
    for finding in verdict["findings"]:
        say(f"  ! {finding['message']}", markup=False)
    for each in verdict.get("by_hand", ()):
        say(f"{each['task']}  {points(each['max_score'])} by hand", style="bold", markup=False)
    for task in verdict["tasks"]:
        say(
            f"{task['task']}  {points(task['score'])} of {points(task['max_score'])}",
            style="bold",
            markup=False,
        )
        for check in task["checks"]:
            sign = _SIGNS.get(check["outcome"], "✗")
            say(f"  {sign} {check['title']}", markup=False)
            if check["outcome"] == "fault":
                for line in check["fault"]["traceback"].splitlines():
                    say(f"      {line}", markup=False, soft_wrap=True)
            elif check["outcome"] not in ("passed", "skipped"):
                say(f"      {check['message']}", markup=False)
                if check["diagnosis"]:
                    mistake, hint = check["diagnosis"]["mistake"], check["diagnosis"]["hint"]
                    say(f"      Known mistake {mistake}: {hint}", markup=False)


def print_clusters(console: Console, clusters: list[dict[str, Any]]) -> None:
    """Wrong answers that are alike: how many, what the checks say of them, and one student's cell."""
    if not clusters:
        console.print("Every wrong answer is explained by a known mistake, or is not written yet.")
    for cluster in clusters:
        count = cluster["count"]
        many = f"{count} submissions answer alike" if count > 1 else "1 submission alone"
        console.print(f"\n{cluster['task']}: {many}", style="bold", markup=False)
        for check in cluster["checks"]:
            console.print(f"  ✗ {check['title']}\n    {check['message']}", markup=False, soft_wrap=True)
        students = ", ".join(cluster["students"][:8]) + (", …" if count > 8 else "")
        console.print(f"  Students: {students}", markup=False, soft_wrap=True)
        console.print(f"  The cell of {cluster['example']['student']}:", markup=False)
        console.print(
            Padding(Syntax(cluster["example"]["cell"], "python", background_color="default"), (0, 4))
        )
    if clusters:
        console.print(
            "\nAn entry in solutions/mistakes/ that answers the same explains all of a group; "
            "docs/mistakes.md says how.",
            markup=False,
            soft_wrap=True,
        )


def print_examination(console: Console, found: dict[str, Any]) -> None:
    """The examination for a person: what holds, and what to do about the rest."""
    say = console.print
    say(f"autograder {found['autograder']}, Python {found['python']}, {found['system']}", markup=False)
    say(
        "  ".join(f"{name} {version or '(not installed)'}" for name, version in found["versions"].items()),
        markup=False,
    )
    say(f"GPU: {found['gpu'] or 'none'}    Course: {found['course'] or 'none here'}", markup=False)
    if found["gpu"]:
        say(found["gpu_use"], markup=False)
    say(f"Confinement: {found['level']}", style="bold", markup=False)
    for layer in found["layers"]:
        sign = "✓" if layer["holds"] else "✗" if layer["remedy"] else "–"
        say(f"  {sign} {layer['name']}: {layer['detail']}", markup=False)
    for problem in found["problems"]:
        say(f"! {problem}", markup=False)
    if found["open"]:
        say("Open to every account of this machine, which matters where students have one:", markup=False)
    for each in found["open"]:
        say(f"  {each['mode']} {each['path']}: {each['remedy']}", markup=False, soft_wrap=True)
    say(
        "This machine can grade." if found["can_grade"] else "This machine cannot grade.",
        style="bold",
        markup=False,
    )


def _first_thing(verdict: dict[str, Any]) -> str:
    return str(verdict["findings"][0]["message"]) if verdict["findings"] else first_failure(verdict)
