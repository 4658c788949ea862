"""Uploads come in: downloads of Moodle and Canvas and folders of any kind, by the real command."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from autograder.grading.collecting.layouts import Sender, place
from autograder.grading.course.course import Course
from tests.support.courses import run
from tests.support.helpers import ASSIGNMENT, autograder, autograder_here, make_course
from tests.support.intake import EXPECTED, HALF, OTHER, RIGHT, bomb, locked, zipped
from tests.support.reports import give_points

WORKSHEET = "Identifier,Full name,Email address,Status,Grade,Last modified (submission)\n"
PEOPLE = {
    "ada": (101, "Ada Lovelace", "Saturday, 21 November 2026, 8:24 PM"),
    "zoe": (102, "Zoë Łukasiewicz", "Sunday, 22 November 2026, 1:02 AM"),
    "ben": (103, "Ben Baker", "Sunday, 22 November 2026, 9:30 AM"),
    "benny": (104, "Ben Baker", "Sunday, 22 November 2026, 9:31 AM"),
    "cy": (105, "Cy Young", "Sunday, 22 November 2026, 9:32 AM"),
    "eve": (106, "Eve Evil", "Sunday, 22 November 2026, 9:33 AM"),
    "nil": (107, "Nil Nothing", "-"),
}
MOODLE = {
    f"Ada Lovelace_101_assignsubmission_file/{EXPECTED}": RIGHT,
    "Zoë Łukasiewicz_102_assignsubmission_file_/lstm_cell (1).ipynb": HALF,
    "Ben Baker_103_assignsubmission_file/hw.zip": zipped(
        {f"hw/{EXPECTED}": RIGHT, "hw/helpers.py": b"x = 1\n"}
    ),
    f"Ben Baker_104_assignsubmission_file/{EXPECTED}": HALF,
    "Cy Young_105_assignsubmission_onlinetext/onlinetext.html": b"<p>it is attached</p>",
    "Eve Evil_106_assignsubmission_file/x.zip": bomb(),
    f"No Body_999_assignsubmission_file/{EXPECTED}": RIGHT,
}
CANVAS = {
    "lovelaceada_LATE_4711_900_lstm_cell-1.ipynb": RIGHT,
    "lovelaceada_LATE_4711_850_lstm_cell.ipynb": HALF,
    "łukasiewiczzoë_4712_901_my work.zip": zipped({EXPECTED: RIGHT}),
    "bakerben_4713_902_lstm_cell.ipynb": OTHER,
    "bodyno_4999_903_lstm_cell.ipynb": RIGHT,
}
GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,03_lstm_cell
    Points Possible,,,,,10
"Lovelace, Ada",4711,,ada,,
"Łukasiewicz, Zoë",4712,,zoe,,
"Baker, Ben",4713,,ben,,
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "course").mkdir()
    return make_course(tmp_path / "course", ["02_rnn_cell", ASSIGNMENT])


@pytest.fixture
def moodle(tmp_path: Path) -> tuple[Path, Path]:
    """A download of all submissions, and the worksheet of the same assignment."""
    (tmp_path / "moodle.zip").write_bytes(zipped(MOODLE))
    rows = (
        f'Participant {n},{name},{who}@example.org,,,"{when}"\n' for who, (n, name, when) in PEOPLE.items()
    )
    (tmp_path / "worksheet.csv").write_text("\ufeff" + WORKSHEET + "".join(rows), encoding="utf-8")
    return tmp_path / "moodle.zip", tmp_path / "worksheet.csv"


def collect(course: Course, source: Path, *options: object, status: int = 0) -> dict[str, Any]:
    told = autograder_here(
        "collect", ASSIGNMENT, "--from", source, "--json", *options, "--course", course.root
    )
    assert told.returncode == status, told.stderr
    return dict(json.loads(told.stdout))


def done(found: dict[str, Any]) -> dict[str, str]:
    return {each["student"]: each["done"] for each in found["students"]}


def there(course: Course) -> dict[str, bytes]:
    """Every file in `submitted/`, with its bytes."""
    top = course.root / "submitted"
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}


def notebook(course: Course, student: str) -> bytes:
    return there(course)[f"{student}/{ASSIGNMENT}/{EXPECTED}"]


def known(course: Course, **names: str) -> None:
    """Students of the gradebook, by first and last name."""
    with course.gradebook() as gradebook:
        for student, name in names.items():
            first, _, last = name.partition(" ")
            gradebook.add_student(student, first_name=first, last_name=last)


def test_a_moodle_download_with_its_worksheet(course, moodle):
    source, roster = moodle
    before = source.read_bytes()
    found = collect(course, source, "--roster", roster, status=3)
    assert done(found) == {
        "ada": "new",
        "ben": "new",
        "benny": "new",
        "cy": "new",
        "eve": "refused",
        "zoe": "new",
    }
    assert notebook(course, "ada") == notebook(course, "ben") == RIGHT
    assert notebook(course, "zoe") == notebook(course, "benny") == HALF, (
        "namesakes are told apart by their numbers"
    )
    files = there(course)
    assert files[f"ben/{ASSIGNMENT}/helpers.py"] == b"x = 1\n", "beside the notebook, as it was in the zip"
    assert f"cy/{ASSIGNMENT}/onlinetext.html" in files
    assert not any(name.startswith("eve/") for name in files)
    assert [(each["path"], each["why"]) for each in found["unmatched"]] == [
        (f"No Body_999_assignsubmission_file/{EXPECTED}", "no student of this name or number is known")
    ]
    assert found["not_there"] == ["nil"]
    local = datetime(2026, 11, 21, 20, 24).astimezone(UTC)
    assert files[f"ada/{ASSIGNMENT}/timestamp.txt"].decode() == f"{local:%Y-%m-%d %H:%M:%S} UTC\n"
    assert course.submitted_at("ada", ASSIGNMENT) == local.replace(tzinfo=None)
    assert source.read_bytes() == before, "the download is only read"
    assert done(collect(course, source, "--roster", roster, status=3))["ada"] == "unchanged"
    assert there(course) == files
    assert not (course.root / "collected").exists()


def test_the_flat_kind_of_moodle_download(course, tmp_path):
    known(course, ada="Ada Lovelace")
    folder = tmp_path / "uploads"
    folder.mkdir()
    (folder / f"Ada Lovelace_101_assignsubmission_file_{EXPECTED}").write_bytes(RIGHT)
    assert done(collect(course, folder)) == {"ada": "new"}
    assert notebook(course, "ada") == RIGHT


def test_a_dry_run_writes_nothing(course, moodle):
    source, roster = moodle
    told = autograder_here(
        "collect", ASSIGNMENT, "--from", source, "--roster", roster, "--dry-run", "--course", course.root
    )
    assert told.returncode == 3
    assert "6 students: 5 new, 1 could not be read. Nothing was written." in told.stdout
    assert "7 students of the roster would be new in the gradebook." in told.stdout
    assert not (course.root / "submitted").exists()
    with course.gradebook() as gradebook:
        assert not gradebook.students


def test_a_canvas_download_with_its_gradebook(course, tmp_path):
    (tmp_path / "submissions.zip").write_bytes(zipped(CANVAS))
    (tmp_path / "grades.csv").write_text(GRADEBOOK, encoding="utf-8")
    found = collect(course, tmp_path / "submissions.zip", "--roster", tmp_path / "grades.csv", status=3)
    lines = {each["student"]: each for each in found["students"]}
    assert done(found) == {"ada": "new", "ben": "new", "zoe": "new"}
    assert notebook(course, "ada") == notebook(course, "zoe") == RIGHT, "the newest attempt"
    assert lines["ada"]["late"]
    assert lines["ada"]["handed_in"] is None, "Canvas says that it is late, not when it came"
    assert "not taken: `lovelaceada_LATE_4711_850_lstm_cell.ipynb`" in lines["ada"]["notes"][0]
    assert notebook(course, "ben") == OTHER, "grading says whose it is"
    assert not [name for name in there(course) if name.endswith("timestamp.txt")]
    assert [each["path"] for each in found["unmatched"]] == ["bodyno_4999_903_lstm_cell.ipynb"]
    with course.gradebook() as gradebook:
        assert gradebook.find_student("zoe").lms_user_id == "4712"


NO_LOGINS = """Student,ID,SIS User ID,SIS Login ID,Section,03_lstm_cell
,,,,,Manual Posting
    Points Possible,,,,,10
