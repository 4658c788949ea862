"""What a check got to see of a submission, and its fingerprint: equal answers, equal fingerprints.

The inputs of a check come from a seed, so whoever makes the same mistake gives the same answers, in
whatever style it is written. A fingerprint keeps of each answer what a mistake shows in, a few
projected numbers a tensor, rounded far above what a different order of summation changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import torch

from autograder.checking.diagnosis.match import RAISED
from autograder.protocol.values import Opaque, Ref

Exchange = tuple[dict[str, Any], dict[str, Any]]
"""One request to a student's objects and what came back."""

_DIGITS = {torch.float64: 4, torch.float32: 2}
"""Decimals kept of a projected number, by dtype. Of coarser dtypes only shapes count: their rounding depends
on the order in which a student adds."""


def fingerprint(exchanges: Sequence[Exchange], rule: str, accused: str = "") -> str | None:
    """A short text, the same for submissions that answered one check alike under one seed.

    `None` for answers that have not the form an answer has: a hostile process may send anything.

    `rule` is the check's: what a call did to its arguments counts where the check is about that, and
    so on. `accused` is the name of what is forbidden, among all that ran and all that the source mentions.
    """
    told = hashlib.blake2b(digest_size=12)
    exchanges = [(request, answer) for request, answer in exchanges if "looks" not in request]
    try:
        for request, answer in exchanges:
            for part in _parts(request, answer, rule):
                told.update(f"{part}\n".encode(errors="replace"))
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
        return None
    last = exchanges[-1][1] if exchanges else {}
    ended = "raised" in last or last.get("error") is not None
    if not ended:
        told.update(accused.encode(errors="replace"))
    return f"{RAISED if ended else ''}{told.hexdigest()}"


def _parts(request: dict[str, Any], answer: dict[str, Any], rule: str) -> Iterator[str]:
    operation = request["op"]
    if operation in ("build", "nothing"):
        return  # nothing in the answer is the student's
    yield f"{operation} {'.'.join(request.get('path', []))}"
    if "raised" in answer:
        raised = answer["raised"]
        yield f"{raised.get('type')}: {raised.get('message')}"
        return
    if operation == "place":
        yield from _placed(answer)
        return
    if operation == "describe":
        yield from _registered(answer)
        return
    if operation == "parameters":
        yield from _spreads(answer)
        return
    told = {
        "call": ("value",),
        "make": ("made",),
        "attribute": ("value",),
        "backward": ("inputs", "parameters", "attached"),
    }
    also = {"mutation": ("arguments", "left"), "gradient": ("attached",)}.get(rule, ())
    for name in (*told.get(operation, ()), *also):
        if name in answer:
            yield f"{name}:"
            yield from _value(answer[name])


def _placed(answer: dict[str, Any]) -> Iterator[str]:
    """What came where, and which kinds of things were seen: in which lines is a matter of style."""
    error = answer.get("error")
    yield f"{error.get('type')}: {error.get('message')}" if error else "no error"
    yield f"{answer.get('places')} {sorted(answer.get('stayed', ()))}"
    # What was copied from the CPU on purpose is no fault, and which dtypes met shows in the answer.
    faults = {str(event.get("kind")) for event in answer.get("events", ())} - {"copied", "dtype"}
    yield " ".join(sorted(faults))
    yield from _value(answer.get("value"))


def _registered(answer: dict[str, Any]) -> Iterator[str]:
    yield f"{answer.get('module')} {sorted(answer.get('trainable', ()))} {sorted(answer.get('saved', ()))}"
    if answer.get("shared"):
        yield f"shared {sorted(answer['shared'])}"
    for name, shape in sorted(answer.get("shapes", {}).items()):
        yield f"{name} {tuple(shape)}"


def _spreads(answer: dict[str, Any]) -> Iterator[str]:
    """How a module's numbers are spread: the numbers themselves depend on the order of drawing."""
    for name, value in sorted(answer.get("parameters", {}).items()):
        spread = "zero" if not value.any() else "alike" if value.numel() > 1 and value.std() == 0 else "drawn"
        if spread == "drawn" and value.numel() >= 1000:
            largest, deviation = value.abs().max().item(), value.double().std().item()
            spread = f"{largest:.1g} {deviation:.1g}"
            if abs(largest / deviation - 3**0.5) < 0.1:  # drawn evenly, so the bound is known to a thousandth
                spread = f"even {largest * (1 + 1 / value.numel()):.2g}"
        yield f"{name} {tuple(value.shape)} {value.dtype} {spread}"


def _value(value: Any) -> Iterator[str]:
    match value:
        case torch.Tensor():
            yield _tensor(value)
        case Ref():
            yield "an object"
        case Opaque():
            yield value.what
        case dict():
            for key in sorted(value, key=str):
                yield f"{key}="
                yield from _value(value[key])
            yield "end"
        case list() | tuple():
            for item in value:
                yield from _value(item)
            yield "end"
        case float():
            yield f"{value:.4e}"
        case _:
            yield f"{type(value).__name__} {value}"


def _tensor(value: torch.Tensor) -> str:
    kind = f"{value.dtype} {tuple(value.shape)}"
    if not value.is_floating_point():
        data = value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        return f"{kind} {hashlib.blake2b(data, digest_size=8).hexdigest()}"
    digits = _DIGITS.get(value.dtype)
    if digits is None or not value.numel():
        return kind
    flat = value.detach().reshape(-1).to(torch.float64)
    finite = torch.isfinite(flat)
    flat = torch.where(finite, flat, 0.0)
    lost = f" {int((~finite).sum())} not finite" if not finite.all() else ""
    size = float(flat.norm())
    # What ought to be zero is a rounding error that no two ways of computing share.
    projected = [float(number) if abs(number) > 1e-7 * size else 0.0 for number in weights(len(flat)) @ flat]
    return f"{kind}{lost} {' '.join(f'{number:.{digits}e}' for number in projected)}"


@lru_cache(maxsize=256)
def weights(count: int) -> torch.Tensor:
    """Two rows to project on, from exact arithmetic alone: the same numbers on every machine."""
    positions = torch.arange(1, count + 1, dtype=torch.float64)
    return torch.stack([torch.frac(positions * ratio) + 0.5 for ratio in (0.6180339887, 0.7548776662)])
