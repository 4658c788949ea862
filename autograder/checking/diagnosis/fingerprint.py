"""Fingerprints of a submission's answers to one check: equal answers, equal fingerprints.

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
from autograder.protocol.answers import (
    AnyAnswer,
    Called,
    Exchange,
    Gradients,
    NoModule,
    ParameterValues,
    Probed,
    Raised,
    Registered,
    Value,
)
from autograder.protocol.messages import Call, Construct, OfObjects, Parameters, Target
from autograder.protocol.tensors import tensors_in
from autograder.protocol.values import Opaque, Ref

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
    try:
        for message, answer in exchanges:
            for part in _parts(message, answer, rule):
                told.update(f"{part}\n".encode(errors="replace"))
    except (ArithmeticError, AttributeError, KeyError, RuntimeError, TypeError, ValueError):
        return None
    last = exchanges[-1][1] if exchanges else None
    ended = isinstance(last, Raised) or (isinstance(last, Probed) and last.error is not None)
    if not ended:
        told.update(accused.encode(errors="replace"))
    return f"{RAISED if ended else ''}{told.hexdigest()}"


def _parts(message: OfObjects, answer: AnyAnswer, rule: str) -> Iterator[str]:
    if isinstance(message, Construct):
        return  # nothing in the answer is the student's
    target = getattr(message, "target", Target())
    yield f"{message.__struct_config__.tag} {'.'.join(target.path)}"
    match answer:
        case Raised():
            yield f"{answer.type}: {answer.message}"
        case Probed():
            yield from _probed(answer)
        case Registered():
            yield from _registered(answer)
        case ParameterValues() if isinstance(message, Parameters) and message.computed:
            yield from _named("value", answer.parameters)
        case ParameterValues():
            yield from _spreads(answer)
        case Called():
            yield from _named("value", answer.value, coarse=_is_coarse(message))
            if rule == "mutation" and isinstance(message, Call) and message.arguments:
                yield from _named("arguments", answer.arguments)
            if rule == "mutation" and answer.left:
                yield from _named("left", answer.left)
            if rule == "gradient":
                yield from _named("attached", answer.attached)
        case Gradients():
            for name in ("inputs", "parameters", "attached", *(["attached"] if rule == "gradient" else [])):
                yield from _named(name, getattr(answer, name))
        case Value():
            yield from _named("value", answer.value)
        case NoModule():
            yield from _named("made", answer.value)


def _is_coarse(message: OfObjects) -> bool:
    """Return whether a call was given numbers of a coarse dtype: of what comes of them only shapes count."""
    if not isinstance(message, Call):
        return False
    given = tensors_in([message.args, dict(message.kwargs or {})])
    return any(tensor.is_floating_point() and tensor.dtype not in _DIGITS for tensor in given)


def _named(name: str, value: Any, *, coarse: bool = False) -> Iterator[str]:
    yield f"{name}:"
    yield from _value(value, coarse=coarse)


def _probed(answer: Probed) -> Iterator[str]:
    """Tell what came where, and which kinds of things were seen: in which lines is a matter of style."""
    yield f"{answer.error.type}: {answer.error.message}" if answer.error else "no error"
    yield f"{list(answer.places)} {sorted(answer.stayed)}"
    # Which dtypes met shows in the answer.
    yield " ".join(sorted({event.kind for event in answer.events} - {"dtype"}))
    yield from _value(answer.value)


def _registered(answer: Registered) -> Iterator[str]:
    yield f"{answer.is_module} {sorted(answer.trainable)} {sorted(answer.saved)}"
    if answer.shared:
        yield f"shared {sorted(map(list, answer.shared))}"
    for name, shape in sorted(answer.shapes.items()):
        yield f"{name} {shape}"


def _spreads(answer: ParameterValues) -> Iterator[str]:
    """Tell how a module's numbers are spread: the numbers themselves depend on the order of drawing."""
    for name, value in sorted(answer.parameters.items()):
        spread = "zero" if not value.any() else "alike" if value.numel() > 1 and value.std() == 0 else "drawn"
        if spread == "drawn" and value.numel() >= 1000:
            largest, deviation = value.abs().max().item(), value.double().std().item()
            spread = f"{largest:.1g} {deviation:.1g}"
            if abs(largest / deviation - 3**0.5) < 0.1:  # drawn evenly, so the bound is known to a thousandth
                spread = f"even {largest * (1 + 1 / value.numel()):.2g}"
        yield f"{name} {tuple(value.shape)} {value.dtype} {spread}"


def _value(value: Any, *, coarse: bool = False) -> Iterator[str]:
    match value:
        case torch.Tensor():
            yield f"{value.dtype} {tuple(value.shape)}" if coarse else _tensor(value)
        case Ref():
            yield "an object"
        case Opaque():
            yield value.what
        case dict():
            for key in sorted(value, key=str):
                yield f"{key}="
                yield from _value(value[key], coarse=coarse)
            yield "end"
        case list() | tuple():
            for item in value:
                yield from _value(item, coarse=coarse)
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
