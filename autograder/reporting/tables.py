"""What the command line prints: a class as a table, one verdict as text, a machine's examination."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from autograder.reporting.card import points
from autograder.reporting.mistakes import first_failure

_SIGNS = {"passed": "✓", "skipped": "–", "fault": "!"}
_STYLES = {"graded": "", "infra_error": "bold red"}


def results_table(verdicts: list[dict[str, Any]]) -> Table:
    """A line for each student: status, score, the tasks' scores in order, and what to look at first."""
    tasks = list(dict.fromkeys(task["task"] for verdict in verdicts for task in verdict["tasks"]))
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for title in ("student", "status", "score", "tasks", "seconds"):
        table.add_column(title, justify="right" if title in ("score", "seconds") else "left", no_wrap=True)
    table.add_column("first thing to see", overflow="ellipsis", no_wrap=True, ratio=1)
    for verdict in verdicts:
        scores = {task["task"]: points(task["score"]) for task in verdict["tasks"]}
        table.add_row(
            Text(verdict["student"]),
            Text(verdict["status"], style=_STYLES.get(verdict["status"], "yellow")),
            _score(verdict),
            " ".join(scores.get(task, "–").ljust(3) for task in tasks),
            f"{verdict['seconds']:.1f}",
            Text(_first_thing(verdict)),
        )
    return table


def summary(verdicts: list[dict[str, Any]]) -> str:
    """How many there are of each status, and the mean score of those that were graded."""
    counts = Counter(verdict["status"] for verdict in verdicts)
    said = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    graded = [verdict["score"] for verdict in verdicts if verdict["status"] == "graded"]
    mean = f"; mean score of the graded {sum(graded) / len(graded):.2f}" if graded else ""
    return f"{len(verdicts)} submissions: {said}{mean}"


def print_verdict(console: Console, verdict: dict[str, Any]) -> None:
    """One verdict for a person: findings first, then task by task, the failing checks with their messages."""
    say = console.print
    earned = f"{points(verdict['score'])} of {points(verdict['max_score'])} points"
    said = f"{verdict['assignment']}: {verdict['status']}, {earned}"
    say(said, style="bold", markup=False)
    for finding in verdict["findings"]:
        say(f"  ! {finding['message']}", markup=False)
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
        say(f"  {'✓' if layer['holds'] else '✗'} {layer['name']}: {layer['detail']}", markup=False)
    for problem in found["problems"]:
        say(f"! {problem}", markup=False)
    say(
        "This machine can grade." if found["can_grade"] else "This machine cannot grade.",
        style="bold",
        markup=False,
    )


def _score(verdict: dict[str, Any]) -> str:
    """The points of what was graded."""
    if verdict["status"] == "infra_error":
        return "–"
    return f"{points(verdict['score'])}/{points(verdict['max_score'])}"


def _first_thing(verdict: dict[str, Any]) -> str:
    return str(verdict["findings"][0]["message"]) if verdict["findings"] else first_failure(verdict)
