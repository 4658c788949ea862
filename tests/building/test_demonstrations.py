"""`autograder build` refuses a demonstration that a wrong answer can stop, before anything is run."""

from __future__ import annotations

import nbformat
import pytest

from autograder.grading.building.demonstrations import look_at_demonstrations
from autograder.grading.building.source import SourceCell


def told(*demonstrations: str, tags: tuple[str, ...] = ()) -> list[str]:
    """Return what is said of demonstrations below the tasks `gates` and `Cell`."""
    nodes = [
        nbformat.v4.new_code_cell("from autograder import after, check"),
        *(
            nbformat.v4.new_code_cell(
                f"width = 3\ndef {task}(x):\n    return x",
                metadata={"nbgrader": {"grade_id": task, "solution": True}},
            )
            for task in ("gates", "Cell")
        ),
        nbformat.v4.new_code_cell(
            'check("gates")', metadata={"nbgrader": {"grade_id": "check_gates", "grade": True}}
        ),
        *(nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)}) for source in demonstrations),
    ]
    cells = [SourceCell(number, node, "a.ipynb") for number, node in enumerate(nodes, 1)]
    return [str(problem) for problem in look_at_demonstrations(cells, {"gates", "Cell"})]


HELD = {
    "in a block": 'with after("gates"):\n    print(gates(1))',
    "in a block, below another manager": 'with torch.no_grad(), after("gates"):\n    gates(1)',
    "blocks in each other": 'with after("gates"):\n    with after("Cell"):\n        gates(Cell(1))',
    "a function that is called in a block": "def show():\n    return gates(1)\n\n\n"
    'with after("gates"):\n    show()',
    "a lambda that is called in a block": 'show = lambda: gates(1)\nwith after("gates"):\n    show()',
    "a block in a function": 'def show():\n    with after("gates"):\n        gates(1)\n\n\nshow()',
    "a name made again": 'with after("gates"):\n    x = gates(1)\nx = 2\nprint(x)',
    "a loop of its own": 'with after("gates"):\n    for t in gates(1):\n        t\n'
    "for t in range(3):\n    print(t)\nprint([t for t in range(3)], {i: i for i in (1,)})",
    "an argument of that name": 'with after("gates"):\n    x = gates(1)\n'
    "def twice(x):\n    return 2 * x\n\n\nprint(twice(1), (lambda x: x)(1))",
    "a name of its own": "def gates(x):\n    return x\n\n\ngates(1)",
    "an attribute": "print(torch.gates, dict(gates=1))",
    "what an answer's cell makes beside": "print(width)",
    "no Python": "gates(",
    "a magic": "%%time\ngates(1)",
}


@pytest.mark.parametrize("what", HELD)
def test_what_no_answer_stops(what):
    assert told(HELD[what]) == []


def test_a_cell_that_is_meant_to_fail_may():
    assert told("gates(1)")
    assert told("gates(1)", tags=("raises-exception",)) == []


OUTSIDE = {
    "called": ("1\ngates(1)", 2, "gates"),
    "not called": ("f = [gates]", 1, "gates"),
    "in a condition": ("if True:\n    gates(1)", 2, "gates"),
    "where one error is expected": ("try:\n    gates(1)\nexcept NotImplementedError:\n    pass", 2, "gates"),
    "in another manager": ("with torch.no_grad():\n    gates(1)", 2, "gates"),
    "behind a block": ('with after("gates"):\n    gates(1)\ngates(2)', 3, "gates"),
    "a name made in a block": ('with after("gates"):\n    x = 3\nprint(x)', 3, "x"),
    "a loop's name": ('with after("gates"):\n    for t in (1,):\n        t\nprint(t)', 4, "t"),
    "a function made in a block": ('with after("gates"):\n    def f():\n        return 1\nf()', 4, "f"),
    "an import in a block": ('with after("gates"):\n    import math\nmath.pi', 3, "math"),
    "a function that uses it": ("def f():\n    return gates(1)\n\n\nf()", 5, "f"),
    "a function of a function": (
        "def f():\n    return gates(1)\n\n\ndef g():\n    return f()\n\n\ng()",
        9,
        "g",
    ),
    "a function that uses itself": ("def f(n):\n    return f(n - 1) + gates(n)\n\n\nf(1)", 5, "f"),
    "a lambda": ("f = lambda: gates(1)\nf()", 2, "f"),
    "a lambda that somebody calls": ("sorted([1], key=lambda n: gates(n))", 1, "gates"),
    "a decorator": ("@gates\ndef f():\n    return 1", 1, "gates"),
    "a default": ("def f(x=gates):\n    return x", 1, "gates"),
    "a value that replaces it": ('with after("gates"):\n    x = 1\nx = x + 1', 3, "x"),
    "a value that is added to": ('with after("gates"):\n    x = 1\nx += 1', 3, "x"),
    "what is looped over": ('with after("gates"):\n    t = [1]\nfor t in t:\n    pass', 3, "t"),
}


@pytest.mark.parametrize("what", OUTSIDE)
def test_what_a_wrong_answer_stops(what):
    source, line, name = OUTSIDE[what]
    depends = "" if name == "gates" else " (which depends on `gates`)"
    (problem,) = told(source)
    assert problem.startswith("a.ipynb, cell 5 (")
    assert problem.endswith(
        f'), line {line}: uses `{name}`{depends} outside `with after("gates"):`, so that a wrong answer can '
        "stop the notebook here: move it into such a block."
    )


def test_a_class_that_is_made_from_a_task_and_used():
    below, used = told("class Deep(Cell):\n    def forward(self, x):\n        return gates(x)\n\n\nDeep()")
    assert "line 1: uses `Cell` outside" in below
    assert "line 6: uses `Deep` (which depends on `Cell`, `gates`) outside" in used


def test_a_block_names_every_task_that_it_depends_on():
    made = 'with after("gates", "Cell"):\n    x, y = gates(1), Cell(2)'
    (problem,) = told(made, 'with after("Cell"):\n    print(x, y)')
    assert problem.endswith(
        'line 2: uses `x` (which depends on `gates`): add "gates" to this block\'s `after(…)`.'
    )
    (problem,) = told('with after("Cell"):\n    Cell(gates(1))')
    assert problem.endswith('line 2: uses `gates`: add "gates" to this block\'s `after(…)`.')
    assert told(made, 'with after("Cell", "gates"):\n    print(x, y)') == []


def test_a_name_is_told_once_for_each_cell():
    assert len(told("gates(1)\ngates(2)", "gates(3)\nCell(4)")) == 3
