"""docs/hub.md, followed literally: a class on a JupyterHub, from fetching an assignment to its feedback."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from autograder.grading.course.course import Course
from tests.support.courses import TASKS, totals
from tests.support.environments.browsers import (
    card,
    hand_over,
    looking,
    picture,
    row_of,
    run_all,
    saved,
)
from tests.support.environments.hubs import Hub, hub
from tests.support.environments.wheels import build_wheels
from tests.support.helpers import ASSIGNMENT, NOTEBOOK, ROOT, answer

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WEEK = "4. A week of the class"
COMMENT = "The gates are right, only their order is not."


@pytest.fixture(scope="module")
def made(browser, tmp_path_factory) -> Iterator[Hub]:
    """The page's hub; first the browser, so that where there is none nothing is set up."""
    place = tmp_path_factory.mktemp("hub")
    build_wheels(place / "wheels")
    with hub(place, place / "wheels") as made:
        yield made


def test_students_cannot_import_what_is_for_graders(made):
    look = (
        "import importlib.util as u, autograder\n"
        "print(autograder.__file__)\n"
        "print([n for n in ('autograder_course', 'autograder_checks') if u.find_spec(n)])"
    )
    found = {}
    for name in ("students", "grading"):
        python = made.place / name / "bin" / "python"
        told = subprocess.run([python, "-c", look], cwd="/", capture_output=True, text=True)
        where, found[name] = told.stdout.splitlines()
        assert where.startswith(str(made.place / name)), told.stderr
    assert found == {"students": "[]", "grading": "['autograder_course', 'autograder_checks']"}
    assert (made.place / "grading").stat().st_mode & 0o077 == 0


def test_students_do_not_get_into_formgrader(made, browser):
    with looking(browser) as page:
        made.sign_in(page, "anna", f"{made.service}/")
        expect(page.get_by_role("heading", level=1)).to_contain_text("403")
        for inside in ("formgrader/manage_assignments", "lab", "files/source/03_lstm_cell/lstm_cell.ipynb"):
            page.goto(f"{made.service}/{inside}")
            expect(page.get_by_role("heading", level=1)).to_contain_text("403")


def test_nobody_else_may_frame_formgrader(made, browser):
    """A student's page that shows a grader formgrader could have clicks go where it likes."""
    with looking(browser) as page:
        made.sign_in(page, "tina", f"{made.service}/")
        expect(formgrader(page).get_by_role("heading", name="Manage Assignments")).to_be_visible()
        framing = f"<iframe src='{made.service}/formgrader/manage_assignments'></iframe>"
        page.route("**/trap", lambda route: route.fulfill(content_type="text/html", body=framing))
        page.goto(f"{made.service}/trap")  # its own page may
        expect(formgrader(page).get_by_role("heading", name="Manage Assignments")).to_be_visible()
        page.goto(f"{made.own('ben')}/trap")
        assert page.frames[1].url.startswith("chrome-error:")


def test_a_week_of_the_class(made, browser):
    mistakes = Course.at(ROOT).bundle(ASSIGNMENT).mistakes
    mistake = next(each for each in mistakes if each.name == "gates_in_another_order")
    wrong = mistake.answer({"lstm_gates": answer("lstm_gates")})
    with (
        looking(browser) as anna,
        looking(browser) as ben,
        looking(browser) as tina,
        looking(browser) as prof,
    ):
        # Students: fetch, solve, check, submit.
        fetches(made, anna, "anna")
        for task in TASKS:
            hand_over(anna, task, answer(task))
            expect(card(anna, task)).to_contain_text("everything holds")
        picture(anna, "hub-card")
        hands_in(made, anna, "anna")
        fetches(made, ben, "ben")
        hand_over(ben, "lstm_gates", wrong)
        expect(card(ben, "lstm_gates")).to_contain_text(mistake.hint.replace("`", ""))
        card(ben, "lstm_gates").evaluate("card => card.scrollIntoView({ block: 'center' })")
        picture(ben, "hub-card-with-a-hint")
        hands_in(made, ben, "ben")

        # A teaching assistant: collect, and grade one of them.
        made.sign_in(tina, "tina", f"{made.service}/")
        row = assignment(tina)
        expect(row).to_be_visible()
        picture(tina, "hub-formgrader")
        row.locator(".glyphicon-cloud-download").click()
        succeeds(tina, "collected")
        row.get_by_role("link", name="2", exact=True).click()
        formgrader(tina).locator("tr", has_text="ben").locator(".glyphicon-flash").click()
        succeeds(tina, "autograded")
        assert totals(made.course) == {"ben": 0}

        # The class, at night.
        told = made.follow(WEEK, made.place)
        assert re.search(r"^anna +graded +10/10 ", told, re.MULTILINE), told
        assert totals(made.course) == {"anna": 10, "ben": 0}

        # An instructor, while the assistant is still there: points, a comment, feedback.
        made.sign_in(prof, "prof", f"{made.service}/")
        opens(prof, "ben")
        points, remark = (
            formgrader(prof).locator(each) for each in ("#check_lstm_gates", "#lstm_gates-comment")
        )
        expect(card(formgrader(prof), "lstm_gates")).to_contain_text(mistake.hint.replace("`", ""))
        with prof.expect_response(saved("grade")):
            points.fill("1.5")
            points.press("Tab")
        with prof.expect_response(saved("comment")):
            remark.fill(COMMENT)
            remark.press("Tab")
        card(formgrader(prof), "lstm_gates").scroll_into_view_if_needed()
        picture(prof, "hub-formgrader-points")
        assert totals(made.course)["ben"] == 1.5
        for name in ("Manual Grading", "Manage Assignments"):
            formgrader(prof).get_by_role("link", name=name, exact=True).click()
        for icon, done in (("comment", "generated feedback"), ("envelope", "released feedback")):
            assignment(prof).locator(f".glyphicon-{icon}").click()
            succeeds(prof, done)

        # Students: their feedback, and nobody else's.
        assert "lstm_cell: 10 of 10 points</h1>" in reads(made, anna, "anna")
        told = reads(made, ben, "ben")
        assert COMMENT in told
        assert "lstm_cell: 1.5 of 10 points</h1>" in told


