"""The instructor's report: its numbers, what is told apart, and that no student can write into the page."""

from __future__ import annotations

import csv
import html
import itertools
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import nbformat
import pytest

from autograder import reporting
from autograder.grading.course import Course
from autograder.grading.feedback import PointsOfAPerson
from autograder.grading.feedback import sentence as sentence_of
from autograder.reporting.page import breakable, write_page
from autograder.reporting.page import page as written
from autograder.reporting.report import Report, gather
from autograder.reporting.spreadsheet import csv_text
from autograder.reporting.statistics import check_statistics, discrimination, spread, task_statistics
from tests.helpers import ASSIGNMENT, NOTEBOOK, autograder, make_course
from tests.report_helpers import FORMULA, HOSTILE, SCRIPT, give_points, graded_class

VOID = {"meta", "br", "img", "input", "link", "wbr"}


class Page(HTMLParser):
    """A page as a browser reads it: its elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: dict[str, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "an element that is not closed, or closed twice"

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        place = self.open[-1] if self.open else ""
        self.text[place] = self.text.get(place, "") + data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    """Only read by the tests."""
    return graded_class(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def told(course) -> dict[str, Any]:
    result = autograder("report", ASSIGNMENT, "--json", "--course", course.root)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def page(course) -> str:
    result = autograder("report", ASSIGNMENT, "--course", course.root)
    assert result.returncode == 0, result.stderr
    path = course.root / "reports" / f"{ASSIGNMENT}.html"
    assert result.stdout.strip() == f"The report: {path}"
    return path.read_text(encoding="utf-8")


# --- a graded class ---


def test_it_tells_who_has_no_score(told):
    states = {line["student"]: (line["state"], line["score"]) for line in told["submissions"]}
    assert states == {
        "ada": ("graded", 10.0),
        "ben": ("graded", 6.5),  # an hour and a half late
        "cem": ("graded", 9.25),  # 1.25 points from a person
        "dot": ("graded", 10.0),
        "eve": ("graded", 10.0),
        "fay": ("graded", 0.0),
        "gus": ("corrupt", None),
        "hal": ("missing", None),
        "ida": ("graded", 10.0),
        "jon": ("graded", 10.0),
        HOSTILE: ("graded", 8.0),
        FORMULA: ("graded", 8.0),
        "nil": ("missing", None),
        "waits": ("not_graded", None),
    }
    assert told["states"] == {"graded": 10, "missing": 2, "corrupt": 1, "not_graded": 1}
    assert (told["students"], told["handed_in"], told["judged"], told["full_marks"]) == (14, 13, 10, 5)


def test_what_has_no_score_is_in_no_distribution(told):
    scores = told["scores"]
    assert scores["count"] == 10 == sum(bar["count"] for bar in scores["bins"])
    assert scores["mean"] == pytest.approx(8.175)
    assert (scores["lowest"], scores["highest"]) == (0.0, 10.0)


def test_the_most_frequent_mistake_comes_with_its_count_and_an_example(told):
    first = told["mistakes"][0]
    assert (first["task"], first["mistake"]) == ("lstm_gates", "gates_in_another_order")
    assert first["students"] == ["ben", "cem"]
    assert first["hint"]
    assert "i, f, o, g = sums" in first["example"]["cell"]
    assert '"""' not in first["example"]["cell"], "the docstring that everybody was given"


def test_it_names_whom_a_person_should_look_at_and_why(told):
    kinds: dict[str, set[str]] = {}
    for reason in told["attention"]:
        kinds.setdefault(reason["kind"], set()).add(reason["student"])
    assert kinds == {
        "corrupt": {"gus"},
        "missing": {"hal"},
        "not_graded": {"waits"},
        "unusual_code": {"ida", "jon"},
    }
    assert told["need_a_person"] == 5


def test_points_of_a_person_for_an_unreadable_file_are_a_score(course, tmp_path):
    shutil.copytree(course.root, tmp_path / "course")
    at = Course.at(tmp_path / "course")
    with at.gradebook() as gradebook:
        give_points(gradebook, "gus", "check_lstm_gates", 0.0)
    marks = {line.student: (line.state, line.score) for line in gather(at, ASSIGNMENT).submissions}
    assert marks["gus"] == ("graded", 0.0)


