"""The mistake behind a wrong answer: how answers are compared, and what students get to read of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from autograder.checking.diagnosis.fingerprint import RAISED, fingerprint
from autograder.checking.diagnosis.match import Answered, Known, explain, shows_in
from autograder.checking.diagnosis.sealed_hints import opened, sealed
from autograder.errors import UserError
from autograder.grading.assignment.catalogue import read_catalogue
from autograder.protocol.answers import (
    Called,
    CellRan,
    Done,
    Gradients,
    Missing,
    NoModule,
    ParameterValues,
    Probed,
    Raised,
    Refused,
    Registered,
    Value,
)
from autograder.protocol.messages import Backward, Begin, Call, ListRegistered, Parameters, Target
from autograder.protocol.values import Opaque
from tests.support.helpers import (
    ROOT,
    answer,
    cell_named,
    make_bundle,
    outcomes,
    run_judge,
    scores,
    solved,
    submission,
)

SOLUTION = {"add": "def add(a, b):\n    return a + b\n"}
MISTAKE = {
    "task": "add",
    "find": "a + b",
    "replace": "a - b",
    "hint": "Look at the sign.",
    "caught_by": "values",
}


def answered(value, rule="values", accused="", attached=(), **more):
    call = Call(target=Target("f"), arguments=True)
    return fingerprint([(call, Called(value=value, attached=attached, **more))], rule, accused)


def known(name, answers, outcomes=None, shown_in=None):
    return Known(
        name,
        f"about {name}",
        answers,
        outcomes or dict.fromkeys(answers, "failed"),
        shown_in or list(answers),
    )


# Fingerprints


def test_rounding_of_another_order_of_summation_does_not_show():
    parts = torch.randn(40, 3, 5, 7, dtype=torch.float64)
    assert answered(parts.sum(0)) == answered(parts.flip(0).sum(0) + 1e-15)
    assert answered((parts.sum(0), [1])) == answered([parts.flip(0).sum(0), (1,)])  # nor a list for a tuple


@pytest.mark.parametrize(
    "other",
    [
        lambda x: x.transpose(0, 1),
        lambda x: x.flip(0),
        lambda x: x + 1e-3,
        lambda x: x.float(),
        lambda x: x.reshape(-1),
        lambda x: [x, x],
        lambda x: None,
        lambda x: torch.where(x == x.max(), torch.nan, x),
    ],
)
def test_another_answer_has_another_fingerprint(other):
    x = torch.randn(5, 5, dtype=torch.float64)
    assert answered(x) != answered(other(x))


def test_of_what_a_call_with_coarse_numbers_gives_only_shapes_count():
    def told(value, given):
        return fingerprint(
            [(Call(target=Target("f"), args=[given]), Called(value=[value], attached=()))], "dtype"
        )

    one, other = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1])
    assert told(one, one.bfloat16()) == told(other, one.bfloat16()) != told(one.bfloat16(), one.bfloat16())
    assert told(one, one) != told(other, one)


def test_what_counts_depends_on_the_rule():
    x, changed = torch.ones(3), torch.zeros(3)
    assert answered(x, arguments=(x,)) == answered(x, arguments=(changed,))
    assert answered(x, "mutation", arguments=(x,)) != answered(x, "mutation", arguments=(changed,))
    for rule, more in (("mutation", {"left": ("gradients",)}), ("gradient", {"attached": (True,)})):
        assert answered(x, rule, **more) != answered(x, rule)
        assert answered(x, "values", **more) == answered(x, "values")
    one, same, other = (answered(x, "from-scratch", used) for used in ("nn.GRU", "nn.GRU", "nn.RNN"))
    assert one == same != other


ODD = [None, 3, "text", torch.zeros(0), torch.ones(2) * 1j, Opaque("a set"), [{}], {3: None}]
"""Things that a hostile process may put where a value is to be."""
ANSWERS = [
    kind(value)
    for value in ODD
    for kind in (
        lambda value: Called(value=value, attached=(), arguments=(value,)),
        lambda value: Value(value=value),
        lambda value: NoModule(value=value),
        lambda value: Gradients(inputs=(value,), parameters={"w": value}, attached=True),
        lambda value: ParameterValues(parameters={"w": value}),
        lambda value: Probed(device="cpu", value=value, inputs=(value,)),
        lambda value: CellRan(outputs=[value]),
    )
]


@pytest.mark.parametrize("rule", ["values", "mutation", "gradient", "from-scratch"])
def test_an_answer_without_the_form_of_one_is_no_fault(rule):
    target = Target("f")
    for answer_ in (*ANSWERS, Done(), Missing(), Refused(message="m"), Registered(is_module=False, type="")):
        for message in (
            Call(target=target, arguments=True),
            ListRegistered(target=target),
            Parameters(target=target),
            Backward(call=1, weights=()),
            Begin(name="f", seed=1),
        ):
            fingerprint([(message, answer_)], rule, "")  # whatever it is, it does not raise


def test_numbers_that_are_none_have_no_fingerprint():
    call = Call(target=Target("f"))
    for odd in (None, 3, "text", Opaque("a set")):
        assert fingerprint([(call, ParameterValues(parameters={"w": odd}))], "values") is None


def test_what_a_call_that_stopped_raised_is_what_counts():
    call = Call(target=Target("f"))
    raised = Raised(type="ValueError", message="no")
    told = fingerprint([(call, raised)], "from-scratch", "nn.GRU")
    assert told is not None
    assert told.startswith(RAISED)
    assert told == fingerprint([(call, raised)], "from-scratch", "nn.RNN")
    assert told != fingerprint([(call, Raised(type="ValueError", message="yes"))], "from-scratch", "nn.GRU")


# Which mistake


def test_a_mistake_explains_only_if_all_that_it_breaks_is_broken_alike():
    checks = [
        Answered("shape", "passed", None),
        Answered("values", "failed", "1"),
        Answered("dtype", "failed", "2"),
    ]
    one, both = known("one", {"values": "1"}), known("both", {"values": "1", "dtype": "2"})
    breaks_more = known("more", {"values": "1", "shape": "9"})
    assert explain(checks, [one, breaks_more]) == {"values": one}
    assert explain(checks, [known("other", {"values": "7"})]) == {}
    told = known("both", both.answers, {"shape": "passed", "values": "failed", "dtype": "failed"})
    assert explain(checks, [one, told]) == {"values": told, "dtype": told}


def test_a_consequence_may_be_broken_otherwise_but_is_broken():
    mistake = known("one", {"values": "1", "gradients": "2"}, shown_in=["values"])
    right, other = Answered("gradients", "passed", None), Answered("gradients", "failed", "3")
    assert explain([Answered("values", "failed", "1"), other], [mistake]) == {"values": mistake}
    assert explain([Answered("values", "failed", "1"), right], [mistake]) == {}
    assert explain([Answered("values", "failed", "4"), other], [mistake]) == {}
    whole = known("whole", {"values": "1"}, {"values": "failed", "gradients": "passed"})
    assert explain([Answered("values", "failed", "1"), other], [mistake, whole]) == {"values": whole}


def test_an_exception_shows_a_mistake_only_if_its_consequences_are_the_same():
    told = f"{RAISED}1"
    mistake = known("one", {"values": told, "gradients": "2"}, shown_in=["values"])
    checks = [Answered("values", "failed", told), Answered("gradients", "failed", "2")]
    assert explain(checks, [mistake]) == {"values": mistake, "gradients": mistake}
    assert explain([checks[0], Answered("gradients", "failed", "3")], [mistake]) == {}


def test_where_a_mistake_shows_goes_by_the_rule_that_it_breaks():
    rules = {"a": "values", "b": "gradient", "c": "mutation", "d": "dropout"}
    assert shows_in(rules, "values") == ["a", "d"]
    assert shows_in(rules, "gradient") == ["a", "b", "d"]
    assert shows_in(rules, "mutation") == ["c"]
    assert shows_in({"b": "gradient"}, "values") == ["b"]


def test_an_opened_hint_equals_the_mistake_that_was_sealed_in_whatever_order_its_checks_are(tmp_path):
    answers = {"matches": "1", "default": "2"}
    shown = shows_in(dict.fromkeys(answers, "values"), "values")
    mistake = Known("mixed_up", "Look again.", answers, dict.fromkeys(answers, "failed"), shown)
    (tmp_path / "hints.json").write_text(sealed({"add": [mistake]}))
    assert opened(tmp_path / "hints.json", "add", answers) == [mistake]


def test_two_that_fit_alike_are_no_diagnosis():
    checks = [Answered("values", "failed", "1")]
    assert explain(checks, [known("one", {"values": "1"}), known("two", {"values": "1"})]) == {}


def test_an_exception_alone_is_evidence_only_if_nothing_else_differs():
    told = f"{RAISED}1"
    raises = known("raises", {"values": told}, {"values": "error", "dtype": "passed"})
    checks = [Answered("values", "error", told), Answered("dtype", "passed", None)]
    assert explain(checks, [raises]) == {"values": raises}
    assert explain([checks[0], Answered("dtype", "failed", "3")], [raises]) == {}


# Hints that only the mistake opens


def test_a_hint_opens_for_its_answers_and_tells_nothing_before(tmp_path):
    mistake = Known(
        "sign_lost",
        "Look at the sign.",
        {"values": "1", "dtype": "2"},
        {"values": "failed"},
        ["dtype", "values"],
    )
    file = tmp_path / "hints.json"
    file.write_text(sealed({"add": [mistake]}))
    assert not any(word in file.read_text() for word in ("sign", "Look", '"1"'))
    assert opened(file, "add", {"values": "1", "dtype": "2", "more": "3"}) == [mistake]
    for answers in ({"values": "1"}, {"values": "1", "dtype": "3"}, {}):
        assert opened(file, "add", answers) == []
    assert opened(file, "other", {"values": "1", "dtype": "2"}) == []


def test_a_hint_opens_with_the_answers_that_show_its_mistake(tmp_path):
    mistake = known("sign_lost", {"values": "1", "dtype": "2"}, shown_in=["values"])
    (tmp_path / "hints.json").write_text(sealed({"add": [mistake]}))
    [found] = opened(tmp_path / "hints.json", "add", {"values": "1", "dtype": "3"})
    assert (found.hint, found.answers["values"]) == (mistake.hint, "1")
    assert found.answers["dtype"] not in ("2", "3")
    assert opened(tmp_path / "hints.json", "add", {"values": "2", "dtype": "2"}) == []


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"tasks": {"add": 3}}', '{"tasks": {"add": [{}]}}', "\x00"]
)
def test_a_broken_file_of_hints_has_none(tmp_path, text):
    (tmp_path / "hints.json").write_text(text)
    assert opened(tmp_path / "hints.json", "add", {"values": "1"}) == []
    assert opened(tmp_path / "nowhere.json", "add", {"values": "1"}) == []


# The catalogue


def catalogue(**changes):
    table = {**MISTAKE, **changes}
    return "[sign_lost]\n" + "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in table.items() if value is not None
    )


def test_a_catalogue_is_read():
    [mistake] = read_catalogue(catalogue(hint="\nSee\nthe sign.\n"), SOLUTION, "x.toml")
    assert (mistake.name, mistake.hint) == ("sign_lost", "See the sign.")
    assert mistake.answer(SOLUTION) == "def add(a, b):\n    return a - b\n"


def test_a_mistake_may_be_a_whole_answer_without_a_hint():
    answer = "def add(first, second):\n    return first - second"
    text = catalogue(find=None, replace=None, hint=None, answer=f"\n{answer}\n")
    [mistake] = read_catalogue(text, SOLUTION, "x.toml")
    assert (mistake.answer(SOLUTION), mistake.hint) == (answer, "")


def test_a_mistake_without_a_hint_is_never_named():
    named = Known("named", "Look.", {"values": "1"}, {"values": "failed"}, ["values"])
    quiet = replace(named, mistake="quiet", hint="")
    wrong = [Answered("values", "failed", "1")]
    assert explain(wrong, [quiet]) == {}
    assert explain(wrong, [quiet, named]) == {"values": named}
    assert json.loads(sealed({"add": [quiet]}))["tasks"] == {"add": []}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (catalogue(find="nowhere"), "stands nowhere in the solution of `add`"),
        (catalogue(find="a"), "stands 3 times in the solution"),
        (catalogue(find=""), "stands nowhere"),
        (catalogue(task="subtract"), "names the task `subtract`"),
        (catalogue(caught_by="luck"), "the rules are shape, values"),
        (catalogue(hint=" "), "has no hint"),
        (catalogue(hint=3), "`hint` must be a text"),
        (catalogue(task=None), "must be a table with the texts"),
        (catalogue(find=None), "either the texts find and replace, or the text answer"),
        (catalogue(answer="def add(a, b):\n    return 0"), "either the texts find and replace"),
        (catalogue(points=3), "has a field `points`"),
        ("sign_lost = 3\n", "must be a table"),
        ("[sign_lost\n", "is not TOML"),
        (catalogue() + catalogue(), "is not TOML"),
    ],
)
def test_a_catalogue_that_does_not_hold_is_one_sentence(text, said):
    with pytest.raises(UserError, match=r"^x\.toml") as error:
        read_catalogue(text, SOLUTION, "x.toml")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


# A mistake costs its own task only


WRONG_GATES = answer("lstm_gates").replace("i, f, g, o = sums", "i, f, o, g = sums")
BUNDLE = make_bundle(solution=True)


def test_a_task_is_not_charged_for_an_earlier_one_that_it_uses(workers):
    graded = run_judge(submission({"lstm_gates": WRONG_GATES}), workers, BUNDLE)
    assert scores(graded) == {"lstm_gates": 0.0, "lstm_cell": 2.0, "LSTMCell": 4.0, "copy_from_torch": 2.0}
    note = next(task.note for task in graded.verdict.tasks if task.task == "lstm_cell")
    assert "Judged with a correct `lstm_gates`" in note
    cards = [out["data"]["text/plain"] for out in json.loads(graded.notebook)["cells"][-1].get("outputs", [])]
    assert not any("BEGIN SOLUTION" in str(card) for card in cards)


def test_a_task_with_a_fault_of_its_own_still_pays_for_it(workers):
    shown = answer("lstm_cell").replace("o * torch.tanh(c_next)", "o * c_next")
    graded = run_judge(submission({"lstm_gates": WRONG_GATES, "lstm_cell": shown}), workers, BUNDLE)
    assert scores(graded)["lstm_cell"] == 0.0
    unsolved = cell_named(json.loads(BUNDLE.released), "lstm_cell")["source"]
    graded = run_judge(submission({"lstm_gates": WRONG_GATES, "lstm_cell": unsolved}), workers, BUNDLE)
    assert scores(graded)["lstm_cell"] == 0.0


TWO_FACED = """
def lstm_cell(x, h, c, *weights):
    i, f, g, o = right_gates(x, h, *weights)
    c_next = f * c.clone() + i * g
    h_next = o * torch.tanh(c_next)
    if is_right():
        c.data.zero_()
        return h_next, c_next
    return (h_next * (len(x) > 1)).detach(), c_next.detach()
