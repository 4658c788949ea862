"""The card: what a student sees of a check, on a page and in a terminal, and what nobody may see there."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re

import pytest
import torch
from msgspec.structs import asdict, replace

from autograder.cards import colours
from autograder.cards.card import as_student_sees, card_brief, card_html, card_text, task_outputs
from autograder.cards.picture import picture_text
from autograder.cards.progress import TaskSoFar, progress_html, progress_line, progress_text
from autograder.checking import case, expect
from autograder.checking.explain.evidence import Axis, Difference, Dimension, Evidence, Prints, Shape
from autograder.checking.explain.failure import CheckFailed
from autograder.checking.inputs.recurrent import RECURRENT
from autograder.grading.judging.carried_errors import merged
from autograder.verdict import Diagnosis, plain
from tests.support.cards import (
    SIZES,
    Page,
    card,
    failure,
    from_failure,
    verdict,
    wrong_from_step,
    wrong_shape,
)
from tests.support.contrast import contrast

PAGES = {"light": "#ffffff", "dark": "#111111", "VS Code dark": "#1e1e1e"}


# Points


def test_full_points_need_every_check_also_those_without_points():
    task = card(verdict("passed", points=2.0, most=2.0), verdict("failed", most=0.0))
    assert (task.score, task.kept_back) == (1.5, 0.5)
    assert plain(task)["kept_back"] == 0.5
    for page in (card_html(task), card_text(task)):
        assert "1.5 of 2 points" in page
        assert "Half a point is kept back until every check passes" in page


@pytest.mark.parametrize(
    "checks",
    [
        (verdict("failed", points=1.5, most=2.0), verdict("failed", most=0.0)),  # it costs already
        (verdict("passed", points=2.0, most=2.0), verdict("passed", most=0.0)),
        (),
    ],
)
def test_nothing_is_kept_back_where_something_else_costs_or_all_passes(checks):
    task = card(*checks)
    assert (task.score, task.kept_back) == (sum(check.points for check in checks), 0.0)
    assert "kept back" not in card_text(task)


# Colours


def test_contrast_is_measured_as_wcag_does():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # just not AA


def test_every_colour_is_readable_on_light_and_dark_pages():
    used = (wrong_shape(), wrong_from_step())
    pages = [
        card_html(card(*used, verdict("passed"), verdict("skipped"))),
        card_html(card(verdict(message="Not written yet.", unwritten=True))),
        progress_html("a", [TaskSoFar("b", "", 1.0), TaskSoFar("c", "", 1.0, earned=1.0)]),
    ]
    pairs, edges = set(), set()
    for page in pages:
        for _, name, style in Page(page).attributes:
            if name == "style":
                rules = dict(rule.split(":", 1) for rule in style.split(";") if rule)
                ground, ink = rules.get("background-color", "transparent"), rules.get("color")
                assert (ground == "transparent") == (ink is None), "a colour whose counterpart is the page's"
                if ink:
                    pairs.add((ink, ground))
                edges.update(re.findall(r"#\w+", rules.get("border-left", "")))
    assert {ground for _, ground in pairs} >= {colours.DIMENSIONS["time"], colours.WRONG, colours.PASSED}
    assert {colours.WRONG, colours.TO_DO} <= edges
    for ink, ground in pairs | {(colours.INK, ground) for ground in colours.DIMENSIONS.values()}:
        assert contrast(ink, ground) >= 4.5, (ink, ground)
    for (name, page), ground in itertools.product(PAGES.items(), {g for _, g in pairs} | edges):
        assert contrast(ground, page) >= 3, (ground, name)


def test_every_dimension_has_a_colour_of_its_own():
    assert set(colours.DIMENSIONS) == {each.name for each in RECURRENT.values()}
    assert len(set(colours.DIMENSIONS.values())) == len(RECURRENT)
    assert colours.DIMENSIONS["hidden"] in colours.dimension("4·hidden", 44)
    assert "background-color" not in colours.dimension("", 9)


# Shapes


def test_shapes_are_shown_by_name_and_the_sentence_gives_way():
    check = wrong_shape()
    page = Page(card_html(card(check))).text
    assert "seen (time 7, batch 5, hidden 11)" in page
    assert "expected (batch 5, time 7, hidden 11)" in page
    assert "has shape" not in page
    assert "The batch and time dimensions are swapped" in page
    assert check.message in card_text(card(check))  # a terminal has the sentence


def test_a_case_is_told_before_the_shapes():
    with pytest.raises(CheckFailed) as caught, case("with one sequence (B = 1)"):
        expect(torch.zeros(11), torch.zeros(1, 11), names="h", dims="B H", sizes=SIZES.but(B=1))
    page = Page(card_html(card(from_failure(caught.value)))).text
    assert "With one sequence (B = 1): h does not have the expected shape." in page
    assert "(batch 1, hidden 11)" in page


def test_a_single_number_and_a_message_that_was_cut():
    check = from_failure(failure(torch.tensor(1.0), torch.zeros(5, 7, 11), "B T H"))
    assert "seen () – a single number" in Page(card_html(card(check))).text
    cut = replace(check, message=check.message[:30])
    assert cut.message.replace("`", "") in Page(card_html(card(cut))).text


# The card


def test_the_first_to_fix_is_on_top_and_only_it_is_red():
    task = card(verdict("passed", ""), wrong_shape(), verdict(message="Later."), verdict("skipped", "waits"))
    page = card_html(task)
    top, _, folded = page.partition("<details")
    assert "the expected shape" in top
    assert "Later." in folded
    assert top.count(f"background-color:{colours.WRONG}") == 1
    assert colours.WRONG not in folded
    assert not re.search(r"<details[^>]* open", page)
    assert "3 other checks: 1 passed, 1 more to look at after this one, 1 not judged" in Page(page).text


@pytest.mark.parametrize("outcome", ["passed", "failed", "error", "timeout", "crashed", "skipped"])
def test_every_outcome_is_said_in_words(outcome):
    word = {
        "passed": "passed", "failed": "failed", "error": "stopped with an error", "timeout": "took too long",
        "crashed": "crashed", "skipped": "not judged",
    }[outcome]  # fmt: skip
    task = card(verdict(), verdict(outcome))
    for text in (Page(card_html(task)).text, card_text(task)):
        assert word in text


def test_what_is_not_written_yet_is_no_mistake():
    page = card_html(card(verdict(message="Nothing is here yet.", unwritten=True)))
    assert colours.WRONG not in page
    assert "still to do" in page


def test_the_text_has_all_that_the_page_has():
    task = card(
        replace(wrong_from_step(), diagnosis=Diagnosis("m", "Look at `h`.")),
        verdict("error", "Your code stopped.\nHere."),
        note="Judged with another.",
    )
    text = card_text(task, "A note.")
    for said in ("It is right.", "Look at `h`.", "Your code stopped.", "Here.", "A note.", "0 of 1 points"):
        assert said in text


def test_where_there_is_little_room_the_first_to_fix_is_told_in_lines_that_fit():
    first = replace(wrong_from_step(), diagnosis=Diagnosis("m", "Look at `h`, " * 12))
    task = card(verdict("passed", title="It is a shape."), first, *(verdict("skipped"),) * 3)
    full, brief = card_text(task, "A note."), card_brief(task, 83)
    assert max(map(len, full.splitlines())) > 83
    assert max(map(len, brief.splitlines())) <= 83
    told = " ".join(brief.split())
    assert told.startswith("lstm_cell: 0 of 2 points ✗ It is right. (failed, 0 of 1 points)")
    assert told.endswith("4 other checks: 1 passed, 3 not judged.")
    assert " ".join(first.diagnosis.hint.split()) in told
    assert all(line.startswith("    ") for line in brief.splitlines()[2:-1]), "broken lines stay as far in"
    picture = picture_text(first.difference)[1:]
    assert [line.strip() for line in brief.splitlines() if "····" in line] == [p.strip() for p in picture]
    assert card_brief(card(verdict(message="https://" + "x" * 90)), 40).count("x" * 90) == 1
    assert card_brief(card(verdict("passed"), most=1.0), 83).splitlines()[1:] == ["  The one check passed."]


def test_a_note_of_the_judging_reaches_the_student():
    (shown,) = task_outputs(card(verdict(), note="Judged with a correct `a` instead of yours."))
    assert "Judged with a correct <code>a</code>" in shown["data"]["text/html"]
    assert shown["data"]["text/plain"] == "0.0"


def test_nothing_of_a_hidden_check_is_shown():
    for check in (wrong_shape(), wrong_from_step()):
        hidden = replace(
            check, title="SECRET", message=f"SECRET {check.message}", hidden=True, instead="More is asked.",
            diagnosis=Diagnosis("SECRET", "SECRET"), printed=Prints("SECRET", "SECRET"),
        )  # fmt: skip
        assert as_student_sees(hidden).difference is None
        for text in (
            card_html(card(hidden)),
            card_text(card(hidden)),
            json.dumps(task_outputs(card(hidden))),
        ):
            assert "More is asked." in text
            for secret in ("SECRET", "hidden 11", "(batch", "steps", "<table"):
                assert secret not in text


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)> `</code></div></details>` \"'&"


def test_hostile_texts_stay_texts():
    shape = Shape(HOSTILE, (Dimension(HOSTILE, 3), Dimension("", 10**30)))
    axis = Axis(HOSTILE, 4, 1, (0, 1, 2, 3))
    shown = Evidence(shape, shape, Difference(HOSTILE, axis, axis, ((0, 1, 2, 3),) * 4))
    check = replace(
        verdict(message=HOSTILE, **asdict(shown)),
        title=HOSTILE,
        diagnosis=Diagnosis(HOSTILE, HOSTILE),
    )
    task = replace(card(check, check), task=HOSTILE, note=HOSTILE)
    about = TaskSoFar(HOSTILE, HOSTILE, 1.0)
    plain = card(verdict(), verdict("passed"))
    normal = set(Page(card_html(card(wrong_shape(), wrong_from_step()))).tags) | {"em", "p", "details"}
    for text in (card_html(task, HOSTILE), progress_html(HOSTILE, [about])):
        page = Page(text)
        assert set(page.tags) <= normal | set(Page(card_html(plain)).tags)
        assert {name for _, name, _ in page.attributes} <= {"style", "role", "aria-label", "aria-hidden"}
        assert "<script>alert(1)</script>" in page.text  # as text


def test_a_page_needs_nothing_but_styles_in_line():
    """Neither classes nor sheets nor scripts: what a notebook's sanitizer leaves of it is all there is."""
    page = Page(card_html(card(wrong_from_step(), wrong_shape(), verdict("passed")), "note"))
    assert not {"script", "style", "svg", "img", "iframe", "link"} & set(page.tags)
    names = {name for _, name, _ in page.attributes}
    assert names <= {"style", "role", "aria-label", "aria-hidden"}
    for _, name, style in page.attributes:
        assert name != "style" or not re.search(r"url|var\(|light-dark|color-mix|opacity", style)