def test_a_cell_without_points_is_no_zero(course, tmp_path):
    shutil.copytree(course.root, tmp_path / "course")
    at = Course.at(tmp_path / "course")
    with at.gradebook() as gradebook:
        grade = gradebook.find_grade("check_LSTMCell", NOTEBOOK, ASSIGNMENT, "ada")
        grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()
    report = gather(at, ASSIGNMENT)
    assert {line.student: line.score for line in report.submissions}["ada"] is None
    assert ("ada", "needs_manual_grade") in {(each.student, each.kind) for each in report.attention}


# --- the page ---


def test_no_student_can_write_into_the_page(page):
    read = Page(page)
    assert read.open == []
    assert len(read.all("script")) == 1
    assert "hacked" not in read.text["script"]
    assert read.all("img") == []
    assert [name for _, attributes in read.elements for name in attributes if name.startswith("on")] == []
    assert page.count("alert(1)") >= 1, "the hostile name is shown, as text"
    assert SCRIPT not in page
    assert "&lt;script&gt;alert(" in page


def test_it_needs_nothing_from_elsewhere(page):
    read = Page(page)
    assert read.all("link") == []
    for tag, attributes in read.elements:
        assert "src" not in attributes, tag
        assert tag == "a" or "href" not in attributes, tag
    assert "url(" not in page
    assert "@import" not in page
    (policy,) = [each["content"] for each in read.all("meta") if "http-equiv" in each]
    assert policy.startswith("default-src 'none'")


def test_its_links_lead_to_the_graded_notebooks_and_to_formgrader(course, page):
    links = [str(each["href"]) for each in Page(page).all("a")]
    folder = course.root / "reports"
    files = [unquote(link) for link in links if link.endswith(".ipynb")]
    assert len(files) >= 12
    assert all((folder / file).is_file() for file in files)
    with course.gradebook() as gradebook:
        ada = gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, "ada").id
    assert f"http://localhost:8888/formgrader/submissions/{ada}" in links


def sentence(report: Report, heading: str) -> str:
    """The first paragraph below a heading, as it is read."""
    found = re.search(rf"<h2[^>]*>{heading}</h2>.*?<p[^>]*>(.*?)</p>", written(report, Path()), re.DOTALL)
    assert found is not None
    return " ".join(html.unescape(re.sub("<[^>]*>", "", found[1])).split())


def test_its_sentences_are_right_for_nobody_one_and_many(course):
    report = gather(course, ASSIGNMENT)
    first = report.mistakes[0]
    many = replace(first, students=("ada", "ben", "cem"))
    lone = replace(first, students=("ada",))
    full = replace(report.scores, count=14, median=report.max_score)
    eight = replace(report.scores, count=10, median=8.0)
    needs = {"need_a_person": 5}
    for changes, told in (
        (
            {"scores": eight, "students": 12, "mistakes": (many,), **needs},
            f"10 of 12 students have a score, and half of those have 8 or more of the 10 points. The most "
            f"frequent known mistake is {first.mistake} in {first.task}: 3 students made it. "
            "A person should look at 5 submissions.",
        ),
        (
            {"scores": full, "students": 14, "mistakes": (lone,), "need_a_person": 0},
            "14 of 14 students have a score, and half of those have all 10 points. No known mistake was made "
            "by more than one student. No submission needs a person.",
        ),
        (
            {"scores": replace(eight, count=1), "students": 1, "judged": 1, "mistakes": (lone,)}
            | {"need_a_person": 1},
            "The only student has a score: 8 of 10 points. A person should look at 1 submission.",
        ),
        (
            {"scores": replace(eight, count=1), "students": 3, "mistakes": (), "need_a_person": 0},
            "1 of 3 students has a score: 8 of 10 points. No submission needs a person.",
        ),
        (
            {"scores": spread([], 10.0), "mistakes": (), "tasks": (), "need_a_person": 0},
            "Nobody has a score yet. No submission needs a person.",
        ),
    ):
        assert sentence(replace(report, **changes), "What happened") == told
    for explained, told in (
        (1, "1 student, who was told the hint."),
        (2, "2 students; each of them"),
    ):
        shown = replace(report, explained=explained, mistakes=(lone,), found={**report.found, "mistakes": 1})
        assert f"1 known mistake explains wrong answers of {told}" in sentence(
            shown, "What the class did not understand"
        )


