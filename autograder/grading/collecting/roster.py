"""The people in the course, under every name that a download may use for them.

Students come from the gradebook and from a CSV file: nbgrader's own, a Moodle grading worksheet or list of
participants, a Canvas gradebook, or any table whose columns have one of the usual names.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.collecting.layouts import Sender
from autograder.grading.course.course import Course
from autograder.grading.handed_in.names import shown
from autograder.grading.records.scores import Enrolled

MAX_ROSTER = 16 << 20
_COLUMNS = {
    "student": ("username", "studentid", "sisloginid", "loginid", "login", "userid", "student", "id"),
    "first": ("firstname", "givenname", "forename", "vorname"),
    "last": ("lastname", "surname", "familyname", "nachname"),
    "name": ("fullname", "name", "studentname"),
    "email": ("email", "emailaddress", "mail"),
    "lms": ("lmsuserid", "idnumber", "canvasid", "moodleid"),
    "participant": ("identifier", "participant"),
    "when": ("lastmodifiedsubmission", "submittedat", "submitted", "submissiontime", "timestamp"),
}  # fmt: skip
"""The names of columns, without spaces and signs, the more telling first."""
_CANVAS = {"student": ("sisloginid", "sisuserid"), "name": ("student",), "lms": ("id",)}
"""The columns of a Canvas gradebook: there `Student` is a name, and `ID` is Canvas's own."""
_TIMES = (
    "%A, %d %B %Y, %I:%M %p",
    "%A, %d %B %Y, %I:%M:%S %p",
    "%A, %d %B %Y, %H:%M",
    "%d %B %Y, %I:%M %p",
    "%Y-%m-%d %H:%M:%S %Z",
)


@dataclass(frozen=True)
class Person:
    """One student, and what else they are called."""

    who: Enrolled
    numbers: frozenset[str] = frozenset()
    """The platforms' numbers of the user, each with the platform's name in front: one platform's number of
    somebody may be another's of somebody else."""
    handed_in: datetime | None = None
    """The time of handing in, in UTC, as the platform gives it."""
    new: bool = False
    """True if they are not in the gradebook yet."""

    @property
    def student(self) -> str:
        return self.who.student


@dataclass(frozen=True)
class Roster:
    """Everybody who may have handed in."""

    people: Mapping[str, Person] = field(default_factory=dict)

    def find(self, sender: Sender) -> Person | str:
        """The student an upload is from, or why it cannot be said."""
        for found in self._ways(sender):
            if len(found) == 1:
                return self.people[next(iter(found))]
            if found:
                return f"{len(found)} students fit: {', '.join(sorted(found))}"
        if not self.people:
            return "the gradebook has no students and no roster was named"
        return "no student of this name or number is known"

    def _ways(self, sender: Sender) -> Iterable[set[str]]:
        """The students who fit, by the surest way first."""
        people = self.people.values()
        if sender.number:
            yield {each.student for each in people if f"{sender.platform}:{sender.number}" in each.numbers}
        if sender.platform == "canvas":
            name = _squashed(sender.name)
            yield {
                each.student
                for each in people
                if name and name == _squashed(each.who.last_name + each.who.first_name)
            }
            yield {each.student for each in people if name == _squashed(each.student)}
            return
        told = sender.name.casefold()
        yield {
            each.student for each in people if told in (each.student.casefold(), each.who.email.casefold())
        }
        yield {each.student for each in people if told and told == each.who.lms_user_id.casefold()}
        words = _words(sender.name)
        yield {
            each.student
            for each in people
            if words and words == _words(f"{each.who.first_name} {each.who.last_name}")
        }
        # Moodle may put the user's name in front of the full name, with a blank between.
        first, _, rest = sender.name.partition(" ")
        if sender.platform == "moodle":
            yield {each.student for each in people if first.casefold() == each.student.casefold() and rest}
        if sender.is_file:
            fits = [
                each.student
                for each in people
                if re.match(rf"{re.escape(each.student.casefold())}[_\-. ]", told)
            ]
            yield set(sorted(fits, key=len)[-1:])


def read_roster(course: Course, file: Path | None) -> Roster:
    """The gradebook's students, and those of a CSV file. Raises `UserError` if it cannot be read."""
    with course.gradebook() as gradebook:
        known = [
            Enrolled(
                str(each.id),
                *(
                    str(value or "")
                    for value in (each.first_name, each.last_name, each.email, each.lms_user_id)
                ),
            )
            for each in gradebook.students
        ]
    people = {each.student: Person(each, _numbers(each.lms_user_id, "")) for each in known}
    rows = _rows(file) if file else []
    names = Counter(_words(_full_name(row)) for row in rows)
    boxes = Counter(row.get("email", "").casefold().partition("@")[0] for row in rows)
    for row in rows:
        alone = names[_words(_full_name(row))] == 1
        student = row.get("student", "") or _known_as(row, known, alone)
        if not student:
            email = row.get("email", "")
            box = email.partition("@")[0]
            student = box if boxes[box.casefold()] == 1 else email
        if is_student(student):
            people[student] = _person(student, row, people.get(student))
    return Roster(people)