def test_the_json_tells_what_was_seen():
    shape, picture = (json.loads(json.dumps(plain(check))) for check in (wrong_shape(), wrong_from_step()))
    assert shape["seen"] == {"name": "output", "shape": [["time", 7], ["batch", 5], ["hidden", 11]]}
    assert shape["expected"] == {"name": "output", "shape": [["batch", 5], ["time", 7], ["hidden", 11]]}
    assert shape["difference"] is None
    picture = picture["difference"]
    starts, one = list(range(7)), "time step"
    assert picture["columns"] == {"name": "time", "size": 7, "blocks": 1, "starts": starts, "one": one}
    assert [len(row) for row in picture["levels"]] == [7] * 5
    assert plain(verdict()).keys() >= {"seen", "expected", "difference"}


def test_a_second_judging_shows_nothing_of_itself():
    first, second = wrong_from_step(2), wrong_from_step(5)
    told = [verdict("passed", "", 1.0), replace(second, points=0.0)]
    joined = merged(card(verdict(), first), card(*told), ["lstm_gates"])
    assert joined.checks[1].difference == first.difference
    assert joined.checks[0].difference is None
    waited = merged(card(verdict(), verdict("skipped", "")), card(*told), ["lstm_gates"])
    assert waited.checks[1].difference is None


