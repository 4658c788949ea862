"""Cards as checks make them: verdicts to show, and a reader of pages."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
import torch
from msgspec.structs import asdict

from autograder.checking import Sizes, expect
from autograder.checking.explain.evidence import Evidence
from autograder.checking.explain.failure import CheckFailed
from autograder.verdict import CheckVerdict, TaskVerdict

SIZES = Sizes(B=5, T=7, D=2, H=11, L=3, V=13)


def failure(answer, wanted, dims):
    """The failure that `expect` raises for an answer."""
    with pytest.raises(CheckFailed) as caught:
        expect(answer, wanted, names="output", dims=dims, sizes=SIZES)
    return caught.value


def verdict(outcome="failed", message="Wrong.", points=0.0, most=1.0, title="It is right.", **more):
    return CheckVerdict("values", "values", title, outcome, points, most, message, **more)


def from_failure(error, **more):
    return verdict(message=str(error), **asdict(error.evidence or Evidence()), **more)


def wrong_shape():
    return from_failure(failure(torch.zeros(7, 5, 11), torch.zeros(5, 7, 11), "B T H"))


def wrong_from_step(step=4):
    wanted = torch.randn(5, 7, 11)
    answer = wanted.clone()
    answer[:, step:] += 1
    return from_failure(failure(answer, wanted, "B T H"))


def card(*checks, most=2.0, **more):
    return TaskVerdict("lstm_cell", most, checks, **more)


class Page(HTMLParser):
    """A page taken apart: its elements must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ""
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
