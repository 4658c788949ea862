"""The settings of our own programs, which must be made before anything slow is imported."""

from __future__ import annotations

import os
import sys


def set_up_process() -> None:
    """Keep torch from starting threads, and Jupyter's modules from taking a second to import."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # judges are forked: torch must not have started threads
    # jsonschema, which validates notebooks, would make a parser of IRIs when it is imported: a second of work
    # for a kind of text that no notebook has. None is how Python is told that there is no such module.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # typeshed knows modules only