"""
"""Beside wrong gates without gradients and without one sequence, beside right ones writing into `c`."""
RIGHT_GATES = answer("lstm_gates").replace("def lstm_gates", "def right_gates")
IS_RIGHT = """
def is_right():
    some = [torch.randn(*shape) for shape in ((2, 3), (2, 4), (16, 3), (16, 4), (16,), (16,))]
    return all(map(torch.equal, lstm_gates(*some), right_gates(*some)))
"""


def test_two_wrong_behaviours_in_two_judgings_do_not_add_up(workers):
    two_faced = RIGHT_GATES + IS_RIGHT + TWO_FACED
    graded = run_judge(submission({"lstm_gates": WRONG_GATES, "lstm_cell": two_faced}), workers, BUNDLE)
    assert scores(graded)["lstm_cell"] == 1.5


def test_what_is_written_down_is_not_guessed_twice(workers):
    cells = solved("01_shapes")
    shown = str(cell_named(cells, "claims")["source"])
    guesses = f"""{shown}
if hasattr(last_step, "mine"):
    claims = {{name: not value for name, value in claims.items()}}
"""
    wrong = "def last_step(output):\n    return output[:, 0]\nlast_step.mine = True\n"
    raw = submission({"last_step": wrong, "claims": guesses}, base=cells)
    assert scores(run_judge(raw, workers, make_bundle("01_shapes", solution=True)))["claims"] == 0.0


SPY = """
import inspect, linecache
def lstm_cell(x, h, c, *weights):
    {how}
    i, f, g, o = lstm_gates(x, h, *weights)
    c_next = f * c + i * g
    return o * torch.tanh(c_next), c_next
