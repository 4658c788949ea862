"""The language checks are written in: what each expectation lets pass, what it says, how a run goes."""

import random
import textwrap
from collections import namedtuple

import pytest
import torch
from torch import nn

from autograder.checking import (
    CheckFailed,
    Draw,
    Sizes,
    Submission,
    case,
    expect,
    expect_dtype,
    expect_gradients,
    expect_module,
    expect_not_shared,
    expect_registered,
    expect_untouched,
    fail,
    points,
    rule,
)
from autograder.checking.check import ChecksBroken
from autograder.checking.errors import StudentError
from autograder.checking.expect import compare
from autograder.checking.located import located
from autograder.checking.scratch import forbidden_uses
from autograder.checking.session import with_checks
from autograder.checking.shapes import explain_shape
from autograder.checking.smallest import smallest
from autograder.exercises.from_scratch import NAMES
from autograder.grading.verdict import CheckVerdict
from autograder.worker.objects import Objects

SIZES = Sizes(B=2, T=5, D=7, H=11, L=3, V=13)
PAIR = {"names": ("output", "h_n"), "dims": ("B T H", "L B H"), "sizes": SIZES}


def submission(**objects):
    return Submission(Objects(objects).perform)


def draw(seed=1):
    return Draw(seed, "test", SIZES)


def message(call, *args, **kwargs):
    with pytest.raises(CheckFailed) as caught:
        call(*args, **kwargs)
    return str(caught.value)


# Sizes and shapes


def test_sizes_are_distinct_and_not_multiples():
    for seed in range(50):
        sizes = Sizes.drawn(random.Random(seed), time=2 + seed % 2 * 3)
        drawn = [sizes.B, sizes.T, sizes.D, sizes.H, sizes.L, sizes.V]
        assert not [(a, b) for a in drawn for b in drawn if a is not b and a % b == 0]


def test_inputs_depend_on_seed_and_check_only():
    assert torch.equal(draw()("B T D"), draw()("B T D"))
    assert not torch.equal(draw(1)("B T D"), draw(2)("B T D"))
    assert not torch.equal(Draw(1, "test", SIZES)("B H"), Draw(1, "other", SIZES)("B H"))


def test_strided_inputs_have_the_shape_and_are_not_contiguous():
    x = draw().strided("B T D")
    assert x.shape == (2, 5, 7)
    assert not x.is_contiguous()


@pytest.mark.parametrize(
    ("seen", "dims", "said"),
    [
        (
            (5, 2, 11),
            "B T H",
            "(time, batch, hidden) = (5, 2, 11); expected (batch, time, hidden) = (2, 5, 11)",
        ),
        ((5, 2, 11), "B T H", "The batch and time dimensions have changed places"),
        ((11, 2, 5), "B T H", "in another order"),
        ((2, 11), "B T H", "The time dimension is missing"),
        ((2, 4, 11), "B T H", "One is missing along time"),
        ((2, 6, 11), "B T H", "one too many along time"),
        ((2, 5, 22), "B T H", "Along hidden there are 2 times as many"),
        ((2, 11), "B 2H", "one part of 2"),
        ((2, 1, 11), "B T H", "Along time there is only one"),
        ((1, 2, 11), "B H", "an extra dimension of size 1 at position 0"),
        ((3, 2, 11), "B H", "an extra layers dimension at position 0: one of its 3"),
        ((5,), "1 T 1", "Every dimension of size 1 is gone"),
        ((5, 2), "5 1 2", "The size-1 dimension is missing"),
        ((2, 55), "B T H", "Time and hidden have run together"),
        ((10, 1, 11), "B T H", "arranged otherwise"),
        ((2, 44), "B H", "(batch, 4·hidden)"),
        ((), "B H", "(a single number)"),
        ((2, 11), "", "is there a sum or a mean still to be taken"),
        ((2, 3, 11), "B T H", "Along time there are 3 where there should be 5: which are left out"),
        ((2, 3, 22), "B T H", "Along time it has been cut into 2 parts, along hidden it is whole"),
        ((11, 5), "5 1 11", "The size-1 dimension is missing, which has size 1 here"),
    ],
)
def test_a_wrong_shape_is_read_by_name(seen, dims, said):
    assert said in explain_shape("h", seen, dims, SIZES)


# Where


