"""A module is moved as by `.to()` and filled as by `load_state_dict`, also where a shorter way is taken."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import nn

from autograder.checking.remote.submission import Submission
from autograder.protocol.messages import Target
from autograder.protocol.without import Without
from autograder.worker.devices.modules import convert, load
from autograder.worker.session.executor import Executor


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


class Renaming(nn.Linear):
    """Not plain: it has a way of its own to read a state."""

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        renamed = {name.replace("bias", "b"): value for name, value in state.items()}
        renamed[f"{prefix}bias"] = renamed.pop(f"{prefix}b") + 1
        super()._load_from_state_dict(renamed, prefix, *rest)


class Extra(nn.Linear):
    def get_extra_state(self) -> int:
        return 3

    def set_extra_state(self, state: Any) -> None:
        self.bias.data.fill_(9.0)


def hooked() -> nn.Module:
    module = nn.Linear(2, 1)
    module.register_load_state_dict_post_hook(lambda module, keys: module.bias.data.fill_(7.0))
    return module


def instead() -> nn.Module:
    module = nn.Linear(2, 1)
    vars(module)["load_state_dict"] = lambda state: module.weight.data.fill_(5.0)
    return module


def unsaved() -> nn.Module:
    module = nn.Linear(2, 1)
    module.register_buffer("mask", torch.ones(2), persistent=False)
    return module


def named(module: nn.Module, name: str, *parts: str) -> nn.Module:
    """With a parameter under a name that torch does not let through, and parts of its own."""
    module._parameters[name] = nn.Parameter(torch.ones(1))
    for part in parts:
        module.add_module(part, nn.ParameterDict({"w": torch.zeros(1)}))
    return module


def deep() -> nn.Module:
    module: nn.Module = nn.Linear(1, 1)
    for _ in range(400):  # torch goes down in half as many steps as we do
        module = nn.Sequential(module)
    return module


class Equal(nn.Linear):
    """It has no hash: Python takes it away with `__eq__`."""

    def __eq__(self, other: object) -> bool:
        return self is other


def expanded() -> nn.Module:
    module = nn.Linear(2, 3, bias=False)
    module.weight = nn.Parameter(torch.ones(1, 2).expand(3, 2))
    return module


TO_FILL = MODULES | {
    "a way of its own": lambda: nn.Sequential(Renaming(2, 1), nn.Linear(1, 1)),
    "an extra state": lambda: Extra(2, 1),
    "hooked": hooked,
    "another way": instead,
    "not all saved": unsaved,
    "memory that is used twice": expanded,
    "of other parts": lambda: nn.Sequential(nn.Linear(2, 2), nn.ModuleList([nn.LSTM(2, 1)])),
    "a dot in a name": lambda: named(nn.Module(), "layers.w"),
    "one name twice": lambda: named(nn.Module(), "layers.w", "layers"),
    "a name of torch's own": lambda: named(nn.Module(), "_extra_state"),
    "deep": deep,
    "no hash": lambda: Equal(2, 1),
    "lazy": lambda: nn.LazyLinear(3),
    "nothing": nn.Identity,
}


def filled(module: nn.Module, state: dict[str, Any], how: Any) -> Any:
    """What the module holds afterwards, or what stopped it."""
    try:
        how(module, state)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return repr([(name, t) for name, t in module.state_dict().items()])


def changed(state: dict[str, Any]) -> dict[str, dict[str, Any]]:
    first = next(iter(state), "none")
    rest = {name: value for name, value in state.items() if name != first}
    return {
        "as it is": dict(state),
        "one more": {**state, "more.weight": torch.ones(2)},
        "one missing": rest,
        "another shape": {**rest, first: torch.ones(7, 5)},
        "a number for a list of one": {**rest, first: torch.ones(1)},
        "another dtype": {
            name: t.to(torch.bfloat16) if torch.is_tensor(t) else t for name, t in state.items()
        },
        "another order": dict(reversed(state.items())),
    }


@pytest.mark.parametrize("case", changed({}))
@pytest.mark.parametrize("name", TO_FILL)
@pytest.mark.filterwarnings("ignore")
def test_a_module_is_filled_as_by_load_state_dict(name: str, case: str):
    made = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        made.append(TO_FILL[name]())
    one, other, source = made
    state = nn.Linear(2, 3).state_dict() if name == "lazy" else source.state_dict()
    state = {key: value for key, value in changed(dict(state))[case].items() if torch.is_tensor(value)}
    seen = filled(one, state, load)
    assert seen == filled(other, state, lambda module, state: module.load_state_dict(state))


def test_a_module_within_itself_is_torch_s_to_refuse():
    module = nn.Linear(2, 1)
    module.again = module
    with pytest.raises(RecursionError):
        load(module, nn.Linear(2, 1).state_dict())


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