def _known_as(row: Mapping[str, str], known: Sequence[Enrolled], alone: bool) -> str:
    """The gradebook's student whom a row without a username is about; `""` if that cannot be said."""
    email, words = row.get("email", "").casefold(), _words(_full_name(row))
    found = [each.student for each in known if email and each.email.casefold() == email]
    if not found and alone:
        # Namesakes are told apart by their addresses alone.
        found = [
            each.student
            for each in known
            if words and words == _words(f"{each.first_name} {each.last_name}") and not (email and each.email)
        ]
    return found[0] if len(found) == 1 else ""


def _full_name(row: Mapping[str, str]) -> str:
    return f"{row.get('first', '')} {row.get('last', '')} {row.get('name', '')}"


def _person(student: str, row: Mapping[str, str], known: Person | None) -> Person:
    first, last = row.get("first", ""), row.get("last", "")
    if not (first or last) and row.get("name"):
        first, last = _first_and_last(row["name"])
    email = row.get("email", "")
    lms = row.get("lms", "")
    old = known or Person(Enrolled(student), new=True)
    who = Enrolled(
        student,
        old.who.first_name or first,
        old.who.last_name or last,
        old.who.email or email,
        old.who.lms_user_id or lms,
    )
    numbers = old.numbers | _numbers(lms, row.get("participant", ""))
    return replace(old, who=who, numbers=numbers, handed_in=_time(row.get("when", "")) or old.handed_in)


def _numbers(lms: str, participant: str) -> frozenset[str]:
    """Canvas's number of a user, and Moodle's of a participant of one assignment (`Participant 12345`)."""
    number = re.search(r"\d+$", participant)
    told = [f"canvas:{lms}" if lms else "", f"moodle:{number.group()}" if number else ""]
    return frozenset(filter(None, told))


def is_student(name: str) -> bool:
    """Return whether a name can be a student's: it becomes a folder's."""
    return (
        bool(name)
        and len(name.encode()) <= 200
        and name.isprintable()
        and not set("/\\*") & set(name)
        and name[0] != "."
    )


def _rows(file: Path) -> list[dict[str, str]]:
    """The table's rows, with the columns under our names."""
    try:
        raw = file.read_bytes()[: MAX_ROSTER + 1]
    except OSError as error:
        raise UserError(f"The roster {file} cannot be read: {error.strerror}.") from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")  # as Excel saves it
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise UserError(f"The roster {file} is no CSV table that can be read: {error}.") from error
    head = [re.sub(r"[\W_]", "", name.casefold()) for name in table[0]] if table else []
    places = _places(head)
    if not places.keys() & {"student", "name", "last", "email"}:
        seen = ", ".join(shown(name) for name in (table[0] if table else [])[:8]) or "nothing"
        raise UserError(
            f"The roster {file} has no column that says who the students are: its first line is {seen}. "
            "Columns are known by names such as id, username, first name, last name, full name, email."
        )
    return [
        {column: row[place].strip() for column, place in places.items() if place < len(row)}
        for row in table[1:]
        if any(field.strip() for field in row)
    ]


def _places(head: Sequence[str]) -> dict[str, int]:
    canvas = "student" in head and bool({"sisloginid", "sisuserid"} & set(head))
    names = {**_COLUMNS, **(_CANVAS if canvas else {})}
    found = {}
    for column, known in names.items():
        place = next((head.index(name) for name in known if name in head), None)
        if place is not None:
            found[column] = place
    return found


def _time(told: str) -> datetime | None:
    """A time as a platform writes it, in UTC; one without a zone is taken for this machine's."""
    told = told.strip()
    with suppress(ValueError):
        return datetime.fromisoformat(told).astimezone(UTC)
    for form in _TIMES:
        with suppress(ValueError):
            parsed = datetime.strptime(told, form)
            return parsed.replace(tzinfo=UTC) if form.endswith("%Z") else parsed.astimezone(UTC)
    return None


def _first_and_last(name: str) -> tuple[str, str]:
    """The first and the last name in `Last, First` or `First Last`."""
    last, comma, first = name.partition(",")
    if comma:
        return first.strip(), last.strip()
    first, _, last = name.strip().rpartition(" ")
    return first, last


def _plain(text: str) -> str:
    """A text without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def _squashed(text: str) -> str:
    return re.sub(r"[\W_]", "", _plain(text))


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted(re.findall(r"[^\W_]+", _plain(text))))