@pytest.mark.parametrize(
    ("given", "extra", "said"),
    [
        (None, None, ""),
        (0.0, None, ""),
        (1.25, None, "The checks gave 0 of 2 points; your grader gave 1.25, and that is what counts."),
        (None, 0.5, "The checks gave 0 of 2 points; extra credit adds 0.5."),
        (
            2.0,
            1.0,
            "The checks gave 0 of 2 points; your grader gave 2, and that is what counts; "
            "extra credit adds 1.",
        ),
    ],
)
def test_feedback_says_whose_points_count(given, extra, said):
    grade = SimpleNamespace(auto_score=0.0, manual_score=given, extra_credit=extra, max_score=2.0)
    assert sentence_of(grade) == said
    grade.auto_score = None
    assert sentence_of(grade) == "", "nothing that a person's points stand in place of"


def test_feedback_shows_it_above_the_card_of_that_student_alone(course):
    for student, count in (("cem", 1), ("ben", 0)):
        path = course.folder("autograded", student, ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
        about = {"notebook": NOTEBOOK, "assignment": ASSIGNMENT, "student": student}
        resources = {"nbgrader": about | {"db_url": course.directory.db_url}}
        notebook, _ = PointsOfAPerson().preprocess(nbformat.read(path, as_version=4), resources)
        first = [str(cell.outputs[0]) for cell in notebook.cells if cell.get("outputs")]
        assert sum("your grader gave 1.25" in each for each in first) == count
        nbformat.validate(notebook)


def test_a_long_name_may_be_broken_and_stays_the_same_name():
    for name in ("copy_from_torch", "x" * 60, "__init__", "a<b>_&c", "_", "LSTMCell"):
        pieces = str(breakable(name)).split("<wbr>")
        assert html.unescape("".join(pieces)) == name
        assert all(len(html.unescape(piece).rstrip("_")) <= 10 for piece in pieces)
    assert str(breakable("copy_from_torch")) == "copy_<wbr>from_<wbr>torch"


def test_links_are_right_wherever_the_page_lies(course, tmp_path):
    path = tmp_path / "here" / "page.html"
    write_page(gather(course, ASSIGNMENT), path, "https://hub/fg/")
    links = [str(each["href"]) for each in Page(path.read_text()).all("a")]
    notebooks = [unquote(link) for link in links if link.endswith(".ipynb")]
    assert notebooks
    assert all((path.parent / notebook).is_file() for notebook in notebooks)
    assert any(link.startswith("https://hub/fg/submissions/") for link in links)


def test_headings_tables_and_figures_can_be_read_without_seeing_them(page):
    read = Page(page)
    levels = [int(tag[1]) for tag, _ in read.elements if tag in {"h1", "h2", "h3", "h4"}]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert len(read.all("caption")) == len(read.all("table"))
    assert all(cell.get("scope") in {"col", "row"} for cell in read.all("th"))
    assert len(read.all("title")) == 1 + len(read.all("svg"))
    assert len(read.all("desc")) == len(read.all("svg")) >= 3
    identifiers = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for _, attributes in read.elements:
        for name in str(attributes.get("aria-labelledby") or "").split():
            assert name in identifiers
    assert all(str(link["href"])[1:] in identifiers for link in read.all("a") if str(link["href"])[0] == "#")


def test_the_same_course_gives_the_same_page(course, page):
    again = course.root / "reports" / "again.html"
    write_page(gather(course, ASSIGNMENT), again)
    assert again.read_text(encoding="utf-8") == page


STYLE = Path(reporting.__file__).parent / "templates" / "report.css"
PALETTES = re.findall(r":root \{(.*?)\}", STYLE.read_text(encoding="utf-8"), re.DOTALL)
THEMES = {"light": PALETTES[0], "dark": PALETTES[1]}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("paper", ["paper", "panel"])
@pytest.mark.parametrize("ink", ["ink", "soft", "accent", "warn", "bad"])
def test_text_can_be_read_on_a_light_and_on_a_dark_screen(theme, paper, ink):
    """WCAG AA: a contrast of 4.5 at least."""
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", THEMES[theme]))
    assert contrast(colours[ink], colours[paper]) >= 4.5
    assert contrast(colours["mark"], colours["mark-ink"]) >= 4.5
    assert contrast(colours["bar"], colours["paper"]) >= 3, "a graphical object needs 3"


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SCRIPTED = """
<script>
const table = document.querySelector("#submissions");
const rows = () => [...table.tBodies[0].rows];
const shown = () => rows().filter((row) => !row.hidden).map((row) => row.cells[0].textContent.trim());
const scores = () => rows().map((row) => row.cells[2].dataset.value).join(" ");
const press = (column) => table.tHead.rows[0].cells[column].querySelector("button").click();
const told = [];
press(2); told.push(scores());
press(2); told.push(scores());
told.push(table.tHead.rows[0].cells[2].getAttribute("aria-sort"));
const input = document.querySelector("#submissions-filter");
input.value = "corrupt"; input.dispatchEvent(new Event("input"));
told.push(shown().join(" "), document.querySelector("#submissions-filter + output").textContent);
document.title = told.join("|");
</script></body>"""


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_tables_are_sorted_and_filtered_without_a_network(page, tmp_path):
    scripted = tmp_path / "page.html"
    scripted.write_text(page.replace("</body>", SCRIPTED), encoding="utf-8")
    command = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--dump-dom",
        f"file://{scripted}",
    ]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120)
    (title,) = re.findall("<title>([^<]*)</title>", told.stdout)
    up, down, direction, left, count = title.split("|")
    assert up.split() == ["0.0", "6.5", "8.0", "8.0", "9.25", *["10.0"] * 5], "who has no score comes last"
    assert down.split() == up.split()[::-1]
    assert (direction, left, count) == ("descending", "gus", "1 of 14 rows")


