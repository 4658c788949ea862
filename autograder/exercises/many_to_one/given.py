"""The network, the training and the forecast that the tasks are given and compared with."""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from autograder.checking import (
    Draw,
    Handle,
    Sizes,
    Submission,
    asked,
    case,
    compare,
    expect,
    expect_follows,
    expect_registered,
    fail,
    recorded,
)

OUTPUTS = 9
"""Outputs or classes: a size that is none of the drawn ones, nor twice or four times one of them."""

_LAYERS = ("RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell", "Linear", "Embedding")
"""Kinds of layers that are taken for each other; a class of the student's own has another name."""

NETWORK = """
class Network(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size, batch_first=True)
        self.fc = nn.Linear(hidden_size, output_size)

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.fc(states.mean(dim=1))
"""
"""A network from (B, T, D) to (B, K), in which every step and the order of the steps count."""


class Network:
    """The given network, here and on the student's side, with the same random numbers."""

    def __init__(
        self,
        submission: Submission,
        draw: Draw,
        outputs: int = OUTPUTS,
        dtype: torch.dtype = torch.float64,
        *,
        reach: float = 1.0,
    ) -> None:
        """Make both networks; their predictions are `reach` times as far from zero."""
        sizes = draw.sizes
        self.rnn = draw.module(nn.RNN, sizes.D, sizes.H, batch_first=True, dtype=dtype)
        self.fc = deepcopy(draw.module(nn.Linear, sizes.H, outputs, dtype=dtype))
        with torch.no_grad():
            for parameter in self.fc.parameters():
                parameter.mul_(reach)
        self._build = lambda: submission.given(
            "Network", sizes.D, sizes.H, outputs, source=NETWORK, state=self.parameters(), dtype=dtype
        )
        self.given: Handle = self.afresh()

    def afresh(self) -> Handle:
        """Make another such network on the student's side."""
        return self._build()

    def parameters(self) -> dict[str, torch.Tensor]:
        """Copies of the reference's parameters, by the names of the student's side."""
        return numbers_of(rnn=self.rnn, fc=self.fc)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return predicted(self.rnn, self.fc, x)

    def train(self, x: torch.Tensor, y: torch.Tensor, steps: int, lr: float) -> list[float]:
        """Train the reference by torch's Adam; return the losses of `steps` updates, and the one after."""
        losses, after = trained(self.rnn, self.fc, x, y, steps, lr)
        with torch.no_grad():
            for name, parameter in leaves_of(rnn=self.rnn, fc=self.fc).items():
                parameter.copy_(after[name])
        return losses

    def forecast(self, window: torch.Tensor, steps: int, *, keep: bool = False) -> torch.Tensor:
        """Continue a series by `steps` values, and return them; with `keep` no old value is dropped."""
        return forecast(self.rnn, self.fc, window, steps, keep)

    def expect_untouched(self) -> None:
        """Expect the network on the student's side to have its numbers still."""
        after = self.given.state_dict()
        for name, value in self.parameters().items():
            if not torch.equal(after[name], value):
                fail(f"The call changed the model's own weights: `{name}`. Call the model, do not train it.")

    def expect_trained(self, before: Mapping[str, torch.Tensor]) -> None:
        """Expect the student's side to be trained like the reference; `before` is its earlier state."""
        after = self.given.state_dict()
        if all(torch.equal(after[name], value) for name, value in before.items()):
            fail(
                "After the call the model has the parameters it had before. Is it this model's parameters "
                "that the optimizer was given, and is `optimizer.step()` called after `backward()`?"
            )
        wrong = self.wrong_after(after)
        if wrong:
            fail(
                f"After the call {len(before) - len(wrong)} of {len(before)} parameters hold the right "
                "values. Is one Adam made for the whole call, with `lr` and otherwise torch's own settings, "
                "is there one update a step, the last step included, are gradients cleared before each "
                "backward pass, and does each step use all of `x`?"
            )

    def wrong_after(self, after: Mapping[str, torch.Tensor]) -> list[str]:
        """The names of the parameters on the student's side that differ from the reference's."""
        return [name for name, value in self.parameters().items() if compare(after[name], value)]


