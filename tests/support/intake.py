"""A class that hands in everything but what was asked for."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat

from autograder.grading.course.course import Course
from tests.support.helpers import ASSIGNMENT, NOTEBOOK, answer, released, solved, submission

EXPECTED = f"{NOTEBOOK}.ipynb"
RIGHT = submission()
PEER = f"../../right/{ASSIGNMENT}/{EXPECTED}"
HALF = submission({"lstm_gates": "def lstm_gates(*arguments):\n    return arguments\n"})
UNTOUCHED = json.dumps(released()).encode()
FOREIGN = nbformat.writes(
    nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print('knitting')")])
).encode()
OTHER = json.dumps(solved("02_rnn_cell")).encode()


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
    return made.getvalue()


def locked(raw: bytes) -> bytes:
    """The archive with every file in it marked as encrypted."""
    data = bytearray(raw)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(signature)
        while place >= 0:
            data[place + offset] |= 1
            place = data.find(signature, place + 1)
    return bytes(data)


def stripped(data: dict[str, Any]) -> bytes:
    """A notebook without any metadata, as some web services save it."""
    for cell in data["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    return json.dumps(data).encode()


def files(**names: bytes) -> dict[str, bytes]:
    return names


UPLOADS: dict[str, dict[str, bytes]] = {
    "browser": {"lstm_cell (1).ipynb": RIGHT},
    "capitals": {"LSTM_Cell.ipynb": RIGHT},
    "text": {"lstm_cell.ipynb.txt": RIGHT},
    "zip": {"homework.zip": zipped({EXPECTED: RIGHT})},
    "zipped-folder": {"homework.zip": zipped({f"hw/{EXPECTED}": RIGHT, f"__MACOSX/hw/._{EXPECTED}": b"\0"})},
    "nested": {f"{ASSIGNMENT}/{EXPECTED}": RIGHT},
    "same-twice": {"a.ipynb": RIGHT, "b.ipynb": RIGHT},
    "two-versions": {"a.ipynb": RIGHT, "b.ipynb": HALF},
    "script": {"lstm_cell.py": b"def lstm_gates(): ...\n"},
    "page": {"lstm_cell.html": b"<html></html>"},
    "other-name": {"rnn_cell.ipynb": OTHER},
    "other": {EXPECTED: OTHER},
    "both": {EXPECTED: OTHER, "final.ipynb": RIGHT},
    "copy-answered": {EXPECTED: UNTOUCHED, "Copy of lstm_cell.ipynb": RIGHT},
    "older": {EXPECTED: HALF, "lstm_cell (1).ipynb": RIGHT},
    "saved-twice": {EXPECTED: RIGHT, "a.ipynb": UNTOUCHED, "b.ipynb": RIGHT + b"\n"},
    "copies": {"lstm_cell (1).ipynb": RIGHT, "lstm_cell-Copy1.ipynb": RIGHT + b"\n"},
    "cut-off": {EXPECTED: RIGHT[:-40], "lstm_cell (1).ipynb": RIGHT},
    "foreign": {EXPECTED: FOREIGN},
    "foreign-beside": {EXPECTED: FOREIGN, "lstm_cell-1.ipynb": RIGHT},
    "no-cells": {EXPECTED: b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'},
    "stripped": {EXPECTED: stripped(solved())},
    "pasted": {EXPECTED: submission({}, base=solved("02_rnn_cell"), end=answer("lstm_gates"))},
    "empty": {},
    "right": {EXPECTED: RIGHT},
    "untouched": {EXPECTED: UNTOUCHED},
}
"""The files in the submission's folder, by student."""


def hand_in(course: Course, student: str, uploads: Mapping[str, bytes]) -> Path:
    """Put files where a student's submission lies."""
    folder = course.folder("submitted", student, ASSIGNMENT)
    folder.mkdir(parents=True, exist_ok=True)
    for name, raw in uploads.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    return folder


def bomb() -> bytes:
    """An archive of some kilobytes whose one notebook would be gigabytes."""
    zeros = io.BytesIO()
    with zipfile.ZipFile(zeros, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(EXPECTED, "w") as file:
        for _ in range(200):
            file.write(bytes(1 << 20))
    return zeros.getvalue()


def crowd(folder: Path, number: int) -> None:
    """Many empty files."""
    for each in range(number):
        (folder / f"{each}.txt").touch()


HOSTILE: dict[str, Callable[[Path], object]] = {
    "bomb": lambda folder: (folder / "a.zip").write_bytes(bomb()),
    "climber": lambda folder: (folder / "a.zip").write_bytes(zipped({f"../../{EXPECTED}": RIGHT})),
    "absolute": lambda folder: (folder / "a.zip").write_bytes(zipped({"/tmp/climbed.ipynb": RIGHT})),
    "encrypted": lambda folder: (folder / "a.zip").write_bytes(locked(zipped({EXPECTED: RIGHT}))),
    "zip-in-zip": lambda folder: (folder / "a.zip").write_bytes(zipped({"b.zip": zipped({EXPECTED: RIGHT})})),
    "damaged": lambda folder: (folder / "a.zip").write_bytes(zipped({EXPECTED: RIGHT})[:-40]),
    "escapes": lambda folder: (folder / "\x1b[2J\x1b]0;owned\x07`<b>.ipynb").write_bytes(b"{}"),
    "no-text": lambda folder: (folder / os.fsdecode(b"\xff\xfe.ipynb")).write_bytes(b"{}"),
    "crowd": lambda folder: crowd(folder, 3000),
    "fifo": lambda folder: os.mkfifo(folder / "lstm_cell (1).ipynb"),
    "link": lambda folder: (folder / "lstm_cell (1).ipynb").symlink_to(PEER),
    "link-to-all": lambda folder: (folder / "more").symlink_to("/"),
    "folder": lambda folder: (folder / EXPECTED).mkdir(),
}  # fmt: skip
"""A function that changes the submission's folder, by student."""
