"""The course in nbgrader's hands: its commands, its formgrader, its exchange, and ours beside them."""

from __future__ import annotations

import csv
import json
import re
import secrets
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
import requests
from nbgrader_helpers import (
    LSTM,
    NOTEBOOK,
    ROOT,
    SCRIPTS,
    copy_course,
    done,
    environment,
    files,
    gradebook,
    hand_in,
    marks,
    named,
    released,
    run,
    source,
    totals,
    with_answers,
)

from autograder.grading.build import build
from autograder.grading.course import Course
from autograder.grading.errors import UserError

ASSIGNMENTS = ("02_rnn_cell", LSTM)
CORRUPT = b'{"cells": [{"cell_type": "code", "source": "x'
COMMANDS = ("nbgrader", "autograder")

FORGETFUL = """
class LSTMCell(LSTMCell):
    calls = 0

    def forward(self, x, state=None):
        self.calls += 1
        h, c = super().forward(x, state)
        return (h + 1, c) if self.calls > 3 else (h, c)
"""
"""Right for three steps: only a hidden check sees the fourth."""


@pytest.fixture(scope="module")
def empty_course(tmp_path_factory) -> Path:
    """A course whose assignments nbgrader itself generated; nobody handed in anything."""
    course = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "source", course / "source")
    shutil.copyfile(ROOT / "nbgrader_config.py", course / "nbgrader_config.py")
    for assignment in ASSIGNMENTS:
        done(run(course, "nbgrader", "generate_assignment", assignment))
    return course


@pytest.fixture
def course(empty_course, tmp_path) -> Path:
    """A course of one's own, with one right submission."""
    course = copy_course(empty_course, tmp_path / "course")
    hand_in(course, "ada", source(), when="2026-03-01 12:00:00 UTC")
    return course


def a_class(course: Path) -> dict[str, float | None]:
    """Hand in what students hand in, and return the scores it deserves (None: some)."""
    hand_in(course, "right", source())
    hand_in(course, "untouched", released())
    hand_in(course, "wrong", with_answers(**{name: f"def {name}(*_):\n    return 1" for name in TASKS}))
    hand_in(course, "partly", with_answers(lstm_cell="def lstm_cell(x, h, c, *weights):\n    return h, c"))
    hand_in(course, "forgetful", with_answers(LSTMCell=named(source(), "LSTMCell")["source"] + FORGETFUL))
    hand_in(course, "corrupt", CORRUPT)
    hand_in(course, "misnamed", source(), name="my lstm.ipynb")
    twice = source()
    for name in ("lstm_cell", "check_lstm_cell"):
        twice.cells.append(deepcopy(named(twice, name)))
        twice.cells[-1]["id"] = f"second-{len(twice.cells)}"
    hand_in(course, "duplicated", twice)
    old = source()
    for cell in old.cells:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["schema_version"] = 2
    hand_in(course, "old_schema", old)
    (course / "submitted" / "empty" / LSTM).mkdir(parents=True)
    none = dict.fromkeys(("untouched", "wrong", "corrupt", "misnamed", "empty"), 0.0)
    full = dict.fromkeys(("right", "duplicated", "old_schema"), 10.0)
    return {**none, **full, "partly": 8.0, "forgetful": 9.0}


TASKS = ("lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch")


@pytest.fixture(scope="module")
def both(empty_course, tmp_path_factory) -> tuple[Path, Path, dict[str, float | None]]:
    """The same class twice: graded by `nbgrader autograde`, and by `autograder grade`."""
    made = tmp_path_factory.mktemp("both")
    one = copy_course(empty_course, made / "one")
    deserved = a_class(one)
    (one / ".autograder").mkdir()
    (one / ".autograder" / "seed").write_text("4711\n")
    other = copy_course(one, made / "other")
    done(run(one, "nbgrader", "autograde", LSTM))
    done(run(other, SCRIPTS / "autograder", "grade", LSTM, "--jobs", "2"))
    return one, other, deserved


