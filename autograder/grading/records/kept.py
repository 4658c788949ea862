"""Verdicts as they lie on disk, read so that what is equal in a class is held once.

Most of a class's verdicts consist of the same tasks: everybody who passed, and everybody who made the same
mistake, has the same checks with the same messages. A task is recognised by its JSON before that is taken
apart, so a hundred thousand verdicts take the memory and the time of the few tasks that differ.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from sys import intern
from typing import Any

import msgspec

from autograder.verdict import ByHand, Finding, TaskVerdict, Verdict

MOST_TASKS = 1 << 13
"""The number of different tasks that are remembered, some five kilobytes each."""


class _Kept(msgspec.Struct):
    conditions: Any
    file: Any
    content: Any
    verdict: dict[str, msgspec.Raw]


def read_kept(raw: bytes) -> tuple[dict[str, Any], Verdict]:
    """Read a file of a verdict: the digests of what it was formed from, and the verdict itself.

    Raises `ValueError`, `KeyError`, `TypeError` or `AttributeError` if it is none.
    """
    try:
        kept = msgspec.json.decode(raw, type=_Kept)
        digests = {"conditions": kept.conditions, "file": kept.file, "content": kept.content}
        return digests, _verdict(kept.verdict)
    except msgspec.MsgspecError:  # Python's JSON has more: infinite numbers, halves of surrogate pairs
        told = json.loads(raw)
        return {name: told[name] for name in _DIGESTS}, Verdict.from_json(told["verdict"])


_DIGESTS = ("conditions", "file", "content")


def _verdict(told: dict[str, msgspec.Raw]) -> Verdict:
    tasks = tuple(_task(bytes(each)) for each in _each(told["tasks"]))
    findings = tuple(_finding(bytes(each)) for each in _each(told["findings"]))
    by_hand = tuple(_by_hand(bytes(each)) for each in _each(told["by_hand"])) if "by_hand" in told else ()
    apart = ("tasks", "findings", "by_hand")
    rest = {name: msgspec.json.decode(each) for name, each in told.items() if name not in apart}
    for name in ("assignment", "notebook", "status"):
        rest[name] = intern(rest[name])
    verdict = Verdict.from_json({**rest, "tasks": (), "findings": ()})
    return replace(verdict, tasks=tasks, findings=findings, by_hand=by_hand)


def _each(told: msgspec.Raw) -> list[msgspec.Raw]:
    return msgspec.json.decode(told, type=list[msgspec.Raw])


@lru_cache(MOST_TASKS)
def _task(raw: bytes) -> TaskVerdict:
    return TaskVerdict.from_json(msgspec.json.decode(raw))


@lru_cache(MOST_TASKS)
def _finding(raw: bytes) -> Finding:
    told = msgspec.json.decode(raw)
    return Finding(told["kind"], told["message"])


@lru_cache(MOST_TASKS)
def _by_hand(raw: bytes) -> ByHand:
    told = msgspec.json.decode(raw)
    return ByHand(told["task"], told["max_score"])
