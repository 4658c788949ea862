"""The command line as a shell has it: pipes, widths, versions, Ctrl-C, and what Tab completes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import autograder as package
from tests.support.courses import copy_course, files, short_source
from tests.support.helpers import ASSIGNMENT, NOTEBOOK, ROOT, autograder, make_course, submission, submit
from tests.support.reports import HOSTILE
from tests.support.resuming import wait_for_a_worker

COMMAND = f"{sys.executable} -m autograder"


@pytest.fixture(scope="module")
def course(graded_class, tmp_path_factory) -> Path:
    """Graded; only read by the tests."""
    return copy_course(graded_class, tmp_path_factory.mktemp("copy") / "course")


def shell(line: str, cwd: Path | str = "/", **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of bash, whose status is that of the first command that failed."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=cwd, capture_output=True, text=True, timeout=300, env={**os.environ, **environment},
    )  # fmt: skip


class TestPipes:
    @pytest.mark.parametrize(
        ("command", "reader"),
        [
            pytest.param(
                command, reader, marks=() if (command, reader) == ("results", "true") else pytest.mark.slow
            )
            for command in ("results", "results --json", "report --json", "status")
            for reader in ("head -1", "true")
        ],
    )
    def test_a_reader_that_goes_away_is_no_error(self, course, command, reader):
        name = "" if command == "status" else ASSIGNMENT
        told = shell(f"{COMMAND} {command} {name} --course {course} | {reader}")
        assert told.stderr == ""
        assert told.returncode in (0, 141)

    def test_a_table_in_a_pipe_is_not_filled_with_spaces(self, course, monkeypatch):
        monkeypatch.delenv("COLUMNS", raising=False)
        told = autograder("results", ASSIGNMENT, "--course", course)
        lines = told.stdout.splitlines()
        assert lines[0].split() == [
            "student",
            "status",
            "score",
            "tasks",
            "seconds",
            "first",
            "thing",
            "to",
            "see",
        ]
        assert [line for line in lines if line != line.rstrip()] == []
        assert any(HOSTILE in line for line in lines), "and the text is as it was"

    def test_columns_are_counted_where_the_environment_says_how_many(self, course, monkeypatch):
        monkeypatch.delenv("COLUMNS", raising=False)
        told = autograder("results", ASSIGNMENT, "--course", course, COLUMNS="90")
        assert max(map(len, told.stdout.splitlines()[:-1])) <= 90
        assert any(
            len(line) > 90
            for line in autograder("results", ASSIGNMENT, "--course", course).stdout.splitlines()
        )


def in_terminal(columns: int, *arguments: object) -> str:
    """Return what a command prints in a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "autograder", *map(str, arguments)]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**environment, "TERM": "xterm"}
    )
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:  # the other side is closed
        pass
    process.wait(30)
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())


def test_help_is_as_wide_as_the_terminal():
    widths = [max(map(len, in_terminal(columns, "grade", "--help").splitlines())) for columns in (100, 150)]
    assert widths == [100, 150]


def test_it_says_which_version_it_is():
    told = autograder("--version")
    assert (told.returncode, told.stdout) == (0, f"autograder {package.__version__}\n")


class TestStopped:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ([], "the same command goes on from there"),
            pytest.param(["--force"], "begins again from the first submission", marks=pytest.mark.slow),
        ],
    )
    def test_ctrl_c_says_what_the_same_command_would_do(self, tmp_path, options, said):
        course = make_course(tmp_path)
        submit(course, "ada", submission(before="import time\ntime.sleep(60)"))
        command = [sys.executable, "-m", "autograder", "grade", ASSIGNMENT, "--course", tmp_path, *options]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # What a shell runs in the background ignores Ctrl-C, and so would all that it starts.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        wait_for_a_worker(process)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 130
        assert said in told


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder of its own with a short path: a kernel's sockets are in it, whose names have a limit."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        yield Path(made)


@pytest.mark.parametrize(
    ("number", "status", "at"),
    [
        (signal.SIGINT, 130, "running the solution in a notebook"),
        (signal.SIGTERM, 143, "running the solution in a notebook"),
        (signal.SIGTERM, 143, "trying the known mistakes"),
        (signal.SIGINT, 130, "putting it in place"),
    ],
)
@pytest.mark.slow
def test_a_build_that_is_ended_says_so_and_leaves_nothing_half_written(tmp_path, short, number, status, at):
    (tmp_path / "course").mkdir()
    course = make_course(tmp_path / "course").root
    short_source(course)
    shutil.copytree(ROOT / "solutions" / "mistakes", course / "solutions" / "mistakes")
    before = files(course, "release", "solutions")
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "autograder", "build", "--force", ASSIGNMENT, "--course", course],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(short)},
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert any(at in line for line in process.stdout), process.stderr.read()
    time.sleep(0.3)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (
        status,
        "Stopped. What was built is in place; the same command goes on from there.\n",
    )
    assert not list(short.glob("autograder-*"))
    assert not [path for path in course.rglob("*") if path.name.endswith((".new", ".tmp"))]
    after = files(course, "release", "solutions")
    if "in place" in at:
        assert {f"solutions/{ASSIGNMENT}/{NOTEBOOK}.ipynb", f"release/{ASSIGNMENT}/hints.json"} <= set(after)
    else:
        assert after == before


class TestCompletion:
    """Through bash itself, with the script that `--show-completion` prints."""

    def completed(self, course: Path | str, line: str) -> list[str]:
        script = f"""
            autograder() {{ {COMMAND} "$@"; }}
            export -f autograder
            source <({sys.executable} -c "
from typer._completion_shared import get_completion_script
print(get_completion_script(prog_name='autograder', complete_var='_AUTOGRADER_COMPLETE', shell='bash'))")
            COMP_WORDS=({line}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) COMP_LINE="{line}"
            _autograder_completion autograder
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        told = shell(script, course)
        assert told.stderr == ""
        return told.stdout.split("\n")[:-1]

    def test_assignments(self):
        assert self.completed(ROOT, "autograder grade 03") == ["03_lstm_cell"]
        assert len(self.completed(ROOT, "autograder report 0")) == 10

    def test_the_course_that_is_named(self):
        assert self.completed("/", f"autograder build --course {ROOT} 10") == ["10_seq2seq"]

    def test_students(self, course):
        assert self.completed(course, f"autograder grade {ASSIGNMENT} --student a") == ["ada"]

    def test_nothing_and_no_traceback_where_there_is_no_course(self, tmp_path):
        assert self.completed(tmp_path, "autograder grade 0") in ([], [""])

    def test_it_is_quick(self):
        """A person waits at every Tab: neither torch nor nbgrader is imported."""
        program = (
            "import sys; sys.modules.update(torch=None, nbgrader=None, nbformat=None, sqlalchemy=None);"
            "from autograder.cli import main; sys.argv = ['autograder']; main()"
        )
        environment = {
            "_AUTOGRADER_COMPLETE": "complete_bash",
            "COMP_WORDS": "autograder grade 03",
            "COMP_CWORD": "2",
        }
        told = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, **environment},
        )  # fmt: skip
        assert (told.stderr, told.stdout.strip()) == ("", "03_lstm_cell")
