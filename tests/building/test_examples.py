"""docs/examples.md, followed literally: each example is an assignment that grades right and wrong answers."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

import jupytext
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.checking import Submission
from autograder.checking.runner.collection import collect
from autograder.worker.session.executor import Executor
from tests.support.helpers import ROOT, autograder_here, cell_named
from tests.support.pages import Followed, follow, lines_of_code, steps

STEPS = list(steps(ROOT / "docs" / "examples.md", {}))
FIRST = STEPS[0].section
MOST_LINES = 25

ATTEND = """
def attend(query, key, value, mask=None):
    b, q, k = len(query), query.size(1), key.size(1)
    if mask is not None and mask.shape != (b, q, k):
        raise ValueError("mask")
    scores = torch.einsum("bqd,bkd->bqk", query, key)
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    return torch.einsum("bqk,bkv->bqv", scores.softmax(2), value)
"""
BATCH_NORM = """
class BatchNorm(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.weight = nn.Parameter(torch.full((num_features,), 1.0))
        self.bias = nn.Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))

    def forward(self, x):
        if not self.training:
            mean, var = self.running_mean, self.running_var
        else:
            mean = x.mean(dim=0)
            var = ((x - mean) ** 2).mean(dim=0)
            self.running_mean = 0.9 * self.running_mean + 0.1 * mean.detach()
            self.running_var = 0.9 * self.running_var + 0.1 * var.detach()
        return self.weight * (x - mean) * torch.rsqrt(var + 1e-5) + self.bias
"""
TRAIN_STEP = """
def train_step(model, optimizer, x, y):
    error = model(x) - y
    loss = error.pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.data
"""


@dataclass(frozen=True)
class Example:
    """An example of the page, and a wrong answer written otherwise than the known mistake that it makes."""

    name: str
    notebook: str
    task: str
    wrong: str
    mistake: str
    score: float

    @property
    def section(self) -> str:
        return next(step.section for step in STEPS if step.file == f"drafts/{self.notebook}.py")

    def text(self, file: str) -> str:
        """Return a file as the page has it."""
        (text,) = (step.text for step in STEPS if step.file == file)
        return text

    @property
    def solution(self) -> str:
        """Return the text of the task's cell in the draft."""
        draft = jupytext.reads(self.text(f"drafts/{self.notebook}.py"), fmt="py:percent")
        return str(cell_named(draft, self.task)["source"])


EXAMPLES = (
    Example("01_attention", "attention", "attend", ATTEND, "not_scaled", 3),
    Example("02_batch_norm", "batch_norm", "BatchNorm", BATCH_NORM, "one_variance_for_both", 5),
    Example("03_training", "training", "train_step", TRAIN_STEP, "gradients_left_over", 5),
)


@pytest.fixture(params=EXAMPLES, ids=lambda each: each.name)
def example(request) -> Example:
    return request.param


def failing_rules(folder: Path, task: str, source: str) -> set[str]:
    """Return the rules of the checks that an answer fails, judged by the check file in a folder."""
    checks = collect(folder)
    namespace = {"torch": torch, "nn": nn, "F": F}
    exec(source, namespace)
    without = checks.without(task)
    answers = Submission(Executor(namespace, without=without).perform, {task: source}, without=without)
    results = checks.run(task, answers, seed=3, include_hidden=True)
    assert not any(result.fault for result in results)
    return {result.check.rule for result in results if result.outcome not in ("passed", "skipped")}


def test_its_checks_pass_the_solution_and_fail_each_known_mistake(example, tmp_path):
    for step in STEPS:
        if step.file.startswith(f"source/{example.name}/checks/"):
            (tmp_path / Path(step.file).name).write_text(step.text)
    assert failing_rules(tmp_path, example.task, example.solution) == set()
    mistakes = tomllib.loads(example.text(f"solutions/mistakes/{example.name}.toml"))
    assert len(mistakes) == 3
    for mistake in mistakes.values():
        assert example.solution.count(mistake["find"]) == 1
        wrong = example.solution.replace(mistake["find"], mistake["replace"])
        assert mistake["caught_by"] in failing_rules(tmp_path, example.task, wrong)


def test_its_checks_take_few_lines(example):
    text = example.text(f"source/{example.name}/checks/test_{example.task}.py")
    assert 10 < lines_of_code(text) <= MOST_LINES


@pytest.mark.slow
def test_followed_literally_it_grades_right_and_wrong_answers(example, tmp_path):
    own = [step for step in STEPS if step.section in (FIRST, example.section)]
    followed: Followed = follow(own, tmp_path)
    told = followed.said[f"autograder validate {example.name}"]
    assert "3 caught by the rule they name, 3 named as themselves" in told
    course, notebook = followed.course, f"{example.notebook}.ipynb"
    wrong = json.loads((course / "release" / example.name / notebook).read_text())
    cell_named(wrong, example.task)["source"] = example.wrong.strip()
    right = json.loads((course / "solutions" / example.name / notebook).read_text())
    for student, data in (("ada", right), ("ben", wrong)):
        folder = course / "submitted" / student / example.name
        folder.mkdir(parents=True)
        (folder / notebook).write_text(json.dumps(data))
    assert autograder_here("grade", example.name, "--course", course).returncode == 0
    ada, ben = json.loads(autograder_here("results", example.name, "--json", "--course", course).stdout)
    assert (ada["status"], ada["score"]) == ("graded", 10)
    assert (ben["status"], ben["score"]) == ("graded", example.score)
    named = {check["diagnosis"]["mistake"] for check in ben["tasks"][0]["checks"] if check["diagnosis"]}
    assert named == {example.mistake}