"Lovelace, Ada",4711,U1,ada,,
"Łukasiewicz, Zoë",4712,,,,
"Baker, Ben",,,,,
"""


@pytest.mark.parametrize(
    ("table", "ada"),
    [(NO_LOGINS, "ada"), (NO_LOGINS.replace("SIS Login ID", "X").replace("SIS User ID", "Y"), "4711")],
)
def test_a_canvas_gradebook_without_logins_is_read_by_its_ids(course, tmp_path, table, ada):
    (tmp_path / "submissions.zip").write_bytes(zipped(CANVAS))
    (tmp_path / "grades.csv").write_text(table, encoding="utf-8")
    found = collect(course, tmp_path / "submissions.zip", "--roster", tmp_path / "grades.csv", status=3)
    assert done(found) == {ada: "new", "4712": "new"}
    with course.gradebook() as gradebook:
        assert {each.id for each in gradebook.students} == {ada, "4712"}, "`Points Possible` is nobody"
    assert found["left_out"] == [
        "The roster's row of `Baker, Ben` was left out: it has no login, number or address."
    ]


def test_a_table_from_excel_is_read_and_times_that_are_not_are_named(course, tmp_path, moodle):
    table = (
        "Identifier\tFull name\tEmail address\tLast modified (submission)\n"
        "Participant 101\tAda Lovelace\tada@example.org\tSunday 1 March 2026 10:00 AM\n"
        "Participant 102\tZoë Łukasiewicz\tzoe@example.org\t01.03.2026 10:45\n"
    )
    (tmp_path / "worksheet.txt").write_bytes(table.encode("utf-16"))
    found = collect(course, moodle[0], "--roster", tmp_path / "worksheet.txt", "--dry-run", status=3)
    times = {each["student"]: each["handed_in"] for each in found["students"]}
    assert times == {"ada": datetime(2026, 3, 1, 10).astimezone(UTC).isoformat(), "zoe": None}
    assert found["left_out"] == [
        "Times in the roster are not read: `01.03.2026 10:45` of `zoe`. Write them as 2026-03-01 10:45."
    ]


@pytest.mark.parametrize(
    "names",
    [
        {"ada": f"ada/{EXPECTED}", "ben": f"ben/{EXPECTED}"},
        {"ada": f"week 3/ada/{EXPECTED}", "ben": "week 3/ben/hw.ipynb"},
        {"ada": f"ada/{ASSIGNMENT}/{EXPECTED}", "ben": f"ben/{ASSIGNMENT}/{EXPECTED}"},
        {"ada": "ada.ipynb", "ben": "ben.ipynb"},
        {"ada": "ada_lstm_final.ipynb", "ben": "ben-2.ipynb"},
        {"ada": "Lovelace Ada/x.ipynb", "ben": "Ben Baker.ipynb"},
    ],
)
def test_folders_of_any_kind(course, tmp_path, names):
    known(course, ada="Ada Lovelace", ben="Ben Baker", be="Be Careful")
    for student, name in names.items():
        path = tmp_path / "uploads" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(RIGHT if student == "ada" else HALF)
        os.utime(path, (1_790_000_000, 1_790_000_000))
    assert done(collect(course, tmp_path / "uploads")) == {"ada": "new", "ben": "new"}
    assert (notebook(course, "ada"), notebook(course, "ben")) == (RIGHT, HALF)
    assert course.submitted_at("ada", ASSIGNMENT) == datetime.fromtimestamp(1_790_000_000, UTC).replace(
        tzinfo=None
    )


def test_without_any_student_folders_are_the_students(course, tmp_path):
    for student in ("ada", "ben"):
        (tmp_path / "uploads" / student).mkdir(parents=True)
        (tmp_path / "uploads" / student / "x.ipynb").write_bytes(RIGHT)
    assert done(collect(course, tmp_path / "uploads")) == {"ada": "new", "ben": "new"}


def test_a_newer_download_replaces_and_an_older_one_does_not(course, tmp_path):
    known(course, ada="Ada Lovelace")
    early, late = tmp_path / "early.zip", tmp_path / "late.zip"
    for path, raw, hour in ((early, HALF, 9), (late, RIGHT, 10)):
        with zipfile.ZipFile(path, "w") as archive:
            info = zipfile.ZipInfo(
                f"Ada Lovelace_1_assignsubmission_file/{EXPECTED}", (2026, 11, 22, hour, 0, 0)
            )
            archive.writestr(info, raw)
    assert done(collect(course, early)) == {"ada": "new"}
    assert done(collect(course, late)) == {"ada": "replaced"}
    assert notebook(course, "ada") == RIGHT
    assert (course.root / "collected" / ASSIGNMENT / "ada" / "replaced-1" / EXPECTED).read_bytes() == HALF
    assert done(collect(course, early)) == {"ada": "older"}
    assert notebook(course, "ada") == RIGHT
    assert len(list((course.root / "collected").rglob("*.ipynb"))) == 1


def told(course: Course, source: Path, *options: object) -> str:
    """The words of a collection, as one line."""
    said = autograder_here("collect", ASSIGNMENT, "--from", source, *options, "--course", course.root)
    return " ".join(said.stdout.split())


class TestWhatIsThereAlready:
    """A download's submission is called newer or older only where both times are known."""

    @pytest.fixture
    def canvas(self, course, tmp_path) -> Path:
        """A download of today, which does not say when it was handed in."""
        known(course, ada="Ada Lovelace")
        (tmp_path / "canvas.zip").write_bytes(zipped({"lovelaceada_4711_900_lstm_cell.ipynb": RIGHT}))
        return tmp_path / "canvas.zip"

    def put(self, course: Course, when: str) -> Path:
        folder = course.folder("submitted", "ada", ASSIGNMENT)
        folder.mkdir(parents=True)
        (folder / EXPECTED).write_bytes(HALF)
        (folder / "timestamp.txt").write_text(when)
        return folder

    def test_what_is_replaced_by_an_upload_of_unknown_time(self, course, canvas):
        self.put(course, "2026-01-02 03:04:05 UTC")
        kept = f"collected/{ASSIGNMENT}/ada/replaced-1"
        note = (
            "in place of what was handed in 2026-01-02 03:04 UTC (it is unknown which of the two is newer), "
            f"which is kept in {kept}"
        )
        for dry_run in (True, False):
            found = collect(course, canvas, *(["--dry-run"] if dry_run else []))
            (line,) = found["students"]
            assert (line["done"], line["kept"], line["notes"]) == ("replaced", kept, [note])
            assert (course.root / kept / EXPECTED).exists() != dry_run
        assert (course.root / kept / EXPECTED).read_bytes() == HALF
        assert notebook(course, "ada") == RIGHT

    def test_nothing_is_called_older_by_dates_of_files(self, course, canvas):
        folder = self.put(course, "no time")
        os.utime(folder / EXPECTED, (2e9, 2e9))
        said = told(course, canvas)
        assert "not taken: what is there stays" in said
        assert "its files are dated 2033-05-18 03:33 UTC, these 20" in said
        assert "older" not in said
        os.utime(folder / EXPECTED, (1e9, 1e9))
        os.utime(folder / "timestamp.txt", (1e9, 1e9))
        said = told(course, canvas)
        assert (
            "in place of what lay there, dated 2001-09-09 01:46 UTC (it is unknown which of the two is newer"
            in said
        )
        assert "older" not in said

    def test_it_is_said_where_both_times_are_known(self, course, tmp_path):
        folder = self.put(course, "2026-01-02 03:04:05 UTC")
        known(course, ada="Ada Lovelace")
        (tmp_path / "uploads" / "ada").mkdir(parents=True)
        upload = tmp_path / "uploads" / "ada" / EXPECTED
        upload.write_bytes(RIGHT)
        os.utime(upload, (1e9, 1e9))
        assert "older than what is there, which was handed in 2026-01-02 03:04 UTC" in told(
            course, upload.parent.parent
        )
        assert (folder / EXPECTED).read_bytes() == HALF
        os.utime(upload, (2e9, 2e9))
        said = told(course, upload.parent.parent)
        assert "in place of what was handed in 2026-01-02 03:04 UTC, which is kept in collected/" in said


