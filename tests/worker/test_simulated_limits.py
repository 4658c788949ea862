"""The pretend GPU's edges: `torch.cuda`, where it can go no further, and what is said of names and lines."""

import torch

from autograder.checking import Submission
from autograder.worker.portability.gpu import SimulatedGpu
from autograder.worker.session.executor import Executor
from tests.devices import failures, inputs_of, namespace_of
from tests.devices.writing import calls, makes


def test_torch_has_its_own_names_again():
    before = dict(vars(torch.cuda)), torch.Generator
    with SimulatedGpu():
        assert torch.cuda.synchronize is not before[0]["synchronize"]
    assert (dict(vars(torch.cuda)), torch.Generator) == before


def test_a_gpu_is_there_in_the_call_and_not_before():
    case = makes(
        "self.before = torch.cuda.is_available()",
        "return x * (2.0 if torch.cuda.is_available() and not self.before else 1.0)",
    )
    target = Submission(Executor(namespace_of(case)).perform).Model
    (x,) = inputs_of("x")
    there = target.probed((x,), device="pretend", made_with=(3, 4))
    torch.testing.assert_close(there.value, x if torch.cuda.is_available() else 2 * x)


def test_where_pretending_ends_nothing_is_said():
    case = calls(
        "return (x.as_subclass(Kind) * 2).as_subclass(torch.Tensor)",
        before="class Kind(torch.Tensor):\n    pass",
    )
    target = Submission(Executor(namespace_of(case)).perform).f
    there = target.probed(inputs_of("x"), device="pretend")
    assert [event.kind for event in there.events] == ["beyond"]
    assert failures(case) == {}


def test_a_list_of_modules_is_called_by_its_name():
    case = makes(
        "self.layers = [nn.Linear(D, H)]\nself.last = nn.Linear(H, H)",
        "return self.last(self.layers[0](x))",
    )
    told = failures(case)
    assert "`self.layers` stays on the CPU" in told["device"]
    assert "registered" in told["device"]
    assert "`self.layers` is float32" in told["dtype"]


def test_a_tensor_that_the_call_keeps_is_not_said_to_be_unregistered():
    case = makes(
        "self.fc, self.kept = nn.Linear(D, H), {}",
        "self.kept[1] = torch.arange(x.size(1))\nreturn self.fc(x) * self.kept[1][:, None]",
    )
    told = failures(case)["device"]
    assert "creates `self.kept` on the CPU" in told
    assert "registered" not in told


def test_the_line_that_rounded_is_named_and_not_the_last():
    case = calls("h = x.sum(1, dtype=torch.float32)\nh = h * 2\nreturn h.to(x.dtype)")
    assert "line 2 (`h = x.sum(1, dtype=torch.float32)`) rounds" in failures(case)["dtype"]


def test_a_cast_is_named_where_no_two_dtypes_meet():
    case = makes("self.rnn = nn.GRU(D, H)", "return self.rnn(x.float())[0]")
    assert "line 6 (`return self.rnn(x.float())[0]`) converts numbers to float32" in failures(case)["dtype"]
