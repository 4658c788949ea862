"""Two records of how everything is judged are compared field by field."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import outcomes
import pytest

from tests.support.helpers import ROOT

PROGRAM = [sys.executable, ROOT / "tests" / "outcomes.py"]


def record(path: Path, commit: str, **fields: Any) -> Path:
    check = {"outcome": "passed", "points": 1.0, "message": "", "answers": "c0ffee", **fields}
    entry = {"status": "graded", "tasks": {"double": {"score": 1.0, "checks": {"values": check}}}}
    outcomes = {"01_double": {"solution": entry, "mistake: half": entry}}
    path.write_text(json.dumps({"commit": commit, "inputs": {}, "outcomes": outcomes}))
    return path


@pytest.fixture
def compared(monkeypatch, capsys):
    def compared(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["outcomes.py", "compare", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            outcomes.main()
        return int(ended.value.code), capsys.readouterr().out

    return compared


def test_equal_records_differ_in_nothing(tmp_path, compared):
    before, after = record(tmp_path / "a.json", "one"), record(tmp_path / "b.json", "two")
    assert compared(before, after) == (0, "one and two: 2 answers and 2 answers\nNothing differs.\n")


def test_each_difference_is_said_once_with_what_it_was(tmp_path, compared):
    before = record(tmp_path / "a.json", "one")
    after = record(tmp_path / "b.json", "two", outcome="failed", message="Wrong.")
    status, said = compared(before, after)
    assert status == 1
    assert "\noutcome: 2 differ\n" in said
    place = "01_double / solution / tasks / double / checks / values and 1 more"
    assert f'  {place}\n    "passed"\n    "failed"\n' in said
    assert f'  {place}\n    ""\n    "Wrong."\n' in said


def test_what_may_differ_is_counted_and_no_failure(tmp_path, compared):
    before = record(tmp_path / "a.json", "one")
    after = record(tmp_path / "b.json", "two", message="Wrong.")
    status, said = compared(before, after, "--ignore", "message,hint")
    assert (status, "message: 2 differ (ignored)" in said, "Wrong." in said) == (0, True, False)


def test_numbers_in_a_message_and_the_fingerprint_itself_are_no_difference(tmp_path, compared):
    before = record(tmp_path / "a.json", "one", message="3 of 7 differ by 1.5e-3.")
    after = record(tmp_path / "b.json", "two", message="4 of 11 differ by 2.0.", answers="beef")
    assert compared(before, after)[0] == 0


def test_answers_that_share_a_fingerprint_no_more_are_a_difference(tmp_path, compared):
    before, after = record(tmp_path / "a.json", "one"), record(tmp_path / "b.json", "two")
    found = json.loads(after.read_text())
    found["outcomes"]["01_double"]["solution"]["tasks"]["double"]["checks"]["values"]["answers"] = "beef"
    after.write_text(json.dumps(found))
    status, said = compared(before, after)
    assert (status, "same answers: 1 differ" in said) == (1, True)


def test_what_is_in_one_of_them_only_is_a_difference(tmp_path, compared):
    before, after = record(tmp_path / "a.json", "one"), record(tmp_path / "b.json", "two")
    told = json.loads(after.read_text())
    del told["outcomes"]["01_double"]["mistake: half"]
    after.write_text(json.dumps(told))
    status, said = compared(before, after)
    assert status == 1
    assert "(not there)" in said


@pytest.mark.parametrize("text", [None, "[]", '{"commit": "one"', "{}"])
def test_what_is_no_record_is_said_in_one_sentence(tmp_path, monkeypatch, text):
    broken = tmp_path / "broken.json"
    if text is not None:
        broken.write_text(text)
    monkeypatch.setattr(sys, "argv", ["outcomes.py", "compare", str(broken), str(broken)])
    with pytest.raises(SystemExit, match="is no record that can be read"):
        outcomes.main()


@pytest.mark.slow
def test_two_records_of_one_commit_are_equal(tmp_path, compared):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, how in zip(paths, (("--few", "6"), ("--inputs", paths[0])), strict=True):
        subprocess.run(
            [*PROGRAM, "record", path, "02_rnn_cell", "--jobs", "2", *how], check=True, capture_output=True
        )
    entries = json.loads(paths[0].read_text())["outcomes"]["02_rnn_cell"]
    assert sum(task["score"] for task in entries["solution"]["tasks"].values()) == 10
    assert sum(task["score"] for task in entries["release"]["tasks"].values()) == 0
    for kind in ("mistake: ", "right: ", "wrong: ", "forgery: "):
        assert sum(name.startswith(kind) for name in entries) > 5, kind
    status, said = compared(*paths)
    assert status == 0, said
