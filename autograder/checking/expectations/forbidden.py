"""Expectations of what must not do the work: torch's kernels, and names in the source."""

from __future__ import annotations

import re

from autograder.checking.expectations.source import forbidden_uses
from autograder.checking.expectations.values import fail
from autograder.checking.remote.handle import Call
from autograder.checking.remote.submission import Submission


def expect_no_kernel(call: Call, pattern: str, say: str) -> None:
    """Expect none of torch's kernels whose name matches to have done the work.

    `call` is what `run(…, kernels=True)` returned, `pattern` a regular expression that is searched in names
    such as `aten::conv2d`, `say` a sentence that stands before the one found. The kernels are the student's
    process's word: `@without` is sure. Raises `CheckFailed`.

        call = submission.convolve.run((x, w), kernels=True)
        expect_no_kernel(call, "conv|unfold", "Write the sums yourself.")
    """
    found = [name for name in call.kernels if re.search(pattern, name)]
    if found:
        fail(f"{say} The call ran `{found[0]}`.", accused=found[0])


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
