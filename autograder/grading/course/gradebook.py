"""The gradebook, whatever database it lies in: opened with patience, locked for one writer, its errors told.

nbgrader's own calls wait five seconds for a locked SQLite file and for ever for a locked row of PostgreSQL.
Graders here wait `LOCK_SECONDS` for both, and then say so.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy
import sqlalchemy.exc
from nbgrader.api import Course as CourseRow
from nbgrader.api import Gradebook, InvalidEntry
from sqlalchemy.engine import URL, make_url

from autograder.errors import UserError
from autograder.grading.files.access import UMASK, Access

LOCK_SECONDS = 60
"""The seconds to wait for another writer. SQLite: `?timeout=SECONDS` in `db_url` overrides it."""


# nbgrader logs the traceback of what it then raises; it is told here, in a sentence.
logging.getLogger("tornado.application").addFilter(
    lambda record: not str(record.msg).startswith("Rolling back session due to database error")
)


class Conflict(UserError):
    """An error: another program wrote what was being written. A second try finds it there."""


def patient_url(db_url: str) -> URL:
    """The gradebook's address; an SQLite one that names no timeout gets ours."""
    try:
        url = make_url(db_url)
    except sqlalchemy.exc.ArgumentError:
        raise UserError(
            "The course's `db_url` is no database address; one looks like `sqlite:////srv/gradebook.db`."
        ) from None
    if url.get_backend_name() == "sqlite" and "timeout" not in url.query:
        return url.update_query_dict({"timeout": str(LOCK_SECONDS)})
    return url


class Opener:
    """One gradebook, to be opened time and again.

    No connection is kept, but the statements that SQLAlchemy compiled: compiling them would be most of the
    cost of recording a submission.
    """

    def __init__(self, db_url: str, course_id: str, access: Access = UMASK) -> None:
        self._db_url, self._course_id, self._access = db_url, course_id, access
        self._gradebook: Gradebook | None = None

    @contextmanager
    def open(self) -> Iterator[Gradebook]:
        """The gradebook, opened; `UserError` if it is locked, read-only or broken.

        What the block does not commit is undone.
        """
        url = patient_url(self._db_url)
        with _refusals_in_a_sentence(url):
            if self._gradebook is None:
                self.make_file()
                self._gradebook = Gradebook(url, self._course_id)
            try:
                yield self._gradebook
            finally:
                self._gradebook.close()  # rolls back; another session and connection are made when needed

    def make_file(self) -> None:
        """Make an SQLite file before SQLite does: an empty one is a new database, and its mode is ours."""
        path = sqlite_file(patient_url(self._db_url))
        if path is not None:
            with suppress(OSError):  # there already, or it cannot be made: SQLite says why
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                self._access.give(path)


def sqlite_file(url: URL) -> Path | None:
    """The file that an SQLite gradebook lies in; `None` for other databases."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        return None
    return Path(url.database)


@contextmanager
def _refusals_in_a_sentence(url: URL) -> Iterator[None]:
    """Raise `UserError`, in one sentence, for whatever the database refuses while the block runs."""
    # Another kind of address than SQLite's may hold a password.
    name = f"The gradebook {url.database}" if url.get_backend_name() == "sqlite" else "The gradebook"
    try:
        yield
    except sqlalchemy.exc.NoSuchModuleError as error:
        raise UserError(f"{name} is in a database that SQLAlchemy does not know: {error}.") from error
    except ModuleNotFoundError as error:
        told = f"needs the Python package {error.name}, which is not installed: `pip install {error.name}`."
        raise UserError(f"{name} {told}") from error
    except sqlalchemy.exc.IntegrityError as error:
        raise Conflict(f"{name} {_reason(str(error.orig), 'cannot be used')}") from error
    except InvalidEntry as error:  # nbgrader's word for whatever the database refused
        kind = Conflict if isinstance(error.__context__, sqlalchemy.exc.IntegrityError) else UserError
        raise kind(f"{name} {_reason(str(error), 'cannot be used')}") from error
    except sqlalchemy.exc.OperationalError as error:
        kind = Conflict if "deadlock" in str(error.orig).lower() else UserError
        raise kind(f"{name} {_reason(str(error.orig), 'cannot be used')}") from error
    except sqlalchemy.exc.DatabaseError as error:
        told = _reason(str(error.orig), "is not a gradebook that can be read")
        raise UserError(f"{name} {told}") from error


def take_lock(gradebook: Gradebook) -> None:
    """Become the one grader that writes to this course's gradebook, until the next commit or rollback.

    A write without a change: it waits for other writers in any database, and a gradebook that is
    locked or read-only is found before anything is changed.
    """
    if gradebook.engine.dialect.name == "postgresql":
        ours = sqlalchemy.text("SELECT current_setting('lock_timeout')")
        if gradebook.db.scalar(ours) == "0":  # else somebody has chosen another
            gradebook.db.execute(sqlalchemy.text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))
    write = sqlalchemy.update(CourseRow).where(CourseRow.id == gradebook.course_id)
    gradebook.db.execute(write.values(id=CourseRow.id).execution_options(synchronize_session=False))


def _reason(told: str, otherwise: str) -> str:
    """The reason why the database refused, from its own words: SQLite's, PostgreSQL's or MySQL's."""
    told = told.splitlines()[0].strip().rstrip(".") if told.strip() else "it does not say why"
    low = told.lower()
    if "locked" in low or "lock timeout" in low or "lock wait timeout" in low or "deadlock" in low:
        return "is locked by another program; nothing more was written. Try again when it is done."
    if "readonly" in low or "read-only" in low or "permission denied" in low:
        return "is read-only for you; nothing was written."
    if "is full" in low or "no space left" in low:
        return "has no room left on its disk; nothing more was written."
    if "no such" in low or ("does not exist" in low and ("relation" in low or "column" in low)):
        return f"is of another nbgrader version ({told}). Keep a copy of it, then run `nbgrader db upgrade`."
    return f"{otherwise} ({told}); nothing more was written."
