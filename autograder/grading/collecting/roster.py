"""The people in the course, under every name that a download may use for them.

Students come from the gradebook and from a CSV file: nbgrader's own, a Moodle grading worksheet or list of
participants, a Canvas gradebook, or any table whose columns have one of the usual names.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.collecting.layouts import Sender
from autograder.grading.course.course import Course
from autograder.grading.course.times import read_time
from autograder.grading.handed_in.names import listed, shown
from autograder.grading.records.scores import Enrolled, enrolled

_COLUMNS = {
    "student": ("username", "studentid", "sisloginid", "loginid", "login", "userid", "student", "id"),
    "first": ("firstname", "givenname", "forename", "vorname"),
    "last": ("lastname", "surname", "familyname", "nachname"),
    "name": ("fullname", "name", "studentname"),
    "email": ("email", "emailaddress", "mail"),
    "lms": ("lmsuserid", "idnumber", "canvasuserid", "canvasid", "moodleid"),
    "participant": ("identifier", "participant"),
    "group": ("group", "groupname", "team", "teamname"),
    "when": ("lastmodifiedsubmission", "submittedat", "submitted", "submissiontime", "timestamp"),
}  # fmt: skip
"""The names of columns, without spaces and signs, the more telling first."""
_CANVAS = {"student": ("sisloginid", "sisuserid"), "name": ("student",), "canvas": ("id",)}
"""The columns of a Canvas gradebook, known by `Student`, there a name, and `ID`, Canvas's own number."""
_NAMING = {"student", "first", "last", "name", "email", "canvas"}


@dataclass(frozen=True)
class Person:
    """One student, and what else they are called."""

    who: Enrolled
    number: str = ""
    """The number by which the roster's platform names their uploads."""
    handed_in: datetime | None = None
    """The time of handing in, in UTC, as the platform gives it."""
    group: str = ""
    new: bool = False
    """True if they are not in the gradebook yet."""

    @property
    def student(self) -> str:
        return self.who.student


@dataclass(frozen=True)
class Roster:
    """Everybody who may have handed in."""

    people: Mapping[str, Person] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    """Sentences that name what was not taken from the table: rows, and times of handing in."""

    def find(self, sender: Sender) -> list[Person] | str:
        """Return the student an upload is from, all members if it is a group's, or why nobody is."""
        for found in self._ways(sender):
            if len(found) == 1:
                return found
            if found:
                return f"{len(found)} students fit: {', '.join(sorted(each.student for each in found))}"
        name = _squashed(sender.name)
        members = [each for each in self.people.values() if name and name == _squashed(each.group)]
        nobody = "no student of this name or number is known"
        return members or (nobody if self.people else "the gradebook has no students and no roster was named")

    def _ways(self, sender: Sender) -> Iterator[list[Person]]:
        """Yield the people who fit, by the surest way first."""

        def those(fits: Callable[[Person], bool]) -> list[Person]:
            return [each for each in self.people.values() if fits(each)]

        name, words, squashed = sender.name.casefold(), _words(sender.name), _squashed(sender.name)
        if sender.number:
            yield those(lambda one: sender.number == one.number)
        if sender.platform == "canvas":
            yield those(lambda one: sender.number == one.who.lms_user_id)
            yield those(lambda one: squashed == _squashed(one.who.last_name + one.who.first_name) != "")
            yield those(lambda one: squashed == _squashed(one.student))
            return
        yield those(lambda one: name in (one.student.casefold(), one.who.email.casefold()))
        yield those(lambda one: name == one.who.lms_user_id.casefold() != "")
        # Moodle puts the group in front, `Group 7-Ada Lovelace`, or the user's name, with a blank between.
        yield those(
            lambda one: (
                words != () and _name(one.who) in (words, _words(sender.name.removeprefix(f"{one.group}-")))
            )
        )
        first, _, rest = name.partition(" ")
        if sender.platform == "moodle" and rest:
            yield those(lambda one: first == one.student.casefold())
        if sender.is_file:
            starts = those(lambda one: bool(re.match(rf"{re.escape(one.student.casefold())}[_\-. ]", name)))
            yield sorted(starts, key=lambda one: len(one.student))[-1:]


def read_roster(course: Course, file: Path | None) -> Roster:
    """The gradebook's students, and those of a CSV file. Raises `UserError` if it cannot be read."""
    with course.gradebook() as gradebook:
        known = enrolled(gradebook)
    people = {student: Person(each) for student, each in known.items()}
    rows = _rows(file) if file else []
    names = Counter(_row_name(row) for row in rows)
    boxes = Counter(row["email"].casefold().partition("@")[0] for row in rows)
    left_out, unread = [], []
    for row in rows:
        box = row["email"].partition("@")[0]
        address = box if boxes[box.casefold()] == 1 else row["email"]
        same = _known_as(row, known.values(), names[_row_name(row)] == 1)
        student = row["student"] or same or row["canvas"] or address
        if is_student(student):
            when = _time(row["when"])
            people[student] = _person(student, row, people.get(student), when)
            if when is None and re.search(r"\w", row["when"]):
                unread.append(f"{shown(row['when'])} of {shown(student)}")
        else:
            why = (
                f"{shown(student)} cannot name a folder" if student else "it has no login, number or address"
            )
            label = row["name"] or f"{row['first']} {row['last']}".strip() or student
            left_out.append(f"The roster's row of {shown(label)} was left out: {why}.")
    if unread:
        advice = "Write them as 2026-03-01 10:45."
        left_out.append(f"Times in the roster are not read: {listed(unread, of='time')}. {advice}")
    return Roster(people, tuple(left_out))


