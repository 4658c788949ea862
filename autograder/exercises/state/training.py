"""A training step beside the student's: a network, a loss and an optimizer, and the right step by torch."""

from copy import deepcopy
from typing import Any

import torch
from torch import nn

from autograder.checking import Draw, Request, Submission, compare, expect, fail, in_words, reference
from autograder.checking.expectations.comparing import ROUNDED, recognized
from autograder.checking.tolerance import are_rounded
from autograder.exercises.state.given import STATE, reference_lstm

TRAINING = """
class Network(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, output_size, in_eval=1.0):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, output_size)
        self.in_eval = in_eval

    def forward(self, x, state=None):
        output, state = self.lstm(x, state)
        return self.fc(output) * (1.0 if self.training else self.in_eval), state


class WeightedError(nn.Module):
    def forward(self, prediction, target):
        error = (prediction - target) ** 2 * (1 + target**2)
        return (error.mean(dim=(0, 1)) ** 2).mean()


class SGD(torch.optim.SGD):
    def __call__(self):
        "Makes it an object that a check can hand on."


class Adam(torch.optim.Adam):
    def __call__(self):
        "Makes it an object that a check can hand on."


def workbench():
    def prepare(model, kind, options):
        return {"SGD": SGD, "Adam": Adam}[kind](model.parameters(), **options)

    return prepare


def pace():
    def change(optimizer, lr):
        for group in optimizer.param_groups:
            group["lr"] = lr

    return change


def stale():
    def leave(model):
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)

    return leave
"""
"""A network with a state, whose predictions in eval() are `in_eval` times those in training, a loss whose two
arguments differ and that is no mean over sequences or steps, and optimizers, beside the student's code."""


class Bench:
    """A network, its loss and its optimizer, here and on the student's side with the same numbers."""

    def __init__(
        self,
        submission: Submission,
        draw: Draw,
        kind: str = "SGD",
        dtype: torch.dtype = torch.float64,
        in_eval: float = 1.0,
        **options: float,
    ) -> None:
        sizes = draw.sizes
        self._in_eval = in_eval
        self.submission, self._sizes, self._kind, self._dtype = submission, sizes, kind, dtype
        self.lstm = reference_lstm(draw, dtype)
        self.fc = draw.module(nn.Linear, sizes.H, sizes.V, dtype=dtype)
        self._options = options or {"lr": 0.1}
        self._lr = self._options["lr"]
        self._start = deepcopy(self.lstm), deepcopy(self.fc)
        self._chunks: tuple[Any, ...] = ()
        self.model, self.given_optimizer, self.loss_fn = self._hand_over()

    def _hand_over(self) -> tuple[Any, Any, Any]:
        """Make a network, its optimizer and its loss on the student's side."""
        given, sizes = self.submission.given, self._sizes
        size = (sizes.D, sizes.H, sizes.L, sizes.V, self._in_eval)
        model = given("Network", *size, source=TRAINING, state=self.parameters(), dtype=self._dtype)
        optimizer = given("workbench", source=TRAINING, dtype=None)(model, self._kind, self._options)
        return model, optimizer, given("WeightedError", source=TRAINING)

    def parameters(self) -> dict[str, torch.Tensor]:
        """The reference's parameters by the names of the student's network."""
        parts = {"lstm": self.lstm, "fc": self.fc}
        return {f"{part}.{n}": p.detach() for part, m in parts.items() for n, p in m.named_parameters()}

    def prediction(self, x: torch.Tensor, state: Any) -> torch.Tensor:
        """The prediction of the network, as it is now, for a chunk."""
        with torch.no_grad():
            prediction: torch.Tensor = self.fc(self.lstm(x, state)[0])
        return prediction

    def change_pace(self, lr: float) -> None:
        """Have the optimizer go on with another learning rate, as a schedule does."""
        self._lr = lr
        self.submission.given("pace", source=TRAINING, dtype=None)(self.given_optimizer, lr)

    def leave_gradients(self) -> None:
        """Leave the network with gradients of an earlier backward pass."""
        self.submission.given("stale", source=TRAINING, dtype=None)(self.model)

    def arguments(self, x: Any, y: Any, state: Any) -> tuple[Any, ...]:
        return self.model, self.given_optimizer, self.loss_fn, x, y, state

    def afresh(self, x: Any, y: Any, state: Any) -> tuple[Any, ...]:
        """Return the arguments with another such network, its optimizer and its loss."""
        return *self._hand_over(), x, y, state

    def ask(self, x: Any, y: Any, state: Any) -> Any:
        """Ask for the student's step, and return its answer with the loss as a tensor."""
        return with_loss_as_tensor(self.submission.tbptt_step(*self.arguments(x, y, state)))

    def requests(self, x: Any, y: Any, state: Any) -> tuple[Request[Any], Request[Any]]:
        """Describe the student's step, and what the parameters are after it."""
        step = self.submission.tbptt_step.request(*self.arguments(x, y, state))
        return step, self.model.state_request()

    def step(self, x: Any, y: Any, state: Any) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        """Do the reference's step, by torch's modules, and return loss and state from before the update."""
        self._chunks = (*self._chunks, (x, y, state, self._lr))
        loss, state, after = trained(*self._start, self._kind, self._options, self._chunks)
        with torch.no_grad():
            for part, module in {"lstm": self.lstm, "fc": self.fc}.items():
                for name, parameter in module.named_parameters():
                    parameter.copy_(after[f"{part}.{name}"])
        return loss, state

    def expect_same_parameters(
        self, before: dict[str, torch.Tensor], after: dict[str, torch.Tensor] | None = None
    ) -> None:
        """Expect the reference's parameters in the student's network; `before` are those before the step.

        `after` are those that it had after the step, where they have been asked for.
        """
        after, wanted = self.model.state_dict() if after is None else after, self.parameters()
        if all(torch.equal(after[name], value) for name, value in before.items()):
            fail(
                "The step changed no parameter. Does `backward()` reach them, through a prediction that "
                "has a graph? Is `optimizer.step()` called after it, and are the gradients still there then?"
            )
        ratios = []
        for name, value in wanted.items():
            moved, right = after[name] - before[name], value - before[name]
            if not torch.allclose(after[name], value, rtol=3e-7, atol=1e-9):
                ratios.append(float((moved * right).sum() / (right * right).sum().clamp_min(1e-30)))
        if not ratios:
            return
        if all(are_rounded(after[name], value) for name, value in wanted.items()):
            fail(f"After the step {len(ratios)} of {len(wanted)} parameters are a little off. {ROUNDED}")
        twice = len(ratios) == len(wanted) and all(abs(ratio - 2) < 1e-3 for ratio in ratios)
        hint = (
            "Every parameter moved twice as far as one step takes it."
            if twice
            else "Is it one `optimizer.step()` with the gradients of this loss and of nothing else?"
        )
        fail(f"After the step {len(ratios)} of {len(wanted)} parameters do not hold the right values. {hint}")