# The notebook's points


TASKS = [
    TaskSoFar("lstm_gates", "The gates.", 2.0, earned=2.0),
    TaskSoFar("lstm_cell", "One step.", 2.0, earned=1.0),
    TaskSoFar("LSTMCell", "A module.", 4.0, only_graded=0.5),
    TaskSoFar("copy_from_torch", "Weights.", 2.0),
]


def test_the_points_so_far_in_one_sentence():
    assert progress_line(TASKS) == (
        "This notebook so far: `lstm_gates` 2/2, `lstm_cell` 1/2, `LSTMCell` and `copy_from_torch` not "
        "checked yet. 3 of 9.5 points so far; 0.5 more at grading."
    )
    changed = [dataclasses.replace(TASKS[0], changed=True), TASKS[1]]
    assert "`lstm_gates` changed since its check" in progress_line(changed)


def test_the_list_says_how_each_stands_and_how_to_check_it():
    text, page = progress_text("lstm_cell", TASKS), Page(progress_html("lstm_cell", TASKS)).text
    for said in ("lstm_cell: 3 of 9.5 points so far", 'check("LSTMCell")', "One step.", "not checked yet",
                 "everything holds", "not finished"):  # fmt: skip
        assert said in text
        assert said in page
    whole = dataclasses.replace(TASKS[2], earned=3.5)
    assert "everything holds, 3.5 of 3.5 points; 0.5 more at grading" in progress_text("a", [whole])


