"""The course in nbgrader's other hands: formgrader, the exchange, `db` and `validate`."""

from __future__ import annotations

import os
import secrets
import socket
import sqlite3
import stat
import subprocess
import sys
import time

import nbformat
import pytest
import requests

from tests.support.courses import (
    ASSIGNMENTS,
    LSTM,
    NOTEBOOK,
    ROOT,
    SCRIPTS,
    TASKS,
    copy_course,
    done,
    environment,
    hand_in,
    named,
    run,
    set_db_url,
    source,
    student_with_an_exchange,
    totals,
)


@pytest.mark.slow
def test_formgrader_grades_and_shows_submissions(course):
    hand_in(course, "mis", source(), name="other.ipynb")
    hand_in(course, "zip", b"PK\x03\x04", name="lstm_cell.zip")
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
        for student, score in (("ada", 10), ("mis", 10), ("zip", 0)):
            told = session.post(f"{home}/api/submission/{LSTM}/{student}/autograde", timeout=120).json()
            assert told["success"], told
            shown = session.get(f"{home}/api/submission/{LSTM}/{student}", timeout=30).json()
            assert (shown["score"], shown["autograded"]) == (score, True)
            assert shown["needs_manual_grade"] == (student == "zip")
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


@pytest.mark.skipif(os.getuid() == 0, reason="test_exchange.py walks it with accounts of their own")
def test_the_whole_exchange_loop(empty_course, tmp_path):
    course = copy_course(empty_course, tmp_path / "course")
    home = student_with_an_exchange(course, tmp_path)

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
    done(run(course, "autograder", "grade", LSTM))
    assert totals(course) == {handed_in.name: 4}
    instructor("generate_feedback")
    instructor("release_feedback")
    student("fetch_feedback", LSTM)
    (page,) = (path.read_text() for path in (home / LSTM / "feedback").rglob("*.html"))
    assert "lstm_cell: 4 of 10 points</h1>" in page
    assert "lstm_cell: 2 of 2 points, everything holds" in page
    assert "LSTMCell: 0 of 4 points, still to do" in page
    assert [path.suffix for path in (home / LSTM / "feedback").rglob("*") if path.is_file()] == [".html"]


@pytest.mark.slow
def test_the_gradebook_has_a_version_and_nbgrader_can_upgrade_it(course):
    with sqlite3.connect(course / "gradebook.db") as book:
        ((version,),) = book.execute("SELECT version_num FROM alembic_version").fetchall()
    done(run(course, SCRIPTS / "nbgrader", "db", "upgrade"))
    with sqlite3.connect(course / "gradebook.db") as book:
        assert book.execute("SELECT version_num FROM alembic_version").fetchall() == [(version,)]
    assert LSTM in done(run(course, SCRIPTS / "nbgrader", "db", "assignment", "list"))


def test_the_gradebook_that_generate_makes_is_for_its_owner_alone(empty_course):
    assert stat.S_IMODE((empty_course / "gradebook.db").stat().st_mode) == 0o600


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
