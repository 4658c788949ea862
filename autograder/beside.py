"""The folder of the open notebook and its own checks, which a kernel is not told of, and may leave.

Once checks were found beside the notebook, the session remembers where: `os.chdir` does not lose them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

FOUND = "_autograder_found"
"""The name under which a notebook's namespace holds the folder in which checks were found."""
INSIDE = "_autograder_inside"
"""The name of the folder into which a notebook's cell has put the checks that it holds."""


def folders(namespace: MutableMapping[str, Any] | None = None) -> list[Path]:
    """The folders in which the notebook may lie, the surest first: each once, and only existing ones.

    The surest is the one that holds what the notebook brought itself; then where the front end says that the
    notebook is, where the kernel works, where checks were found before, and where the kernel began.
    """
    known = namespace or {}
    return list(dict.fromkeys(_candidates(known)))


def told(namespace: MutableMapping[str, Any]) -> list[Path]:
    """The open notebook's file, if the front end names it, as VS Code and Jupyter's server do; else `[]`."""
    said = (namespace.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME"))
    return [Path(path) for path in said if isinstance(path, str) and path.endswith(".ipynb")]


def remember(namespace: MutableMapping[str, Any], folder: Path) -> None:
    """Note where checks were found, in the notebook's namespace: `%reset` clears it with all else."""
    namespace[FOUND] = folder


def _candidates(namespace: MutableMapping[str, Any]) -> Iterator[Path]:
    began = _start_folder()
    places = [
        namespace.get(INSIDE),
        *((began or Path()) / file.parent for file in told(namespace)),
        Path(),
        namespace.get(FOUND),
        began,
    ]
    for place in places:
        with suppress(OSError, RuntimeError):  # a folder that was deleted, links in a circle
            if isinstance(place, Path) and (whole := place.resolve()).is_dir():
                yield whole


def _start_folder() -> Path | None:
    """The folder in which the kernel was started, as IPython has kept it; `None` outside one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    where = getattr(shell, "starting_dir", None)
    return Path(where) if isinstance(where, str) and where else None