# --- the other forms ---


def test_the_tables_have_the_same_numbers(course, told, tmp_path):
    assert autograder("report", ASSIGNMENT, "--csv", tmp_path, "--course", course.root).returncode == 0

    def table(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader((tmp_path / f"{name}.csv").open(newline="", encoding="utf-8-sig")))

    lines = {line["student"].removeprefix("'"): line for line in table("submissions")}
    for line in told["submissions"]:
        written = lines[line["student"]]["score"]
        assert written == "" if line["score"] is None else float(written) == line["score"]
    assert f"'{FORMULA}" in {line["student"] for line in table("submissions")}
    assert len(table("checks")) == len(told["checks"])
    summary = {line["what"]: line["value"] for line in table("summary")}
    assert float(summary["scores_median"]) == told["scores"]["median"]


def test_csv_runs_nothing():
    rows = [
        [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "  =1",
            "\uff1d1",
            "a,b",
            'say "so"',
            -1.5,
            None,
            2.0,
        ]
    ]
    (read,) = csv.reader(csv_text(rows).splitlines(keepends=True))
    assert [field[0] for field in read[:8]] == ["'"] * 8
    assert read[8:] == ["a,b", 'say "so"', "-1.5", "", "2"]


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("99_none", "There is no assignment '99_none'"),
        (ASSIGNMENT, "Nothing has been graded yet: run `autograder grade 03_lstm_cell` first."),
    ],
)
def test_what_cannot_be_reported_is_one_sentence(tmp_path, assignment, words):
    make_course(tmp_path)
    told = autograder("report", assignment, "--course", tmp_path)
    assert (told.returncode, told.stdout) == (1, "")
    assert words in told.stderr
    assert not (tmp_path / "reports").exists()


# --- the numbers ---


def verdict(*tasks: dict[str, Any], status: str = "graded") -> dict[str, Any]:
    return {"student": "x", "status": status, "tasks": list(tasks), "seconds": 1.0, "findings": []}


def task(name: str, *outcomes: str, points: float = 1.0) -> dict[str, Any]:
    """A task with a check for each outcome; a passed one earns `points`."""
    checks = [
        {
            "check": f"check{number}",
            "rule": "values",
            "title": f"Check {number}.",
            "outcome": "failed" if outcome == "unwritten" else outcome,
            "points": points if outcome == "passed" else 0.0,
            "max_points": points,
            "message": "Not written yet: `f` still raises NotImplementedError."
            if outcome == "unwritten"
            else "",
            "diagnosis": None,
            "answers": None,
            "hidden": False,
        }
        for number, outcome in enumerate(outcomes)
    ]
    earned = sum(check["points"] for check in checks)
    return {"task": name, "score": earned, "max_score": points * len(checks), "checks": checks, "note": ""}


