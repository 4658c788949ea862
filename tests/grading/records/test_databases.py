"""Several graders and nbgrader itself at one gradebook at the same time, in SQLite and in PostgreSQL."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy
from nbgrader.api import Gradebook

from autograder.errors import UserError
from autograder.grading.course.course import Course
from autograder.grading.course.gradebook import take_lock
from autograder.grading.judging.judge import Graded
from autograder.grading.records.record import check_gradebook, record
from autograder.grading.records.store import Key
from autograder.verdict import Verdict
from tests.support.helpers import ASSIGNMENT, NOTEBOOK, autograder_here, solved, submission, submit
from tests.support.resuming import (
    finished,
    leftovers,
    make_class,
    rows,
    start_grading,
    state,
    wait_for_verdicts,
)

OTHER = "02_rnn_cell"
DATABASES = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory) -> Iterator[str]:
    """The address of a throw-away PostgreSQL on this machine's loopback, less the database's name."""
    pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed (psycopg)")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    # It will not run as root; Debian's package makes a user for it.
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
    home = Path("/tmp") / f"autograder-postgresql-{os.getpid()}"
    home.mkdir(mode=0o700)
    password = secrets.token_hex(16)
    (home / "password").write_text(password)
    if user:
        for path in (home, home / "password"):
            shutil.chown(path, "postgres", "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = None
    try:
        command = [found[-1], "--pgdata", home / "data", "--username", "grader", "--no-sync", "--no-locale"]
        command += ["--auth", "scram-sha-256", "--pwfile", home / "password", "--encoding", "UTF8"]
        subprocess.run(command, check=True, capture_output=True, cwd="/", **user)
        command = [found[-1].with_name("postgres"), "-D", home / "data", "-p", str(port), "-F"]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        log = (home / "log").open("w")
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **user)
        address = f"postgresql+psycopg://grader:{password}@127.0.0.1:{port}"
        engine = sqlalchemy.create_engine(f"{address}/postgres")
        for _ in range(600):
            try:
                engine.connect().close()
                break
            except sqlalchemy.exc.OperationalError:
                assert server.poll() is None, (home / "log").read_text()
                time.sleep(0.1)
        engine.dispose()
        yield address
    finally:
        if server is not None:
            server.send_signal(signal.SIGINT)  # at once, whoever is connected
            server.wait(60)
        shutil.rmtree(home)


def new_database(database: str, request: pytest.FixtureRequest, root: Path) -> str:
    """The address of an empty database."""
    if database == "sqlite":
        return f"sqlite:///{root}/elsewhere.db"
    address = request.getfixturevalue("postgresql")
    name = f"course_{secrets.token_hex(4)}"
    engine = sqlalchemy.create_engine(f"{address}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{address}/{name}"


@pytest.fixture
def course(request, tmp_path) -> Course:
    """The class of six in the database that the test is run for, and two of them with another assignment."""
    url = new_database(request.param, request, tmp_path)
    made = make_class(
        tmp_path / "course",
        settings=f"c.CourseDirectory.db_url = {url!r}",
        assignments=(ASSIGNMENT, OTHER),
    )
    for student in ("ada", "ben"):
        submit(made, student, submission(base=solved(OTHER)), OTHER)
    return made


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Course:
    """The same class graded by one grader in SQLite; whatever the database, the rest must be the same."""
    made = make_class(tmp_path_factory.mktemp("undisturbed"), assignments=(ASSIGNMENT, OTHER))
    assert autograder_here("grade", ASSIGNMENT, "--course", made.root).returncode == 0
    return made


@contextmanager
def held(course: Course, seconds: float, change: str) -> Iterator[None]:
    """Another writer, by nbgrader's API, that changes something and takes its time to commit it."""
    locked, done = threading.Event(), []

    def hold() -> None:
        with Gradebook(course.directory.db_url, course.directory.course_id) as book:
            commit, book.db.commit = book.db.commit, book.db.flush
            if change == "lock":
                take_lock(book)
            elif change == "enrol":
                book.add_student("ada", first_name="Ada")
            else:
                grade = book.find_grade("check_lstm_cell", NOTEBOOK, ASSIGNMENT, "ada")
                grade.manual_score, grade.needs_manual_grade = 1.25, False
                book.db.flush()
            locked.set()
            time.sleep(seconds)
            commit()
            done.append(True)

    thread = threading.Thread(target=hold)
    thread.start()
    assert locked.wait(60)
    try:
        yield
    finally:
        thread.join()
    assert done


