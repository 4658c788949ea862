"""What a graded notebook shows: no script and no flood, and every output and point of a correct submission.

Every attack is a notebook that is really graded: it must end with an explicit status, gain nothing and cost
nobody else anything. What the confinement itself keeps out is tested in test_confine_*.py.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from IPython.core.inputtransformer2 import TokenTransformBase, TransformerManager

from autograder.grading.workers.forkserver import ForkServer
from autograder.protocol.messages import RunCell
from autograder.worker.session.shell import Transformers
from tests.support.helpers import (
    answer,
    code_cell,
    outputs_text,
    run_judge,
    scores,
    submission,
)
from tests.support.hostile.wall import ALL, HARMLESS, SCRIPTS

# --- Outputs -----------------------------------------------------------------------------------


def test_no_script_survives_into_the_graded_notebook(quick_workers: ForkServer):
    graded = run_judge(submission(end=SCRIPTS), quick_workers)
    assert scores(graded) == ALL
    outputs = [o for cell in json.loads(graded.notebook)["cells"][-1:] for o in cell["outputs"]]
    assert outputs, "the cell's plain texts are shown"
    assert "SCRIPT" not in json.dumps(outputs).replace("IPython.core.display", "")
    assert all(set(o["data"]) <= {"text/plain"} for o in outputs)
    raising = "def lstm_gates(*a):\n    raise ValueError('<script>alert(1)</script>')"
    graded = run_judge(submission({"lstm_gates": raising}), quick_workers)
    for cell in json.loads(graded.notebook)["cells"]:
        for output in cell.get("outputs", []):
            assert "<script" not in "".join(output.get("data", {}).get("text/html", ""))


FLOODS = {
    "prints": "for _ in range(1000): print('x' * 100_000)",
    "endless prints": "while True: print('x' * 1000)",
    "a large image": "from IPython.display import Image, display\ndisplay(Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + bytes(50 << 20)))",
    "many displays": "from IPython.display import display\nfor i in range(5000): display(i)",
    "odd characters": "print('\\ud800\\x00\\x1b[31m\\u202e')\nraise ValueError('\\udfff')",
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_output_stays_small(name: str, quick_workers: ForkServer):
    graded = run_judge(submission(end=FLOODS[name]), quick_workers)
    assert scores(graded) == ALL
    assert len(graded.notebook) < 1_000_000


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nfor i in range(3000): print('step', i, 'done'); print('warning', i, file=sys.stderr)",
        "from IPython.display import HTML, display\ndisplay(HTML('é' * 1_500_000))",
    ],
    ids=["two streams in turn", "a large table in another alphabet"],
)
def test_output_that_does_not_travel_costs_no_answer(source: str, quick_workers: ForkServer):
    """A cell that shows more than an answer may hold has run: what it defines counts."""
    loud = answer("copy_from_torch", append=source)
    graded = run_judge(submission({"copy_from_torch": loud}), quick_workers)
    assert (graded.verdict.status, scores(graded)) == ("graded", ALL)
    assert len(graded.notebook) < 1_000_000


# --- Correct submissions, whatever surrounds the answers ---------------------------------------


def test_correct_answers_keep_their_points(quick_workers: ForkServer):
    """All of these in one notebook, a cell each; what goes wrong in one is no harm to the answers."""
    data = json.loads(submission())
    behind = [
        source for name, source in HARMLESS.items() if name != "trash"
    ]  # there, it is the answers' torch
    data["cells"] = [*map(code_cell, HARMLESS.values()), *data["cells"], *map(code_cell, behind)]
    graded = run_judge(json.dumps(data).encode(), quick_workers)
    assert (graded.verdict.status, scores(graded)) == ("graded", ALL)
    assert "image/png" in outputs_text(graded)
    assert "(checked when the notebook has run)" in outputs_text(graded)


@pytest.mark.parametrize(
    "source",
    [
        "%cd .",
        "x = 1\n  %cd .\n",
        "if True:\n    !ls\n",
        "x = %who_ls\n",
        "x =\\\n  !ls\n",
        "x = !ls\n",
        "len?\n",
        "y = 1\nlen??  \n",
        ",f a b",
        ";f a b",
        "/f a b",
        "!!ls",
        "%%time\nx = 1\n",
        "x = 7 % 3\ny = x != 3\nx %= 2\n",
        'x = """\n%cd .\n"""\n',
        "\x0c!ls\n",
        "\xa0%cd .\n",
    ],
)
def test_syntax_of_ipythons_own_is_seen_as_in_a_notebook(source: str):
    """The short cut for cells without a sign of it changes no cell that has one."""
    assert Transformers().transform_cell(source) == TransformerManager().transform_cell(source)


class Shouted(TokenTransformBase):
    """Somebody's own syntax: `shout`."""

    @classmethod
    def find(cls, tokens_by_line: list[list[Any]]) -> Shouted | None:
        found = (token for line in tokens_by_line for token in line if token.string == "shout")
        return next((cls(token.start) for token in found), None)

    def transform(self, lines: list[str]) -> list[str]:
        return [*lines[: self.start_line], "print('!')\n", *lines[self.start_line + 1 :]]


def test_syntax_that_a_notebook_adds_is_seen_without_a_sign_of_ipythons():
    transformers = Transformers()
    transformers.token_transformers.append(Shouted)
    assert transformers.transform_cell("x = 1\nshout\n") == "x = 1\nprint('!')\n"


def test_a_wrong_dedent_is_told_with_its_line(quick_workers: ForkServer):
    """As every other syntax error. A tokenizer that came before the compiler would tell it of itself."""
    worker = quick_workers.spawn()
    (ran,) = worker.perform([RunCell(source="def f():\n        x = 1\n    return x\n")], 5)
    quick_workers.leave(worker)
    assert ran.error.type == "IndentationError"
    assert ran.error.lines == ("line 3: return x",)
    assert "<ipython-input-" not in ran.error.message