def test_advice_is_given_once_and_for_what_was_not_followed(course, moodle, tmp_path):
    source, _ = moodle
    said = told(course, source)
    assert said.count("the gradebook has no students and no roster was named") == 1
    assert f"`Ada Lovelace_101_assignsubmission_file/{EXPECTED}`" in said
    (tmp_path / "names.csv").write_text(
        "username,full name\n" + "".join(f"{who},{name}\n" for who, (_, name, _) in PEOPLE.items())
    )
    said = told(course, source, "--roster", tmp_path / "names.csv")
    assert "of them the time is unknown: neither the download nor the roster says it" in said
    assert "as --roster" not in said


def test_what_strangers_name_and_pack_is_harmless(course, tmp_path):
    known(course, ada="Ada Lovelace", ben="Ben Baker", cy="Cy Young")
    hostile = {
        f"../../escaped/{EXPECTED}": RIGHT,
        f"/tmp/collected/{EXPECTED}": RIGHT,
        "ada/x.zip": zipped({"../../../climbed.ipynb": RIGHT, EXPECTED: RIGHT}),
        "ada/timestamp.txt": b"1990-01-01 00:00:00 UTC",
        "ada/\x1b[2Jname.txt": b"x",
        "ada/.hidden": b"x",
        "ben/x.zip": locked(zipped({EXPECTED: RIGHT})),
        "cy/x.zip": zipped({"y.zip": bomb()}),
    }
    (tmp_path / "uploads.zip").write_bytes(zipped(hostile))
    told = autograder_here("collect", ASSIGNMENT, "--from", tmp_path / "uploads.zip", "--course", course.root)
    assert told.returncode == 3
    assert "\x1b" not in told.stdout
    assert "`ben/x.zip` is locked with a password" in " ".join(told.stdout.split())
    assert f"its path leads out of the archive: `../../escaped/{EXPECTED}`" in " ".join(told.stdout.split())
    assert set(there(course)) == {
        f"ada/{ASSIGNMENT}/{EXPECTED}",
        f"ada/{ASSIGNMENT}/timestamp.txt",
        f"ada/{ASSIGNMENT}/_[2Jname.txt",
        f"cy/{ASSIGNMENT}/y.zip",
        f"cy/{ASSIGNMENT}/timestamp.txt",
    }
    assert course.submitted_at("ada", ASSIGNMENT).year > 1990, "a student does not say when"
    assert not [path for path in tmp_path.rglob("*") if "climbed" in path.name or "escaped" in path.name]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "There is no folder and no file"),
        (lambda path: path.write_bytes(b"no zip"), "is damaged, or no zip archive"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(course, tmp_path, make, words):
    make(tmp_path / "x.zip")
    told = autograder_here("collect", ASSIGNMENT, "--from", tmp_path / "x.zip", "--course", course.root)
    assert told.returncode == 1
    assert words in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            b"colour,size\nred,1\n",
            "has no column that says who the students are: its first line is `colour`, `size`",
        ),
        (zipped({"xl/workbook.xml": b"<x/>"}), "is no CSV table that can be read: save it as CSV"),
    ],
)
def test_a_roster_without_students_is_one_sentence(course, moodle, tmp_path, table, words):
    (tmp_path / "x.csv").write_bytes(table)
    told = autograder_here(
        "collect", ASSIGNMENT, "--from", moodle[0], "--roster", tmp_path / "x.csv", "--course", course.root
    )
    assert told.returncode == 1
    assert words in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1


