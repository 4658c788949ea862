"""Right answers to the tasks of 00_start, and wrong ones that the catalogue does not have."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("00_start")

MEAN, SHAPES = SOLUTIONS.values()

CORRECT = right_answers_of("00_start")

WRONG = {
    "mean_over_time": {
        "without the first step": ("values", edit(MEAN, ("x.mean", "x[:, 1:].mean"))),
        "divided by one less": ("values", edit(MEAN, ("x.mean(dim=1)", "x.sum(dim=1) / (x.shape[1] - 1)"))),
        "the last two dimensions exchanged": (
            "shape",
            edit(MEAN, ("x.mean(dim=1)", "x.mean(dim=1).transpose(0, 1)")),
        ),
        "a view of other rows": (
            "values",
            edit(
                MEAN,
                ("x.mean(dim=1)", "x.reshape(x.shape[1], x.shape[0], x.shape[2]).mean(dim=0)"),
            ),
        ),
        "a list of numbers": ("shape", edit(MEAN, ("x.mean(dim=1)", "x.mean(dim=1).tolist()"))),
        "several steps alone": (
            "generality",
            edit(MEAN, ("x.mean(dim=1)", "x.mean(dim=1) if x.shape[1] > 1 else x.sum(dim=(1, 2))")),
        ),
        "not much longer than the usual": ("generality", edit(MEAN, ("x.mean", "x[:, :20].mean"))),
        "at least float32": ("dtype", edit(MEAN, ("x.mean(dim=1)", "x.mean(dim=1, dtype=torch.float64)"))),
        "through the CPU": ("device", edit(MEAN, ("x.mean", "x.cpu().mean"))),
        "centred in place": (
            "mutation",
            edit(
                MEAN,
                ("return x.mean(dim=1)", "mean = x.mean(dim=1)\n    x -= mean[:, None]\n    return mean"),
            ),
        ),
    },
    "after_restart": {
        "a list of pairs": ("shape", edit(SHAPES, ('{"x": (4, 5, 3), "y": (4, 5, 2), "means": None}', "[]"))),
        "one left open": ("shape", edit(SHAPES, ("(4, 5, 2)", '"?"'))),
        "a number for a shape": ("shape", edit(SHAPES, ("(4, 5, 2)", "40"))),
        "floats": ("shape", edit(SHAPES, ("(4, 5, 2)", "(4.0, 5.0, 2.0)"))),
        "an empty shape for what is gone": ("values", edit(SHAPES, ('"means": None', '"means": ()'))),
        "y is gone, too": ("values", edit(SHAPES, ("(4, 5, 2)", "None"))),
        "time in front": ("values", edit(SHAPES, ("(4, 5, 3)", "(5, 4, 3)"))),
    },
}
