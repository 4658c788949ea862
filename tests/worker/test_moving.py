"""A module is filled with copies, and one whose constructor does not work is put together without it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from autograder.checking.remote.submission import Submission
from autograder.protocol.messages import Target
from autograder.protocol.without import Without
from autograder.worker.portability.modules import load
from autograder.worker.session.executor import Executor


def described(module: nn.Module) -> list[Any]:
    """All that can be told of a module's tensors, their identities but for which is which."""
    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    order = {id(tensor): n for n, (_, tensor) in reversed(list(enumerate(named)))}
    flat = [
        [order.get(id(w)) for w in m._flat_weights] for m in module.modules() if isinstance(m, nn.RNNBase)
    ]
    return [
        [
            (name, tensor.dtype, tensor.tolist(), tensor.requires_grad, order[id(tensor)])
            for name, tensor in named
        ],
        flat,
        getattr(module, "start", torch.ones(1)).dtype,
    ]


def test_what_a_module_is_filled_with_stays_the_check_s():
    """In a notebook the state holds the check's own tensors."""
    plain, state = nn.Linear(2, 1), {"weight": torch.ones(1, 2), "bias": torch.ones(1)}
    kept: list[Any] = []

    class Keeping(nn.Linear):
        def load_state_dict(self, state: Any, *args: Any, **kwargs: Any) -> Any:
            kept.extend(state.values())

    for module in (plain, Keeping(2, 1)):
        load(module, state)
    with torch.no_grad():
        for tensor in (*plain.parameters(), *kept):
            tensor.zero_()
    assert state["weight"].tolist() == [[1, 1]]
    assert state["bias"].tolist() == [1]
    assert len(kept) == 2


@pytest.mark.parametrize(
    ("name", "sizes", "settings"),
    [
        ("LSTM", (3, 5, 2), {"batch_first": True, "bidirectional": True, "dropout": 0.25}),
        ("LSTM", (3, 5), {"proj_size": 2, "bias": False}),
        ("GRU", (3, 4), {}),
        ("RNN", (3, 4), {"nonlinearity": "relu"}),
        ("LSTMCell", (3, 5), {}),
        ("Linear", (3, 5), {"bias": False}),
    ],
)
def test_a_given_module_is_the_same_where_its_constructor_does_not_work(name, sizes, settings):
    usual = getattr(nn, name)(*sizes, **settings, dtype=torch.float64)
    executor = Executor({})
    nowhere = Submission(executor.perform, without=Without("^no such operator$"))
    given = nowhere.given(name, *sizes, **settings, state=usual.state_dict())
    nowhere.connection.finish()
    made = executor.objects.target(Target(number=given.ref().id))
    assert type(made) is type(usual)
    assert described(made) == described(usual)
    assert repr(made) == repr(usual)
    assert set(vars(made)) == set(vars(usual))
    arguments = torch.randn(4, 2, 3, dtype=torch.float64) if name != "LSTMCell" else torch.ones(2, 3).double()
    for got, wanted in zip(made.eval()(arguments), usual.eval()(arguments), strict=True):
        torch.testing.assert_close(got, wanted)
