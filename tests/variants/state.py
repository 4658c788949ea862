"""Right and wrong answers to the tasks of 06_state."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("06_state")

INIT, CHUNKS, DETACH, RESET, STEP = SOLUTIONS.values()

CORRECT = right_answers_of("06_state")

WRONG = {
    "init_state": {
        "time steps for layers": ("shape", edit(INIT, ("(num_layers,", "(x.shape[1],"))),
        "random": ("values", edit(INIT, ("return x.new_zeros(shape)", "return torch.randn(shape).to(x)"))),
        "empty memory": (
            "values",
            edit(INIT, ("return x.new_zeros(shape)", "return x.new_empty(shape).fill_(1e-3)")),
        ),
        "kept from the first call": (
            "values",
            edit(
                INIT,
                (
                    "return x.new_zeros(shape), x.new_zeros(shape)",
                    "init_state.n = getattr(init_state, 'n', -1) + 1\n    return x.new_zeros(shape) + init_state.n, x.new_zeros(shape)",
                ),
            ),
        ),
        "squeezed": ("generality", edit(INIT, ("x.new_zeros(shape), ", "x.new_zeros(shape).squeeze(0), "))),
        "one layer more at B = 1": (
            "generality",
            edit(INIT, ("(num_layers, ", "(num_layers if len(x) > 1 else 1, ")),
        ),
        "view": (
            "generality",
            edit(INIT, ("    shape", "    x = x.view(-1, x.shape[2]).view(x.shape)\n    shape")),
        ),
        "no dtype": (
            "dtype",
            edit(INIT, ("return x.new_zeros(shape)", "return torch.zeros(shape).to(x.device)")),
        ),
        "always float32": (
            "dtype",
            edit(INIT, ("return x.new_zeros(shape)", "return x.new_zeros(shape, dtype=torch.float32)")),
        ),
        "one tensor with two names": (
            "mutation",
            edit(
                INIT,
                (
                    "return x.new_zeros(shape), x.new_zeros(shape)",
                    "h = c = x.new_zeros(shape)\n    return h, c",
                ),
            ),
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
        "x is zeroed": ("mutation", edit(INIT, ("    return", "    x.zero_()\n    return"))),
    },
    "run_in_chunks": {
        "only h is carried": (
            "values",
            edit(
                CHUNKS,
                (
                    "append(output)",
                    "append(output); last = state; state = (state[0], torch.zeros_like(state[1]))",
                ),
                ("dim=1), state", "dim=1), last"),
            ),
        ),
        "only the top layer is carried": (
            "values",
            edit(
                CHUNKS,
                (
                    "append(output)",
                    "append(output); last = state; state = tuple(torch.cat([0 * s[:-1], s[-1:]]) for s in state)",
                ),
                ("dim=1), state", "dim=1), last"),
            ),
        ),
        "the last state is of the first chunk": (
            "values",
            edit(
                CHUNKS,
                ("append(output)", "append(output); first = state if start == 0 else first"),
                ("dim=1), state", "dim=1), first"),
            ),
        ),
        "h and c swapped at the end": ("values", edit(CHUNKS, ("dim=1), state", "dim=1), state[::-1]"))),
        "the short chunk is padded": (
            "values",
            edit(
                CHUNKS,
                (
                    "output, state = lstm(x[:, start : start + chunk_size], state)",
                    "chunk = x[:, start : start + chunk_size]\n        output, state = lstm(F.pad(chunk, (0, 0, 0, chunk_size - chunk.shape[1])), state)",
                ),
                ("dim=1), state", "dim=1)[:, : x.shape[1]], state"),
            ),
        ),
        "chunks in the wrong order": (
            "values",
            edit(CHUNKS, ("torch.cat(outputs, dim=1)", "torch.cat(outputs[::-1], dim=1)")),
        ),
        "the state of the last call is kept": (
            "values",
            edit(
                CHUNKS,
                ("outputs = []", "outputs = []\n    state = run_in_chunks.kept if state is None else state"),
                ("    return", "    run_in_chunks.kept = tuple(s.detach() for s in state)\n    return"),
            )
            + "run_in_chunks.kept = None\n",
        ),
        "a state is needed": (
            "values",
            edit(CHUNKS, ("outputs = []", "outputs = []\n    state = (state[0], state[1])")),
        ),
        "cat along the batch": ("shape", edit(CHUNKS, ("dim=1", "dim=0"))),
        "flat": ("shape", edit(CHUNKS, ("dim=1), state", "dim=1), *state"))),
        "one step a call": (
            "from-scratch",
            edit(CHUNKS, ("    outputs = []", "    outputs, chunk_size = [], 1")),
        ),
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
        "an even number of chunks only": (
            "generality",
            edit(CHUNKS, ("    outputs =", "    assert x.shape[1] >= chunk_size\n    outputs =")),
        ),
        "an empty chunk at the end": (
            "generality",
            edit(
                CHUNKS, ("x.shape[1], chunk_size)", "x.shape[1] // chunk_size * chunk_size + 1, chunk_size)")
            ),
        ),
        "view": (
            "generality",
            edit(CHUNKS, ("    outputs =", "    x = x.view(-1, x.shape[2]).view(x.shape)\n    outputs =")),
        ),
        "detached between the chunks": (
            "gradient",
            edit(CHUNKS, ("append(output)", "append(output); state = tuple(s.detach() for s in state)")),
        ),
        "only c is detached": (
            "gradient",
            edit(CHUNKS, ("append(output)", "append(output); state = (state[0], state[1].detach())")),
        ),
        "no gradients": ("gradient", "@torch.no_grad()" + CHUNKS),
        "zeros of the default dtype": (
            "dtype",
            edit(
                CHUNKS,
                (
                    "outputs = []",
                    "outputs = []\n    if state is None:\n        state = tuple(torch.zeros(lstm.num_layers, x.shape[0], lstm.hidden_size) for _ in 'hc')",
                ),
            ),
        ),
        "the given state written into": (
            "mutation",
            edit(
                CHUNKS,
                ("    return", "    kept[0].copy_(state[0]) if kept else None\n    return"),
                ("outputs = []", "outputs, kept = [], state"),
            ),
        ),
        "x scaled in place": ("mutation", edit(CHUNKS, ("    return", "    x.mul_(0)\n    return"))),
        "weights zeroed afterwards": (
            "mutation",
            edit(
                CHUNKS,
                ("outputs = []", "outputs, kept = [], state"),
                ("    return", "    if kept is not None:\n        lstm.bias_hh_l0.data.zero_()\n    return"),
            ),
        ),
    },
    "detach_state": {
        "a gradient that a function swallows": (
            "gradient",
            """