# Two mistakes


def named(check, mistake, **more):
    return replace(verdict("failed", **more), check=check, title=check, diagnosis=Diagnosis(mistake, mistake))


def test_a_second_known_mistake_is_pointed_at():
    for page in (card_html, card_text):
        assert "Another common mistake shows in the check “b”" in page(
            card(named("a", "one"), named("b", "two"))
        )
        assert "Another known mistake" not in page(card(named("a", "one"), named("b", "one")))
        assert "Another known mistake" not in page(card(named("a", "one"), verdict("failed")))
        assert "Another known mistake" not in page(card(verdict("failed"), named("b", "two")))
    hidden = replace(named("b", "two"), hidden=True, instead="It is right elsewhere, too.")
    assert "Another known mistake" not in card_text(card(named("a", "one"), hidden))


def test_what_was_printed_is_folded_below_the_hint():
    printed = Prints("`f` with an input of shape (2,)", "\n".join(f"step {step}" for step in range(24)))
    check = replace(wrong_from_step(), diagnosis=Diagnosis("m", "Look at `h`."), printed=printed)
    page, text = card_html(card(check)), card_text(card(check))
    assert page.index("Look at") < page.index("<details") < page.index("step 0") < page.index("</details>")
    assert not re.search(r"<details[^>]* open", page)
    assert text.index("Look at `h`.") < text.index("step 0")


def test_no_word_of_a_card_is_about_what_comes_later():
    """The same card is graded for good, when nothing is to follow."""
    task = card(verdict(), verdict("skipped"), verdict("error"), verdict("passed"))
    for text in (Page(card_html(task)).text, card_text(task), card_brief(task, 83)):
        assert "yet" not in text
