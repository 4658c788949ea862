"""Every road to a gradient by torch: none arrives where the task is to compute it by hand.

Each is right where nothing is lacking (`test_every_road_arrives`), so that one which arrives nowhere in a
worker was stopped there. Without graphs, it does not help to run what walks through them by another way.
"""

from __future__ import annotations

from contextlib import suppress

import pytest
import torch

from autograder.checking import Submission
from autograder.checking.remote.errors import StudentError
from autograder.exercises.gradients.given import BY_HAND, ENGINE
from autograder.protocol.messages import RunCell
from autograder.worker.session.executor import Executor

HEADER = "import torch\nfrom torch import nn\ndef f(x):\n    return (torch.tanh(x) * x).sum()\n"
ENGINE_ITSELF = """    run = torch.autograd.Variable._execution_engine.run_backward
    one = torch.ones((), dtype=x.dtype)
    return run((y,), (one,), False, False, (x,), True, False)[0]"""
ROADS = {
    "backward": "x.requires_grad_()\n    f(x).backward()\n    return x.grad",
    "grad": "x.requires_grad_()\n    return torch.autograd.grad(f(x), x)[0]",
    "torch.func": "return torch.func.grad(f)(x)",
    "vjp": "return torch.func.vjp(f, x)[1](torch.ones(()))[0]",
    "forward mode": "return torch.func.jacfwd(f)(x)",
    "dual numbers": (
        "import torch.autograd.forward_ad as ad\n"
        "    with ad.dual_level():\n"
        "        each = torch.eye(x.numel(), dtype=x.dtype).reshape(-1, *x.shape)\n"
        "        slopes = [ad.unpack_dual(f(ad.make_dual(x, one))).tangent for one in each]\n"
        "    return torch.stack(slopes).reshape(x.shape)"
    ),
    "functional": "return torch.autograd.functional.jacobian(f, x)",
    "an operator": "x.requires_grad_()\n    torch.ops.aten._backward(f(x), [x])\n    return x.grad",
    "the engine": f"x.requires_grad_()\n    y = f(x)\n{ENGINE_ITSELF}",
    "gradients switched on": (
        "x.requires_grad_()\n"
        "    with torch.enable_grad():\n"
        "        y = f(x)\n"
        "    y.backward()\n"
        "    return x.grad"
    ),
    "a program": (
        "x.requires_grad_()\n"
        "    with torch.enable_grad():\n"
        "        y = [torch.jit.trace(f, x)(x) for _ in range(3)][-1]\n"
        f"{ENGINE_ITSELF}"
    ),
    "numbers by torch": (
        "from torch.autograd.gradcheck import get_numerical_jacobian_wrt_specific_input as slopes\n"
        "    x.requires_grad_()\n"
        "    return slopes(f, 0, (x,), (f(x),), 1e-6)[0].reshape(x.shape)"
    ),
}
PAST_THE_ENGINE = ("the engine", "a program")
"""Roads that only the want of a graph stops."""
HONEST = "t = torch.tanh(x)\n    return t + x * (1 - t**2)"


def cell(road: str) -> str:
    return f"{HEADER}def slope(x):\n    {road}\n"


def is_right(answer: object) -> bool:
    x = drawn()
    wanted = torch.tanh(x) + x * (1 - torch.tanh(x) ** 2)
    return isinstance(answer, torch.Tensor) and torch.allclose(answer.detach(), wanted)


def drawn() -> torch.Tensor:
    return torch.randn(3, 4, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ROADS)
def test_every_road_arrives(name):
    """A road that leads nowhere would be no attack."""
    namespace: dict = {"__name__": "__main__"}
    exec(cell(ROADS[name]), namespace)
    assert is_right(Submission(Executor(namespace).perform).slope(drawn()))


@pytest.mark.parametrize("without", [ENGINE, BY_HAND], ids=["no engine", "no graphs"])
def test_no_road_arrives_where_a_task_is_judged(without, workers):
    arrived = []
    for name, road in {**ROADS, "honest": HONEST}.items():
        worker = workers.spawn(without)
        try:
            worker.perform([RunCell(source=cell(road))], 30)
            handle = Submission(lambda messages, worker=worker: worker.perform(messages, 30), without=without)
            with suppress(StudentError):
                arrived += [name] if is_right(handle.slope(drawn())) else []
        finally:
            worker.end()
    assert arrived == ["honest"] if without.graphs else set(arrived) <= {*PAST_THE_ENGINE, "honest"}


def test_in_a_notebook_gradients_are_back_after_every_request():
    for name in ("backward", "torch.func"):
        namespace: dict = {"__name__": "__main__"}
        exec(cell(ROADS[name]), namespace)
        with pytest.raises(StudentError, match=r"`(backward|grad)` does not work here. Here you go"):
            Submission(Executor(namespace, without=BY_HAND).perform, without=BY_HAND).slope(drawn())
        x = drawn().requires_grad_()
        x.sin().sum().backward()
        assert torch.allclose(x.grad, x.detach().cos())
