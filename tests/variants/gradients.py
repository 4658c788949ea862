"""Right and wrong answers to the tasks of 11_gradients; most wrong ones are known mistakes."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("11_gradients")

NUMERICAL, CELL, LAYER, LSTM, BY_STEP, CLIP = SOLUTIONS.values()

CORRECT = right_answers_of("11_gradients")

WRONG = {
    "numerical_gradient": {
        "rounded": (
            "values",
            edit(NUMERICAL, ("torch.stack(slopes)", "torch.stack(slopes).round(decimals=3)")),
        ),
    },
    "rnn_cell_backward": {
        "cut off at 1": ("values", edit(CELL, ("(1 - h_next**2)", "(1 - h_next**2).clamp(max=0.5)"))),
    },
    "rnn_layer_backward": {
        "averaged from both sides": (
            "values",
            edit(LAYER, ("d_h + d_output[:, t]", "(d_h + d_output[:, t]) / 2")),
        ),
    },
    "lstm_cell_backward": {
        "the memory cut off": (
            "values",
            edit(LSTM, ("d_c = d_memory * f", "d_c = (d_memory * f).clamp(-1, 1)")),
        ),
    },
    "gradient_by_step": {
        "relative to the last": (
            "values",
            edit(
                BY_STEP,
                (
                    "return torch.linalg.vector_norm(gradient, dim=(0, 2))",
                    "norms = torch.linalg.vector_norm(gradient, dim=(0, 2))\n    return norms / norms[-1]",
                ),
            ),
        ),
    },
    "clip_gradients": {
        "half of what is allowed": (
            "values",
            edit(CLIP, ("mul_(max_norm / norm)", "mul_(max_norm / norm / 2)")),
        ),
    },
}
