"""The pretend GPU: a corpus of faults and of right code, and what is said of them."""

import subprocess
import sys
from contextlib import contextmanager

import pytest
import torch

from autograder.checking import CheckFailed, Submission, expect_device_neutral
from autograder.grading.workers.forkserver import clean_environment
from autograder.protocol.messages import RunCell
from autograder.worker.session.executor import Executor
from tests.devices import Case, D, H, failures, inputs_of, namespace_of, text_of
from tests.devices.everything import RIGHT, WRONG
from tests.devices.writing import linear

HEADER = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
ALWAYS = ("checkpointed", "packed sequence", "mask as a plain attribute", "zero state on the CPU")
"""Judged through a real worker, too, beside every twelfth case."""


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """As workers run: waking a pool of threads for small tensors costs more than it brings."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def submission(case):
    return Submission(Executor(namespace_of(case)).perform)


def probed(case, device="pretend", **more):
    handle = submission(case)
    return getattr(handle, case.name).probed(
        inputs_of(case.inputs), device=device, made_with=case.made_with, **more
    )


# The corpus


def test_the_corpus_is_large_enough():
    assert len(WRONG) >= 60
    assert len(RIGHT) >= 120
    assert {case.rule for case in WRONG.values()} == {"device", "dtype"}


@pytest.mark.parametrize("name", RIGHT)
def test_right_code_raises_no_alarm(name):
    assert failures(RIGHT[name]) == {}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_is_found_by_its_rule_and_line(name):
    case = WRONG[name]
    told = failures(case)
    assert set(told) == {case.rule}
    assert case.line in told[case.rule]
    assert "line " in told[case.rule].lower() or not case.line


@pytest.mark.parametrize("name", RIGHT)
def test_values_and_gradients_are_those_of_the_cpu(name):
    case = RIGHT[name]
    here, there = (probed(case, device, gradients=True) for device in ("cpu", "pretend"))
    assert here.error is None
    assert there.error is None
    both = [(here.value, there.value), (here.inputs, there.inputs), (here.parameters, there.parameters)]
    for one, other in both:
        torch.testing.assert_close(other, one, rtol=1e-12, atol=1e-12)
    assert set(there.gradient_places) <= {"cuda:7"}


# Through the wall


@contextmanager
def behind_the_wall(case, workers):
    """The case's source run as a cell of a confined worker."""
    worker = workers.spawn()
    try:
        for ran in worker.perform([RunCell(source=HEADER), RunCell(source=text_of(case))], 20):
            assert ran.error is None
        yield Submission(lambda messages: worker.perform(messages, 20))
    finally:
        worker.end()


@pytest.mark.parametrize("name", sorted({*[*RIGHT, *WRONG][::12], *ALWAYS}))
def test_a_worker_says_the_same(name, workers):
    case = {**RIGHT, **WRONG}[name]
    with behind_the_wall(case, workers) as handle:
        told = failures(case, handle)
    assert set(told) == ({case.rule} if case.rule else set())
    assert case.line in told.get(case.rule, "")


# What is seen


def test_it_says_which_line_made_the_tensor_and_what_to_do():
    told = failures(WRONG["zero state on the CPU"])["device"]
    assert "line 13 (`h, c = (torch.zeros(B, self.H, dtype=x.dtype) for _ in range(2))`)" in told
    assert "`device`" in told
    assert "line 16" in told


def test_a_plain_tensor_of_a_module_is_called_by_its_name():
    told = failures(WRONG["mask as a plain attribute"])["device"]
    assert "`self.mask` stays on the CPU" in told
    assert "registered" in told


def test_a_plain_tensor_is_followed_through_what_is_made_of_it():
    before = "base = torch.ones(4, dtype=x.dtype)\n        shift = (base * 2).tanh() + 1"
    told = failures(Case(linear("self.fc(x) + shift", before=before)))["device"]
    assert "base = torch.ones(4, dtype=x.dtype)" in told
    assert "self.fc(x) + shift" in told


@pytest.mark.parametrize(
    "way", ["item()", "cpu().item()", "detach().cpu().numpy().item()", "to('cpu').tolist()"]
)
def test_a_number_may_be_read_by_any_way(way):
    case = Case(f"def f(x):\n    return x.mean().{way}\n", made_with=None)
    expect_device_neutral(submission(case).f, inputs_of("x"), names="loss", gradients=False)


def test_training_as_people_write_it_raises_no_alarm():
    source = """
    def f(x):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).to(x)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=False)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(-1, keepdim=True)), 2)
        losses = []
        for _ in range(2):
            for batch, target in loader:
                optimizer.zero_grad(set_to_none=True)
                with torch.enable_grad():
                    loss = F.mse_loss(model(batch), target)
                    loss.backward()
                norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                losses.append(loss.detach().cpu().numpy().item())
            schedule.step()
        return [p.detach() for p in model.parameters()]
    """
    case = Case(source, made_with=None, names=("w", "b", "v", "a"))
    expect_device_neutral(submission(case).f, inputs_of("x"), names=case.names, gradients=False)