class Cut(torch.autograd.Function):
    @staticmethod
    def forward(ctx, part):
        return part.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


def detach_state(state):
    return tuple(Cut.apply(part) for part in state)
""",
        ),
        "stacked": ("shape", edit(DETACH, ("h.detach(), c.detach()", "torch.stack([h, c]).detach()"))),
        "one layer": ("shape", edit(DETACH, ("h.detach(), c.detach()", "h[-1].detach(), c[-1].detach()"))),
        "c forgotten": ("values", edit(DETACH, ("c.detach()", "torch.zeros_like(c)"))),
        "as it was": ("gradient", "def detach_state(state):\n    return state\n"),
        "clones": ("gradient", edit(DETACH, ("h.detach(), c.detach()", "h.clone(), c.clone()"))),
        "one of them in place": ("mutation", edit(DETACH, ("c.detach()", "c.detach_()"))),
        "the old numbers wiped": (
            "mutation",
            edit(
                DETACH,
                (
                    "return h.detach(), c.detach()",
                    "new = h.detach().clone(), c.detach().clone()\n    h.data.zero_()\n    return new",
                ),
            ),
        ),
        "through a list": ("dtype", edit(DETACH, ("c.detach()", "torch.tensor(c.tolist())"))),
    },
    "reset_finished": {
        "written into where it is part of a graph": (
            "mutation",
            """
