"""Files that may be handed in: notebooks changed without an effect, and some that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.helpers import code_cell, solved, submission


def each(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], None]:
    def of_all(data: dict[str, Any]) -> None:
        for cell in data["cells"]:
            change(cell)

    return of_all


def marks(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], None]:
    return each(lambda cell: change(cell["metadata"]["nbgrader"]) if "nbgrader" in cell["metadata"] else None)


NO_EFFECT: dict[str, Callable[[dict[str, Any]], Any]] = {
    "changed points": marks(lambda m: m.update(points=1000)),
    "changed checksums": marks(lambda m: m.update(checksum="0")),
    "old schema": marks(lambda m: m.update(schema_version=1)),
    "all unlocked": marks(lambda m: m.update(locked=False, grade=True, solution=True, task=True)),
    "no marks but names": marks(lambda m: [m.pop(key) for key in list(m) if key != "grade_id"]),
    "skip-execution": each(lambda c: c["metadata"].update(tags=["skip-execution", "demonstration"])),
    "odd tags": each(lambda c: c["metadata"].update(tags=7)),
    "forged outputs": each(
        lambda c: c.update(outputs=[{"output_type": "execute_result", "data": {"text/plain": "10"}}])
    ),
    "odd outputs": each(lambda c: c.update(outputs="x", execution_count="y")),
    "another kernel": lambda d: d["metadata"].update(kernelspec={"name": "evil", "argv": ["rm"]}),
    "no notebook metadata": lambda d: d.update(metadata=None),
    "odd attachments": each(lambda c: c.update(attachments={"a": 5})),
    "other cell ids": each(lambda c: c.update(id="x" + c["id"])),
    "no cell ids": each(lambda c: c.pop("id")),
    "the same cell id": each(lambda c: c.update(id="same")),
    "odd cell ids": each(lambda c: c.update(id=[1])),
    "reversed order": lambda d: d["cells"].reverse(),
    "shuffled order": lambda d: d["cells"].sort(key=lambda c: c["source"]),
    "every cell twice": lambda d: d.update(cells=[c for c in d["cells"] for _ in range(2)]),
    "only the answers": lambda d: d.update(
        cells=[c for c in d["cells"] if c["metadata"].get("nbgrader", {}).get("solution")]
    ),
    "sources as lists": each(lambda c: c.update(source=c["source"].splitlines(keepends=True))),
    "minor 0": lambda d: d.update(nbformat_minor=0),
    "a minor of the future": lambda d: d.update(nbformat_minor=99),
    "answers as markdown": each(
        lambda c: c.update(cell_type="markdown") if "solution" in str(c["metadata"]) else None
    ),
    "Colab": each(lambda c: (c.update(metadata={"id": "x", "colab": {}}), c.pop("id"))),
    "check cells gone": lambda d: d.update(
        cells=[c for c in d["cells"] if not c["source"].startswith("check(")]
    ),
    "Windows lines": each(lambda c: None),
}


def many(source: str) -> dict[str, Any]:
    data = solved()
    data["cells"] += [code_cell(source) for _ in range(3000)]
    return data


CORRUPT: dict[str, Any] = {
    "empty": b"",
    "blank": b" \n\t",
    "cut": submission()[:4000],
    "a list": [],
    "a number": 3,
    "null": None,
    "a text": "notebook",
    "not UTF-8": b"\xff\xfe\x00\x01",
    "a pickle": b"\x80\x04\x95\x00",
    "a web page": b"<!DOCTYPE html><html></html>",
    "a zip": b"PK\x03\x04",
    "deep lists": b"[" * 1_000_000,
    "deep dicts": b'{"a":' * 1_000_000,
    "a deep cell": submission()[:-2] + b"," + b"[" * 1_000_000,
    "cells null": {**solved(), "cells": None},
    "cells a dict": {**solved(), "cells": {}},
    "cells numbers": {**solved(), "cells": [1, 2]},
    "cells lists": {**solved(), "cells": [[{}]]},
    "no cells": {key: value for key, value in solved().items() if key != "cells"},
    "a cell without a type": {**solved(), "cells": [{"source": "1"}]},
    "no version": {"cells": []},
    "version 5": {**solved(), "nbformat": 5},
    "version 0": {**solved(), "nbformat": 0},
    "version in words": {**solved(), "nbformat": "4"},
    "version of 400 digits": {**solved(), "nbformat": 10**400},
    "a number of 100,000 digits": submission().replace(
        b'"nbformat": 4', b'"x": ' + b"1" * 100_000 + b', "nbformat": 4'
    ),
    "too many cells": many("1"),
    "too large": submission() + b" " * (65 << 20),
    "sixty megabytes of nothing": submission()[:-1] + b',"x":[' + b"{}," * (20 << 20) + b"{}]}",
}
