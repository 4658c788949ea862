"""Validating what has changed and nothing else, and building while somebody writes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import nbformat
import pytest

from tests.support.courses import LSTM, NOTEBOOK, ROOT, environment, short_source, source
from tests.support.helpers import autograder_here

SECONDS = 240
"""The seconds that a busy machine may take for what takes half a minute on an idle one."""


@pytest.fixture
def course(tmp_path) -> Path:
    """A course with one short assignment, not built."""
    (tmp_path / "source" / LSTM).mkdir(parents=True)
    (tmp_path / "solutions" / "mistakes").mkdir(parents=True)
    shutil.copyfile(ROOT / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    save(tmp_path)
    return tmp_path


def save(course: Path, find: str = "", replace: str = "") -> None:
    """Write the source notebook, with another text in a task."""
    short_source(course, **({"lstm_gates": (find, replace)} if find else {}))


@pytest.mark.slow
def test_a_validation_is_not_repeated_and_says_the_same(course):
    (course / "source" / LSTM / "checks").mkdir()
    (course / "source" / LSTM / "checks" / "test_lstm_gates.py").write_text(CHECK)
    notebook = source()
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell["metadata"].get("nbgrader", {}).get("grade_id") in ("setup", "lstm_gates", "check_lstm_gates")
    ]
    nbformat.write(notebook, course / "source" / LSTM / NOTEBOOK)
    (course / "solutions" / "mistakes" / f"{LSTM}.toml").write_text(KNOWN)
    assert autograder_here("build", "--course", course).returncode == 0
    once, twice, forced = (
        autograder_here("validate", *options, "--course", course) for options in ((), (), ("--force",))
    )
    assert once.returncode == 0, once.stdout + once.stderr
    assert once.stdout == twice.stdout == forced.stdout
    told = f"{LSTM}: unchanged since it was validated (--force validates it all the same)\n"
    assert twice.stderr == told
    assert told not in once.stderr + forced.stderr


CHECK = '''"""The gates."""

import torch

from autograder.checking import expect, points, rule


@points(2)
@rule("values")
def test_first(submission, sizes, draw):
    """The input gate."""
    x, h, rows = draw("B D"), draw("B H"), 4 * sizes.H
    ones, zeros = x.new_ones(rows, sizes.D), x.new_zeros(rows)
    i, *_ = submission.lstm_gates(x, h, ones, x.new_ones(rows, sizes.H), zeros, zeros)
    sums = x.sum(1, keepdim=True) + h.sum(1, keepdim=True)
    expect(i, torch.sigmoid(sums).repeat(1, sizes.H), names="i", dims="B H", sizes=sizes)
'''
KNOWN = """
[input_gate_with_tanh]
task = "lstm_gates"
find = "torch.sigmoid(i)"
replace = "torch.tanh(i)"
caught_by = "values"
hint = "Which activation has a gate?"
"""


@pytest.mark.slow
def test_watching_tells_of_every_save_and_builds_what_is_right(course):
    save(course, "    ### END SOLUTION", "")
    with watching(course) as said:
        said.wait_for("`BEGIN SOLUTION` without a `END SOLUTION` below it in the cell.")
        save(course, "### BEGIN SOLUTION", "### BEGIN SOULTION")
        said.wait_for("`### BEGIN SOULTION` is no mark that nbgrader knows: write `### BEGIN SOLUTION`.")
        save(course)
        said.wait_for(f"{LSTM}: nothing is wrong in its files; building")
        said.wait_for(f"{LSTM}: built, 4 tasks, 10 points")
    assert said.lines[-1] == "Stopped watching."
    assert "Traceback" not in "".join(said.lines)


class Said:
    """The lines of a command that goes on."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.lines: list[str] = []
        self._process = process
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        self.lines.extend(line.rstrip("\n") for line in iter(self._process.stdout.readline, ""))

    def wait_for(self, text: str) -> None:
        until = time.monotonic() + SECONDS
        while not any(text in line for line in list(self.lines)):
            assert time.monotonic() < until, self.lines
            time.sleep(0.05)

    def end(self) -> None:
        self._reader.join(SECONDS)


@contextmanager
def watching(course: Path) -> Iterator[Said]:
    """`autograder build --watch` while the block runs; then the user presses Ctrl-C."""
    command = [sys.executable, "-u", "-m", "autograder", "build", "--watch"]
    process = subprocess.Popen(
        command,
        cwd=course,
        env={**environment(course), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Tests that run in the background of a shell would hand down that interrupts are ignored.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    said = Said(process)
    try:
        yield said
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.wait()
        said.end()
