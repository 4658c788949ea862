"""Hints that only the mistake they belong to can open.

What students install tells no mistake: a hint is sealed with a key made of the fingerprints of
the wrong answers themselves (under the public seed), so reading it takes making the mistake.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.checking.diagnosis.match import Known

FILE = "hints.json"


def sealed(known: Mapping[str, Sequence[Known]]) -> str:
    """The text of a file with the hints of an assignment, by task."""
    tasks = {
        task: [_seal(mistake) for mistake in mistakes if mistake.answers] for task, mistakes in known.items()
    }
    return json.dumps({"version": 1, "tasks": tasks}, indent=0) + "\n"


def opened(file: Path, task: str, answers: Mapping[str, str]) -> list[Known]:
    """The known mistakes of a task whose answers are all among these: fingerprints by check.

    A file that is not there or cannot be read has no hints: a check must not fail for the want of one.
    """
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))["tasks"].get(task, [])
        found = [_open(entry, answers) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return [known for known in found if known is not None]


def _seal(known: Known) -> dict[str, Any]:
    text = json.dumps({"mistake": known.mistake, "hint": known.hint}).encode()
    return {
        "answers": {check: _mark(check, answer) for check, answer in known.answers.items()},
        "outcomes": dict(known.outcomes),
        "sealed": base64.b85encode(_mixed(text, known.answers)).decode(),
    }


def _open(entry: dict[str, Any], answers: Mapping[str, str]) -> Known | None:
    if any(
        check not in answers or _mark(check, answers[check]) != mark
        for check, mark in entry["answers"].items()
    ):
        return None
    own = {check: answers[check] for check in entry["answers"]}
    told = json.loads(_mixed(base64.b85decode(entry["sealed"]), own))
    return Known(told["mistake"], told["hint"], own, entry["outcomes"])


def _mark(check: str, answer: str) -> str:
    """Tells whether an answer is the one without telling the answer."""
    return hashlib.blake2b(f"mark {check} {answer}".encode(), digest_size=8).hexdigest()


def _mixed(text: bytes, answers: Mapping[str, str]) -> bytes:
    """The text mixed with a key made of all the answers; done twice, the text again."""
    key = hashlib.shake_256(f"seal {sorted(answers.items())}".encode()).digest(len(text))
    return bytes(one ^ other for one, other in zip(text, key, strict=True))
