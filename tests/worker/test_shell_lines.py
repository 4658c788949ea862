"""Shell lines and `exit()` in a student's cell: passed over when grading, and the rest runs as in Jupyter."""

from __future__ import annotations

import json
import subprocess
import sys
from textwrap import dedent

import nbformat

from autograder.grading.judging.judge import Graded
from autograder.grading.workers.forkserver import ForkServer
from tests.support.helpers import answer, run_judge, scores, submission
from tests.support.hostile.wall import ALL

SAID = "Shell lines are not run when grading; this one was left out: "


def shown(graded: Graded, source: str) -> str:
    """All that the cell with this source has for outputs."""
    cells = nbformat.reads(graded.notebook, as_version=4).cells
    (cell,) = (cell for cell in cells if cell.source == source)
    return json.dumps(cell.outputs)


LINES = {
    "!pip install einops": "!pip install einops",
    "%pip install torchinfo": "!python -m pip install torchinfo",
    "files = !ls /\nassert files == []": "!ls /",
    "%system pwd": "!pwd",
    "def look():\n    !uname\nlook()": "!uname",
}
"""Shell lines as students write them, and what is said of each."""


def test_shell_lines_stop_no_cell(workers: ForkServer):
    solved = answer("lstm_gates", prepend="\n".join(LINES))
    graded = run_judge(submission({"lstm_gates": solved}), workers)
    assert scores(graded) == ALL
    for told in LINES.values():
        assert SAID + told in shown(graded, solved)
    assert sys.executable not in graded.notebook, "where this machine's Python is, is nobody's business"


def test_a_cell_of_bash_is_passed_over(workers: ForkServer):
    cell = "%%bash\npip install einops"
    graded = run_judge(submission(before=cell), workers)
    assert scores(graded) == ALL
    assert f"{SAID}%%bash" in shown(graded, cell)
    assert not graded.verdict.findings


def test_leaving_ends_nothing(workers: ForkServer):
    lines = "exit()\nquit()\nexit"
    solved = answer("lstm_gates", prepend=lines)
    graded = run_judge(submission({"lstm_gates": solved}, before=lines), workers)
    assert (graded.verdict.status, scores(graded)) == ("graded", ALL)
    assert not graded.verdict.findings
    assert "AttributeError" not in graded.notebook


REFUSED = """
    import ctypes, errno, os, subprocess
    import pyseccomp
    from autograder.worker.session.refused_programs import pass_over_refused

    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    denied = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for call in ("execve", "execveat"):
        denied.add_rule(pyseccomp.ERRNO(errno.EPERM), call)
    denied.load()
    pass_over_refused()

    assert subprocess.run(["echo", "said"]).returncode == 127
    told = subprocess.run("echo said", shell=True, capture_output=True, text=True, input="x")
    assert (told.stdout, told.stderr, told.returncode) == ("", "", 127)
    assert subprocess.getoutput("echo said") == ""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.communicate(b"x") == (b"", None)
        process.kill()
    for program, raised in (("echo", subprocess.CalledProcessError), ("no-such-program", FileNotFoundError)):
        try:
            subprocess.check_output([program])
        except raised:
            print("as expected")
    assert os.system("echo said") != 0
"""


def test_where_no_program_may_be_started_each_is_one_that_failed():
    ran = subprocess.run([sys.executable, "-c", dedent(REFUSED)], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "as expected\n" * 2), ran.stderr
    assert "Programs are not started when grading; this one was left out: echo said" in ran.stderr
