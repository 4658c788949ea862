"""Expectations of names that must not stand in the source."""

from __future__ import annotations

from autograder.checking.expectations.source import forbidden_uses
from autograder.checking.expectations.values import fail
from autograder.checking.remote.submission import Submission


def expect_no_mention(submission: Submission, task: str, pattern: str, say: str) -> None:
    """Expect a task's source, read on the trusted side, not to call what is forbidden.

    `task` is the task's name, `pattern` a regular expression that the last part of a name of torch's must
    match as a whole, `say` a sentence that stands before line and name. Annotations, comments and texts are
    no calls. Raises `CheckFailed` for the first use.

        expect_no_mention(submission, "convolve", "[Cc]onv[123]d|unfold", "Write the sums yourself.")
    """
    uses = forbidden_uses(submission.sources, task, pattern)
    if uses:
        cell, line, used = uses[0]
        where = "your cell" if cell == task else f"the cell `{cell}`, which your answer uses,"
        fail(f"{say} Line {line} of {where} uses `{used}`.", accused=used)
