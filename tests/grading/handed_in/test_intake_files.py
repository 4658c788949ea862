"""Files in a submission's folder, and what is said of them: to the grader, in the report, to the student."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.grading.course.course import Course
from autograder.grading.handed_in.names import listed, shown
from tests.support.courses import run
from tests.support.helpers import ASSIGNMENT, autograder, autograder_here, make_course
from tests.support.intake import EXPECTED, HOSTILE, OTHER, RIGHT, UPLOADS, hand_in, stripped, zipped

ELSEWHERE = (
    *("browser", "capitals", "text", "zip", "zipped-folder", "nested", "same-twice", "both"),
    *("copy-answered", "copies", "cut-off", "foreign-beside"),
)
NOBODY = 65534


@pytest.fixture(scope="module")
def ungraded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Only read by the tests."""
    course = make_course(tmp_path_factory.mktemp("course"), ["02_rnn_cell", ASSIGNMENT])
    for student, uploads in UPLOADS.items():
        hand_in(course, student, uploads)
    for student, put in HOSTILE.items():
        put(hand_in(course, student, {}))
    return course


@pytest.fixture(scope="module")
def graded(ungraded: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The class, graded by the real command. Only read by the tests."""
    root = copy(ungraded.root, tmp_path_factory.mktemp("graded") / "course")
    before = _files(root / "submitted")
    told = autograder("grade", ASSIGNMENT, "--jobs", "2", "--course", root)
    assert told.returncode == 0, told.stderr
    assert "Traceback" not in told.stderr
    assert not set("\x07\x1b") & set(told.stdout + told.stderr)
    assert _files(root / "submitted") == before, "nothing is unpacked, renamed or moved"
    assert not Path("/tmp/climbed.ipynb").exists()
    return Course.at(root)


@pytest.fixture(scope="module")
def results(graded: Course) -> dict[str, dict[str, Any]]:
    told = autograder_here("results", ASSIGNMENT, "--json", "--course", graded.root)
    return {verdict["student"]: verdict for verdict in json.loads(told.stdout)}


def copy(course: Path, target: Path) -> Path:
    """Another course with all that lies in this one, pipes and links as well."""
    subprocess.run(["cp", "-a", course, target], check=True)
    return target


def _files(folder: Path) -> list[str]:
    return sorted(os.fsencode(path).hex() for path in folder.rglob("*"))


def _note(course: Course, student: str) -> str:
    path = course.folder("autograded", student, ASSIGNMENT) / EXPECTED
    return str(nbformat.read(path, as_version=4).cells[0]["source"])


def _findings(verdict: dict[str, Any]) -> dict[str, str]:
    return {finding["kind"]: finding["message"] for finding in verdict["findings"]}


@pytest.mark.parametrize("student", ELSEWHERE)
@pytest.mark.slow
def test_the_one_file_that_is_the_notebook_is_graded_whatever_its_name(student, graded, results):
    verdict = results[student]
    assert (verdict["status"], verdict["score"]) == ("graded", 10.0)
    assert "is this notebook: it was graded instead" in _findings(verdict)["other_name"]
    assert f"hand it in as `{EXPECTED}`" in _note(graded, student)


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("two-versions", "2 different versions of it: `a.ipynb` and `b.ipynb`. Rename the one that counts"),
        ("script", "`lstm_cell.py` (Python code, not a notebook). Ask for the notebook."),
        ("page", "`lstm_cell.html` (a web page, not a notebook)"),
        ("other-name", "`rnn_cell.ipynb` (the notebook of 02_rnn_cell)"),
        ("empty", "There is no file `lstm_cell.ipynb`, and nothing else that could be it was handed in."),
        ("folder", "`lstm_cell.ipynb` is a folder, not a notebook"),
        ("fifo", "Handed in instead: 1 file."),
        ("bomb", "`a.zip` (an archive in which `lstm_cell.ipynb` is too large)"),
        ("encrypted", "is locked with a password"),
        ("climber", "`a.zip` (an archive whose files would lie outside of it)"),
        ("damaged", "`a.zip` (an archive that is damaged, or no zip archive)"),
        ("zip-in-zip", "`b.zip` in the archive `a.zip` (an archive inside an archive, which is not opened)"),
        ("crowd", "and 2996 more files"),
        ("escapes", "`�[2J�]0;owned��<b>.ipynb` (no notebook that can be read)"),
    ],
)
@pytest.mark.slow
def test_where_no_file_certainly_is_the_notebook_it_is_said_what_there_is(student, words, graded, results):
    verdict = results[student]
    assert (verdict["status"], verdict["score"]) == ("missing", None)
    assert words in _findings(verdict)["missing"]
    assert "grade again" not in _note(graded, student), "that is not for the student"
    assert f"as `{EXPECTED}`" in _note(graded, student)


@pytest.mark.slow
def test_a_version_that_does_not_count_is_named_where_its_answers_differ(graded, results):
    assert results["older"]["score"] < 10.0
    said = "`lstm_cell.ipynb` was graded; `lstm_cell (1).ipynb` is this notebook, too, with other answers."
    assert _findings(results["older"])["other_version"].startswith(said)
    assert f"{said} If that one counts, hand it in as" in _note(graded, "older")
    assert results["saved-twice"]["findings"] == []


@pytest.mark.slow
def test_another_assignments_notebook_is_no_answer_to_this_one(graded, results):
    assert (results["other"]["status"], results["other"]["score"]) == ("missing", None)
    said = "The file `lstm_cell.ipynb` is the notebook of 02_rnn_cell."
    assert _findings(results["other"]) == {"other_notebook": f"{said} Ask for the notebook."}
    assert f"{said} Hand in your notebook as `{EXPECTED}`." in _note(graded, "other")


@pytest.mark.parametrize("student", ["foreign", "no-cells"])
@pytest.mark.slow
def test_a_notebook_without_this_assignments_cells_is_no_answer(student, graded, results):
    assert (results[student]["status"], results[student]["score"]) == ("missing", None)
    said = "The file `lstm_cell.ipynb` is a notebook without this assignment's cells."
    assert _findings(results[student]) == {"other_notebook": f"{said} Ask for the notebook."}
    assert f"{said} Hand in your notebook as `{EXPECTED}`." in _note(graded, student)


@pytest.mark.parametrize("gone", ["release", "source"])
@pytest.mark.slow
def test_another_assignment_is_known_by_its_source_or_its_release(gone, ungraded, tmp_path):
    root = copy(ungraded.root, tmp_path / "course")
    shutil.rmtree(root / gone / "02_rnn_cell")
    notebook = root / "submitted" / "other" / ASSIGNMENT / EXPECTED
    told = autograder_here("check", notebook, "--json", "--course", root)
    assert "is the notebook of 02_rnn_cell" in _findings(json.loads(told.stdout))["other_notebook"]


@pytest.mark.slow
def test_answers_are_found_in_a_notebook_without_names_and_in_anothers(results):
    assert (results["stripped"]["status"], results["stripped"]["score"]) == ("graded", 10.0)
    assert (results["pasted"]["status"], results["pasted"]["score"]) == ("graded", 2.0)
    assert not results["right"]["findings"]


@pytest.mark.slow
def test_the_report_counts_who_handed_in_what_it_grades(graded, results):
    told = json.loads(autograder_here("report", ASSIGNMENT, "--json", "--course", graded.root).stdout)
    missing = sum(verdict["status"] == "missing" for verdict in results.values())
    assert told["students"] == told["handed_in"] + missing
    assert told["states"] == {"graded": told["handed_in"], "missing": missing}
    reasons = {(each["student"], each["kind"]) for each in told["attention"]}
    assert reasons >= {("browser", "other_name"), ("other", "other_notebook"), ("zip-in-zip", "missing")}
    assert ("other", "missing") not in reasons, "one reason is enough"


@pytest.mark.slow
def test_nbgrader_autograde_gives_the_same(ungraded, results, tmp_path):
    root = copy(ungraded.root, tmp_path / "course")
    # nbgrader itself stops at names that are not text, and at pipes, which it would copy.
    for student in ("no-text", "fifo", "link-to-all"):
        shutil.rmtree(root / "submitted" / student)
    told = run(root, "nbgrader", "autograde", ASSIGNMENT)
    assert told.returncode == 0, told.stderr
    found = {
        path.stem: json.loads(path.read_text())["verdict"]
        for path in (root / "verdicts" / ASSIGNMENT).iterdir()
    }
    assert {student: (v["status"], v["score"], v["findings"]) for student, v in found.items()} == {
        student: (results[student]["status"], results[student]["score"], results[student]["findings"])
        for student in found
    }
    assert len(found) == len(results) - 3


@pytest.mark.slow
def test_renaming_the_file_as_the_finding_says_grades_it(graded, tmp_path):
    root = copy(graded.root, tmp_path / "course")
    folder = root / "submitted" / "two-versions" / ASSIGNMENT
    (folder / "a.ipynb").rename(folder / EXPECTED)
    told = autograder_here("grade", ASSIGNMENT, "--student", "two-versions", "--course", root)
    assert told.returncode == 0, told.stderr
    verdict = json.loads((root / "verdicts" / ASSIGNMENT / "two-versions.json").read_text())["verdict"]
    assert (verdict["status"], verdict["score"]) == ("graded", 10.0)
    assert [finding["kind"] for finding in verdict["findings"]] == ["other_version"]


def as_anybody(program: str, *arguments: object, where: Path) -> subprocess.CompletedProcess[str]:
    """A command for which permissions of files hold, as they do for everybody but root."""
    ordinary = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    return subprocess.run(
        [*ordinary, sys.executable, "-m", program, *map(str, arguments)],
        cwd=where,
        capture_output=True,
        text=True,
        timeout=240,
    )


def close(path: Path) -> None:
    """Leave a file or a folder to somebody else."""
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    path.chmod(0o700 if os.geteuid() == 0 else 0)


@pytest.mark.parametrize("program", ["autograder", "nbgrader"])
@pytest.mark.slow
def test_a_file_that_the_grader_may_not_read_is_no_missing_one(program, tmp_path):
    course = make_course(tmp_path)
    for student in ("ada", "ben", "cem"):
        hand_in(course, student, {EXPECTED: RIGHT})
    hidden = course.folder("submitted", "ben", ASSIGNMENT) / EXPECTED
    closed = course.folder("submitted", "cem", ASSIGNMENT)
    close(hidden)
    close(closed)
    command = ("grade", ASSIGNMENT, "--jobs", "1") if program == "autograder" else ("autograde", ASSIGNMENT)
    told = as_anybody(program, *command, where=course.root)
    assert told.returncode == (3 if program == "autograder" else 1), told.stdout + told.stderr
    if program == "autograder":
        assert "3 submissions: 2 infra_error, 1 graded" in told.stdout
        said = as_anybody("autograder", "results", ASSIGNMENT, "--json", where=course.root).stdout
        (found,) = next(each for each in json.loads(said) if each["student"] == "ben")["findings"]
        assert found["kind"] == "infra_error"
        assert (
            "`lstm_cell.ipynb` of `ben` is there and cannot be read (Permission denied)" in found["message"]
        )
    else:
        assert "`lstm_cell.ipynb` of `ben` is there and cannot be read (Permission denied)" in told.stderr
    with course.gradebook() as gradebook:
        scored = {
            submission.student.id
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
            for notebook in submission.notebooks
            if any(grade.auto_score is not None for grade in notebook.grades)
        }
    assert scored == {"ada"}, "nobody gets a 0 for a file that was not read"
    hidden.chmod(0o777)
    closed.chmod(0o777)
    told = as_anybody("autograder", "grade", ASSIGNMENT, where=course.root)
    assert told.returncode == 0, told.stderr
    assert "3 submissions: 3 graded; mean of 3 scores 10.00" in told.stdout


@pytest.mark.parametrize(
    ("name", "as_read"),
    [
        ("a b.ipynb", "`a b.ipynb`"),
        ("a`b<i>\x1b[2J\u202e.ipynb", "`a�b<i>�[2J�.ipynb`"),
        ("\udcff", "`�`"),
        ("x" * 300, f"`{'x' * 80}…`"),
    ],
)
def test_names_are_shown_as_text_of_one_line(name, as_read):
    assert shown(name) == as_read


def test_long_lists_are_cut():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdef")) == "a, b, c, d and 2 more files"
    assert listed([], 1) == "1 file"


def test_an_archive_that_claims_little_and_holds_much_is_refused():
    """The table of contents says ten bytes, the file unpacks to a hundred megabytes."""
    from autograder.grading.handed_in.archive import Archive, BadArchive

    raw = bytearray(zipped({"a": bytes(100 << 20)}))
    place = raw.rfind(b"PK\x01\x02")
    raw[place + 24 : place + 28] = (10).to_bytes(4, "little")
    with Archive(bytes(raw)) as archive:
        (entry,) = archive.entries()
        with pytest.raises(BadArchive):
            archive.read(entry, 1 << 20)


def test_a_table_of_contents_of_a_million_files_is_not_read():
    from autograder.grading.handed_in.archive import Archive, BadArchive

    raw = bytearray(zipped({"a": b""}))
    end = raw.rfind(b"PK\x05\x06")
    raw[end + 12 : end + 16] = (60 << 20).to_bytes(4, "little")
    with pytest.raises(BadArchive, match="too many files"):
        Archive(bytes(raw))


def test_another_assignment_is_known_by_its_cells_alone():
    from dataclasses import replace

    from autograder.grading.handed_in.candidates import assignment_of, is_this
    from tests.support.helpers import make_bundle

    bundle = replace(
        make_bundle(),
        relatives={"02_rnn_cell": frozenset({"rnn_layer", "run_stepwise", "rnn_cell", "stacked_rnn"})},
    )
    assert assignment_of(OTHER, bundle) == "02_rnn_cell"
    assert assignment_of(RIGHT, bundle) == ""
    assert is_this(RIGHT, bundle)
    assert not is_this(OTHER, bundle)
    assert (
        assignment_of(OTHER.replace(b"import torch", b"def lstm_gates(): 1\\nimport torch", 1), bundle) == ""
    )


def test_a_notebook_with_the_same_functions_and_nothing_else_is_not_this_one():
    from autograder.grading.handed_in.candidates import is_this
    from tests.support.helpers import make_bundle, solved

    notebook = solved()
    assert is_this(stripped(notebook), make_bundle())
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["source"].startswith(("def ", "class "))]
    assert len(notebook["cells"]) > 3
    assert not is_this(stripped(notebook), make_bundle())


def test_an_umlaut_of_a_mac_is_no_other_name():
    from dataclasses import replace
    from unicodedata import normalize

    from autograder.grading.handed_in.folder import File, HandedIn
    from autograder.grading.handed_in.resolve import resolve
    from tests.support.helpers import make_bundle

    bundle = replace(make_bundle(), notebook="Übung")
    for name, findings in ((normalize("NFD", "Übung.ipynb"), 0), ("übung.ipynb", 1)):
        resolved = resolve(HandedIn(None, beside=(File(name, RIGHT),)), bundle)
        assert (resolved.raw, len(resolved.findings)) == (RIGHT, findings)
