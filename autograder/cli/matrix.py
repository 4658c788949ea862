"""A validation as the terminal shows it: for each task, the mistakes against the checks that catch them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.cards.card import points

_SIGNS = {
    "passed": Text("·", style="dim"),
    "skipped": Text("–", style="dim"),
    "fault": Text("!", style="bold red"),
}
_CAUGHT = Text("✗", style="bold red")


def print_validation(console: Console, found: dict[str, Any]) -> None:
    """Print one assignment's validation: a matrix for each task, then what does not hold."""
    console.print(f"\n{found['assignment']}", style="bold", markup=False)
    for task in dict.fromkeys(mistake["task"] for mistake in found["mistakes"]):
        _print_task(console, task, found)
    counts = found["counts"]
    console.print(
        f"{counts['mistakes']} mistakes: {counts['caught']} caught by the rule they name, "
        f"{counts['diagnosed']} named as themselves{_right_answers(counts)}",
        markup=False,
        soft_wrap=True,
    )
    for problem in found["problems"]:
        console.print(f"! {problem}", markup=False, soft_wrap=True, style="red")
    for fault in found["faults"]:
        console.print(f"\n{fault['traceback']}", markup=False, soft_wrap=True)
    untried = [*_untried(found)]
    for said in untried:
        console.print(f"{said} (docs/mistakes.md says how).", markup=False, soft_wrap=True, style="yellow")
    if not found["problems"]:
        console.print("Everything that was tried holds." if untried else "Everything holds.", style="green")


def _untried(found: dict[str, Any]) -> Iterator[str]:
    """Say what is not kept, and so says nothing of the checks."""
    known = {mistake["task"] for mistake in found["mistakes"]}
    if without := dict.fromkeys(check["task"] for check in found["checks"] if check["task"] not in known):
        tasks = ", ".join(f"`{task}`" for task in without)
        yield f"No known mistakes of {tasks} are kept, so nothing says what the checks catch: write some"
    if not found["counts"]["variants"]:
        yield (
            "No right answers in other styles are kept here, so nothing says whether one of them loses "
            f"points: put some into {found['variants_in']}"
        )


def _right_answers(counts: dict[str, int]) -> str:
    if not counts["variants"]:
        return ""
    many = "1 right answer" if counts["variants"] == 1 else f"{counts['variants']} right answers"
    return f"; {many} in other styles: {counts['variants_failed']} failed"


def _print_task(console: Console, task: str, found: dict[str, Any]) -> None:
    checks = [check for check in found["checks"] if check["task"] == task]
    mistakes = [mistake for mistake in found["mistakes"] if mistake["task"] == task]
    table = Table(box=None, pad_edge=False, header_style="bold", title=task, title_justify="left")
    table.add_column("mistake", no_wrap=True)
    for number in range(1, len(checks) + 1):
        table.add_column(str(number), justify="center", no_wrap=True)
    table.add_column("costs", justify="right", no_wrap=True)
    table.add_column("named", no_wrap=True)
    for mistake in mistakes:
        signs = [_SIGNS.get(mistake["outcomes"].get(check["check"], "skipped"), _CAUGHT) for check in checks]
        named = mistake["diagnosed_as"]
        table.add_row(
            Text(mistake["mistake"]),
            *signs,
            points(sum(mistake["costs"].values())),
            Text("as itself" if named == mistake["mistake"] else named or "not"),
        )
    console.print(table)
    for number, check in enumerate(checks, 1):
        only = len(check["only_catcher_of"])
        is_unasked = check.get("usual", False) and not only
        what = "teaching only" if check["teaching_only"] else f"only catcher of {only}"
        what = "unasked" if is_unasked else what
        console.print(
            f"  {number:2} {check['check']} ({check['rule']}, {points(check['points'])} points, {what})",
            markup=False,
            soft_wrap=True,
            style="" if only or is_unasked or check["teaching_only"] else "red",
        )
