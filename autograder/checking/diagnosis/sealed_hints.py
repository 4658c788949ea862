"""Hints that only the mistake they belong to can open.

What students install tells no mistake: a hint is sealed with a key made of the fingerprints of
the wrong answers themselves (under the public seed), so reading it takes making the mistake.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from autograder.checking.diagnosis.match import Known
from autograder.protocol.values import Json

FILE = "hints.json"
_OTHER = "another answer"
"""Stands for the answer of a mistake that the submission's is not equal to: only its mark is known."""


def sealed(known: Mapping[str, Sequence[Known]]) -> str:
    """The text of a file with the hints of an assignment, by task."""
    tasks = {
        task: [_seal(mistake) for mistake in mistakes if mistake.answers and mistake.hint]
        for task, mistakes in known.items()
    }
    return json.dumps({"version": 1, "tasks": tasks}, indent=0) + "\n"


def opened(file: Path, task: str, answers: Mapping[str, str]) -> list[Known]:
    """Return the known mistakes of a task that show in these answers: fingerprints by check.

    A file that is not there or cannot be read has no hints: a check must not fail for the want of one.
    """
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))["tasks"].get(task, [])
        found = [_open(entry, answers) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return [known for known in found if known is not None]


def _seal(known: Known) -> Json:
    text = json.dumps({"mistake": known.mistake, "hint": known.hint}).encode()
    return {
        "answers": {check: _mark(check, answer) for check, answer in known.answers.items()},
        "shown_in": sorted(known.shown_in),
        "outcomes": dict(known.outcomes),
        "sealed": base64.b85encode(_mixed(text, _key(known.answers, known.shown_in))).decode(),
    }


def _open(entry: Json, answers: Mapping[str, str]) -> Known | None:
    alike = {
        check: answers[check]
        for check, mark in entry["answers"].items()
        if check in answers and _mark(check, answers[check]) == mark
    }
    shown_in = entry.get("shown_in", list(entry["answers"]))  # a release of before has none
    if not set(shown_in) <= alike.keys():
        return None
    told = json.loads(_mixed(base64.b85decode(entry["sealed"]), _key(alike, shown_in)))
    others = dict.fromkeys(entry["answers"], _OTHER)
    return Known(told["mistake"], told["hint"], {**others, **alike}, entry["outcomes"], shown_in)


def _key(answers: Mapping[str, str], shown_in: Collection[str]) -> list[tuple[str, str]]:
    return sorted((check, answers[check]) for check in shown_in)


def _mark(check: str, answer: str) -> str:
    """Tells whether an answer is the one without telling the answer."""
    return hashlib.blake2b(f"mark {check} {answer}".encode(), digest_size=8).hexdigest()


def _mixed(text: bytes, answers: Sequence[tuple[str, str]]) -> bytes:
    """Return the text mixed with a key made of the answers, by check; done twice, the text again."""
    key = hashlib.shake_256(f"seal {answers}".encode()).digest(len(text))
    return bytes(one ^ other for one, other in zip(text, key, strict=True))
