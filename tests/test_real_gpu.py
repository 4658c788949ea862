"""A real GPU: how checks judge its answers, with the simulated one in its place and, where one is, itself."""

import json
from types import SimpleNamespace

import pytest
import torch

from autograder.checking import Submission, expect_device_neutral
from autograder.checking.remote.errors import StudentError, WorkerLost
from autograder.errors import UserError
from autograder.grading.workers.forkserver import ForkServer, RunLimits
from autograder.grading.workers.gpu import require_gpu
from autograder.worker.portability.gpu import SimulatedGpu
from autograder.worker.portability.places import Place
from autograder.worker.sandbox import gpu_nodes
from autograder.worker.session import probe
from autograder.worker.session.executor import Executor
from tests.devices import Case, D, H, inputs_of, namespace_of
from tests.devices.everything import RIGHT
from tests.support.helpers import ASSIGNMENT, autograder_here, make_course, solved, submit

gpu = pytest.mark.gpu
needs_gpu = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="there is no CUDA device on this machine"
)
LINEAR = Case("class Model(nn.Linear):\n    pass\n", made_with=(D, H))


@pytest.fixture
def real(monkeypatch):
    """The simulated GPU in the place of the real one, and what stops a call on it."""
    told = SimpleNamespace(calls=0, raises=None)

    class InItsPlace(SimulatedGpu):
        def __enter__(self):
            told.calls += 1
            if told.raises is not None:
                raise told.raises
            return super().__enter__()

    monkeypatch.setattr(probe, "gpu_of", lambda name: name)
    monkeypatch.setattr(probe, "Place", lambda device: InItsPlace() if device == "cuda" else Place(device))
    return told


def target(case, *, on_gpu=True):
    return getattr(Submission(Executor(namespace_of(case)).perform, on_gpu=on_gpu), case.name)


def judge(case, *, on_gpu=True):
    expect_device_neutral(
        target(case, on_gpu=on_gpu), inputs_of(case.inputs), made_with=case.made_with, names=("y",)
    )


@pytest.mark.parametrize("on_gpu", [True, False])
def test_right_code_is_called_there_where_there_is_one(real, on_gpu):
    judge(RIGHT["nn.LSTM"], on_gpu=on_gpu)
    assert real.calls == on_gpu


def test_what_only_the_real_one_shows_is_told(real):
    real.raises = RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED")
    with pytest.raises(StudentError, match="CUDNN_STATUS") as stopped:
        judge(LINEAR)
    assert stopped.value.case.startswith("On a real GPU")


def test_a_full_gpu_is_the_machines_fault(real):
    real.raises = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB.")
    with pytest.raises(WorkerLost) as lost:
        judge(LINEAR)
    assert lost.value.reason == "infra_error"


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
    seen = target(case).probed(inputs_of(case.inputs), device="cuda", made_with=case.made_with)
    assert seen.error is None
    assert set(seen.places) <= {last}


# With two of them `cuda:1` is there.
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device on this machine")
def test_a_device_that_is_not_there_is_an_error_of_the_check():
    case = RIGHT["new_zeros"]
    with pytest.raises(StudentError, match="no device cuda:1"):
        target(case).probed(inputs_of(case.inputs), device="cuda:1", made_with=case.made_with)