def reset_finished(state, finished):
    if any(part.requires_grad for part in state):
        for part in state:
            part[:, finished] = 0.0
        return state
    keep = ~finished[None, :, None]
    return tuple(part * keep for part in state)
""",
        ),
        "nothing returned": ("shape", edit(RESET, ("return h * keep, c * keep", "h * keep, c * keep"))),
        "only h returned": ("shape", edit(RESET, ("return h * keep, c * keep", "return h * keep"))),
        "finished ones removed": (
            "shape",
            edit(RESET, ("h * keep, c * keep", "h[:, ~finished], c[:, ~finished]")),
        ),
        "batch first": (
            "shape",
            edit(RESET, ("h * keep, c * keep", "(h * keep).transpose(0, 1), (c * keep).transpose(0, 1)")),
        ),
        "all are reset when one is finished": (
            "values",
            edit(RESET, ("~finished[None, :, None]", "~finished.any()")),
        ),
        "reset when all are finished only": (
            "values",
            edit(RESET, ("~finished[None, :, None]", "~finished.all()")),
        ),
        "nothing is reset": ("values", "def reset_finished(state, finished):\n    return state\n"),
        "only the top layer": (
            "values",
            edit(
                RESET,
                (
                    "h * keep, c * keep",
                    "torch.cat([h[:-1], h[-1:] * keep]), torch.cat([c[:-1], c[-1:] * keep])",
                ),
            ),
        ),
        "only the first layer": (
            "values",
            edit(
                RESET,
                ("h * keep, c * keep", "torch.cat([h[:1] * keep, h[1:]]), torch.cat([c[:1] * keep, c[1:]])"),
            ),
        ),
        "as many as are finished, from the end": (
            "values",
            edit(RESET, ("~finished[", "(torch.arange(len(finished)) < (~finished).sum())[")),
        ),
        "h and c swapped": ("values", edit(RESET, ("h * keep, c * keep", "c * keep, h * keep"))),
        "the mask along the layers where it fits": (
            "generality",
            edit(
                RESET,
                (
                    "keep = ~finished[None, :, None]",
                    "keep = ~finished[:, None, None] if len(finished) == len(h) else ~finished[None, :, None]",
                ),
            ),
        ),
        "squeezed": ("generality", edit(RESET, ("h * keep", "(h * keep).squeeze(0)"))),
        "one must be finished": (
            "generality",
            edit(RESET, ("    h, c", "    assert finished.any()\n    h, c")),
        ),
        "one must go on": (
            "generality",
            edit(RESET, ("    h, c", "    assert not finished.all()\n    h, c")),
        ),
        "view": ("generality", edit(RESET, ("h * keep, c", "h.view(-1).view(h.shape) * keep, c"))),
        "detached": (
            "gradient",
            edit(RESET, ("h * keep, c * keep", "(h * keep).detach(), (c * keep).detach()")),
        ),
        "only c detached": ("gradient", edit(RESET, ("c * keep", "c.detach() * keep"))),
        "no_grad": ("gradient", "@torch.no_grad()" + RESET),
        "data": ("gradient", edit(RESET, ("h * keep", "h.data * keep"))),
        "the mask in float32": (
            "dtype",
            edit(
                RESET,
                ("[None, :, None]", "[None, :, None]\n    keep = keep.float()"),
                ("h * keep", "h * keep.float()"),
            ),
        ),
        "back to float": ("dtype", edit(RESET, ("h * keep", "(h * keep).float()"))),
        "in place by index": (
            "mutation",
            edit(
                RESET,
                ("return h * keep, c * keep", "h[:, finished] = 0\n    c[:, finished] = 0\n    return h, c"),
            ),
        ),
        "in place by *=": (
            "mutation",
            edit(RESET, ("return h * keep, c * keep", "h *= keep\n    c *= keep\n    return h, c")),
        ),
        "zero_ through a view": (
            "mutation",
            edit(
                RESET,
                (
                    "return h * keep, c * keep",
                    "for b in finished.nonzero().flatten():\n        h[:, b].zero_(), c[:, b].zero_()\n    return h, c",
                ),
            ),
        ),
        "only c in place": ("mutation", edit(RESET, ("c * keep", "c.mul_(keep)"))),
    },
    "tbptt_step": {
        "an optimizer of its own, kept": (
            "values",
            """