@pytest.mark.parametrize(
    ("wrong", "dims", "said"),
    [
        ((slice(None), slice(2, None)), "B T H", "from time step 2 on"),
        ((slice(None), slice(0, 2)), "B T H", "only until time step 1"),
        ((slice(None), 3), "B T H", "only in time step 3"),
        ((1,), "L B H", "only in layer 1"),
        ((slice(1, None),), "L B H", "from layer 1 on"),
        ((slice(None), slice(1, 3)), "L B H", "only in sequences 1, 2"),
        ((slice(None), [0, 1, 3, 4]), "L B H", "in every sequence but 2"),
        (
            (slice(None), slice(None), slice(5, 10)),
            "L B 2H",
            "of two directions, the backward one",
        ),
        ((slice(None), slice(10, 15)), "B 4H", "only in block 2 of 4"),
        ((3,), "2L B H", "only in row 3 (layer 1, part 1)"),
        ((0, 0), "T 3", "only in time step 0"),
        ((), "B T H", ""),
    ],
)
def test_it_is_said_where_values_differ(wrong, dims, said):
    shape = tuple(
        {"B": 5, "T": 6, "H": 5, "L": 3, "2H": 10, "4H": 20, "2L": 6, "3": 3}[dim] for dim in dims.split()
    )
    apart = torch.zeros(shape, dtype=torch.bool)
    apart[wrong] = True
    told = located(apart, dims)
    assert said in told
    assert bool(told) == bool(said)


def test_the_smallest_input_is_told_by_what_the_check_has():
    def fails_from(**least):
        return lambda sizes: all(getattr(sizes, letter) >= size for letter, size in least.items())

    assert smallest(fails_from(), {"B", "T"}).endswith("one sequence of one time step.")
    assert smallest(fails_from(T=2), {"B", "T"}).endswith("one sequence of two time steps.")
    assert smallest(fails_from(B=2), {"B"}).endswith("two sequences.")
    assert "two layers" in smallest(fails_from(L=2, T=2), {"B", "T"})
    assert smallest(fails_from(B=3), {"B"}) == smallest(fails_from(), set()) == ""


# Values


def test_a_list_or_a_named_tuple_passes_for_a_tuple():
    output, h_n = draw()("B T H"), draw()("L B H")
    expect([output, h_n], (output, h_n), **PAIR)
    named = submission(f=lambda: namedtuple("Pair", "output h_n")(output, h_n)).f()
    expect(named, (output, h_n), **PAIR)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "Is a `return` missing?"),
        ("text", "the text 'text'"),
        (3, "the number 3"),
        (float("nan"), "the number nan"),
        (True, "`True`"),
        ({}, "a dict with the keys"),
        ({"h": None}, "'h'"),
        ((), "a tuple of 0"),
        ([[1.0, 2.0], [3.0]], "a list of 2"),
        (torch.zeros(2).numpy(), "numpy.ndarray"),
        (torch.zeros(2).to_sparse(), "not dense"),
        (torch.zeros(2, device="meta"), "meta"),
        (nn.Linear(1, 1), "type Linear"),
        (torch.zeros, "builtin"),
        (object(), "an object"),
        ([], "a list of 0"),
        ([None], "inside a list of one"),
        (range(3), "a range"),
    ],
)
def test_odd_answers_are_told_in_words(answer, said):
    odd = submission(f=lambda: answer).f()
    assert said in message(expect, odd, torch.zeros(2, 11), names="h", dims="B H", sizes=SIZES)
    for reference in ((torch.zeros(2, 5, 11), torch.zeros(3, 2, 11)),):
        message(expect, odd, reference, **PAIR)
        message(expect, (odd, reference[1]), reference, **PAIR)
    message(expect_dtype, odd, torch.float32, names=("output", "h_n"))


def test_values_are_located_and_the_right_ones_named():
    output, h_n = draw()("B T H"), draw()("L B H")
    wrong = output.clone()
    wrong[:, 2:] += 1
    said = message(expect, (wrong, h_n), (output, h_n), **PAIR)
    assert "from time step 2 on; counting starts at 0" in said
    assert "`h_n` is right" in said
    wrong = h_n.clone()
    wrong[1] = 0
    assert "only in layer 1" in message(expect, (output, wrong), (output, h_n), **PAIR)


def test_results_in_another_order_are_recognized():
    h, c = draw()("B H"), draw()("B T")[:, :1] * torch.ones(11, dtype=torch.float64)
    said = message(expect, (c, h), (h, c), names=("h", "c"), dims="B H", sizes=SIZES)
    assert "the values that `c` should have" in said


