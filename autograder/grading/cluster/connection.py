"""The connection to a Dask scheduler, with one sentence for each way in which there is none."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from autograder.errors import UserError

try:
    from distributed import Client
    from distributed.versions import VersionMismatchWarning
except ImportError as error:
    raise UserError(
        "`--scheduler` needs Dask, which is not installed here: install the extra lstm-autograder[cluster]."
    ) from error


class _Client(Client):
    """A client that is closed by who made it."""

    def __del__(self) -> None:
        """Do nothing: of one that never connected Dask would print a traceback."""


def connect(address: str) -> Any:
    """Return a client of the scheduler; TLS and timeouts are those of Dask's own configuration."""
    # Dask tells of each attempt and each loss in many lines; what matters is told in one sentence.
    for name in ("distributed", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("distributed."):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore", VersionMismatchWarning)  # versions that matter are compared, and told
    try:
        return _Client(address, set_as_default=False, name="autograder")
    except OSError as error:  # a timeout, too
        raise UserError(f"No Dask scheduler can be reached at {address}: {_reason(error)}.") from error
    except (TypeError, ValueError, RuntimeError) as error:  # no address; TLS without a certificate
        raise UserError(f"{address} cannot be used as a Dask scheduler: {_reason(error)}.") from error


def _reason(error: BaseException) -> str:
    """Return what was the matter in the first place."""
    while (deeper := error.__cause__ or error.__context__) is not None:
        error = deeper
    text = str(error).strip().rstrip(".")
    return text.splitlines()[0] if text else type(error).__name__
