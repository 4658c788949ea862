"""Programs that the confinement refuses to start: each is passed over, as shell lines are.

`subprocess.run(["pip", …])` would stop a cell that runs to its end in Jupyter. Where programs may be started
nothing here does anything.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

FAILED = 127
"""The exit status by which a shell says that it did not find a program."""
_SHOWN = 200


def pass_over_refused() -> None:
    """Make `subprocess` return a failed process where the kernel refuses to start one."""
    begin: Callable[..., None] = subprocess.Popen.__init__

    def __init__(self: Any, args: Any, *rest: Any, **options: Any) -> None:
        try:
            begin(self, args, *rest, **options)
        except PermissionError as error:
            if error.errno != errno.EPERM:  # it may be started, were it a program
                raise
            program = args if isinstance(args, (str, bytes, os.PathLike)) else args[0]
            if not options.get("shell") and shutil.which(program) is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program) from None
            _fail(self, args)

    # Assigned as an item would be: a checker knows no other `__init__`.
    setattr(subprocess.Popen, "__init__", __init__)  # noqa: B010


def _fail(process: Any, args: Any) -> None:
    """Mark a process that was not started as ended, without output."""
    command = str(args) if isinstance(args, (str, bytes, os.PathLike)) else " ".join(map(str, args))
    shown = command.replace(sys.executable, "python")[:_SHOWN]
    print(f"Programs are not started when grading; this one was left out: {shown}", file=sys.stderr)
    process.pid, process.returncode = 0, FAILED
    for name, mode in (("stdin", "wb"), ("stdout", "rb"), ("stderr", "rb")):
        if getattr(process, name) is not None:  # a pipe was asked for
            nothing: Any = open(os.devnull, mode)  # noqa: SIM115 (whoever asked closes it)
            if process.text_mode:
                nothing = io.TextIOWrapper(nothing, encoding=process.encoding, errors=process.errors)
            setattr(process, name, nothing)