def test_no_message_holds_the_expected_numbers():
    right = torch.full((2, 11), 123.456)
    said = message(expect, torch.zeros(2, 11), right + torch.arange(11), names="h", dims="B H", sizes=SIZES)
    assert "124" not in said


@pytest.mark.parametrize(
    ("factor", "dtype", "agrees"),
    [
        (1 + 1e-7, torch.float64, True),
        (1 + 1e-5, torch.float64, False),
        (1 + 1e-5, torch.float32, True),
        (1 + 1e-2, torch.float32, False),
        (1 + 1e-2, torch.bfloat16, True),
    ],
)
def test_tolerance_is_that_of_the_coarser_dtype(factor, dtype, agrees):
    right = draw()("B H") + 3
    assert (compare((right * factor).to(dtype), right) == "") is agrees


def test_what_a_coarser_result_went_into_is_compared_as_coarsely():
    x = draw()("B H") + 3
    near, form = x * (1 + 1e-5), {"names": ("y", "w"), "dims": "B H", "sizes": SIZES}
    expect((near, x.float()), (x, x), **form)
    assert "`y` has the right shape but not the right values" in message(expect, (near, x), (x, x), **form)


def test_numbers_that_are_not_finite_or_not_real():
    assert "not finite" in compare(torch.tensor([float("nan")]), torch.ones(1))
    assert "complex" in compare(torch.ones(1) * 1j, torch.ones(1))
    assert compare(torch.ones(1, dtype=torch.int64), torch.ones(1)) == ""


# dtype, mutation, sharing


def test_dtype_of_every_result():
    expect_dtype((torch.ones(1), torch.ones(1)), torch.float32, names=("h", "c"))
    assert "`c` is torch.float64" in message(
        expect_dtype, (torch.ones(1), torch.ones(1).double()), torch.float32, names=("h", "c")
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.zero_(),
        lambda x: x.unsqueeze_(0),
        lambda x: x.t_(),
        lambda x: x.resize_(3),
        lambda x: setattr(x, "data", x.float()),
    ],
)
def test_a_changed_argument_is_named(change):
    x, h = draw()("B D"), draw()("B H")
    call = submission(f=lambda x, state: change(state[1])).f.run((x, (x, h)))
    assert "`state`" in message(expect_untouched, call, (x, (x, h)), ("x", "state"))


def test_an_untouched_argument_passes():
    x = draw().strided("B T D")
    expect_untouched(submission(f=lambda x: x + 1).f.run((x,)), (x,), ("x",))


def test_shared_memory():
    expect_not_shared(torch.ones(1), torch.ones(1), "w")
    assert "share memory" in message(expect_not_shared, torch.ones(1), torch.zeros(1), "w")


# Gradients


def gradients(function, reference=lambda x, h: x.sum() * h):
    target = submission(f=function).f
    expect_gradients(target, reference, (draw()("B D"), draw()("B H")), names=("x", "h"), draw=draw())


def test_gradients_pass_and_a_missing_one_passes_for_zero():
    gradients(lambda x, h: h * x.sum())
    gradients(lambda x, h: h * 2, reference=lambda x, h: h * 2 + 0 * x.sum())
    gradients(lambda x, h: (h * x.sum()).float())


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x, h: h * x.detach().sum(), "No gradient reaches `x`"),
        (lambda x, h: (h * x.sum()).detach(), "cut off from the graph"),
        (lambda x, h: h * (x * 2).sum(), "The gradient of `x` is not the one"),
        (lambda x, h: h * x[:, :1].sum() + h * x[:, 1:].detach().sum(), "The gradient of `x` is not the one"),
        (lambda x, h: h, "No gradient reaches `x`"),
        (lambda x, h: x, "right shapes"),
        (lambda x, h: None, "right shapes"),
        (lambda x, h: (h * x.sum(), h.zero_())[0], "wrote into its argument `h`"),
        (lambda x, h: (lambda e: (e * x.sum(), e.zero_())[0])(h * 1), "written into after its first use"),
    ],
)
def test_a_wrong_gradient_says_where(function, said):
    assert said in message(gradients, function)


def test_of_several_results_the_one_without_a_graph_is_told():
    def function(x, h):
        return h * x.sum(), (h * x.sum()).detach()

    def right(x, h):
        return h * x.sum(), h * x.sum()

    said = message(gradients, function, right)
    assert "The gradient of `x` is not the one" in said
    assert "the second is cut off from the graph" in said


# Modules


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(2, 3))


