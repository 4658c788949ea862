"""Makes the worker look like a Jupyter kernel to a student's code.

The folder that cells work in is searched for modules, the command line is a kernel's, and nobody is asked.
"""

from __future__ import annotations

import builtins
import getpass
import itertools
import os
import sys
from contextlib import suppress
from typing import Any

from autograder.worker.session.refused_programs import pass_over_refused

_ARGUMENTS = ["ipykernel_launcher.py", "-f", "kernel.json"]
_SHOWN = 100
_MOST_QUESTIONS = 20
"""A loop that asks until an answer fits would not end otherwise."""


def look_like_a_kernel() -> None:
    """Make this process one in which a notebook's cells find what they find in Jupyter."""
    sys.argv[:] = _ARGUMENTS
    # A file that is written twice within a second would be taken for what was compiled from the first.
    sys.dont_write_bytecode = True
    pass_over_refused()
    builtins.input = getpass.getpass = _ask_nobody
    if "" not in sys.path:
        # Where IPython puts the working folder: behind Python's own modules, before installed ones.
        sites = [place for place, entry in enumerate(sys.path) if entry.endswith("-packages")]
        sys.path.insert(min(sites, default=len(sys.path)), "")


def see_new_modules() -> None:
    """Forget which files lay in the working folder: cells come quicker than its time stamp ticks."""
    # Only there: of other folders a worker may not be allowed to ask again.
    with suppress(OSError):  # a cell may have removed it
        finder: Any = sys.path_importer_cache.get(os.getcwd())
        if finder is not None:
            finder.invalidate_caches()


_questions = itertools.count(1)


def _ask_nobody(prompt: object = "", *_: object, **__: object) -> str:
    """Stand in for `input`: every answer is empty."""
    if next(_questions) > _MOST_QUESTIONS:
        raise EOFError("nobody is asked when grading")
    asked = str(prompt)[:_SHOWN]
    print(f"Nobody is asked when grading; the answer to this is empty: {asked}", file=sys.stderr)
    return ""
