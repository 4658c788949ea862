"""The feedback page in a real browser: what is seen first, on a phone and on a desk, and what is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.environments.browsers import axe_findings, card, looking, picture
from tests.support.reports import page_of, with_feedback

pytestmark = pytest.mark.browser

SIZES = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 800}}


@pytest.fixture(scope="module")
def course(graded_class: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_feedback(graded_class, tmp_path_factory.mktemp("feedback"))


@pytest.mark.parametrize(
    ("size", "theme"),
    [
        ("phone", "dark"),
        ("desk", "light"),
        pytest.param("phone", "light", marks=pytest.mark.slow),
        pytest.param("desk", "dark", marks=pytest.mark.slow),
    ],
)
def test_points_tasks_and_what_to_look_at_first_are_seen_without_scrolling(browser, course, size, theme):
    for student in ("ben", "cem", "fay"):
        with looking(browser, viewport=SIZES[size], color_scheme=theme) as page:
            fetched: list[str] = []
            page.on("request", lambda request, fetched=fetched: fetched.append(request.url))
            page.goto(page_of(course, student).as_uri())
            for seen in (
                page.get_by_role("heading", level=1),
                page.locator(".first"),
                page.locator(".tasks"),
            ):
                expect(seen).to_be_in_viewport(ratio=1)
            assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
            picture(page, f"feedback-{student}-{theme}-{size}")
            page.locator(".tasks").get_by_role("link", name="lstm_gates").click()
            expect(card(page, "lstm_gates")).to_be_in_viewport()
            assert fetched[0].startswith("file:")
            assert len({url.partition("#")[0] for url in fetched}) == 1, fetched


def test_what_a_student_wrote_runs_nothing_and_fetches_nothing(browser, course):
    with looking(browser) as page:
        fetched: list[str] = []
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(page_of(course, "ada").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        page.wait_for_load_state("networkidle")
        assert fetched == [page_of(course, "ada").as_uri()]
        expect(page).to_have_title("lstm_cell: 10 of 10 points")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_with_all_open(browser, course, theme):
    for student in ("cem", "gus"):
        with looking(browser, viewport=SIZES["desk"], color_scheme=theme) as page:
            page.goto(page_of(course, student).as_uri())
            page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            # The first column of a table of the course's has no title, on purpose.
            assert [found for found in axe_findings(page) if "(empty-table-header)" not in found] == []