def test_what_was_not_judged_is_no_failure():
    verdicts = [
        verdict(task("a", "passed", "passed")),
        verdict(task("a", "failed", "skipped")),
        verdict(task("a", "error", "skipped")),
        verdict(task("a", "unwritten", "skipped")),
        verdict(task("a", "failed", "failed"), status="corrupt"),
        verdict(task("a"), status="missing"),
    ]
    first, second = check_statistics(verdicts)
    assert (first.passed, first.failed, first.skipped, first.unwritten) == (1, 2, 0, 1)
    assert first.pass_rate == pytest.approx(1 / 3)
    assert (second.passed, second.failed, second.skipped, second.unwritten) == (1, 0, 2, 1)
    assert second.pass_rate == 1.0
    assert first.earned == second.earned == 0.25  # of what four submissions could have earned
    (only,) = task_statistics(verdicts)
    assert (only.judged, only.unwritten, only.full, only.mean, only.earned) == (4, 1, 1, 0.5, 0.25)


def test_discrimination_is_the_correlation_with_the_other_tasks():
    """Point-biserial by its textbook formula: (M1 - M0) / s * sqrt(p q), s with n below it."""
    rests = [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    passed = [0, 0, 0, 1, 0, 1, 1, 0, 1, 1]
    verdicts = [
        verdict(
            task("a", "passed" if ok else "failed", points=5),
            task("b", *["passed"] * n, *["failed"] * (3 - n)),
        )
        for ok, n in zip(passed, rests, strict=True)
    ]
    ones = [n for ok, n in zip(passed, rests, strict=True) if ok]
    zeros = [n for ok, n in zip(passed, rests, strict=True) if not ok]
    mean = sum(rests) / 10
    deviation = (sum((n - mean) ** 2 for n in rests) / 10) ** 0.5
    expected = (sum(ones) / 5 - sum(zeros) / 5) / deviation * 0.5
    found = check_statistics(verdicts)[0].discrimination
    assert found.value == pytest.approx(expected)
    assert found.count == 10
    assert found.why.startswith("only 10 submissions"), "few submissions are flagged"


@pytest.mark.parametrize(
    ("items", "rests", "why"),
    [
        ([0, 1] * 4, range(8), "fewer than 10"),
        ([1] * 10, range(10), "equally well here"),
        ([0, 1] * 5, [3] * 10, "equally well in the other tasks"),
    ],
)
def test_a_discrimination_that_says_nothing_is_not_told(items, rests, why):
    found = discrimination(list(items), list(rests))
    assert found.value is None
    assert why in found.why


def test_many_submissions_carry_no_flag():
    assert discrimination([0, 1] * 20, list(range(40))).why == ""


@pytest.mark.parametrize(
    ("values", "bins"),
    [
        ([0.0], [1, 0, 0, 0]),
        ([4.0], [0, 0, 0, 1]),
        ([0.99, 1.0, 2.0, 3.0], [1, 1, 1, 1]),
        ([5.0, 0.0], [1, 0, 0, 1]),
    ],
)
def test_a_distribution_holds_every_value_once(values, bins):
    found = spread(values, 4.0, bars=4)
    assert [bar.count for bar in found.bins] == bins
    assert found.count == sum(bins)


def test_no_values_are_no_distribution():
    assert spread([]).median is None
    assert spread([]).bins == ()


@pytest.mark.parametrize(
    ("values", "edges"),
    [
        ([0.31, 1.46, 4.38], [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5]),
        ([0.2], [0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2]),
        ([0.0, 61.0], [0, 10, 20, 30, 40, 50, 60, 70]),
        ([0.0], [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
    ],
)
def test_bars_without_a_given_end_have_edges_that_people_count_in(values, edges):
    bins = spread(values).bins
    assert [bins[0].low, *(each.high for each in bins)] == pytest.approx(edges)
    assert sum(each.count for each in bins) == len(values)


def test_the_documentation_defines_what_the_report_shows():
    text = (Path(__file__).parent.parent / "docs" / "reporting.md").read_text(encoding="utf-8")
    for word in ("Pass rate", "Earned", "Discrimination", "Judged"):
        assert f"**{word}" in text
