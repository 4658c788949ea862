"""The report as one HTML page that needs nothing else: no network, no server, no other file.

What students wrote (names, messages, code) is escaped wherever it stands; the page's style and its
script are the only things put in as they are, and they are ours.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.cards.colours import marked
from autograder.grading.course.times import duration
from autograder.grading.files.access import UMASK, Access
from autograder.grading.records.scores import STATES
from autograder.grading.records.store import write_whole
from autograder.reporting.attention import REASONS
from autograder.reporting.report import Report, Submission
from autograder.reporting.statistics import FEW, FEWEST

FORMGRADER = "http://localhost:8888/formgrader"
"""The address of nbgrader's formgrader, unless another is named."""

MOST_ROWS, MOST_NAMES = 2000, 300
"""The most rows of a table on a page, and names in a list: a browser takes seconds for ten thousand rows."""

WEAK = 0.1
"""A discrimination below this, from enough submissions, is a reason to look at the check."""


def environment() -> Environment:
    """The templates of the pages, with the filters that they use."""
    made = Environment(
        loader=PackageLoader("autograder.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        points=lambda value: "–" if value is None else f"{round(value, 2):g}",
        percent=lambda value: "–" if value is None else f"{100 * value:.0f} %",
        seconds=lambda value: "–" if value is None else f"{value:.1f} s",
        duration=duration,
        signed=lambda value: "–" if value is None else f"{value:+.2f}".replace("-", "−"),
        marked=lambda text: Markup(marked(text)),
        code_lines=code_lines,
        breakable=breakable,
        when=lambda moment: f"{moment:%A}, {moment.day} {moment:%B %Y, %H:%M}",
        guess=lambda value: f"{value:.3g}" if isinstance(value, float) else str(value),
        plural=lambda count, one, many="": f"{count} {one if count == 1 else many or one + 's'}",
    )
    return made


def page(report: Report, folder: Path, formgrader: str = FORMGRADER) -> str:
    """The page, to lie in `folder`: its links to feedback are relative to it."""
    base = formgrader.rstrip("/")

    def feedback(line: Submission) -> dict[str, str]:
        """Return where a student's pages are, by the words of their links."""
        one = len(line.feedback_pages) == 1
        return {
            "feedback" if one else each.stem: quote(os.path.relpath(each, folder))
            for each in line.feedback_pages
        }

    def submission(line: Submission) -> str:
        return f"{base}/submissions/{quote(line.notebook_id, safe='')}" if line.notebook_id else ""

    worst = [check for check in report.checks if check.pass_rate is not None and check.pass_rate < 1]
    worst.sort(key=lambda check: (check.pass_rate, -check.failed))
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            tasks=[task.task for task in report.tasks],
            worst=worst[:5],
            reasons=REASONS,
            states=STATES,
            feedback=feedback,
            submission=submission,
            formgrader=f"{base}/gradebook/{quote(report.assignment)}/{quote(report.notebook)}",
            lines={line.student: line for line in report.submissions},
            most_rows=MOST_ROWS,
            most_names=MOST_NAMES,
            weak=WEAK,
            few=FEW,
            fewest=FEWEST,
        )
    )


def code_lines(cell: str, alike: tuple[int, ...] = ()) -> Markup:
    """A cell's lines, those that are `alike` (from 0) marked."""
    lines = [Markup("{}").format(line) for line in cell.split("\n")]
    return Markup("\n").join(
        Markup("<mark>{}</mark>").format(line) if number in set(alike) and line else line
        for number, line in enumerate(lines)
    )


def breakable(name: str) -> Markup:
    """A name that may go on in a new line after an underscore or space, and after 10 letters without one."""
    return Markup("<wbr>").join(re.findall(r"[^_\s]{1,10}[_\s]*|[_\s]+", name))


def write_page(report: Report, path: Path, formgrader: str = FORMGRADER, access: Access = UMASK) -> None:
    """Write the page whole or not at all."""
    write_whole(path, page(report, path.absolute().parent, formgrader), access)
