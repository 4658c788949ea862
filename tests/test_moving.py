"""A module's dtype is changed as `.to()` would, although plain modules take a shorter way."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import nn

from autograder.worker.kernel_log import KernelLog
from autograder.worker.moving import convert


class Holding(nn.Module):
    """Not plain: it holds a tensor that `.to()` does not know of, and sees to it itself."""

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 1, dtype=dtype)
        self.start = torch.ones(1)

    def _apply(self, fn: Any, recurse: bool = True) -> Holding:
        super()._apply(fn, recurse)
        self.start = fn(self.start)
        return self


def tied() -> nn.Module:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    second.weight = first.weight
    return nn.Sequential(first, second.requires_grad_(False))


MODULES = {
    "linear": lambda: nn.Linear(2, 1),
    "lstm": lambda: nn.LSTM(2, 3, 2, bidirectional=True),
    "buffers and whole numbers": lambda: nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)),
    "tied, and partly frozen": tied,
    "parametrized": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(2, 3)),
    "complex": lambda: nn.Linear(2, 1, dtype=torch.complex64),
    "holding": Holding,
}


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", MODULES)
@pytest.mark.filterwarnings("ignore:Complex modules:UserWarning")
@pytest.mark.filterwarnings("ignore:Casting complex values:UserWarning")
def test_the_dtype_is_changed_as_by_to(name: str, dtype: torch.dtype):
    module = MODULES[name]()
    expected = described(deepcopy(module).to(dtype))
    parameters = list(module.parameters())
    convert(module, dtype)
    assert described(module) == expected
    assert all(one is other for one, other in zip(parameters, module.parameters(), strict=True))


def test_a_module_that_sees_to_its_own_tensors_is_asked_although_its_parameters_are_of_the_dtype():
    module = Holding(torch.float64)
    convert(module, torch.float64)
    assert module.start.dtype is torch.float64


def test_a_recurrent_module_has_the_weights_that_were_put_into_it():
    """As after `.to()`, where there is nothing else to do."""
    module = nn.RNN(2, 3)
    module._parameters["bias_hh_l0"] = nn.Parameter(torch.ones(3))
    convert(module, torch.float32)
    assert module._flat_weights[3] is module.bias_hh_l0


def test_who_watches_sees_nothing_of_a_plain_module_and_all_of_another():
    with KernelLog() as log:
        convert(nn.LSTM(2, 3), torch.float64)
        seen = set(log.names)
        convert(Holding(), torch.float64)
    assert "aten::_to_copy" not in seen
    assert "aten::_to_copy" in log.names
