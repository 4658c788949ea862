"""The data that the course ships: from any folder, in the wheel, and in a graded cell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import data
from tests.support.helpers import answer, run_judge, scores, submission
from tests.support.hostile.wall import ALL

FILES = [path.name for path in Path(data.__file__).parent.iterdir() if path.suffix == ".bz2"]
GRADED = """
from autograder import data
text = data.text("pride_and_prejudice")
print(len(text), "characters,", len(set(text)), "different")
"""


def test_the_novel_is_whole():
    text = data.text("pride_and_prejudice")
    assert (len(text), len(set(text))) == (682_303, 75)
    assert "It is a truth universally acknowledged, that a single man" in text[:2000]


def test_an_unknown_name_is_told_what_there_is():
    with pytest.raises(ValueError, match="pride_and_prejudice"):
        data.text("emma")


def test_everything_shipped_has_origin_and_licence(capsys):
    shipped = {file.removesuffix(".txt.bz2") for file in FILES}
    assert data.SOURCES.keys() == shipped
    data.sources()
    told = capsys.readouterr().out
    assert all(f"{name}: " in told for name in shipped)
    assert told.count("licence: ") == told.count("from: ") == len(shipped)


def test_it_needs_no_path(tmp_path):
    code = "from autograder import data; print(len(data.text('pride_and_prejudice')))"
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert told.stdout == "682303\n", told.stderr


def test_a_graded_cell_reads_it_behind_the_wall(workers):
    """The package's files are hidden there: the fork server has read them before."""
    cell = answer("lstm_gates", prepend=GRADED)
    graded = run_judge(submission({"lstm_gates": cell}), workers)
    assert scores(graded) == ALL
    assert "682303 characters, 75 different" in json.dumps(json.loads(graded.notebook))