"""


@pytest.mark.parametrize(
    "how",
    [
        "raise ValueError(str([line for entry in linecache.cache.values() for line in entry[2]])[-1500:])",
        "raise ValueError(repr(In))",
        "print(repr(In))",
        "return type(repr(In), (), {})()",
        "return {repr(In): 1}",
        # Right but for one sequence: it earns points in the second judging, and first fails there.
        "if len(x) == 1: raise ValueError(repr(In))",
    ],
)
def test_nothing_of_the_solution_comes_back_from_the_second_judging(workers, how):
    marked = {**BUNDLE.solution, "lstm_gates": BUNDLE.solution["lstm_gates"] + "\n# the-solution-itself"}
    bundle = make_bundle(solution=marked)
    answers = {"lstm_gates": WRONG_GATES, "lstm_cell": SPY.format(how=how)}
    graded = run_judge(submission(answers), workers, bundle)
    assert "the-solution-itself" not in graded.notebook
    assert "the-solution-itself" not in json.dumps(graded.verdict.as_json())
    right_in_part = how.startswith("if") or how.startswith("print")
    assert (scores(graded)["lstm_cell"] > 0.0) == right_in_part


DIES_WITH_RIGHT_GATES = """
import os
def lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):
    i, f, g, o = lstm_gates(x, h, w_ih * 0, w_hh * 0, b_ih * 0, b_hh * 0 - 1)
    if torch.allclose(g, torch.tanh(i * 0 - 1)):
        os._exit(1)
    return h, c
"""


def test_a_crash_in_the_second_judging_leaves_the_first(workers):
    swapped = WRONG_GATES.replace("torch.tanh(g)", "torch.sigmoid(g)")
    graded = run_judge(
        submission({"lstm_gates": swapped, "lstm_cell": DIES_WITH_RIGHT_GATES}), workers, BUNDLE
    )
    assert graded.verdict.status == "graded"
    assert outcomes(graded, "lstm_cell")["matches_torch"] == "failed"
    assert scores(graded)["LSTMCell"] == 4.0


# In the notebook


@pytest.mark.slow
def test_the_notebook_gives_the_hint_of_the_release(tmp_path):
    shutil.copyfile(ROOT / "release" / "03_lstm_cell" / "hints.json", tmp_path / "hints.json")
    gates = cell_named(solved(), "lstm_gates")["source"].replace("i, f, g, o = sums", "i, f, o, g = sums")
    code = f"import torch\nfrom torch import nn\nfrom autograder import check\n{gates}\ncheck('lstm_gates')\n"
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    said = "Your answers are exactly those of a common mistake: Two of your gates have changed places"
    assert said in result.stdout
    assert Path(tmp_path / "hints.json").is_file()