def formgrader(page: Page) -> FrameLocator:
    """Formgrader within its JupyterLab."""
    return page.frame_locator("iframe")


def assignment(page: Page) -> Locator:
    """The assignment's row in formgrader's first list."""
    return formgrader(page).locator("tr", has_text=ASSIGNMENT)


def succeeds(page: Page, done: str) -> None:
    """Wait for formgrader's message that it has done something, and close it."""
    told = formgrader(page).locator(".modal.in")
    expect(told.locator(".modal-title")).to_have_text("Success")
    expect(told).to_contain_text(done)
    told.get_by_role("button", name="OK").click()
    expect(told).to_be_hidden()


def opens(page: Page, student: str) -> None:
    """Open a submission the way a grader does: Manual Grading, assignment, notebook, name."""
    inside = formgrader(page)
    for name in ("Manual Grading", ASSIGNMENT, NOTEBOOK):
        inside.get_by_role("link", name=name, exact=True).click()
    row = row_of(inside, student)
    row.locator(".glyphicon-eye-open").click()
    row.get_by_role("link", name=student).click()
    expect(inside.locator("#check_lstm_gates")).to_have_attribute("placeholder", re.compile(r"\d"))


def assignments(page: Page) -> None:
    """Open nbgrader's Assignment List."""
    page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
    expect(page.get_by_role("menuitem", name="Formgrader", exact=True)).to_have_count(0)
    page.get_by_role("menuitem", name="Assignment List", exact=True).click()


def fetches(hub: Hub, page: Page, who: str) -> None:
    """Sign in, fetch the assignment, open its notebook and run it from top to bottom."""
    hub.sign_in(page, who, hub.address)
    page.wait_for_url(f"{hub.own(who)}/lab**")
    assignments(page)
    page.get_by_role("button", name="Fetch", exact=True).click()
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_visible()
    page.goto(f"{hub.own(who)}/lab/workspaces/work/tree/{ASSIGNMENT}/{NOTEBOOK}.ipynb")
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    run_all(page)


def hands_in(hub: Hub, page: Page, who: str) -> None:
    """Save the notebook, and submit it in the Assignment List."""
    with page.expect_response(lambda told: "/api/contents/" in told.url and told.request.method == "PUT"):
        page.keyboard.press("Control+S")
    page.goto(f"{hub.own(who)}/lab/workspaces/list")
    assignments(page)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_role("button", name="Fetch Feedback")).to_be_visible()
    picture(page, "hub-assignment-list")


def reads(hub: Hub, page: Page, who: str) -> str:
    """Fetch the feedback in the Assignment List, and return the page that came."""
    page.goto(f"{hub.own(who)}/lab/workspaces/list")
    assignments(page)
    page.get_by_role("button", name="Fetch Feedback").click()
    expect(page.get_by_text("(view feedback)")).to_be_visible()
    picture(page, "hub-feedback")
    (path,) = hub.home(who).glob(f"{ASSIGNMENT}/feedback/*/{NOTEBOOK}.html")
    return path.read_text()
