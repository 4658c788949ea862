"""Our own pages for everybody: axe-core, headings in order, the keyboard, on light and on dark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from autograder.cards.card import card_html
from autograder.cards.progress import TaskSoFar, progress_html
from autograder.grading.course.course import Course
from autograder.reporting.overview.class_report import gather_course
from autograder.reporting.overview.page import write_course_page
from tests.support.cards import card, verdict, wrong_from_step, wrong_shape
from tests.support.environments.browsers import WIDTH, Lab, axe_findings, jupyter_lab, looking, run_all
from tests.support.helpers import ASSIGNMENT, code_cell, released

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STOPS = "a[href], button, input, summary, [tabindex='0']"
GROUNDS = {"light": ("#ffffff", "#000000de"), "dark": ("#111111", "#ffffffde")}
"""Paper and ink of JupyterLab's themes, which the card takes over."""


@pytest.fixture(params=["light", "dark"])
def report(request, browser, demo) -> Iterator[Page]:
    with looking(browser, color_scheme=request.param) as page:
        page.goto((demo[0] / "reports" / f"{ASSIGNMENT}.html").as_uri())
        yield page


@pytest.fixture(params=["light", "dark"])
def course_report(request, browser, demo, tmp_path) -> Iterator[Page]:
    write_course_page(gather_course(Course.at(demo[0])), tmp_path / "course.html")
    with looking(browser, color_scheme=request.param) as page:
        page.goto((tmp_path / "course.html").as_uri())
        yield page


@pytest.fixture(params=GROUNDS)
def cards(request, browser, demo) -> Iterator[Page]:
    """Every card of the demo's class below one another, on a theme's ground."""
    paper, ink = GROUNDS[request.param]
    shown = "".join(f"<section>{each}</section>" for each in cards_of(demo[0]))
    style = f"background:{paper};color:{ink};font:14px sans-serif"
    with looking(browser) as page:
        page.set_content(
            f"<!DOCTYPE html><html lang=en><title>Cards</title><body style='{style}'>"
            f"<main><h1>Cards</h1>{shown}</main></body></html>"
        )
        yield page


def cards_of(course: Path) -> list[str]:
    """Every different card in the graded notebooks of a course, and the kinds that they lack."""
    tasks = [TaskSoFar("lstm_gates", "The four gates.", 2.0), TaskSoFar("LSTMCell", "", 4.0, 0.5, 3.5)]
    more = [
        card_html(card(wrong_shape(), verdict("error")), "A note."),
        card_html(card(wrong_from_step(), verdict("skipped"))),
        card_html(card(verdict(message="Not written yet.", unwritten=True))),
        progress_html("lstm_cell", tasks),
    ]
    notebooks = (json.loads(path.read_text()) for path in (course / "autograded").rglob("*.ipynb"))
    outputs = (
        output.get("data", {}).get("text/html", "")
        for notebook in notebooks
        for cell in notebook["cells"]
        for output in cell.get("outputs", [])
    )
    found = dict.fromkeys("".join(text) for text in outputs)
    return [text for text in found if 'role="group"' in text] + more


OUTPUTS = ".jp-Notebook .jp-OutputArea-output.jp-RenderedHTMLCommon"

LOST = """(outputs, cards) => {
    const parts = root => [...root.querySelectorAll("*")].map(
        each => [each.tagName, each.style.cssText, each.childElementCount ? "" : each.textContent].join("|"));
    return outputs.flatMap((output, at) => {
        const whole = document.createElement("div"), kept = parts(output);
        whole.innerHTML = cards[at];
        return parts(whole).filter((part, place) => part !== kept[place]);
    });
}"""
"""Which elements of the cards are not in JupyterLab's outputs as they are in the cards: with their styles."""


@pytest.fixture(params=["Light", "Dark"])
def themed(request, demo, tmp_path) -> Iterator[tuple[Lab, str, list[str]]]:
    """JupyterLab in one of its themes, with a notebook that has every card of the demo's class as the
    outputs of one cell, and shows them again when it is run; and the cards."""
    shown = [{"text/html": each} for each in cards_of(demo[0])]
    cell = code_cell(f"for card in {shown!r}:\n    display(card, raw=True)")
    cell["outputs"] = [{"output_type": "display_data", "data": each, "metadata": {}} for each in shown]
    home = tmp_path / "home"
    home.mkdir()
    (home / "cards.ipynb").write_text(json.dumps({**released(), "cells": [cell]}))
    with jupyter_lab(home, tmp_path / "settings", request.param) as lab:
        yield lab, request.param, [each["text/html"] for each in shown]