GROUPS = (
    "username,full name,group\nada,Ada L,Red\nben,Ben B,Red\ncy,Cy Y,Red\nzoe,Zoë Ł,Blue\nnil,Nil N,Blue\n"
)


class TestGroups:
    """One submission of a group counts for all of its members."""

    @pytest.fixture
    def roster(self, tmp_path) -> Path:
        (tmp_path / "groups.csv").write_text(GROUPS, encoding="utf-8")
        return tmp_path / "groups.csv"

    def folder(self, tmp_path: Path, **raw: bytes) -> Path:
        for name, each in raw.items():
            (tmp_path / "uploads" / name).mkdir(parents=True, exist_ok=True)
            (tmp_path / "uploads" / name / EXPECTED).write_bytes(each)
        return tmp_path / "uploads"

    def lines(self, found: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
        return {each["student"]: (each["done"], each["same_as"]) for each in found["students"]}

    def test_the_others_get_what_one_member_handed_in(self, course, tmp_path, roster):
        found = collect(course, self.folder(tmp_path, ben=RIGHT), "--roster", roster)
        assert self.lines(found) == {"ada": ("new", "ben"), "ben": ("new", None), "cy": ("new", "ben")}
        assert found["not_there"] == ["nil", "zoe"]
        assert {notebook(course, student) for student in ("ada", "ben", "cy")} == {RIGHT}
        stamps = {raw for name, raw in there(course).items() if name.endswith("timestamp.txt")}
        assert len(stamps) == 1
        found = collect(course, self.folder(tmp_path, ben=HALF))
        assert self.lines(found)["cy"] == ("replaced", "ben"), "the group is remembered"
        assert notebook(course, "cy") == HALF

    def test_what_a_member_handed_in_themselves_stays(self, course, tmp_path, roster):
        found = collect(course, self.folder(tmp_path, ben=RIGHT, cy=HALF), "--roster", roster)
        assert self.lines(found) == {"ben": ("new", None), "cy": ("new", None)}
        note = "members of Red sent different submissions: each keeps their own"
        assert [each["notes"] for each in found["students"]] == [[note], [note]]
        (tmp_path / "uploads" / "cy" / EXPECTED).unlink()
        found = collect(course, tmp_path / "uploads", "--roster", roster)
        assert self.lines(found) == {"ada": ("new", "ben"), "ben": ("unchanged", None)}
        assert notebook(course, "cy") == HALF

    def test_a_folder_of_the_groups_name_is_all_of_theirs(self, course, tmp_path, roster):
        found = collect(course, self.folder(tmp_path, Blue=RIGHT), "--roster", roster)
        assert self.lines(found) == {"nil": ("new", None), "zoe": ("new", "nil")}

    def test_what_came_through_the_exchange_is_given_to_the_others(self, course, tmp_path, roster):
        folder = course.folder("submitted", "ben", ASSIGNMENT)
        for name in (ASSIGNMENT, "02_rnn_cell"):
            (folder.parent / name).mkdir(parents=True)
            (folder.parent / name / EXPECTED).write_bytes(RIGHT)
        (folder / "timestamp.txt").write_text("2026-03-01 10:45:00.123456 UTC")
        before = there(course)
        found = collect(course, course.root / "submitted", "--roster", roster)
        assert self.lines(found) == {"ada": ("new", "ben"), "ben": ("unchanged", None), "cy": ("new", "ben")}
        assert before.items() <= there(course).items()
        assert set(there(course)) - set(before) == {
            f"{student}/{ASSIGNMENT}/{name}"
            for student in ("ada", "cy")
            for name in (EXPECTED, "timestamp.txt")
        }
        assert f"{course.submitted_at('ada', ASSIGNMENT)}" == "2026-03-01 10:45:00"
        # Both `ben` and `cy` hand in again: a copy follows, what is a member's own does not.
        for student, raw in (("ben", HALF), ("cy", OTHER)):
            folder = course.folder("submitted", student, ASSIGNMENT)
            (folder / EXPECTED).write_bytes(raw)
            (folder / "timestamp.txt").write_text("2026-03-02 10:45:00 UTC")
        found = collect(course, course.root / "submitted", "--roster", roster)
        assert self.lines(found) == {"ben": ("unchanged", None), "cy": ("unchanged", None)}
        shutil.rmtree(course.folder("submitted", "cy", ASSIGNMENT))
        found = collect(course, course.root / "submitted", "--roster", roster)
        assert self.lines(found)["ada"] == ("replaced", "ben")
        assert notebook(course, "ada") == notebook(course, "cy") == HALF

    @pytest.mark.slow
    def test_marks_of_a_group_agree_everywhere(self, course, tmp_path, roster):
        def said(*command: object) -> str:
            told = autograder_here(*command, "--course", course.root)
            assert told.returncode == 0, told.stderr
            return told.stdout + told.stderr

        collect(course, self.folder(tmp_path, ben=HALF, zoe=RIGHT), "--roster", roster)
        said("grade", ASSIGNMENT, "--jobs", "1")
        scores = {"ada": "8", "ben": "8", "cy": "8", "nil": "10", "zoe": "10"}
        told = said("export", ASSIGNMENT, "--to", "csv", "--output", "-")
        rows = list(csv.DictReader(io.StringIO(told)))[: len(scores)]
        assert {row["student"]: row["score"] for row in rows} == scores
        assert {row["student"]: row["group"] + row["same_as"] for row in rows} == {
            "ada": "Redben", "ben": "Red", "cy": "Redben", "nil": "Bluezoe", "zoe": "Blue",
        }  # fmt: skip
        assert "3 marks are for the submission of another member of the student's group" in told
        with course.gradebook() as gradebook:
            rows = gradebook.student_dicts()
            assert {row["id"]: f"{row['score']:g}" for row in rows} == scores, "as nbgrader's export has it"
            give_points(gradebook, "cy", "check_lstm_gates", 1.25)
        report = json.loads(said("report", ASSIGNMENT, "--json"))
        assert report["pairs"] == []
        apart = {each["student"] for each in report["attention"] if each["kind"] == "group_points"}
        assert apart == {"ada", "ben", "cy"}
        run(course.root, "nbgrader", "generate_feedback", ASSIGNMENT, "--student", "cy")
        page = course.folder("feedback", "cy", ASSIGNMENT) / EXPECTED.replace("ipynb", "html")
        assert "The submission of the group Red, the same as that of ben." in page.read_text()
        # A member hands in alone, and the class is graded again.
        (course.folder("submitted", "nil", ASSIGNMENT) / EXPECTED).write_bytes(HALF)
        said("grade", ASSIGNMENT, "--jobs", "1")
        found = {each["student"]: each for each in json.loads(said("results", ASSIGNMENT, "--json"))}
        assert [found["nil"]["mark"][name] for name in ("score", "group", "same_as")] == [8, "Blue", ""]
        for student in ("nil", "zoe"):
            told = found[student]["findings"][-1]
            assert told["kind"] == "group_differs"
            assert (
                "the group `Blue`, `nil` and `zoe` have different submissions: each keeps" in told["message"]
            )


@pytest.mark.slow
def test_what_came_from_moodle_goes_back_there(course, moodle):
    """Collected, graded, exported: every row of the class is right."""
    source, roster = moodle
    collect(course, source, "--roster", roster, status=3)
    told = autograder("grade", ASSIGNMENT, "--jobs", "2", "--course", course.root)
    assert told.returncode == 0, told.stderr
    told = autograder_here("export", ASSIGNMENT, "--to", "moodle", "--output", "-", "--course", course.root)
    rows = {row["Username"]: row for row in csv.DictReader(io.StringIO(told.stdout))}
    assert {student: row[ASSIGNMENT] for student, row in rows.items()} == {
        "ada": "10", "zoe": "8", "ben": "10", "benny": "8", "cy": "", "eve": "", "nil": "",
    }  # fmt: skip
    for student, (_, name, _) in PEOPLE.items():
        row = rows[student]
        assert (f"{row['First name']} {row['Last name']}", row["Email address"]) == (
            name,
            f"{student}@example.org",
        )


@pytest.mark.parametrize(
    ("path", "sender", "inner"),
    [
        (
            "Ada Lovelace_1_assignsubmission_file_/a/b.ipynb",
            Sender("moodle", "Ada Lovelace", "1"),
            "a/b.ipynb",
        ),
        ("HW 3/A B_1_assignsubmission_file/b.ipynb", Sender("moodle", "A B", "1"), "b.ipynb"),
        ("A B_1_assignsubmission_file_x_y.ipynb", Sender("moodle", "A B", "1"), "x_y.ipynb"),
        ("lovelaceada_47_8_lstm_cell-1.ipynb", Sender("canvas", "lovelaceada", "47"), "lstm_cell-1.ipynb"),
        ("l_LATE_47_8_a_b.zip", Sender("canvas", "l", "47", late=True), "a_b.zip"),
        ("ada/x.ipynb", Sender("", "ada"), "x.ipynb"),
        ("ada_3.ipynb", Sender("", "ada_3", is_file=True), "ada_3.ipynb"),
    ],
)
def test_names_of_platforms_are_read(path, sender, inner):
    placed = place(path)
    assert (placed.sender, placed.path) == (sender, inner)
