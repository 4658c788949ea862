"""Text that students write stays in the graded notebook, in its place, for a person to read."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbgrader.utils import compute_checksum, determine_grade

from autograder.grading.assignment.cells import grade_id
from autograder.grading.assignment.rebuild import Rebuilt, rebuild
from tests.grading.judging.test_own_tests import marked
from tests.support.helpers import cell_named, code_cell, make_bundle, released

QUESTION = "## Explain\n\nWhy does a gradient reach the weight?"
IMAGE = base64.b64encode(b"\x89PNG\r\n\x1a\n and the rest").decode()


def text_cell(source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {}, "id": f"own-{hash(source)}", **more}


def notebook() -> dict[str, Any]:
    """The released notebook with a question and a free answer."""
    data = json.loads(json.dumps(released()))
    essay = marked("YOUR ANSWER HERE", "essay", grade=True, solution=True, points=2)
    essay["cell_type"] = "markdown"
    del essay["outputs"], essay["execution_count"]
    made = nbformat.from_dict(essay)
    essay["metadata"]["nbgrader"]["checksum"] = compute_checksum(made)
    data["cells"] += [{**text_cell(QUESTION), "id": "question"}, essay]
    return data


def of(data: dict[str, Any]) -> Rebuilt:
    return rebuild(json.dumps(data).encode(), replace(make_bundle(), released=json.dumps(notebook())))


def sources(rebuilt: Rebuilt) -> list[str]:
    return [cell["source"] for cell in rebuilt.notebook.cells]


def kinds(rebuilt: Rebuilt) -> list[str]:
    return [finding.kind for finding in rebuilt.findings]


def points_of_essay(rebuilt: Rebuilt) -> float | None:
    points: float | None = determine_grade(next(c for c in rebuilt.notebook.cells if grade_id(c) == "essay"))[
        0
    ]
    return points


def test_an_untouched_answer_without_any_text_gets_nothing():
    rebuilt = of(notebook())
    assert (kinds(rebuilt), points_of_essay(rebuilt)) == ([], 0)
    assert sources(rebuilt) == [cell["source"] for cell in notebook()["cells"]]


def test_an_answer_below_its_cell_waits_for_a_person():
    data = notebook()
    data["cells"].append(text_cell("Because of the product rule."))
    rebuilt = of(data)
    assert sources(rebuilt)[-2:] == ["YOUR ANSWER HERE", "Because of the product rule."]
    assert (kinds(rebuilt), points_of_essay(rebuilt)) == (["answer_beside"], None)


def test_an_answer_in_the_question_is_kept_below_it_and_waits():
    data = notebook()
    data["cells"][-2]["source"] += "\n\n**My answer**: the product rule."
    rebuilt = of(data)
    assert sources(rebuilt)[-3] == QUESTION, "the released question stays"
    assert sources(rebuilt)[-2].endswith("**My answer**: the product rule.")
    assert QUESTION not in sources(rebuilt)[-2], "only what the student wrote"
    assert (kinds(rebuilt), points_of_essay(rebuilt)) == (["answer_beside"], None)


def test_names_on_top_are_kept_and_are_no_answer():
    data = notebook()
    data["cells"].insert(0, text_cell("Group 7: Ada Lind, Bob Ash."))
    rebuilt = of(data)
    assert sources(rebuilt)[0] == "Group 7: Ada Lind, Bob Ash."
    assert (kinds(rebuilt), points_of_essay(rebuilt)) == ([], 0)


def test_a_text_in_a_raw_cell_is_shown_letter_by_letter():
    data = notebook()
    data["cells"].insert(1, {**text_cell("<b>raw</b>"), "cell_type": "raw"})
    assert sources(of(data))[1] == "    <b>raw</b>\n"


def test_code_in_a_test_cell_is_kept_as_text_and_does_not_run():
    data = notebook()
    cell_named(data, "check_lstm_gates")["source"] += "\nprint('mine')"
    rebuilt = of(data)
    (kept,) = [cell for cell in rebuilt.notebook.cells if "print('mine')" in cell["source"]]
    assert kept["cell_type"] == "markdown"
    assert kinds(rebuilt) == ["edited_check"]
    assert not any("mine" in step.source for step in rebuilt.steps)


def test_the_copy_of_an_answer_that_does_not_count_can_be_read():
    data = notebook()
    first = cell_named(data, "lstm_gates")
    data["cells"].insert(data["cells"].index(first), {**first, "source": "one = 1", "id": "first-copy"})
    first["source"] = "two = 2"
    rebuilt = of(data)
    assert rebuilt.sources["lstm_gates"] == "two = 2"
    assert any("one = 1" in source for source in sources(rebuilt))


def test_an_answer_in_a_markdown_cell_counts_and_is_told():
    data = notebook()
    cell = cell_named(data, "lstm_gates")
    cell.update(cell_type="markdown", source="def lstm_gates(): pass")
    del cell["outputs"], cell["execution_count"]
    rebuilt = of(data)
    assert rebuilt.sources["lstm_gates"] == "def lstm_gates(): pass"
    assert kinds(rebuilt) == ["cell_type"]


def test_pasted_images_travel_and_one_that_is_missing_stops_no_page():
    data = notebook()
    data["cells"][-1].update(
        source="![](attachment:mine.png) ![](attachment:lost%20one.png)",
        attachments={"mine.png": {"image/png": IMAGE}, "page.html": {"text/html": "<script>"}},
    )
    data["cells"].append(text_cell("![](attachment:own.png)", attachments={"own.png": {"image/png": IMAGE}}))
    rebuilt = of(data)
    answer, own = rebuilt.notebook.cells[-2:]
    assert answer["attachments"]["mine.png"] == own["attachments"]["own.png"] == {"image/png": IMAGE}
    assert "page.html" not in answer["attachments"]
    page, _ = HTMLExporter().from_notebook_node(rebuilt.notebook)
    assert page.count(IMAGE) == 2
    del data["cells"][-2]["attachments"]["mine.png"]
    assert of(data).digest() != rebuilt.digest(), "an image that was changed is another answer"


@pytest.mark.parametrize("place", [0, 5, -1])
def test_line_ends_of_another_system_are_no_change(place: int):
    data, added = notebook(), code_cell("mine = 1")
    data["cells"].insert(place, added)
    windows = json.loads(json.dumps(data))
    for cell in windows["cells"]:
        cell["source"] = cell["source"].replace("\n", "\r\n")
    assert of(windows).digest() == of(data).digest()