def _known_as(row: Mapping[str, str], known: Collection[Enrolled], alone: bool) -> str:
    """The gradebook's student whom a row without a username is about; `""` if that cannot be said."""
    email, canvas, words = row["email"].casefold(), row["canvas"], _row_name(row)
    found = [each.student for each in known if canvas and each.lms_user_id == canvas]
    found = found or [each.student for each in known if email and each.email.casefold() == email]
    if not found and alone and words:
        # Namesakes are told apart by their addresses and numbers alone.
        found = [
            each.student
            for each in known
            if words == _name(each) and not (email and each.email) and not (canvas and each.lms_user_id)
        ]
    return found[0] if len(found) == 1 else ""


def _person(student: str, row: Mapping[str, str], known: Person | None, when: datetime | None) -> Person:
    first, last = row["first"], row["last"]
    if not (first or last):
        last, comma, first = (part.strip() for part in row["name"].partition(","))
        if not comma:
            first, _, last = row["name"].rpartition(" ")
    old = known or Person(Enrolled(student), new=True)
    told = (student, first, last, row["email"], row["lms"] or row["canvas"])
    who = Enrolled(*(before or now for before, now in zip(astuple(old.who), told, strict=True)))
    number = row["canvas"] or "".join(re.findall(r"\d+$", row["participant"]))  # as in `Participant 12345`
    return replace(old, who=who, number=number, handed_in=when, group=row["group"])


def is_student(name: str) -> bool:
    """Return whether a name can be a student's: it becomes a folder's."""
    return bool(re.fullmatch(r"[^./\\*][^/\\*]*", name)) and name.isprintable() and len(name.encode()) <= 200


def _rows(file: Path) -> list[defaultdict[str, str]]:
    """The rows of the table that name somebody, with the columns under our names."""
    try:
        raw = file.read_bytes()
        table = _table(raw)
    except OSError as error:
        raise UserError(f"The roster {file} cannot be read: {error.strerror}.") from error
    except (ValueError, csv.Error) as error:
        raise UserError(f"The roster {file} is no CSV table that can be read: save it as CSV.") from error
    head = [re.sub(r"[\W_]", "", name.casefold()) for name in table[0]] if table else []
    canvas = {"student", "id"} <= set(head)
    names = {**_COLUMNS, **_CANVAS} if canvas else _COLUMNS
    places = {
        column: head.index(name)
        for column, known in names.items()
        if (name := next((name for name in known if name in head), ""))
    }
    if not places.keys() & _NAMING:
        seen = ", ".join(shown(name) for name in (table[0] if table else [])[:8]) or "nothing"
        raise UserError(
            f"The roster {file} has no column that says who the students are: its first line is {seen}. "
            "Columns are known by names such as id, username, first name, last name, full name, email."
        )
    rows = [
        defaultdict(str, {column: row[place].strip() for column, place in places.items() if place < len(row)})
        for row in table[1:]
    ]
    return [
        row
        for row in rows
        if any(row[column] for column in _NAMING) and not (canvas and row["name"] == "Points Possible")
    ]


def _table(raw: bytes) -> list[list[str]]:
    """The cells of a table as a spreadsheet saves it. Raises `ValueError` or `csv.Error` if it is none."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = raw.decode("utf-16")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("cp1252", "replace")  # as Excel saves it
    if "\0" in text:
        raise ValueError("it is no text")
    first = text.partition("\n")[0]
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count)))


def _time(text: str) -> datetime | None:
    """A time as Moodle or ISO 8601 writes it, in UTC; one without a zone is this machine's."""
    if moment := read_time(text, short=UTC):
        return moment
    words = " ".join(text.replace(",", " ").split())
    for day in ("%A %d %B %Y", "%d %B %Y"):
        for clock in ("%I:%M %p", "%I:%M:%S %p", "%H:%M", "%H:%M:%S"):
            with suppress(ValueError):
                return datetime.strptime(words, f"{day} {clock}").astimezone(UTC)
    return None


def _row_name(row: Mapping[str, str]) -> tuple[str, ...]:
    return _words(f"{row['first']} {row['last']} {row['name']}")


def _name(who: Enrolled) -> tuple[str, ...]:
    return _words(f"{who.first_name} {who.last_name}")


def _plain(text: str) -> str:
    """A text without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def _squashed(text: str) -> str:
    return re.sub(r"[\W_]", "", _plain(text))


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted(re.findall(r"[^\W_]+", _plain(text))))