KEPT = {}


def tbptt_step(model, optimizer, loss_fn, x, y, state):
    if id(model) not in KEPT:
        KEPT[id(model)] = model, type(optimizer)(model.parameters(), **optimizer.defaults)
    own = KEPT[id(model)][1]
    own.zero_grad()
    prediction, state = model(x, state)
    loss = loss_fn(prediction, y)
    loss.backward()
    own.step()
    return loss.item(), detach_state(state)
""",
        ),
        "only h": ("shape", edit(STEP, ("detach_state(state)\n", "detach_state(state)[0]\n"))),
        "flat": ("shape", edit(STEP, ("detach_state(state)\n", "*detach_state(state)\n"))),
        "no loss for a number": ("shape", edit(STEP, ("loss.item()", "(prediction - y).detach()"))),
        "the state that came in": (
            "values",
            edit(
                STEP,
                ("prediction, state =", "prediction, new ="),
            ),
        ),
        "the state is reset": (
            "values",
            edit(STEP, ("detach_state(state)\n", "tuple(torch.zeros_like(s) for s in state)\n")),
        ),
        "h and c swapped": ("values", edit(STEP, ("detach_state(state)\n", "detach_state(state)[::-1]\n"))),
        "the loss after the update": (
            "values",
            edit(
                STEP,
                ("model(x, state)", "model(x, old)"),
                ("    optimizer.zero_grad()", "    old = state\n    optimizer.zero_grad()"),
                ("    return", "    loss = loss_fn(model(x, old)[0], y)\n    return"),
            ),
        ),
        "the state after the update": (
            "values",
            edit(
                STEP,
                ("prediction, state =", "prediction, new ="),
                ("    return", "    _, state = model(x, state)\n    return"),
            ),
        ),
        "the loss a time step": ("values", edit(STEP, ("loss.item()", "loss.item() / x.shape[1]"))),
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
        "gradients clipped": (
            "values",
            edit(
                STEP,
                (
                    "    optimizer.step()",
                    "    nn.utils.clip_grad_norm_(model.parameters(), 1e-3)\n    optimizer.step()",
                ),
            ),
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
        "the first state is kept": (
            "values",
            edit(
                STEP,
                ("model(x, state)", "model(x, tbptt_step.__dict__.setdefault('kept', state))"),
            ),
        ),
        "cleared after the step only": (
            "gradient",
            edit(
                STEP,
                ("    optimizer.zero_grad()\n", ""),
                ("optimizer.step()\n", "optimizer.step()\n    optimizer.zero_grad()\n"),
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
        "the state in float": (
            "dtype",
            edit(STEP, ("detach_state(state)\n", "tuple(s.float() for s in detach_state(state))\n")),
        ),
        "the old state wiped": (
            "mutation",
            edit(
                STEP,
                ("prediction, state = model(x, state)", "prediction, new = model(x, state)"),
                (
                    "    return loss.item(), detach_state(state)",
                    "    new = detach_state(new)\n    state[0].zero_()\n    return loss.item(), new",
                ),
            ),
        ),
        "the new state written into the old": (
            "mutation",
            edit(
                STEP,
                ("prediction, state = model(x, state)", "prediction, new = model(x, state)"),
                (
                    "    return loss.item(), detach_state(state)",
                    "    new = detach_state(new)\n    state[1].copy_(new[1])\n    return loss.item(), new",
                ),
            ),
        ),
        "y scaled in place": ("mutation", edit(STEP, ("    return", "    y.mul_(0)\n    return"))),
    },
}
