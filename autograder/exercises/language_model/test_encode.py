"""`encode(text)`: a text as numbers, and its characters in order."""

from typing import Any

import torch

from autograder.checking import (
    Draw,
    asked,
    case,
    expect_dtype,
    fail,
    in_words,
    needs,
    points,
    reference,
    rule,
)

LETTERS = "zyxw vutsrqponmlkjihgfedcba\nABC,.!"
"""Characters of a usual text; no two neighbours of it are in the order of their codes."""
TOO_SLOW = """
from time import process_time


def timing():
    return is_too_slow


def is_too_slow(encode, text):
    began = process_time()
    encode(text)
    return process_time() - began > len(text) / 100_000
"""
"""Whether a call takes more than ten microseconds of work a character, whatever else the machine does. Right
answers take a half to four, and those that search a list of 5,000 for each character 25."""


encoded = reference("reference_encode:encoded")


def usual(draw: Draw, length: int = 60) -> str:
    """Return a text that begins with a character that is not the first of its alphabet."""
    return "zoo " + "".join(LETTERS[place] for place in draw.ints(f"{length}", len(LETTERS)).tolist())


def expect_parts(answer: Any) -> tuple[torch.Tensor, list[str]]:
    """Expect a tensor and a list of characters, and return them."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        fail(f"Expected the pair (ids, chars); you returned {in_words(answer)}.")
    ids, chars = answer
    if not isinstance(ids, torch.Tensor) or ids.dim() != 1:
        fail(f"`ids` must be a tensor with one dimension; it is {in_words(ids)}.")
    if not isinstance(chars, (list, tuple)):
        why = " `list(…)` makes one of it." if isinstance(chars, str) else ""
        fail(f"`chars` must be a list of characters; it is {in_words(chars)}.{why}")
    if not all(isinstance(each, str) and len(each) == 1 for each in chars):
        odd = next(each for each in chars if not (isinstance(each, str) and len(each) == 1))
        fail(f"`chars` holds {in_words(odd)}; expected strings of one character each.")
    return ids, list(chars)


def expect_encoded(answer: Any, text: str) -> None:
    """Expect the right ids and characters of a text."""
    ids, chars = expect_parts(answer)
    right, alphabet = encoded(text)
    if chars != alphabet:
        if len(set(chars)) < len(chars):
            fail("A character stands in `chars` more than once.")
        if set(chars) == set(alphabet):
            fail(
                f"`chars` holds the right {len(chars)} characters in another order: expected them sorted. In "
                "which order does your code find them?"
            )
        lacking, more = set(alphabet) - set(chars), set(chars) - set(alphabet)
        told = [f"lacks {len(lacking)} of the text's characters"] if lacking else []
        told += [f"has {len(more)} that the text does not have"] if more else []
        fail(f"`chars` {' and '.join(told)}.")
    if len(ids) != len(text):
        fail(f"The text has {len(text)} characters and `ids` {len(ids)} numbers; expected one for each.")
    wrong = ids.to(torch.float64) != right
    if wrong.any():
        fail(
            f"`chars` is right, but {int(wrong.sum())} of the {len(text)} ids do not lead back to their "
            "character: `chars[ids[k]]` must be `text[k]`."
        )


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns a tensor of ids, one for each character, and a list of characters."""
    text = usual(draw)
    ids, _ = expect_parts(submission.encode(text))
    if len(ids) != len(text):
        fail(f"The text has {len(text)} characters and `ids` {len(ids)} numbers; expected one for each.")


@points(0.5)
@rule("values")
@needs(test_shape)
def test_leads_back(submission, sizes, draw):
    """The characters are sorted, each stands there once, and each id leads back to its character."""
    text = usual(draw)
    expect_encoded(submission.encode(text), text)


@points(0.5)
@rule("generality")
@needs(test_leads_back)
def test_any_text(submission, sizes, draw):
    """It works for one character, for any script, and fast for a long text of many characters."""
    many = "".join(chr(0x4E00 + place) for place in draw.ints("3000", 600).tolist())
    rows = [
        (submission.encode.request(text), text, words)
        for text, words in (
            ("q", "with a text of one character"),
            ("aaaa", "with one character four times"),
            ("\n\t a\n", "with white space"),
            ("A\0b", "with the character of code 0"),
            ("crème brûlée, 日本 and 🎈🎈", "with characters beyond ASCII"),
            ("e\u0301 \u00e9 é", "with an accent that is a character of its own"),
            (many, "with 600 different characters"),
        )
    ]
    for answer, text, words in asked(rows):
        with case(words):
            expect_encoded(answer(), text)
    text = "".join(chr(0x4E00 + place) for place in draw.ints("50000", 5000).tolist())
    timing = submission.given("timing", source=TOO_SLOW, dtype=None)
    if timing(submission.encode.attribute(), text) is True:
        fail(
            "It is right, but slow: of 5,000 different characters, 200,000 would take more than two "
            "seconds. Does your code search the whole list for each character? A `dict` finds a place "
            "at once."
        )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The ids are int64, the dtype that an embedding takes."""
    ids, _ = expect_parts(submission.encode(usual(draw)))
    expect_dtype(ids, torch.int64, names="ids")