def loss_and_state(answer: Any) -> tuple[Any, Any]:
    """Take apart the two parts of an answer of `tbptt_step`, whatever they are."""
    if not isinstance(answer, (list, tuple)) or len(answer) != 2:
        fail(f"Expected `(loss, (h, c))`; you returned {in_words(answer)}.")
    loss, state = answer
    return loss, state


trained = reference("reference_training:trained")


def with_loss_as_tensor(answer: Any) -> Any:
    """The answer with its first part, if that is one number, as a tensor: `expect` compares tensors."""
    if not isinstance(answer, (list, tuple)) or len(answer) != 2:
        return answer
    loss, state = answer
    if type(loss) in (int, float):
        loss = torch.tensor(float(loss), dtype=torch.float64)
    elif isinstance(loss, torch.Tensor) and loss.numel() == 1:
        loss = loss.reshape(())
    else:
        fail(
            "Expected `(loss, (h, c))`, the loss first; what you returned does not begin with one number but "
            f"with {in_words(loss)}."
        )
    return loss, state


def expect_step(answer: Any, reference: Any, sizes: Any, *, values: bool = True) -> None:
    """Expect the reference's answer of `tbptt_step`: a loss and a pair of states."""
    names, dims = ("loss", *STATE["names"]), ("", STATE["dims"], STATE["dims"])
    expect(answer, reference, names=names, dims=dims, sizes=sizes, values=False)
    if not values:
        return
    if compare(answer[0], reference[0]):
        known = recognized(answer[0], reference[0], "", sizes)
        fail(
            f"`loss` is not the right number. {f'{known} ' if known else ''}The right one is "
            "`loss_fn(prediction, y)`, with the arguments in this order, where the prediction is for this "
            "chunk, from the given state, before the parameters are updated."
        )
    expect(answer[1], reference[1], **STATE, sizes=sizes)
