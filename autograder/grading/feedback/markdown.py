"""A notebook's texts as HTML that is safe to open, needs no network, and always comes to be.

What students write reaches their graders' browsers. So everything is cleaned by bleach, but for what is made
here of plain text: formulas, images, highlighted code. Those are put away while the rest is cleaned.
"""

from __future__ import annotations

import base64
import mimetypes
import re
import secrets
from collections.abc import Mapping
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import tostring

from bleach.css_sanitizer import CSSSanitizer
from bleach.sanitizer import Cleaner
from bs4 import BeautifulSoup
from latex2mathml.converter import Converter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.util import ClassNotFound

LONGEST = 20_000
"""The characters of a text that is read as Markdown: the time of its parser may grow with their square."""
LONGEST_FORMULA = 2_000
MOST_IMAGES = 20_000_000
"""The characters of the images in one text."""
_IMAGES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")
_TAGS = re.findall(
    r"\w+",
    """a abbr b blockquote br caption center code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5
    h6 hr i ins kbd li mark ol p pre q s small span strong sub summary sup table tbody td tfoot th thead
    tr u ul""",
)
_ATTRIBUTES = re.findall(r"\w+", "align colspan dir height lang open rowspan start style title")
_FORMULA_ATTRIBUTES = re.findall(
    r"\w+",
    """accent columnalign columnspacing depth display displaystyle fence form height largeop linethickness
    lspace mathvariant maxsize minsize movablelimits notation rowspacing rspace scriptlevel separator stretchy
    voffset width xmlns""",
)
_IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_HEADING = re.compile(r"<h([1-6])\b(.*?)</h\1>", re.DOTALL)


def markdown_html(
    source: str, below: int = 6, attachments: Mapping[str, Any] | None = None, folder: Path | None = None
) -> str:
    """Return a text in Markdown as HTML; its headings begin below the level `below`.

    Images are those in `attachments` and the files in `folder`. What cannot be read as Markdown is shown as
    it was written.
    """
    if len(source) <= LONGEST:
        try:
            renderer = _Renderer(attachments or {}, folder)
            cleaned = _CLEANER.clean(MarkdownWithMath(renderer=renderer).render(source))
            return renderer.put_back(_with_levels(cleaned, below))
        except Exception:  # the parsers are others', and students write what nobody thought of
            pass
    return f"<pre>{escape(source)}</pre>"


def code_html(source: str, language: str = "python") -> str:
    """Return code as HTML, coloured by the page's style."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    return f'<pre class="code"><code>{highlight(source, lexer, HtmlFormatter(nowrap=True))}</code></pre>'


def image_html(kind: str, data: str, alt: str) -> str:
    """Return an image whose bytes are given in base64."""
    return f'<img src="data:{kind};base64,{escape("".join(data.split()))}" alt="{escape(alt)}">'


def formula_html(latex: str, display: str) -> str:
    """Return a formula as MathML, which browsers show without help; unreadable, as it was written."""
    try:
        if len(latex) > LONGEST_FORMULA:
            raise ValueError("nobody reads it")
        math = Converter(display=display).convert_to_element(latex)
        for each in math.iter():  # latex2mathml's own text form escapes nothing
            each.attrib = {name: value for name, value in each.items() if name in _FORMULA_ATTRIBUTES}
            each.text, each.tail = (part and unescape(part) for part in (each.text, each.tail))
        return tostring(math, encoding="unicode")
    except Exception:  # an unknown command raises whatever latex2mathml trips over
        return f"<code>{escape(latex.strip())}</code>"


class _Renderer(IPythonRenderer):
    """nbconvert's renderer, which puts away what is not to be cleaned and leaves a sign in its place."""

    def __init__(self, attachments: Mapping[str, Any], folder: Path | None) -> None:
        super().__init__(escape=False, attachments=dict(attachments), exclude_anchor_links=True)
        self.folder = folder
        self.left = MOST_IMAGES
        self.kept: list[str] = []
        self.sign = f"kept-{secrets.token_hex(8)}-"  # which nobody can have written

    def keep(self, made: str) -> str:
        self.kept.append(made)
        return f"{self.sign}{len(self.kept) - 1}-"

    def put_back(self, cleaned: str) -> str:
        """Put what was kept in the place of its sign in the text; in a tag, the sign is taken out."""
        sign = f"{self.sign}([0-9]+)-"
        return re.sub(
            rf'<[^">]*(?:"[^"]*"[^">]*)*>|{sign}',
            lambda found: self.kept[int(found[1])] if found[1] else re.sub(sign, "", found[0]),
            cleaned,
        )

    def block_math(self, body: str) -> str:
        return self.keep(formula_html(body, "block"))

    def inline_math(self, body: str) -> str:
        return self.keep(formula_html(body, "inline"))

    def latex_environment(self, name: str, body: str) -> str:
        return self.keep(formula_html(rf"\begin{{{name}}}{body}\end{{{name}}}", "block"))

    def block_code(self, code: str, info: str | None = None) -> str:
        return self.keep(code_html(code, (info or "text").split()[0]))

    def image(self, text: str, url: str, title: str | None = None) -> str:
        name = unquote(url.removeprefix("attachment:"))
        found = self._attached(name) if url.startswith("attachment:") else self._lying_beside(name)
        if found is None and re.match(r"[a-z]+:", name):
            return self.keep(f"<em>(image {escape(name)}: nothing is loaded from the network)</em>")
        if found is None:
            return self.keep(f"<em>(image {escape(name)} is missing in the file)</em>")
        self.left -= len(found[1])
        if self.left < 0:
            return self.keep(f"<em>(image {escape(name)}: there are too many to show)</em>")
        return self.keep(
            image_html(*found, alt=unescape(re.sub(rf"<[^>]*>|{self.sign}\d+-", "", text)) or name)
        )

    def block_html(self, html: str) -> str:
        return _IMAGE.sub(self._image_of_tag, html)

    inline_html = block_html

    def _image_of_tag(self, tag: re.Match[str]) -> str:
        told: Any = BeautifulSoup(tag[0], "html.parser").img
        return self.image(escape(told.get("alt", "")), told.get("src", ""))

    def _attached(self, name: str) -> tuple[str, str] | None:
        held = self.attachments.get(name, {})
        return next(((kind, held[kind]) for kind in _IMAGES if kind in held), None)

    def _lying_beside(self, name: str) -> tuple[str, str] | None:
        kind = mimetypes.guess_type(name)[0]
        if self.folder is None or kind not in _IMAGES:
            return None
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder.resolve()) or not path.is_file():
            return None
        return kind, base64.b64encode(path.read_bytes()).decode()


def _may_stay(tag: str, name: str, value: str) -> bool:
    """Return whether an attribute may stay."""
    if name == "href":  # the files that a notebook names do not lie beside the page
        return tag == "a" and value.startswith(("https://", "http://", "mailto:"))
    return name in _ATTRIBUTES


_CLEANER = Cleaner(
    tags=_TAGS,
    attributes=_may_stay,
    protocols=["http", "https", "mailto"],
    strip=True,
    css_sanitizer=CSSSanitizer(allowed_css_properties=["text-align"]),  # of a table's columns
)


def _with_levels(page: str, below: int) -> str:
    """Move headings below a level, and close gaps between theirs: screen readers go by them."""
    last = below

    def moved(found: re.Match[str]) -> str:
        nonlocal last
        last = min(6, below + int(found[1]), last + 1)
        return f"<h{last}{found[2]}</h{last}>"

    return _HEADING.sub(moved, page)