def predicted(rnn: nn.RNN, fc: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    """The prediction of the given network for x."""
    result: torch.Tensor = fc(rnn(x)[0].mean(dim=1))
    return result


@recorded
def trained(
    rnn: nn.RNN, fc: nn.Linear, x: torch.Tensor, y: torch.Tensor, steps: int, lr: float
) -> tuple[list[float], dict[str, torch.Tensor]]:
    """The losses before each of `steps` updates and after the last, and the parameters after it."""
    rnn, fc = deepcopy(rnn), deepcopy(fc)
    optimizer = torch.optim.Adam([*rnn.parameters(), *fc.parameters()], lr=lr)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(predicted(rnn, fc, x), y)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
    return [*losses, nn.functional.mse_loss(predicted(rnn, fc, x), y).item()], numbers_of(rnn=rnn, fc=fc)


@recorded
def forecast(rnn: nn.RNN, fc: nn.Linear, window: torch.Tensor, steps: int, keep: bool) -> torch.Tensor:
    series = window
    with torch.no_grad():
        for _ in range(steps):
            inputs = series if keep else series[-len(window) :]
            series = torch.cat([series, predicted(rnn, fc, inputs[None])])
    return series[-steps:, 0]


def numbers_of(**modules: nn.Module) -> dict[str, torch.Tensor]:
    """Copies of the modules' parameters as a module with these attributes names them."""
    return {
        f"{part}.{name}": value.detach().clone()
        for part, module in modules.items()
        for name, value in module.named_parameters()
    }


def leaves_of(**modules: nn.Module) -> dict[str, torch.Tensor]:
    """The parameters themselves under the same names, for their gradients."""
    return {f"{part}.{name}": p for part, module in modules.items() for name, p in module.named_parameters()}


def shapes_of(words: Mapping[str, int], **modules: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The shape of each parameter, in words and in numbers; `words` are the sizes by name."""
    known = {
        factor * size: f"{factor}·{name}" if factor > 1 else name
        for factor in (4, 1)
        for name, size in words.items()
    }
    told = {}
    for name, value in numbers_of(**modules).items():
        said = ", ".join(known[size] for size in value.shape)
        told[name] = (f"({said},)" if value.dim() == 1 else f"({said})", tuple(value.shape))
    return told


def expect_parts(
    model: Handle, kind: str, expected: Mapping[str, tuple[str, tuple[int, ...]]], **modules: nn.Module
) -> None:
    """Expect a model with these layers under these names, as deep as given, with these parameters."""
    seen = model.registered()
    for name, module in modules.items():
        if name not in seen.modules:
            fail(
                f"{kind} has no layer named `{name}`: assign an `nn.{type(module).__name__}` to "
                f"`self.{name}`. In a Python list, or under another name, it is not found."
            )
        own = {part: shape for part, (_, shape) in expected.items() if part.startswith(f"{name}.")}
        kind_seen, kind_asked = seen.modules[name], type(module).__name__
        fits = all(seen.shapes.get(part) == shape for part, shape in own.items())
        if not fits and kind_seen != kind_asked and kind_seen in _LAYERS:
            fail(f"`{name}` is an `nn.{kind_seen}`; expected an `nn.{kind_asked}`.")
        missing = [part for part in own if part not in seen.shapes]
        if missing and all(part[-1] in "123456789" for part in missing):
            fail(f"`{name}` has fewer layers than asked for: is `num_layers` handed on to it?")
        if missing:
            told = " and ".join(f"`{part.removeprefix(f'{name}.')}`" for part in missing[:2])
            fail(
                f"`{name}` has no parameter {told}: is it an `nn.{type(module).__name__}` itself, made "
                "with biases?"
            )
    expect_registered(model, expected, kind)


def expect_answer(
    answer: Any,
    reference: torch.Tensor,
    slips: Mapping[str, torch.Tensor],
    *,
    name: str,
    dims: str,
    sizes: Sizes,
) -> None:
    """Expect the reference; for the result of a known slip, give its hint: `slips` are hint → result."""
    alike = isinstance(answer, torch.Tensor) and answer.shape == reference.shape
    if alike and not answer.dtype.is_complex and compare(answer, reference, dims):
        for hint, slip in slips.items():
            if slip.shape == reference.shape and compare(slip, reference) and not compare(answer, slip):
                fail(f"`{name}` has the right shape but not the right values. {hint}")
    expect(answer, reference, names=name, dims=dims, sizes=sizes)


def expect_current(
    submission: Submission,
    filled: Callable[[Any], Handle],
    references: Sequence[Any],
    batch: torch.Tensor,
    **form: Any,
) -> None:
    """Expect a model that holds the numbers of three references in turn to compute with those of its time."""
    model, states = filled(references[0]), [numbers_of(**each.parts) for each in references]
    right = dict(zip(map(id, states), references, strict=True))
    expect_follows(
        submission, model, lambda: model.request(batch), lambda held: right[id(held)](batch), states, **form
    )


def expect_fresh_start(
    model: Handle,
    reference: Callable[[torch.Tensor], torch.Tensor],
    fresh: Callable[[], torch.Tensor],
    **form: Any,
) -> None:
    """Expect every call to give the reference's result from zero states, in training and then in eval()."""
    calls = []
    for context in ("at the first call", "at the second call", "at the third call"):
        batch = fresh()
        calls.append((model.request(batch), batch, context))
    model.eval()
    calls.append((model.request(batch), batch, "in eval()"))
    for answer, given, context in asked(calls):
        with case(context):
            expect(answer(), reference(given), **form)


def losses_in(answer: Any, steps: int) -> list[float]:
    """The losses that `fit` returned, one a step, as numbers; one-number tensors pass here."""
    if answer is None:
        fail("Expected the list of losses; you returned nothing (`None`). Is a `return` missing?")
    if not isinstance(answer, (list, tuple)):
        kind = "a tensor" if isinstance(answer, torch.Tensor) else f"a {type(answer).__name__}"
        if isinstance(answer, Handle):
            kind = f"an object of type {answer.type}"
        fail(f"Expected a list with the loss of every step; you returned {kind}.")
    values = [
        part.item() if isinstance(part, torch.Tensor) and part.numel() == 1 else part for part in answer
    ]
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            kind = getattr(value, "what", f"a {type(value).__name__}")
            if isinstance(value, Handle):
                kind = f"an object of type {value.type}"
            fail(f"Expected a list of numbers, the losses; it holds {kind}.")
    if len(values) != steps:
        fail(f"The list holds {len(values)} losses after {steps} steps; expected one a step.")
    return [float(value) if math.isfinite(value) else math.nan for value in values]


def expect_losses(answer: Any, reference: list[float], network: Network) -> None:
    """Expect the reference's losses; its last one, after the last update, only serves to find a shift.

    `network` has been trained on both sides: where it is right, the fault is in what is noted down.
    """
    seen, right = losses_in(answer, len(reference) - 1), reference[:-1]
    wrong = [step for step, (mine, true) in enumerate(zip(seen, right, strict=True)) if not near(mine, true)]
    if not wrong:
        return
    if all(near(mine, true) for mine, true in zip(seen, reference[1:], strict=True)):
        fail("Each loss is the one after the update of its step; expected the one before, which led to it.")
    if not network.wrong_after(network.given.state_dict()):
        fail(
            "The model is trained as it should be, but the list does not hold the losses that its training "
            f"went by (from step {wrong[0]} on). What happens to a loss before it is noted down?"
        )
    if wrong[0] > 0:
        fail(
            f"The loss of step 0 is right; from step {wrong[0]} on the losses are not those of Adam. Look at "
            "the update: one optimizer for the whole call, torch's own settings but for `lr`, gradients "
            "cleared before each backward pass, all of `x` in each step."
        )
    fail(
        "Already the loss of step 0, before any update, is not the mean squared error between the model's "
        "prediction for all of `x` and `y`. Is it the mean over all numbers, and have both the same shape?"
    )


def expect_long_training(answer: Any, reference: list[float], network: Any) -> None:
    """Expect the reference's losses and parameters after many steps, to a hundredth: rounding grows.

    `network` is trained, here and as `network.given` on the student's side.
    """
    seen, right = losses_in(answer, len(reference) - 1), reference[:-1]
    pairs = enumerate(zip(seen, right, strict=True))
    wrong = [step for step, (mine, true) in pairs if not _about(mine, true)]
    if wrong and not wrong[0]:
        fail("The first of the losses, before any update, is not the mean squared error.")
    if wrong:
        fail(
            f"Of {len(right)} losses, the first {wrong[0]} are right, and those after them are not. Each "
            "step is the same update with the same `lr`, however long it goes on and whatever the loss does."
        )
    after = network.given.state_dict()
    if not all(_about(after[name], value) for name, value in network.parameters().items()):
        fail(
            f"All {len(right)} losses are right, but afterwards the model does not hold the parameters of "
            "the last update. Are others put back into it, those of an earlier step, say?"
        )


def _about(mine: Any, true: Any) -> bool:
    one, other = (torch.as_tensor(each, dtype=torch.float64) for each in (mine, true))
    least = 1e-3 * float(other.abs().max())
    return one.shape == other.shape and torch.allclose(one, other, rtol=0.01, atol=least)


def near(mine: float, true: float) -> bool:
    return not compare(torch.tensor(mine, dtype=torch.float64), torch.tensor(true, dtype=torch.float64))
