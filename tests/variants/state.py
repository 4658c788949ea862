"""Right and wrong answers to the tasks of 06_state."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("06_state")

INIT, CHUNKS, DETACH, RESET, STEP = SOLUTIONS.values()

CORRECT = right_answers_of("06_state")

WRONG = {
    "init_state": {
        "squeezed": ("generality", edit(INIT, ("x.new_zeros(shape), ", "x.new_zeros(shape).squeeze(0), "))),
        "always float32": (
            "dtype",
            edit(INIT, ("return x.new_zeros(shape)", "return x.new_zeros(shape, dtype=torch.float32)")),
        ),
        "two views of one tensor": (
            "mutation",
            edit(
                INIT,
                (
                    "return x.new_zeros(shape), x.new_zeros(shape)",
                    "h = x.new_zeros(shape)\n    return h, h.view(shape)",
                ),
            ),
        ),
        "a pair by multiplication": (
            "mutation",
            edit(INIT, ("x.new_zeros(shape), x.new_zeros(shape)", "[x.new_zeros(shape)] * 2")),
        ),
    },
    "run_in_chunks": {
        "chunks in the wrong order": (
            "values",
            edit(CHUNKS, ("torch.cat(outputs, dim=1)", "torch.cat(outputs[::-1], dim=1)")),
        ),
        "a state is needed": (
            "values",
            edit(CHUNKS, ("outputs = []", "outputs = []\n    state = (state[0], state[1])")),
        ),
        "flat": ("shape", edit(CHUNKS, ("dim=1), state", "dim=1), *state"))),
        "chunks of the batch": (
            "from-scratch",
            """
def run_in_chunks(lstm, x, chunk_size, state=None):
    outs, hs, cs = [], [], []
    for rows in torch.arange(x.shape[0]).split(chunk_size):
        part = None if state is None else tuple(s[:, rows].contiguous() for s in state)
        out, (h, c) = lstm(x[rows], part)
        outs.append(out), hs.append(h), cs.append(c)
    return torch.cat(outs), (torch.cat(hs, 1), torch.cat(cs, 1))
""",
        ),
        "one call too many": (
            "from-scratch",
            edit(CHUNKS, ("    return", "    lstm(x[:, -1:])\n    return")),
        ),
        "from the beginning each time": (
            "from-scratch",
            edit(
                CHUNKS,
                ("output, state = lstm(x[:, start :", "output, last = lstm(x[:, :"),
                ("append(output)", "append(output[:, start:])"),
                ("dim=1), state", "dim=1), last"),
            ),
        ),
        "squeezed": ("generality", edit(CHUNKS, ("append(output)", "append(output.squeeze(0))"))),
    },
    "detach_state": {
        "one layer": ("shape", edit(DETACH, ("h.detach(), c.detach()", "h[-1].detach(), c[-1].detach()"))),
        "clones": ("gradient", edit(DETACH, ("h.detach(), c.detach()", "h.clone(), c.clone()"))),
        "one of them in place": ("mutation", edit(DETACH, ("c.detach()", "c.detach_()"))),
    },
    "reset_finished": {
        "only h returned": ("shape", edit(RESET, ("return h * keep, c * keep", "return h * keep"))),
        "batch first": (
            "shape",
            edit(RESET, ("h * keep, c * keep", "(h * keep).transpose(0, 1), (c * keep).transpose(0, 1)")),
        ),
        "nothing is reset": ("values", "def reset_finished(state, finished):\n    return state\n"),
        "h and c swapped": ("values", edit(RESET, ("h * keep, c * keep", "c * keep, h * keep"))),
        "squeezed": ("generality", edit(RESET, ("h * keep", "(h * keep).squeeze(0)"))),
        "one must be finished": (
            "generality",
            edit(RESET, ("    h, c", "    assert finished.any()\n    h, c")),
        ),
        "data": ("gradient", edit(RESET, ("h * keep", "h.data * keep"))),
        "back to float": ("dtype", edit(RESET, ("h * keep", "(h * keep).float()"))),
        "in place by *=": (
            "mutation",
            edit(RESET, ("return h * keep, c * keep", "h *= keep\n    c *= keep\n    return h, c")),
        ),
    },
    "tbptt_step": {
        "the state is reset": (
            "values",
            edit(STEP, ("detach_state(state)\n", "tuple(torch.zeros_like(s) for s in state)\n")),
        ),
        "h and c swapped": ("values", edit(STEP, ("detach_state(state)\n", "detach_state(state)[::-1]\n"))),
        "no backward": ("values", edit(STEP, ("    loss.backward()\n", ""))),
        "no step": ("values", edit(STEP, ("    optimizer.step()\n", ""))),
        "cleared after backward": (
            "values",
            edit(
                STEP,
                ("    optimizer.zero_grad()\n", ""),
                ("backward()\n", "backward()\n    optimizer.zero_grad()\n"),
            ),
        ),
        "backward twice": (
            "values",
            edit(STEP, ("loss.backward()", "loss.backward(retain_graph=True)\n    loss.backward()")),
        ),
        "an update by hand": (
            "values",
            edit(
                STEP,
                (
                    "    optimizer.step()",
                    "    with torch.no_grad():\n        for p in model.parameters():\n            p -= 0.1 * p.grad",
                ),
            ),
        ),
        "detached on the way in only": (
            "gradient",
            edit(
                STEP,
                ("model(x, state)", "model(x, detach_state(state))"),
                ("detach_state(state)\n", "state\n"),
            ),
        ),
    },
}
