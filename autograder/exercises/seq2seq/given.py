"""A model for the tasks that knows how it is driven."""

from dataclasses import dataclass

import torch

from autograder.checking import Handle, Submission, fail, reference
from autograder.checking.specs.inputs import Given
from autograder.exercises.handed import made_here

HISTORY = """
from itertools import count


class History(nn.Module):
    def __init__(self, vocab_size, marks=(0, 0, 0, 0, 0, 0), before=0):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.vocab_size, self.calls, turns = vocab_size, [], count(before + 1)

        def turned_by(ids, state):
            grows = state is not None and any(contents.asks_for_gradients(part) for part in state)
            told = (next(turns), *ids.shape, int(state is None), ids.sum(), grows)
            return sum(mark * each for mark, each in zip(marks, told))

        self.turned_by = turned_by

    def forward(self, ids, state=None):
        if ids.dim() != 2:
            raise ValueError(f"the model reads ids of shape (batch, time), not {tuple(ids.shape)}")
        if state is not None and [len(part.shape) for part in state] != [3, 3]:
            raise ValueError("the model was given a state that no call of it has returned")
        self.calls.append([*ids.shape, int(state is None)])
        size, turn = self.vocab_size, self.turned_by(ids, state)
        if state is None:
            code = steps = torch.zeros(ids.shape[0], dtype=torch.int64, device=ids.device)
        else:
            code, steps = (part[0, :, 0].detach().round().long() for part in state)
        codes = []
        for token in ids.unbind(1):
            code = (3 * code + token + steps + 5) % size
            steps = (steps + 1) % size
            codes.append(code)
        favourite = torch.stack(codes, 1) + turn
        distance = (torch.arange(size, device=ids.device) - favourite[..., None]) % size
        logits = -self.scale * distance.to(self.scale.dtype) / size
        h, c = (self.scale * part[None, :, None].to(self.scale.dtype) for part in (code, steps))
        return logits, (h, c)
"""
"""A language model whose favourite next token depends on every token before it and on their order.

With `marks` it depends on how the model is driven, too: how often it has been called, the ids' shape, whether
the state was None, the sum of the ids, and whether the state brought a graph along, each times its mark.
`calls` lists for each call the ids' shape and whether the state was None: for messages, since the student's
code can write there what it likes.
"""


@dataclass(frozen=True)
class Model(Given):
    """A module that a source defines."""

    source: str = ""

    def hand_over(self, submission: Submission) -> Handle:
        kind, dtype = type(self.module).__name__, next(self.module.parameters()).dtype
        state = self.module.state_dict()
        return submission.given(kind, *self.args, source=self.source, state=state, dtype=dtype)


def history(
    vocab_size: int,
    dtype: torch.dtype = torch.float64,
    *,
    marks: tuple[int, ...] = (0, 0, 0, 0, 0, 0),
    before: int = 0,
) -> Model:
    """Return a `History` as it is after so many calls."""
    made = made_here(HISTORY, "History", vocab_size, marks, before)
    return Model(made.to(dtype), (vocab_size, marks), {}, HISTORY)


continued = reference("reference_given:continued")


def expect_tokens(tokens: torch.Tensor, right: torch.Tensor, prompt_ids: torch.Tensor) -> None:
    """Expect these tokens; where there are others, the first wrong step tells what to look at."""
    wrong = tokens.to(torch.float64) != right
    if not wrong.any():
        return
    _expect_new_ones(tokens.to(torch.float64), right.double(), prompt_ids.double())
    if right.shape[1] > 2 and torch.equal(tokens.flip(1).double(), right.double()):
        fail("They are the right tokens in reverse order. Is each new one put in front of the others?")
    step = int(wrong.any(0).nonzero()[0])
    told = f"{int(wrong.sum())} of {wrong.numel()} tokens are not the ones that the model prefers"
    if tokens.numel() > 2 and (tokens == tokens[0, 0]).all() and (right != right[0, 0]).any():
        fail(
            f"{told}; yours are all {tokens[0, 0].item() + 0:g}. A token's id is the place of the largest "
            "logit, not that logit itself: which of the two do you take?"
        )
    if len(tokens) > 1 and (tokens == tokens[:1]).all() and (right != right[:1]).any():
        fail(
            f"{told}; all sequences get the same ones. Does each sequence get the token that its own "
            "logits choose?"
        )
    if step == 0:
        fail(
            f"{told}, including the very first ones. A sequence's first token is chosen by the logits "
            "after the last token of its prompt. Does the model read the whole prompt, do you take the "
            "largest of the last position's logits, and does the token stay with its own sequence?"
        )
    if where := _place_of_first_wrong(wrong, right):
        fail(
            f"{told}. In each of these sequences the first wrong one stands {where}. Do you take the largest "
            "of all logits?"
        )
    fail(
        f"{told}: before step {step} all are right, and the first wrong ones are there. What does the model "
        "read in each call after the first, and with which state?"
    )


def _place_of_first_wrong(wrong: torch.Tensor, right: torch.Tensor) -> str:
    """Return words for what is common to the first wrong tokens of several sequences; `""` if nothing is."""
    rows = wrong.any(1).nonzero()[:, 0]
    steps = wrong[rows].int().argmax(1)
    wanted = right[rows, steps]
    if len(rows) < 2 or not steps.all():
        return ""
    if (wanted == right[rows, steps - 1]).all():
        return "where the right one is the same as the one before it"
    return f"where the right one is {int(wanted[0])}" if (wanted == wanted[0]).all() else ""


def _expect_new_ones(tokens: torch.Tensor, right: torch.Tensor, prompt_ids: torch.Tensor) -> None:
    """Expect that the tokens are not those of another part of the text, which the prompt begins."""
    text, length = torch.cat((prompt_ids, right), 1), prompt_ids.shape[1]
    for start in range(length):
        if torch.equal(tokens, text[:, start : start + right.shape[1]]):
            which = "token" if start == length - 1 else f"{length - start} tokens"
            fail(
                f"What you return begins with the last {which} of the prompt. Return only the tokens that "
                "come after it."
            )
    if right.shape[1] > 2 and torch.equal(tokens[:, :-1], right[:, 1:]):
        fail(
            "Each token is one place too early: the very first one, which the call on the prompt chooses, "
            "is missing."
        )
