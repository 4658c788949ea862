"""A real GPU: how checks judge its answers, with the pretend one in its place and, where one is, itself."""

import json
from types import SimpleNamespace
from unittest import mock

import pytest
import torch

from autograder.checking import CheckFailed, Submission, expect_device_neutral
from autograder.checking.remote.errors import StudentError, WorkerLost
from autograder.errors import UserError
from autograder.grading.workers.forkserver import ForkServer, RunLimits
from autograder.grading.workers.gpu import require_gpu
from autograder.worker.sandbox import gpu_nodes
from autograder.worker.session import device_call
from autograder.worker.session.executor import Executor
from autograder.worker.simulated.device import SimulatedDevice
from tests.devices import Case, D, H, inputs_of, namespace_of
from tests.devices.everything import RIGHT, WRONG
from tests.devices.right.usual import lstm
from tests.support.helpers import ASSIGNMENT, autograder_here, make_course, solved, submit

gpu = pytest.mark.gpu
needs_gpu = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="there is no CUDA device on this machine"
)
LINEAR = Case("class Model(nn.Linear):\n    pass\n", made_with=(D, H))


@pytest.fixture
def real(monkeypatch):
    """What the real GPU does, told to a pretend one that takes its place."""
    told = SimpleNamespace(made=[], full=(9, 9, 9, 9), raises=None, off_by=0.0)
    seeding = torch.default_generator.manual_seed

    class InItsPlace(SimulatedDevice):
        def __init__(self, device, origins, otherwise, *, cudnn):
            super().__init__(origins, {}, otherwise)
            told.made.append(cudnn)

        def __enter__(self):
            if told.raises is not None:
                raise told.raises
            # The module is made on the CPU; in the call a GPU's generator draws otherwise from the same seed.
            shifts = iter((0, 77))
            own = SimpleNamespace(manual_seed=lambda seed: seeding(seed + next(shifts)))
            self._stack.enter_context(mock.patch.object(torch, "default_generator", own))
            return super().__enter__()

        def wrap(self, tensor):
            return super().wrap(tensor + told.off_by)

        def memory(self, call, times):
            return list(told.full[:times])

    monkeypatch.setattr(device_call, "Cuda", InItsPlace)
    return told


def target(case, *, on_gpu=True):
    return getattr(Submission(Executor(namespace_of(case)).perform, on_gpu=on_gpu), case.name)


def judge(case, *, on_gpu=True):
    expect_device_neutral(
        target(case, on_gpu=on_gpu), inputs_of(case.inputs), made_with=case.made_with, names=("y",)
    )


def test_right_code_is_called_there_with_cudnn_and_without(real):
    for name in ("nn.LSTM", "checkpointed", "packed sequence"):
        judge(RIGHT[name])
    assert real.made == [True, False] * 3


def test_other_values_than_on_the_cpu_are_told(real):
    real.off_by = 0.01
    with pytest.raises(CheckFailed, match=r"On a real GPU: .* has different values than on the CPU"):
        judge(LINEAR)


def test_random_numbers_are_not_compared_with_those_of_another_generator(real):
    forward = "    def forward(self, x):\n        return F.dropout(super().forward(x))\n"
    judge(Case(f"class Model(nn.Linear):\n{forward}"))
    assert real.made == [True, False]


def test_without_a_gpu_nothing_is_called_there(real):
    judge(RIGHT["nn.LSTM"], on_gpu=False)
    assert real.made == []


def test_what_only_the_real_one_shows_is_told(real):
    real.raises = RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED")
    with pytest.raises(StudentError, match="CUDNN_STATUS") as stopped:
        judge(LINEAR)
    assert stopped.value.case.startswith("On a real GPU")


def test_memory_that_grows_from_call_to_call_is_told(real):
    real.full = (100, 512, 1024, 1536)
    with pytest.raises(CheckFailed, match="On a real GPU: Every call leaves 512 more bytes"):
        judge(LINEAR)
    real.full = (100, 512, 512, 512)  # the first call makes workspaces
    judge(LINEAR)


def test_a_full_gpu_is_the_machines_fault(real):
    real.raises = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB.")
    with pytest.raises(WorkerLost) as lost:
        judge(LINEAR)
    assert lost.value.reason == "infra_error"


def test_a_fault_of_the_code_is_told_by_the_pretend_one_first(real):
    name = next(name for name, case in WRONG.items() if case.made_with is not None)
    with pytest.raises((CheckFailed, StudentError)) as told:
        judge(WRONG[name])
    assert "real GPU" not in str(told.value)
    assert real.made == []


@pytest.mark.slow
def test_a_machine_without_a_gpu_says_so_in_one_sentence(tmp_path):
    if gpu_nodes.describe() is not None:
        pytest.skip("this machine has a GPU")  # and uses it in place of saying that there is none
    course = make_course(tmp_path)
    submit(course, "ada", json.dumps(solved()).encode())
    told = autograder_here("grade", ASSIGNMENT, "--gpu-memory", "1", "--course", tmp_path)
    assert told.returncode == 1
    assert told.stderr.strip() == "This machine has no GPU that could be used: leave `--gpu-memory` out."
    assert not (tmp_path / "autograded").exists()


@pytest.mark.slow
def test_a_gpu_that_workers_cannot_use_is_refused_before_anything_runs(monkeypatch):
    """Device files alone make no GPU: torch finds none in the worker, and that is what is told."""
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    monkeypatch.setattr(gpu_nodes, "describe", lambda: "1 (invented)")
    with (
        ForkServer(RunLimits(gpu_bytes=1 << 30)) as parent,
        pytest.raises(UserError, match="cannot be used by workers: there is no device cuda here"),
    ):
        require_gpu(parent)


# Only where there is one.


@gpu
@needs_gpu
@pytest.mark.parametrize("name", RIGHT)
def test_right_code_is_right_on_a_real_gpu(name):
    case, last = RIGHT[name], f"cuda:{torch.cuda.device_count() - 1}"
    for cudnn in (True, False):
        seen = target(case).placed(
            inputs_of(case.inputs), device="cuda", made_with=case.made_with, cudnn=cudnn, repeat=4
        )
        assert seen.error is None
        assert set(seen.places) <= {last}
        assert len(set(seen.memory[1:])) == 1


@gpu
@needs_gpu
def test_a_wait_for_a_real_gpu_is_written_down():
    case = Case(lstm(keep="outputs.append(h); h.sum().item()"))
    seen = target(case).placed(inputs_of(case.inputs), device="cuda", made_with=case.made_with)
    assert any(event.line and ".item()" in event.line.text for event in seen.events)


# With two of them `cuda:1` is there.
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device on this machine")
def test_a_device_that_is_not_there_is_an_error_of_the_check():
    case = RIGHT["new_zeros"]
    with pytest.raises(StudentError, match="no device cuda:1"):
        target(case).placed(inputs_of(case.inputs), device="cuda:1", made_with=case.made_with)