def registered(change=lambda module: None):
    module = Right()
    change(module)
    made = expect_module(submission(f=lambda: module).f(), "`M()`")
    expect_registered(made, {"w": ("(2, 3)", (2, 3))}, "`M`")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: delattr(m, "w"), "no parameter named `w`"),
        (lambda m: setattr(m, "w", nn.Parameter(torch.zeros(3, 2))), "shape (3, 2)"),
        (lambda m: setattr(m, "v", nn.Parameter(torch.zeros(1))), "registers `v` besides"),
        (lambda m: m.register_buffer("v", torch.zeros(1)), "registers `v` besides"),
        (lambda m: m.requires_grad_(False), "does not ask for gradients"),
    ],
)
def test_what_a_module_registers(change, said):
    registered()
    registered(lambda m: m.register_buffer("v", torch.zeros(1), persistent=False))
    assert said in message(registered, change)


def test_parameters_in_one_memory_are_named():
    class Tied(nn.Module):
        def __init__(self, *tensors):
            super().__init__()
            self.v, self.w = map(nn.Parameter, tensors)

    expected = {"v": ("(3,)", (3,)), "w": ("(3,)", (3,))}

    def made(*tensors):
        module = expect_module(submission(f=lambda: Tied(*tensors)).f(), "`M()`")
        expect_registered(module, expected, "`M`")

    made(torch.zeros(3), torch.zeros(3))
    made(*torch.zeros(2, 3).unbind())
    assert "`v` and `w` lie in the same memory" in message(made, *[torch.zeros(3)] * 2)


def test_of_many_missing_names_the_first_are_told():
    made = expect_module(submission(f=Right).f(), "`M()`")
    names = {f"layers.{k}.w": ("(1,)", (1,)) for k in range(20)}
    said = message(expect_registered, made, names, "`M`")
    assert "`layers.5.w` and 14 more" in said
    assert "`layers.6.w`" not in said


@pytest.mark.parametrize("made", [None, 3, torch.zeros(1), len, "text"])
def test_what_is_no_module(made):
    assert "must make an `nn.Module`" in message(expect_module, submission(f=lambda: made).f(), "`M()`")


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


# Reading for "from scratch"


@pytest.mark.parametrize(
    "source",
    [
        "def f(cell: nn.LSTMCell) -> nn.LSTMCell:\n    x: nn.LSTMCell = cell\n    return x",
        "def f(cell):\n    'nn.LSTMCell'\n    assert isinstance(cell, (nn.LSTM, nn.RNN))  # nn.LSTM",
        "def f(cell):\n    return type(cell) is nn.RNN or nn.RNN == cell.__class__",
        "def f(cell):\n    match cell:\n        case nn.RNN():\n            return 1",
        "def f(x):\n    cell = x\n    return cell\ncell = nn.LSTMCell(1, 1)\nprint(cell(x), f(x))",
        "def f(x):\n    return [out for out in x]\nout = torch.lstm_cell(x)",
        "def f(x):\n    return x\ndef test():\n    return f(nn.LSTM(1, 1))",
        "def f(x):\n    return nn.LSTM(x)\ndef f(x):\n    return x",
        "from torch.nn import LSTMCell\nclass f(nn.Module):\n    pass",
        "from torch.nn import f\nclass f(nn.Module):\n    def g(self):\n        return super(f, self)",
        "def f(x):\n    return self.LSTM(x) + x.lstm + nn.utils.rnn.pad_sequence(x)",
        "%matplotlib inline\n!ls\ndef f(x):\n    return x",
        "def f(x:\n    return nn.LSTM",
        "",
    ],
)
def test_a_mention_is_no_use(source):
    assert forbidden_uses({"f": source}, "f", NAMES) == []


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f(x):\n    return nn.LSTM(1, 1)(x)", 2),
        ("import torch as t\ndef f(x):\n    return t.nn.LSTM(1, 1)(x)", 3),
        ("def f(x):\n    import torch as t\n    return t.lstm_cell(x)", 3),
        ("from torch.nn import LSTM as L\ndef f(x):\n    return L(1, 1)(x)", 3),
        ("from torch import _VF\ndef f(x):\n    return _VF.lstm(x)", 3),
        ("def f(x):\n    return getattr(nn, 'LSTM')(1, 1)(x)", 2),
        ("def f(x):\n    return torch.ops.aten.lstm_cell(x)", 2),
        ("def helper(x):\n    return nn.GRU(1, 1)(x)\ndef f(x):\n    return helper(x)", 2),
        ("net = nn\ndef f(x):\n    return net.RNN(1, 1)(x)", 3),
        ("cell = nn.LSTMCell(1, 1)\ndef f(x):\n    return cell(x)", 1),
        ("a, cell = 1, nn.LSTMCell(1, 1)\ndef f(x):\n    return cell(x)", 1),
        ("if True:\n    cell = nn.LSTMCell(1, 1)\ndef f(x):\n    return cell(x)", 2),
        ("if True:\n    def f(x):\n        return nn.RNN(1, 1)(x)", 3),
        ("def f(x):\n    return nn.RNN(1, 1)(x)\nf = wrap(f)", 2),
        ("def f(x):\n    return f.cell(x)\nf.cell = torch.lstm_cell", 3),
        ("class f(nn.LSTM):\n    pass", 1),
        ("def f(x, kind=nn.RNN):\n    return kind(1, 1)(x)", 1),
        ("%time\ndef f(x):\n    return isinstance(nn.RNN(1, 1)(x), list)", 3),
    ],
)
def test_a_use_is_found_with_its_line(source, line):
    assert {line for _, line, _ in forbidden_uses({"f": source}, "f", NAMES)} == {line}