def test_axe_sees_what_is_wrong(browser):
    pale = "<html lang=en><title>x</title><main><h1>x</h1><p style='color:#bbb'>pale</p></main>"
    with looking(browser) as page:
        page.set_content(pale)
        assert any("color-contrast" in finding for finding in axe_findings(page))


def test_axe_finds_nothing_in_the_report(report):
    report.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert axe_findings(report) == []


def test_axe_finds_nothing_in_the_report_of_a_course(course_report):
    assert course_report.locator("table").count() > 4
    course_report.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert axe_findings(course_report) == []
    levels = course_report.locator("h1, h2, h3").evaluate_all("all => all.map(h => +h.tagName[1])")
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    assert course_report.evaluate("document.documentElement.scrollWidth") <= WIDTH


def test_axe_finds_nothing_in_any_card(cards):
    assert cards.get_by_role("group", name="Checks of").count() > 8
    cards.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert axe_findings(cards) == []


def test_axe_finds_nothing_in_any_card_in_jupyterlab(browser, themed):
    """Neither after a run nor in a notebook that JupyterLab does not trust, which it shows first."""
    lab, theme, shown = themed
    with looking(browser, viewport={"width": WIDTH, "height": 8000}) as page:  # all in view at once
        page.goto(lab.at("lab/tree/cards.ipynb"))
        expect(page.locator("body")).to_have_attribute("data-jp-theme-name", f"JupyterLab {theme}")
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
        # JupyterLab's body is 0 high and hides what is beyond it: axe would take all there is for hidden.
        page.add_style_tag(content="body { height: 100vh !important; }")
        assert page.locator(OUTPUTS).evaluate_all(LOST, shown) == []
        for labels in (0, len(shown)):  # the sanitizer takes them away
            expect(page.locator(f"{OUTPUTS} [role=group]")).to_have_count(labels)
            expect(page.locator(OUTPUTS)).to_have_count(len(shown))
            page.locator(OUTPUTS).evaluate_all(
                "all => all.forEach(o => o.querySelectorAll('details').forEach(d => { d.open = true; }))"
            )
            assert axe_findings(page, OUTPUTS) == []
            if not labels:
                run_all(page)
        page.locator(OUTPUTS).last.evaluate("each => { each.innerHTML = '<p style=color:#777>pale</p>'; }")
        assert any("color-contrast" in finding for finding in axe_findings(page, OUTPUTS))


def test_headings_of_the_report_are_in_order(report):
    levels = report.locator("h1, h2, h3, h4, h5, h6").evaluate_all("all => all.map(h => +h.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels


def test_every_control_of_the_report_is_reached_by_tab_and_shows_it(report):
    expected = report.locator(STOPS).evaluate_all(
        "all => all.filter(e => e.checkVisibility()).map((e, i) => e.dataset.stop = String(i))"
    )
    assert len(expected) > 20
    reached = []
    for _ in expected:
        report.keyboard.press("Tab")
        stop, outline = report.evaluate(
            "[document.activeElement.dataset.stop, getComputedStyle(document.activeElement).outlineStyle]"
        )
        assert outline != "none", f"nothing shows that control {stop} has the focus"
        reached.append(stop)
    assert reached == expected


def test_the_report_is_sorted_with_the_keyboard(report):
    head = report.locator("#submissions th").filter(has_text="score").first
    head.get_by_role("button").focus()
    report.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"


def test_what_a_card_folds_away_opens_with_the_keyboard(cards):
    folded = cards.locator("details:not([open])").first
    folded.evaluate("each => { each.id = 'folded'; each.querySelector('summary').dataset.mine = 'yes'; }")
    stops = cards.locator("summary").count()
    for _ in range(stops):
        cards.keyboard.press("Tab")
        if cards.evaluate("document.activeElement.dataset.mine") == "yes":
            break
    cards.keyboard.press("Enter")
    assert cards.locator("#folded").get_attribute("open") is not None