def test_both_commands_leave_the_same_gradebook(both):
    one, other, deserved = both
    assert totals(one) == totals(other) == deserved
    assert marks(one) == marks(other)


def test_both_commands_leave_the_same_files(both):
    one, other, deserved = both
    by_nbgrader, by_autograder = (files(course, "autograded") for course in (one, other))
    assert (
        sorted(by_nbgrader)
        == sorted(by_autograder)
        == [f"autograded/{name}/{LSTM}/{NOTEBOOK}" for name in sorted(deserved)]
    )
    for name in by_nbgrader:
        assert without_chance(by_nbgrader[name]) == without_chance(by_autograder[name]), name
    verdicts = [
        {name: json.loads(raw) for name, raw in files(course, "verdicts").items()} for course in (one, other)
    ]
    for kept in (*verdicts[0].values(), *verdicts[1].values()):
        kept["verdict"]["seconds"] = 0
    assert verdicts[0] == verdicts[1]


def without_chance(notebook: bytes) -> bytes:
    """Without addresses in outputs, and the ids that nbformat draws for new cells."""
    return re.sub(rb'0x[0-9a-f]+|"id": "[0-9a-f]{8}"', b"", notebook)


def test_feedback_shows_the_card_and_keeps_what_is_hidden(both):
    course, _, deserved = both
    done(run(course, "nbgrader", "generate_feedback", LSTM))
    pages = {path.parent.parent.name: path.read_text() for path in course.glob(f"feedback/*/{LSTM}/*")}
    assert pages.keys() == deserved.keys()
    assert all(path.suffix == ".html" for path in course.glob("feedback/*/*/*")), (
        "more than pages is handed back"
    )
    for student, page in pages.items():
        score = f"{deserved[student]:g}"
        assert re.search(rf"\(Score: {re.escape(str(deserved[student]))} / 10\.0\)", page), (student, score)
        for secret in (
            "stays equal to nn.LSTMCell",
            "of a chain",
            "4711",
            str(ROOT),
            str(course),
            str(sys.prefix),
            "fingerprint",
        ):
            assert secret not in page, (student, secret)
    assert "lstm_cell: 0 of 2 points" in pages["partly"]
    assert "Fed its own state, step after step, the cell stays right." in pages["forgetful"]
    assert "could not be read" in pages["corrupt"]
    assert f"No file <code>{NOTEBOOK}</code> was submitted" in pages["misnamed"]


def test_export_has_every_score(both):
    course, _, deserved = both
    done(run(course, "nbgrader", "export"))
    with (course / "grades.csv").open() as file:
        rows = {
            row["student_id"]: float(row["score"])
            for row in csv.DictReader(file)
            if row["assignment"] == LSTM
        }
    assert rows == deserved