def test_what_the_answer_uses_is_read_in_every_cell():
    cells = {"mine": "helper = torch.lstm_cell\nother = nn.GRU", "f": "def f(x):\n    return helper(x)"}
    assert forbidden_uses(cells, "f", NAMES) == [("mine", 1, "torch.lstm_cell")]


# Running checks

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
    results = with_checks(
        folder, lambda checks: checks.run("f", submission(**objects), seed=1, include_hidden=include_hidden)
    )
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
        some, after = with_checks(
            tmp_path, lambda checks, target=target: checks.run("f", target, seed=1, include_hidden=True)
        )
        verdict = CheckVerdict.from_result(some)
        assert (verdict.outcome, verdict.points, verdict.max_points) == (outcome, points_given, 3.0)
        assert after.outcome == ("passed" if right == 8 else "skipped")


def test_what_is_not_written_yet(folder):
    def stub():
        raise NotImplementedError

    outcome, said = run(folder, f=stub)["shape"]
    assert outcome == "failed"
    assert said == "Not written yet: `f`, or something it uses, still raises NotImplementedError."


def test_what_is_not_defined(folder):
    outcome, said = run(folder)["shape"]
    assert outcome == "error"
    assert "`f` is not defined" in said


def test_an_error_shows_the_students_line_only(folder):
    namespace: dict = {}
    exec(compile("def f():\n    return 1 / 0\n", "<cell f>", "exec"), namespace)
    outcome, said = run(folder, f=namespace["f"])["shape"]
    assert outcome == "error"
    assert said.startswith("Your code stopped: ZeroDivisionError: division by zero (line 2:")
    assert "objects.py" not in said


def test_advice_of_torch_that_would_cut_the_gradient_is_not_left_alone(folder):
    namespace: dict = {}
    lines = "import torch\ndef f():\n    return torch.ones(2, requires_grad=True).numpy()\n"
    exec(compile(lines, "<cell f>", "exec"), namespace)
    _, said = run(folder, f=namespace["f"])["shape"]
    assert "detach().numpy()" in said
    assert said.endswith("Detaching would cut the gradient off: stay with torch's own operations")


@pytest.mark.parametrize(
    "text",
    [
        '@rule("shape")\ndef test_a(submission):\n    pass\n',
        'def test_a(submission):\n    """No rule."""\n',
        "import nothing_of_that_name\n",
        "def test_a(:\n",
    ],
)
def test_checks_that_are_broken_say_so(tmp_path, text):
    (tmp_path / "test_f.py").write_text("from autograder.checking import rule\n" + text)
    with pytest.raises(ChecksBroken):
        with_checks(tmp_path, lambda checks: checks.all)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ChecksBroken):
        with_checks(tmp_path / "nowhere", lambda checks: checks.all)


def test_what_the_body_raises_passes_through(folder):
    with pytest.raises(KeyError):
        with_checks(folder, lambda checks: {}["missing"])


def test_checks_run_on_one_thread_and_leave_the_number_of_threads_as_it_was(folder):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert with_checks(folder, lambda _: torch.get_num_threads()) == 1
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
        (result,) = with_checks(
            tmp_path,
            lambda checks, f=function: checks.run(
                "f", submission(f=f), seed=1, include_hidden=True, renew=lambda: None
            ),
        )
        assert ("Made once more, the same call gives other numbers" in result.message) == changes
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