def test_lengths_may_lie_on_either_device():
    target = submission(RIGHT["packed sequence"]).Model
    for on_cpu in ((), (1,)):
        expect_device_neutral(
            target, inputs_of("x lengths"), names=("output", "h_n", "c_n"), made_with=(D, H), on_cpu=on_cpu
        )


def test_a_result_may_be_allowed_to_stay_on_the_cpu():
    case = Case("def f(x):\n    return x, torch.tensor([5, 5])\n", made_with=None)
    with pytest.raises(CheckFailed, match="`lengths` comes back on the CPU"):
        expect_device_neutral(submission(case).f, inputs_of("x"), names=("padded", "lengths"))
    expect_device_neutral(submission(case).f, inputs_of("x"), names=("padded", "lengths"), stays=("lengths",))


def test_a_method_may_be_the_target():
    source = (
        linear() + "    def init_state(self, x):\n        return torch.zeros(x.shape[0], 4, dtype=x.dtype)\n"
    )
    target = submission(Case(source)).Model
    form = {"names": "h", "made_with": (D, H), "method": "init_state"}
    with pytest.raises(CheckFailed, match="`h` comes back on the CPU"):
        expect_device_neutral(target, inputs_of("x"), **form)


def test_a_given_module_moves_with_the_call():
    def f(rnn, x):
        return rnn(x)

    handle = Submission(Executor({"f": f}).perform)
    rnn = handle.given("RNN", D, H, batch_first=True)
    expect_device_neutral(handle.f, (rnn, inputs_of("x")[0]), names=("output", "h_n"))


def test_an_error_of_the_students_own_is_told_as_theirs():
    case = Case("def f(x):\n    return x.no_such_thing\n", made_with=None)
    told = failures(case)
    assert "no_such_thing" in told["device"]


def test_shapes_changed_in_place_are_followed():
    case = Case(
        "def f(x):\n    y = x * 2\n    y.unsqueeze_(0).transpose_(1, 2)\n    y.squeeze_(0)\n    return y\n",
        made_with=None,
    )
    seen = probed(case)
    assert seen.error is None
    torch.testing.assert_close(seen.value, (inputs_of("x")[0] * 2).transpose(0, 1))


def test_nothing_of_it_stays_behind():
    before = torch.__future__.get_swap_module_params_on_conversion()
    probed(RIGHT["nn.LSTM"], gradients=True)
    assert torch.__future__.get_swap_module_params_on_conversion() is before
    assert not torch._C._len_torch_function_stack()
    assert not torch._C._len_torch_dispatch_stack()
    assert not torch.cuda.is_initialized()


def test_a_default_device_does_not_outlive_the_call():
    for source in ("torch.set_default_device(x.device)", "torch.set_default_device('cuda')"):
        probed(Case(f"def f(x):\n    {source}\n    return x * 2\n", made_with=None))
        assert torch.get_default_device() == torch.device("cpu")


def test_a_shared_parameter_that_cannot_be_swapped_stays_shared():
    source = """
    import weakref
    class Model(nn.Module):
        def __init__(self, D, H):
            super().__init__()
            self.one, self.two = nn.Linear(D, H), nn.Linear(D, H)
            self.two.weight = self.one.weight
            self.seen = weakref.ref(self.one.weight)
        def forward(self, x):
            assert self.one.weight is self.two.weight
            return self.one(x) + self.two(x)
    """
    assert failures(Case(source)) == {}


FRESH = """
import os, sys, torch
from torch import nn
from autograder.protocol.messages import ProbeCall, Target
from autograder.worker.session.executor import Executor
for device in ("cpu", "pretend"):
    executor = Executor({"layer": nn.LSTM(3, 4, batch_first=True)})
    call = {"target": Target("layer"), "args": (torch.zeros(2, 5, 3),), "device": device}
    (told,) = executor.perform([ProbeCall(**call, dtype="float32", trace="all", gradients=True)])
    assert told.error is None, told
    assert all(grad is not None for grad in told.parameters.values()), told
slow = [name for name in ("torch._dynamo", "sympy") if name in sys.modules]
print(len(os.listdir("/proc/self/task")), slow)
"""


def test_it_starts_no_thread_and_imports_nothing_slow():
    told = subprocess.run(
        [sys.executable, "-c", FRESH], capture_output=True, text=True, check=True, env=clean_environment()
    )
    assert told.stdout.strip() == "1 []"
