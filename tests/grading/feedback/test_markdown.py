"""Markdown of students' on the feedback page: safe to open, complete without a network, never in the way."""

from __future__ import annotations

import html
import re

import pytest

from autograder.grading.feedback.markdown import LONGEST, code_html, formula_html, markdown_html
from tests.support.courses import ROOT, released
from tests.support.reports import Page

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<img src=https://evil.example/x.png>",
        "![](https://evil.example/x.png)",
        "[click](javascript:alert(1))",
        '<a href="data:text/html,<script>alert(1)</script>">click</a>',
        '<p style="background:url(https://evil.example/x.png)">x</p>',
        "<iframe src=https://evil.example></iframe><object data=https://evil.example></object>",
        "<svg onload=alert(1)><use href=https://evil.example/x.svg#a></use></svg>",
        r"$\text{<script>alert(1)</script>}$",
        r"$\href{javascript:alert(1)}{x}\style{background:url(https://evil.example)}{y}$",
        "```mermaid\n<script>alert(1)</script>\n```",
        "```html\n<script>alert(1)</script>\n```",
        '![a" onerror="alert(1)](attachment:a.png)',
        '<div title="\n\n$$x\\text{" onclick="alert(1)}$$\n\n">x</div>',
        "<details open ontoggle=alert(1)><summary>x</summary></details>",
        '<math><mtext><table><mglyph><style><img src=x onerror="alert(1)">',
        "<form action=https://evil.example><input name=x></form>",
        "<base href=https://evil.example><link rel=stylesheet href=https://evil.example>",
    ],
)
def test_no_script_runs_and_nothing_is_fetched(source):
    attachments = {"a.png": {"image/png": PIXEL}}
    read = Page(f"<div>{markdown_html(source, attachments=attachments)}</div>")
    for tag, attributes in read.elements:
        assert tag not in {
            "script",
            "style",
            "iframe",
            "object",
            "svg",
            "use",
            "form",
            "input",
            "base",
            "link",
        }
        assert not [name for name in attributes if name.startswith("on")], source
        assert str(attributes.get("src", "data:image/")).startswith("data:image/"), source
        assert not re.match(r"(javascript|data):", str(attributes.get("href"))), source
        assert "url(" not in str(attributes.get("style")), source


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("before ![x](attachment:foo.png) after", "(image foo.png is missing in the file)"),
        ("![x](attachment:my%20image.png)", "(image my image.png is missing in the file)"),
        ("![x](nowhere.png)", "(image nowhere.png is missing in the file)"),
        (
            "![x](https://a.example/b.png)",
            "(image https://a.example/b.png: nothing is loaded from the network)",
        ),
        (r"$\frac$", r"\frac"),
        (r"$\left( x$", r"\left( x"),
        ("\\begin{nonsense} x \\end{other}", "nonsense"),
        ("[" * LONGEST, "[[["),
        ("> " * 5000 + "deep", "deep"),
        ("x" * (LONGEST + 1), "xxx"),
        ("\x00 \ud800 &#xD800; \u202e", ""),
        ("```no-such-language\nx = 1\n```", "x = 1"),
        ("", ""),
    ],
    ids=lambda value: repr(value[:25]),
)
def test_what_cannot_be_rendered_is_said_or_shown_as_it_was_written(source, shown):
    told = markdown_html(source)
    assert shown in html.unescape(re.sub(r"<[^>]*>", "", told))


@pytest.mark.parametrize(
    "attached",
    [{}, None, "text", {"text/html": "<script>"}, {"image/png": 5}],
)
def test_attachments_of_any_shape_stop_nothing(attached):
    assert "words" in markdown_html("words ![](attachment:a.png)", attachments={"a.png": attached})


def test_an_attachment_is_on_the_page_itself():
    (image,) = Page(
        markdown_html("![my **drawing**](attachment:a.png)", attachments={"a.png": {"image/png": PIXEL}})
    ).all("img")
    assert image == {"src": f"data:image/png;base64,{PIXEL}", "alt": "my drawing"}


def test_an_image_may_be_written_as_html_too():
    attachments = {"a.png": {"image/png": PIXEL}}
    source = '<img src="attachment:a.png" width=300 alt="mine"> and <img src="attachment:b.png">'
    told = markdown_html(source, attachments=attachments)
    assert Page(told).all("img") == [{"src": f"data:image/png;base64,{PIXEL}", "alt": "mine"}]
    assert "(image b.png is missing in the file)" in told


def test_images_together_are_no_larger_than_a_page_may_be():
    large = {"a.png": {"image/png": "A" * 3_000_000}}
    told = markdown_html("![](attachment:a.png)\n" * 500, attachments=large)
    assert told.count("<img") == 6
    assert "there are too many to show" in told


def test_an_image_of_the_course_is_on_the_page_and_nothing_beside_the_course(tmp_path):
    (tmp_path / "release").mkdir()
    for folder in (tmp_path, tmp_path / "release"):
        (folder / "unrolled.png").write_bytes(b"picture")
    assert 'src="data:image/png;base64,' in markdown_html("![](unrolled.png)", folder=tmp_path / "release")
    assert "is missing" in markdown_html("![](../unrolled.png)", folder=tmp_path / "release")


def test_every_formula_of_the_course_becomes_mathml():
    formulas = 0
    for folder in sorted((ROOT / "release").iterdir()):
        for cell in released(folder.name).cells if folder.is_dir() else ():
            if cell.cell_type == "markdown":
                told = markdown_html(cell.source)
                formulas += told.count("<math ")
                assert "$" not in re.sub(r"<(code|pre).*?</\1>", "", told, flags=re.DOTALL), cell.source
    assert formulas > 100
    assert formula_html("c_t", "inline").endswith("<msub><mi>c</mi><mi>t</mi></msub></mrow></math>")


def test_headings_follow_each_other_below_the_pages_own():
    told = markdown_html("# A\n\n### B\n\n<h6>C</h6>\n\n# D\n\n###### E", below=3)
    assert re.findall(r"<h(\d)", told) == ["4", "5", "6", "4", "5"]


def test_a_table_keeps_its_columns():
    told = markdown_html("| a | b |\n|:--|--:|\n| 1 | 2 |")
    assert told.count("<td") == 2
    assert 'style="text-align:right;"' in told


def test_code_is_escaped_and_coloured():
    told = code_html("def f():\n    return '</pre><script>'")
    assert '<span class="k">def</span>' in told
    assert "<script>" not in told