@pytest.mark.parametrize("course", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.slow
def test_several_graders_wait_for_each_other_and_lose_nothing(course, undisturbed):
    """Two grade the same assignment and one another, while a student of both is being enrolled."""
    with held(course, 4, "enrol"):
        graders = [start_grading(course, "--jobs", 1) for _ in range(2)]
        graders += [start_grading(course, "--jobs", 1, assignment=OTHER)]
    for grader in graders:
        told = grader.communicate(timeout=300)[0].decode()
        assert grader.returncode == 0, told
        assert "Traceback" not in told
    with course.gradebook() as book:
        assert book.find_student("ada").first_name == "Ada"
        assert book.find_submission(OTHER, "ada").score == book.find_submission(OTHER, "ben").score == 10
    assert mine(rows(course)) == mine(rows(undisturbed))
    assert without_other(state(course)) == without_other(state(undisturbed))
    assert leftovers(course) == []
    before = finished(course)
    assert autograder_here("grade", ASSIGNMENT, "--course", course.root).returncode == 0
    assert finished(course) == before, "something was not on record"


def mine(found: dict) -> dict:
    return {name: each for name, each in found.items() if name.endswith(ASSIGNMENT)}


def without_other(found: dict) -> dict:
    return {name: each for name, each in found.items() if name != "gradebook" and OTHER not in name}


@pytest.mark.slow
@pytest.mark.parametrize("course", ["postgresql"], indirect=True)
def test_a_killed_batch_goes_on_and_nbgrader_grades_the_same(course, undisturbed):
    batch = start_grading(course, "--jobs", 1)
    wait_for_verdicts(course, 2, batch, 120)
    os.killpg(batch.pid, signal.SIGKILL)
    batch.communicate()
    before = finished(course)
    assert autograder_here("grade", ASSIGNMENT, "--course", course.root).returncode == 0
    assert {student: finished(course)[student] for student in before} == before, "run again"
    assert rows(course) == rows(undisturbed)
    assert without_other(state(course)) == without_other(state(undisturbed))
    command = [sys.executable, "-m", "nbgrader", "autograde", ASSIGNMENT, "--force", "--student", "ben"]
    told = subprocess.run(command, cwd=course.root, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert rows(course) == rows(undisturbed)


@pytest.mark.parametrize("course", DATABASES, indirect=True)
@pytest.mark.slow
def test_a_student_who_is_being_enrolled_is_waited_for_and_found(course):
    """nbgrader alone would give up after five seconds in SQLite, and add the student twice in PostgreSQL."""
    bundle = course.bundle(ASSIGNMENT)
    verdict = Verdict("ada", ASSIGNMENT, NOTEBOOK, "corrupt", 0.0, 0, (), ())
    with held(course, 6.5 if str(course.directory.db_url).startswith("sqlite") else 1, "enrol"):
        record(course, bundle, [(Graded(verdict, bundle.released), Key("", ""))])
    with course.gradebook() as book:
        assert [(student.id, student.first_name) for student in book.students] == [("ada", "Ada")]
    assert rows(course)[f"ada {ASSIGNMENT}"]["score"] == 0


@pytest.mark.parametrize("course", DATABASES, indirect=True)
def test_a_score_that_a_person_is_giving_is_kept_and_flagged(course):
    bundle = course.bundle(ASSIGNMENT)
    verdict = Verdict("ada", ASSIGNMENT, NOTEBOOK, "corrupt", 0.0, 0, (), ())
    record(course, bundle, [(Graded(verdict, bundle.released), Key("", ""))])
    with held(course, 1, "score"):
        record(course, bundle, [(Graded(verdict, bundle.released), Key("", ""))])
    found = rows(course)[f"ada {ASSIGNMENT}"]["grades"]
    assert found.pop("check_lstm_cell") == (None, 1.25, None, True)
    assert set(found.values()) == {(None, None, None, True)}


@pytest.mark.parametrize("course", DATABASES, indirect=True)
@pytest.mark.slow
def test_who_never_gets_the_lock_says_so(course):
    with course.gradebook() as book:
        url = book.engine.url
    few = {"timeout": "1"} if url.get_backend_name() == "sqlite" else {"options": "-c lock_timeout=1000"}
    address = url.update_query_dict(few).render_as_string(hide_password=False)
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.CourseDirectory.db_url = {address!r}\n")
    impatient = Course.at(course.root)
    bundle = impatient.bundle(ASSIGNMENT)
    verdict = Verdict("ada", ASSIGNMENT, NOTEBOOK, "corrupt", 0.0, 0, (), ())
    before = rows(course)
    with held(course, 4, "lock"):
        for act in (
            lambda: check_gradebook(impatient, bundle),
            lambda: record(impatient, bundle, [(Graded(verdict, bundle.released), Key("", ""))]),
        ):
            with pytest.raises(
                UserError, match=r"is locked by another program.* Try again when it is done\.$"
            ):
                act()
    assert rows(course) == before
    assert not (course.root / "autograded").exists()
    assert not (course.root / "verdicts").exists()
    check_gradebook(impatient, bundle)


@pytest.mark.parametrize("database", DATABASES)
def test_a_database_that_cannot_be_used_is_one_sentence_without_a_password(request, tmp_path, database):
    course = make_class(tmp_path)
    url = new_database(database, request, tmp_path)
    wrong = {
        "nobody listens": "postgresql+psycopg://me:hunter2@127.0.0.1:1/course",
        "no driver": "postgresql+pg8000://me:hunter2@127.0.0.1:1/course",
        "no such kind": "nosuch://me:hunter2@localhost/course",
        "no address": "me:hunter2@localhost",
        "no such folder": "sqlite:////nowhere/at/all.db",
        "not built": url,
    }
    for why, address in wrong.items():
        course.directory.db_url = address
        with pytest.raises(UserError) as told:
            check_gradebook(course, course.bundle(ASSIGNMENT))
        assert "\n" not in str(told.value), why
        assert "hunter2" not in str(told.value), why
