"""An examination of a cluster: every worker's versions, confinement, judges and speed."""

from __future__ import annotations

from typing import Any

from autograder.errors import UserError
from autograder.grading.cluster.connection import connect
from autograder.grading.cluster.examination import examined, versions
from autograder.grading.cluster.roll import unfit


def examine_cluster(address: str) -> dict[str, Any]:
    """Return what each worker of a scheduler has, as plain data; `problem` says why one cannot judge."""
    ours, client = versions(), connect(address)
    try:
        here = client.scheduler_info()["workers"]
        if not here:
            raise UserError(f"The Dask scheduler at {address} has no workers.")
        told = client.run(examined, measure=True, workers=sorted(here), on_error="return")
        workers = [
            {
                "worker": worker,
                "judges": int(here[worker]["nthreads"]),
                "problem": unfit(told[worker], ours) if worker in told else "it went away",
                **(told[worker] if isinstance(told.get(worker), dict) else {}),
            }
            for worker in here
        ]
    finally:
        client.close()
    able = [worker for worker in workers if not worker["problem"]]
    return {
        "scheduler": address,
        "versions": ours,
        "workers": workers,
        "judges": sum(worker["judges"] for worker in able),
        "can_grade": bool(able),
    }
