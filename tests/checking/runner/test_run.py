"""How checks are run: in which order, what each earns, what is told of an error, what a call is given."""

import textwrap

import pytest
import torch
from torch import nn

from autograder.checking import CheckFailed, Submission, case, expect, fail, points, rule
from autograder.checking.remote.errors import NotDefined, StudentError
from autograder.checking.runner.check import ChecksBroken
from autograder.checking.runner.collection import collect
from autograder.checking.runner.outcome import read_failure
from autograder.protocol.answers import Raised
from autograder.verdict import CheckVerdict
from tests.support.checking import SIZES, message, submission

CHECKS = '''
from autograder.checking import hidden, needs, points, rule, fail

@points(1)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one."""
    if submission.f() != 1:
        fail("not one")

@points(1)
@rule("values")
@needs(test_shape)
def test_after(submission, sizes, draw):
    """It returns one again."""
    submission.f()

@points(0.5)
@rule("generality")
@hidden("More is asked when grading.")
def test_secret(submission, sizes, draw):
    """A secret."""
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "test_f.py").write_text(textwrap.dedent(CHECKS))
    return tmp_path


def run(folder, include_hidden=True, **objects):
    results = collect(folder).run("f", submission(**objects), seed=1, include_hidden=include_hidden)
    return {result.check.name: (result.outcome, result.message) for result in results}


def test_a_check_that_waits_is_skipped_and_says_for_what(folder):
    results = run(folder, f=lambda: 2)
    assert results["shape"] == ("failed", "not one")
    assert results["after"] == ("skipped", "Not judged until this holds: It returns one.")
    assert results["secret"] == ("passed", "")


def test_hidden_checks_run_when_grading_only(folder):
    assert list(run(folder, include_hidden=False, f=lambda: 1)) == ["shape", "after"]


def test_a_failed_check_may_earn_a_part_of_its_points(tmp_path):
    source = """
    from autograder.checking import fail, needs, points, rule

    @points(3)
    @rule("values")
    def test_some(submission, sizes, draw):
        \"\"\"All eight are right.\"\"\"
        if submission.f() < 8:
            fail("not all", earned=submission.f() / 8)

    @points(1)
    @rule("values")
    @needs(test_some)
    def test_after(submission, sizes, draw):
        \"\"\"More.\"\"\"
    """
    (tmp_path / "test_f.py").write_text(textwrap.dedent(source))
    for right, outcome, points_given in ((8, "passed", 3.0), (6, "failed", 2.25), (0, "failed", 0.0)):
        target = submission(f=lambda right=right: right)
        some, after = collect(tmp_path).run("f", target, seed=1, include_hidden=True)
        verdict = CheckVerdict.from_result(some)
        assert (verdict.outcome, verdict.points, verdict.max_points) == (outcome, points_given, 3.0)
        assert after.outcome == ("passed" if right == 8 else "skipped")


def test_what_is_not_written_yet(folder):
    def stub():
        raise NotImplementedError

    outcome, said = run(folder, f=stub)["shape"]
    assert outcome == "failed"
    assert said == "Not written yet: `f`, or something it uses, still raises NotImplementedError."


def test_a_kernel_that_torch_lacks_is_no_stub(folder):
    namespace: dict = {"torch": torch}
    source = "def f():\n    return torch.zeros(2).to_sparse().cumsum(0)\n"
    exec(compile(source, "<cell f>", "exec"), namespace)
    outcome, said = run(folder, f=namespace["f"])["shape"]
    assert outcome == "error"
    assert said.startswith("Your code stopped: NotImplementedError: Could not run")


def test_what_is_not_defined(folder):
    outcome, said = run(folder)["shape"]
    assert outcome == "error"
    assert said == "Nothing is called `f` here. If you renamed it, give it back its name."


def test_a_name_that_is_missing_since_its_cell_stopped():
    stopped = StudentError(Raised(type="ImportError", message="no"))
    submission = Submission(lambda batch: [], {"cell-1": "import no\nf = 1"}, {"cell-1": stopped})
    outcome, said = read_failure(NotDefined("f"), "f", submission)
    assert (outcome, said.split(". ")[0]) == ("error", "Your cell for `f` stopped: ImportError: no")
    assert read_failure(NotDefined("g"), "g", submission)[1].startswith("Nothing is called `g` here")


def test_an_error_shows_the_students_line_only(folder):
    namespace: dict = {}
    exec(compile("def f():\n    return 1 / 0\n", "<cell f>", "exec"), namespace)
    outcome, said = run(folder, f=namespace["f"])["shape"]
    assert outcome == "error"
    assert said.startswith("Your code stopped: ZeroDivisionError: division by zero (line 2:")
    assert "executor.py" not in said
    assert "operations.py" not in said


def test_advice_of_torch_that_would_cut_the_gradient_is_not_left_alone(folder):
    namespace: dict = {}
    lines = "import torch\ndef f():\n    return torch.ones(2, requires_grad=True).numpy()\n"
    exec(compile(lines, "<cell f>", "exec"), namespace)
    _, said = run(folder, f=namespace["f"])["shape"]
    assert "detach().numpy()" in said
    assert said.endswith("Detaching would cut the gradient: use torch's own operations")


@pytest.mark.parametrize(
    "text",
    [
        '@rule("shape")\ndef test_a(submission):\n    pass\n',
        'def test_a(submission):\n    """No rule."""\n',
        '@rule("shape")\ndef test_a(submission, tmp_path):\n    """It asks for a fixture of pytest."""\n',
        '@pytest.mark.skip\n@rule("shape")\ndef test_a(submission):\n    """It has a mark of pytest."""\n',
        "import nothing_of_that_name\n",
        "def test_a(:\n",
    ],
)
def test_checks_that_are_broken_say_so(tmp_path, text):
    (tmp_path / "test_f.py").write_text("import pytest\nfrom autograder.checking import rule\n" + text)
    with pytest.raises(ChecksBroken):
        collect(tmp_path)


PARAMETERS = """
import pytest
from autograder.checking import fail, points, rule

@pytest.mark.parametrize("number", [1, 2, 3])
@points(1)
@rule("values")
def test_same(submission, number):
    '''It returns what it gets.'''
    if submission.f(number) != number:
        fail(f"not {number}")
"""


def test_a_check_with_parameters_holds_for_all_of_them(tmp_path):
    (tmp_path / "test_f.py").write_text(PARAMETERS)
    assert run(tmp_path, f=lambda number: number) == {"same": ("passed", "")}
    assert run(tmp_path, f=lambda number: min(number, 2)) == {"same": ("failed", "not 3")}


DEFAULTS = """
from autograder.checking import fail, points, rule

@points(1)
@rule("values")
def test_same(submission, number=2, *, twice=4):
    '''It doubles.'''
    if submission.f(number) != twice:
        fail("not doubled")
"""


def test_an_argument_with_a_default_is_no_fixture(tmp_path):
    (tmp_path / "test_f.py").write_text(DEFAULTS)
    assert run(tmp_path, f=lambda number: 2 * number) == {"same": ("passed", "")}
    assert run(tmp_path, f=lambda number: number) == {"same": ("failed", "not doubled")}


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ChecksBroken):
        collect(tmp_path / "nowhere")


def test_checks_run_on_one_thread_and_leave_the_number_of_threads_as_it_was(folder):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        seen = []
        run(folder, f=lambda: seen.append(torch.get_num_threads()))
        assert set(seen) == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_numbers_of_numpy_are_numbers():
    numpy = pytest.importorskip("numpy")
    answers = submission(f=lambda: (numpy.int64(3), numpy.bool_(True), [numpy.float32(0.5)], numpy.zeros(2)))
    number, truth, (half,), array = answers.f()
    assert (number, truth, half) == (3, True, 0.5)
    assert (type(number), type(truth), type(half)) == (int, bool, float)
    assert array.what == "a numpy.ndarray"


RETURNS_ZEROS = """
import torch
from autograder.checking import expect, points, rule

@points(1)
@rule("values")
def test_zeros(submission, sizes, draw):
    '''It returns zeros.'''
    x = draw("B T")
    expect(submission.f(x), torch.zeros_like(x), names="y", dims="B T", sizes=sizes)
"""


def test_values_that_change_from_call_to_call_are_told(tmp_path):
    (tmp_path / "test_f.py").write_text(RETURNS_ZEROS)
    kept = []

    def remembering(x):
        kept.append(x)
        return x.new_full(x.shape, float(len(kept)))

    def nearly(x):
        return x.new_ones(x.shape) + 1e-7 * torch.rand(())

    def never(x):
        return x * torch.nan

    steady = ((lambda x: x + 1, False), (never, False))
    for function, changes in ((torch.randn_like, True), (remembering, True), (nearly, True), *steady):
        (result,) = collect(tmp_path).run(
            "f", submission(f=function), seed=1, include_hidden=True, renew=lambda: None
        )
        assert ("The same call, repeated, gives different numbers" in result.message) == changes
        assert ("The smallest input that shows it" in result.message) != changes


def test_points_are_halves_and_rules_are_known():
    with pytest.raises(ValueError):
        points(0.3)
    with pytest.raises(ValueError):
        rule("style")


def test_a_check_s_tensors_are_its_own():
    """In a notebook, too: what a call writes into is a copy, and so is what comes back."""
    kept = []

    def f(x, *, more):
        kept.append(x)
        x.add_(1)
        more[0].mul_(0)
        return x

    x, y = torch.zeros(2, requires_grad=True), torch.ones(2)
    told = submission(f=f).f(x, more=[y])
    assert (x.tolist(), y.tolist(), told.tolist()) == ([0, 0], [1, 1], [1, 1])
    kept[0].fill_(5)
    assert told.tolist() == [1, 1]


def test_what_is_left_for_later_is_done_with_what_it_was_then():
    linear = submission(Linear=nn.Linear).Linear(2, 1)
    state = {"weight": torch.ones(1, 2, dtype=torch.float64), "bias": torch.zeros(1, dtype=torch.float64)}
    linear.load_state_dict(state)
    state["weight"].zero_()
    assert linear(torch.ones(1, 2, dtype=torch.float64)).item() == 2


@pytest.mark.parametrize("earned", [-0.1, 1, float("nan")])
def test_a_failed_check_earns_less_than_everything(earned):
    with pytest.raises(ValueError):
        fail("half right", earned=earned)


def test_the_case_is_told_in_failures_and_errors():
    def fails():
        with case("with one sequence"):
            expect(None, torch.ones(1), names="h", dims="1", sizes=SIZES)

    assert message(fails).startswith("With one sequence: Expected `h`")
    with pytest.raises(CheckFailed) as failed, case("with one sequence"):
        fail("half right", earned=0.5)
    assert failed.value.earned == 0.5
    with pytest.raises(StudentError) as caught, case("with one sequence"):
        submission(f=lambda: 1 / 0).f()
    assert caught.value.case == "With one sequence"


ROUNDING = """
import torch
from autograder.checking import FunctionSpec

task = FunctionSpec("f", inputs={"x": "B T H"}, outputs={"y": "B H"}, reference=lambda x: x.sum(1))
test_values = task.values(points=1)
test_gradients = task.gradients(points=1, needs=[test_values])
test_dtype = task.dtypes(points=0.5)
"""


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        ("x.sum(1)", []),
        ("x.float().sum(1).to(x.dtype)", ["dtype"]),
        ("x.float().mean(1).to(x.dtype)", ["values", "dtype"]),
        ("x.sum(1) * (1 + 5e-6)", ["values"]),
        ("x.detach().float().sum(1).to(x.dtype)", ["gradients", "dtype"]),
    ],
    ids=["right", "rounded", "rounded and wrong", "a little wrong", "rounded and cut off"],
)
def test_rounding_to_float32_costs_the_points_of_the_dtype_alone(tmp_path, answer, failed):
    (tmp_path / "test_f.py").write_text(ROUNDING)
    exec(compile(f"def f(x):\n    return {answer}", "<cell f>", "exec"), written := {})
    results = run(tmp_path, f=written["f"])
    assert [name for name, (outcome, _) in results.items() if outcome == "failed"] == failed
