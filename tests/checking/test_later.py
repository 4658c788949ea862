"""What a check asks for that needs no answer: it goes with the next request, and is told as if it had not."""

import pytest
import torch
from torch import nn

from autograder.checking import CheckFailed, Submission, expect_module, make_module
from autograder.checking.remote.errors import NoAnswer, StudentError
from autograder.checking.runner.collection import collect
from autograder.worker.session.objects import Objects
from tests.support.checking import message, submission

ONES = torch.ones(1, 2, dtype=torch.float64)


def counted(**objects) -> tuple[Submission, list[dict]]:
    """A submission, and the requests that were sent to it."""
    home, sent = Objects(objects), []

    def perform(request):
        sent.append(request)
        return home.perform(request)

    return Submission(perform), sent


def weights(value: float) -> dict[str, torch.Tensor]:
    return {"weight": torch.full((1, 2), value).double(), "bias": torch.zeros(1).double()}


def test_a_module_is_made_filled_and_called_in_one_request():
    answers, sent = counted(Linear=nn.Linear)
    linear = make_module(answers.Linear, 2, 1, told="`Linear(2, 1)`", bias=True)
    linear.load_state_dict(weights(2))
    assert not sent
    assert linear(ONES).item() == 4
    assert len(sent) == 1
    assert linear.describe().shapes == {"weight": (1, 2), "bias": (1,)}


def test_each_module_is_its_own():
    answers, _ = counted(Linear=nn.Linear, same=lambda one, other: one is other)
    one, other = (make_module(answers.Linear, 2, 1, told="`Linear`") for _ in range(2))
    one.load_state_dict(weights(1))
    other.load_state_dict(weights(3))
    assert (one(ONES).item(), other(ONES).item()) == (2, 6)
    assert not answers.same(one, other)
    given = answers.given("Linear", 2, 1, state=weights(5))
    assert answers.same(given, given)
    assert given(ONES).item() == 10


def test_what_was_made_before_it_is_an_argument():
    answers, sent = counted(call=lambda module, x: module(x))
    source = "def doubled(module):\n    return lambda x: 2 * module(x)"
    given = answers.given("Linear", 2, 1, state=weights(1))
    twice = answers.given("doubled", given, source=source, dtype=None)
    assert answers.call(twice, ONES).item() == 4
    assert len(sent) == 1


@pytest.mark.parametrize("made", [None, 3, ONES, len, "text", [nn.Linear(1, 1)], object()])
def test_what_is_no_module_is_told_as_if_it_had_been_made_at_once(made):
    at_once = message(expect_module, submission(f=lambda: made).f(), "`M()`")
    for ask in (lambda m: m.describe(), lambda m: m(ONES), lambda m: m.to(torch.float64)):
        answers, _ = counted(f=lambda: made)

        def check(answers=answers, ask=ask):
            ask(make_module(answers.f, told="`M()`"))
            answers.finish()

        assert message(check) == at_once


def test_a_constructor_that_stops_is_told_with_the_next_request():
    answers, _ = counted(f=lambda: 1 / 0)
    module = make_module(answers.f, told="`M()`")
    with pytest.raises(StudentError) as caught:
        module.describe()
    assert caught.value.type == "ZeroDivisionError"
    answers.finish()  # it is not left for later any more


def test_the_first_that_is_no_module_is_the_one_that_is_told():
    answers, _ = counted(right=nn.Linear, none=lambda: None, text=lambda: "text")
    make_module(answers.right, 2, 1, told="`Right`")
    make_module(answers.none, told="`None`")
    make_module(answers.text, told="`Text`")
    with pytest.raises(CheckFailed, match="`None` must make"):
        answers.finish()


def test_what_waits_is_done_with_what_it_was_then():
    answers, _ = counted(Kept=lambda x: nn.ParameterList([x]))
    x, state = ONES.clone(), weights(1)
    kept = make_module(answers.Kept, x, told="`Kept`")
    given = answers.given("Linear", 2, 1, state=state)
    filled = answers.given("Linear", 2, 1)
    filled.load_state_dict(state)
    x.zero_()
    state["weight"].zero_()
    assert torch.equal(kept.parameters()["0"], ONES)
    assert given(ONES).item() == filled(ONES).item() == 2


def test_more_than_a_frame_holds_does_not_wait():
    answers, sent = counted(Linear=nn.Linear)
    made = [make_module(answers.Linear, 2, 1, told="`Linear`") for _ in range(30)]
    for number, module in enumerate(made):
        module.load_state_dict(weights(number))
    assert [module(ONES).item() for module in made] == [2 * number for number in range(30)]
    assert max(len(request.get("first", ())) for request in sent) <= 8


def test_a_new_check_begins_with_none_of_it():
    answers, _ = counted(Linear=nn.Linear)
    answers.begin("Linear", 1)
    make_module(answers.Linear, 2, 1, told="`Linear`")
    answers.begin("Linear", 1)
    answers.finish()
    assert [request["op"] for request, _ in answers.exchanges] == ["nothing"]


@pytest.mark.parametrize(
    "answer", [{"made": 1, "at": 7}, {"made": 1}, {"raised": {}, "at": -3}, {"made": 1, "at": 1}]
)
def test_a_forged_refusal_ends_the_check(answer):
    """A hostile process may answer anything; none of it is taken for a module that is there."""
    answers = Submission(lambda request: dict(answer))
    module = make_module(answers.f, told="`M()`")
    module.train()
    with pytest.raises((NoAnswer, StudentError)):
        module.describe()


CHECK = '''
from autograder.checking import make_module, points, rule

@points(1)
@rule("registration")
def test_is_made(submission, sizes, draw):
    """It makes a module."""
    make_module(submission.M, told="`M()`")
'''


def made_alone(folder, answers: Submission) -> tuple[str, str]:
    """What comes of a check that makes a module and asks nothing of it."""
    (folder / "test_M.py").write_text(CHECK)
    (result,) = collect(folder).run("M", answers, seed=1, include_hidden=True)
    return result.outcome, result.message


def test_a_check_may_end_with_what_waits(tmp_path):
    assert made_alone(tmp_path, submission(M=nn.Identity))[0] == "passed"
    none = "`M()` must make an `nn.Module`; calling it gave `None`."
    assert made_alone(tmp_path, submission(M=lambda: None)) == ("failed", none)
    assert made_alone(tmp_path, submission(M=lambda: 1 / 0))[0] == "error"
    assert made_alone(tmp_path, submission())[0] == "error"


@pytest.mark.parametrize(
    "answer", [{"made": 1}, {"made": 1, "at": 9}, {"raised": 1, "at": "x"}, {"raised": 3}]
)
def test_an_answer_that_is_none_to_what_waits_ends_the_check_alone(answer, tmp_path):
    assert made_alone(tmp_path, Submission(lambda request: dict(answer)))[0] == "error"