def regrade(course: Path, command: str, *options: str) -> subprocess.CompletedProcess[str]:
    if command == "nbgrader":
        return run(course, "nbgrader", "autograde", LSTM, *options)
    return run(course, "autograder", "grade", LSTM)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_resubmission_replaces_the_score_and_nothing_a_person_gave(course, command):
    done(regrade(course, command))
    assert totals(course) == {"ada": 10}
    with gradebook(course) as book:
        grade = book.find_grade("check_lstm_cell", "lstm_cell", LSTM, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.25, False
        book.find_comment("lstm_cell", "lstm_cell", LSTM, "ada").manual_comment = "Nice."
        book.db.commit()
    hand_in(course, "ada", CORRUPT)
    done(regrade(course, command, "--student", "ada", "--force"))
    mine = marks(course)["ada"]
    assert mine["check_lstm_cell"] == (0, 1.25, True)
    assert mine["comment on lstm_cell"][1] == "Nice."
    assert all(mine[f"check_{task}"] == (0, None, False) for task in TASKS if task != "lstm_cell")
    hand_in(course, "ada", source(), when="2026-03-02 12:00:00 UTC")
    done(regrade(course, command))
    assert marks(course)["ada"]["check_lstm_cell"] == (2, 1.25, True)
    assert totals(course) == {"ada": 9.25}


LATE = """
from nbgrader.plugins import BasePlugin

class OnePointAnHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 3600
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_late_policies_of_the_course_hold(course, command):
    (course / "late_policy.py").write_text(LATE)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write('\nc.AssignLatePenalties.plugin_class = "late_policy.OnePointAnHour"\n')
    with gradebook(course) as book:
        book.update_or_create_assignment(LSTM, duedate="2026-03-01 09:30:00 UTC")
    hand_in(course, "bob", CORRUPT, when="2026-03-01 12:00:00 UTC")
    hand_in(course, "cai", source(), when="2026-03-01 09:00:00 UTC")
    hand_in(course, "dov", source(), when="no time at all")
    result = regrade(course, command)
    assert [marks(course)[name]["late"] for name in ("ada", "bob", "cai")] == [2.5, 0, None], result.stderr
    if command == "autograder":  # nbgrader itself stumbles over such a timestamp
        assert totals(course)["dov"] == 10


def test_a_late_policy_that_fails_is_said_so(course):
    (course / "late_policy.py").write_text(LATE.replace("3600", "0"))
    with (course / "nbgrader_config.py").open("a") as file:
        file.write('\nc.AssignLatePenalties.plugin_class = "late_policy.OnePointAnHour"\n')
    with gradebook(course) as book:
        book.update_or_create_assignment(LSTM, duedate="2026-03-01 09:30:00 UTC")
    before = everything(course)
    result = run(course, "autograder", "grade", LSTM)
    assert result.returncode == 1
    assert (
        "The course's late policy OnePointAnHour fails with ZeroDivisionError: float division by zero"
        in result.stderr
    )
    assert everything(course) == before


@pytest.mark.slow
def test_formgrader_grades_and_shows_submissions(course):
    hand_in(course, "mis", source(), name="other.ipynb")
    set_db_url(course, f"sqlite:///{course}/gradebook.db?timeout=1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    options = [
        f"--ServerApp.{name}"
        for name in (
            f"port={port}",
            "port_retries=0",
            "ip=127.0.0.1",
            "open_browser=False",
            "allow_root=True",
        )
    ]
    command = [sys.executable, "-m", "jupyter", "server", *options, f"--IdentityProvider.token={token}"]
    log = (course.parent / "server.log").open("w+")
    server = subprocess.Popen(command, cwd=course, env=environment(course), stdout=log, stderr=log)
    try:
        session = requests.Session()
        session.headers["Authorization"] = f"token {token}"
        home = f"http://127.0.0.1:{port}/formgrader"
        for _ in range(300):
            try:
                session.get(f"{home}/api/status", timeout=5).raise_for_status()
                break
            except requests.RequestException:
                assert server.poll() is None
                time.sleep(0.1)
        for student, score in (("ada", 10), ("mis", 0)):
            told = session.post(f"{home}/api/submission/{LSTM}/{student}/autograde", timeout=120).json()
            assert told["success"], told
            assert session.get(f"{home}/api/submission/{LSTM}/{student}", timeout=30).json()["score"] == score
        assert session.get(f"{home}/", timeout=30).ok
        assert session.get(f"{home}/gradebook/{LSTM}/lstm_cell", timeout=30).ok
        (mine,) = (
            each
            for each in session.get(f"{home}/api/submitted_notebooks/{LSTM}/lstm_cell", timeout=30).json()
            if each["student"] == "ada"
        )
        page = session.get(f"{home}/submissions/{mine['id']}/", timeout=60)
        assert page.ok
        assert "lstm_cell: 2 of 2 points, everything holds" in page.text
        with sqlite3.connect(course / "gradebook.db") as locked:
            locked.execute("BEGIN IMMEDIATE")
            told = session.post(f"{home}/api/submission/{LSTM}/ada/autograde", timeout=120).json()
        assert not told["success"]
        assert "is locked by another program" in told["log"]
        assert session.get(f"{home}/api/submission/{LSTM}/ada", timeout=30).json()["score"] == 10
        assert (course / "autograded/ada" / LSTM / NOTEBOOK).is_file()
    finally:
        server.terminate()
        server.wait(20)
        log.seek(0)
        print(log.read())
        log.close()


@pytest.mark.slow
def test_the_whole_exchange_loop(empty_course, tmp_path):
    course, home, exchange = (
        copy_course(empty_course, tmp_path / "course"),
        tmp_path / "student",
        tmp_path / "exchange",
    )
    home.mkdir()
    exchange.mkdir()
    exchange.chmod(0o777)
    settings = f'c.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.course_id = "recurrent-networks"\n'
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(settings)
    (home / "nbgrader_config.py").write_text(f"c = get_config()\n{settings}")

    def instructor(*command: object) -> str:
        return done(run(course, "nbgrader", *command, LSTM))

    def student(*command: object) -> str:
        return done(run(home, "nbgrader", *command))

    instructor("release_assignment")
    assert LSTM in student("list")
    student("fetch_assignment", LSTM)
    notebook = nbformat.read(home / LSTM / NOTEBOOK, as_version=4)
    for task in TASKS[:2]:
        named(notebook, task)["source"] = named(source(), task)["source"]
    nbformat.write(notebook, home / LSTM / NOTEBOOK)
    student("submit", LSTM)
    instructor("collect")
    (handed_in,) = (course / "submitted").iterdir()
    instructor("autograde")
    assert totals(course) == {handed_in.name: 4}
    instructor("generate_feedback")
    instructor("release_feedback")
    student("fetch_feedback", LSTM)
    (page,) = (path.read_text() for path in (home / LSTM / "feedback").rglob("*.html"))
    assert "(Score: 4.0 / 10.0)" in page
    assert "lstm_cell: 2 of 2 points, everything holds" in page
    assert "LSTMCell: 0 of 4 points, still to do" in page
    assert [path.suffix for path in (home / LSTM / "feedback").rglob("*") if path.is_file()] == [".html"]


def test_the_gradebook_has_a_version_and_nbgrader_can_upgrade_it(course):
    with sqlite3.connect(course / "gradebook.db") as book:
        ((version,),) = book.execute("SELECT version_num FROM alembic_version").fetchall()
    done(run(course, SCRIPTS / "nbgrader", "db", "upgrade"))
    with sqlite3.connect(course / "gradebook.db") as book:
        assert book.execute("SELECT version_num FROM alembic_version").fetchall() == [(version,)]
    assert LSTM in done(run(course, SCRIPTS / "nbgrader", "db", "assignment", "list"))


def everything(course: Path) -> tuple[dict[str, bytes], list[str]]:
    """All that grading may write: the files, and every row of the gradebook that can be read."""
    rows: list[str] = []
    try:
        with sqlite3.connect(f"file:{course / 'gradebook.db'}?mode=ro", uri=True) as book:
            rows = list(book.iterdump())
    except sqlite3.Error:
        pass
    return files(course, "autograded", "verdicts", "feedback", "release"), rows


def one_sentence(result: subprocess.CompletedProcess[str]) -> str:
    """The one thing a failed command said, apart from its progress."""
    lines = [line for line in result.stderr.splitlines() if not re.search(r"INFO\]|WARNING\]|ETA ", line)]
    assert len(lines) == 1, result.stderr
    return lines[0]


def lock(course: Path) -> sqlite3.Connection:
    set_db_url(course, f"sqlite:///{course}/gradebook.db?timeout=1")
    book = sqlite3.connect(course / "gradebook.db", isolation_level=None)
    book.execute("BEGIN IMMEDIATE")
    return book


def set_db_url(course: Path, url: str) -> None:
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.CourseDirectory.db_url = {url!r}\n")


def make_unknown(course: Path) -> None:
    with sqlite3.connect(course / "gradebook.db") as book:
        book.execute("UPDATE assignment SET name = 'another' WHERE name = ?", [LSTM])


def change_points(course: Path) -> None:
    with sqlite3.connect(course / "gradebook.db") as book:
        book.execute("UPDATE grade_cells SET max_score = 3 WHERE max_score = 4")


BROKEN = {
    "locked": (lock, "is locked by another program"),
    "read-only": (
        lambda course: set_db_url(course, f"sqlite:///file:{course}/gradebook.db?mode=ro&uri=true"),
        "is read-only for you",
    ),
    "no database": (
        lambda course: (course / "gradebook.db").write_bytes(b"x" * 5000),
        "is not a gradebook that can be read",
    ),
    "unknown assignment": (
        make_unknown,
        f"The gradebook does not know the assignment {LSTM}: run `autograder build {LSTM}` first.",
    ),
    "other points": (change_points, f"than the release has: run `autograder build {LSTM}` again."),
    "no release": (lambda course: shutil.rmtree(course / "release" / LSTM), "has not been built"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("how", BROKEN)
def test_what_stops_a_batch_is_one_sentence_and_changes_nothing(course, how, command):
    spoil, sentence = BROKEN[how]
    before = everything(course)
    held = spoil(course)
    after_spoil = everything(course)
    result = run(
        course, *{"nbgrader": ("nbgrader", "autograde"), "autograder": ("autograder", "grade")}[command], LSTM
    )
    assert result.returncode == 1
    assert sentence in one_sentence(result)
    if isinstance(held, sqlite3.Connection):
        held.close()
        assert everything(course) == before
    else:
        assert everything(course) == after_spoil


def test_a_gradebook_that_is_locked_on_the_way_keeps_what_was_there(course, monkeypatch):
    from autograder.grading import record as module
    from autograder.grading.judge import Graded
    from autograder.grading.store import Key
    from autograder.grading.verdict import Verdict

    before = everything(course)
    held = lock(course)
    at = Course.at(course)
    bundle = at.bundle(LSTM)
    verdict = Verdict("ada", LSTM, "lstm_cell", "graded", 0.0, 0, (), ())
    with pytest.raises(UserError, match="is locked by another program"):
        module.record(at, bundle, Graded(verdict, bundle.released), Key("checks", "file"))
    held.close()
    assert everything(course) == before
    assert not (course / "autograded").exists()
    assert not (course / "verdicts").exists()


def test_what_is_not_there_is_said_in_one_sentence(course):
    spoilt = copy_course(course, course.parent / "spoilt")
    (spoilt / "nbgrader_config.py").write_text("c = get_config(\n")
    for where, arguments, sentence in (
        (course.parent, ("grade", LSTM), "There is no course in"),
        (course, ("grade", "04_nothing"), "There is no assignment '04_nothing'"),
        (course, ("grade", LSTM, "--student", "eve"), f"The student 'eve' has not submitted {LSTM}"),
        (spoilt, ("grade", LSTM), "nbgrader_config.py fails with SyntaxError"),
    ):
        result = run(where, "autograder", *arguments)
        assert result.returncode == 1
        assert sentence in one_sentence(result)
    result = run(course, "nbgrader", "autograde", LSTM, "--student", "eve")
    assert result.returncode == 1
    assert "No notebooks were matched" in result.stderr
    assert not (course / "autograded").exists()


@pytest.mark.slow
def test_validate_passes_sources_and_fails_releases(empty_course):
    names = [f"{step}/{name}/{name[3:]}.ipynb" for step in ("source", "release") for name in ASSIGNMENTS]
    said = done(run(empty_course, "nbgrader", "validate", *names))
    assert said.count("Success! Your notebook passes all the tests.") == 2
    assert said.count("VALIDATION FAILED ON 4 CELL(S)!") == 2


def test_the_committed_notebooks_are_those_of_source(empty_course):
    for assignment in ASSIGNMENTS:
        name = f"{assignment}/{assignment[3:]}.ipynb"
        made, committed = (
            nbformat.read(root / "release" / name, as_version=4) for root in (empty_course, ROOT)
        )
        assert made == committed, f"release/ is stale: run `autograder build {assignment}`"
        solved = nbformat.read(ROOT / "solutions" / name, as_version=4)
        assert [c["source"] for c in solved.cells] == [c["source"] for c in source(assignment).cells], (
            f"solutions/ is stale: run `autograder build {assignment}`"
        )


DEMONSTRATION = nbformat.v4.new_code_cell("print(1)\nprint(2)", metadata={"tags": ["demonstration"]})


def short_source(course: Path, *, drop: str = "", **edits: tuple[str, str]) -> None:
    """The source notebook without its demonstrations, which take most of a build's time, but for one."""
    notebook = source()
    notebook.cells = [
        cell for cell in notebook.cells if "demonstration" not in cell["metadata"].get("tags", [])
    ]
    notebook.cells.append(deepcopy(DEMONSTRATION))
    for name, (find, replace) in edits.items():
        cell = notebook.cells[-1] if name == "demonstration" else named(notebook, name)
        assert find in cell["source"]
        cell["source"] = cell["source"].replace(find, replace)
    nbformat.write(notebook, course / "source" / LSTM / NOTEBOOK)


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A short course, built once."""
    course = tmp_path_factory.mktemp("built")
    (course / "source" / LSTM).mkdir(parents=True)
    shutil.copyfile(ROOT / "nbgrader_config.py", course / "nbgrader_config.py")
    short_source(course)
    told = run(course, "autograder", "build", LSTM)
    assert done(told).splitlines()[-1] == f"{LSTM}: built, 4 tasks, 10 points"
    assert told.stderr == ""
    return course


@pytest.mark.slow
def test_building_twice_gives_the_same_bytes(built):
    before = files(built, "release", "solutions")
    assert len(before) == 2
    build(Course.at(built), [LSTM], say=lambda line: None)
    assert files(built, "release", "solutions") == before


REFUSED = {
    "solution": ({"lstm_cell": ("f * c", "c")}, "gives its solution 0.0 of 2.0 points"),
    "stub": (
        {
            "lstm_gates": (
                "### BEGIN SOLUTION",
                "i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=1)\n"
                "    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)\n"
                "    ### BEGIN SOLUTION",
            )
        },
        "the unsolved notebook gets points (2 for `lstm_gates`)",
    ),
    "demonstration": (
        {"demonstration": ("print(2)", "lstm_cell = None")},
        "its demonstrations, which grading leaves out, change a score",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", REFUSED)
def test_build_refuses_what_would_be_unfair(built, tmp_path, what):
    course = copy_course(built, tmp_path / "course")
    edits, sentence = REFUSED[what]
    short_source(course, **edits)
    before = everything(course), files(course, "solutions")
    with pytest.raises(UserError, match=re.escape(sentence)):
        build(Course.at(course), [LSTM], say=lambda line: None)
    assert (everything(course), files(course, "solutions")) == before


def test_build_refuses_points_that_differ_from_the_checks(built, tmp_path):
    course = copy_course(built, tmp_path / "course")
    path = course / "source" / LSTM / NOTEBOOK
    notebook = nbformat.read(path, as_version=4)
    named(notebook, "check_lstm_cell")["metadata"]["nbgrader"]["points"] = 3
    nbformat.write(notebook, path)
    before = everything(course), files(course, "solutions")
    result = run(course, "autograder", "build", LSTM)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        f"{LSTM} cannot be released: the cell of `lstm_cell` gives 3 points, its checks give 2."
    ]
    assert (everything(course), files(course, "solutions")) == before
