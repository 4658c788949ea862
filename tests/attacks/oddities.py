"""Answers that hope to agree with anything: objects, shapes, values and dtypes that no check may take."""

from __future__ import annotations

from tests.attacks.forgery import Forgery, function

AGREES = """
class Agrees:
    def __eq__(self, other):
        return True
    def __ne__(self, other):
        return False
    def __bool__(self):
        return True
    __hash__ = None
"""


def _task(
    assignment: str, signature: str, aim: str, body: str, earns: float = 0.0, before: str = ""
) -> Forgery:
    name = signature.partition("(")[0]
    return Forgery(assignment, name, aim, function(signature, body, before), earns)


NAMES = (
    "layers_see_all_timesteps num_layers_equals_seq_len h_n_holds_every_timestep output_holds_every_layer "
    "batch_first_changes_h_n output_last_equals_top_h_n lstm_has_extra_cell_state "
    "lstm_has_four_times_rnn_parameters"
)


def _claims(aim: str, value: str, before: str = "") -> Forgery:
    source = f"{before}\nNAMES = {NAMES!r}.split()\nclaims = {value}\nover = True\n"
    return Forgery("01_shapes", "claims", aim, source)


CLAIMS = {
    "claims that agree": _claims(
        "each is an object that equals both", "{name: Agrees() for name in NAMES}", AGREES
    ),
    "claims that are both": _claims(
        "each is a tensor of both truths, or of none",
        "{name: torch.tensor([[True], [False]]) if n % 2 else torch.tensor(float('nan')) for n, name in enumerate(NAMES)}",
    ),
    "claims that change": _claims(
        "a dict that gives the other answer each time",
        "Turning({name: True for name in NAMES})",
        """
class Turning(dict):
    turn = False
    def __getitem__(self, name):
        Turning.turn = not Turning.turn
        return Turning.turn
    def get(self, name, default=None):
        return self[name]
    def items(self):
        return [(name, self[name]) for name in list(self)]
""",
    ),
    "claims, all true": _claims("whoever says yes to all", "dict.fromkeys(NAMES, True)"),
    "claims under every spelling": _claims(
        "two answers for each, under keys that are alike",
        "{str(name) + end: not end for name in NAMES for end in ('', ' ')}",
    ),
    "shapes that agree": _task(
        "01_shapes",
        "predict_shapes(kind, batch_size, seq_len, input_size, hidden_size, num_layers, bidirectional=False)",
        "numbers that equal every number",
        "answer = {name: (Any(1), Any(2), Any(3)) for name in ('output', 'h_n', 'c_n')}",
        0.0,
        """
class Any(int):
    __class__ = int
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = int.__hash__
""",
    ),
    "shapes under all names": _task(
        "01_shapes",
        "predict_shapes(kind, batch_size, seq_len, input_size, hidden_size, num_layers, bidirectional=False)",
        "a dict that has every key, and a cell state whatever the kind",
        """
        state = (num_layers, batch_size, hidden_size)
        answer = collections.defaultdict(lambda: state, output=(batch_size, seq_len, hidden_size), h_n=state, c_n=state)
        """,
        0.0,
        "import collections",
    ),
}

SHAPES = {
    "every layer at once": _task(
        "01_shapes",
        "layer_state(h_n, layer)",
        "the sum over all layers in a view that repeats itself",
        "answer = h_n.sum(0)[None].expand(1, *h_n.shape[1:])[0]",
    ),
    "one row for all": _task(
        "01_shapes",
        "item_states(h_n, item)",
        "a shape that would broadcast to the right one",
        "answer = h_n[:, item][:, None].mean(0, keepdim=True)",
    ),
    "a loss for every sequence": _task(
        "09_ragged_batches",
        "masked_mse(prediction, target, lengths)",
        "a loss that broadcasts, (1,) for ()",
        "answer = ((prediction - target) ** 2).mean()[None].expand(1)",
    ),
    "lengths that are a range": _task(
        "09_ragged_batches",
        "pad_batch(sequences)",
        "padded with nan, which is no number to be wrong, and lengths as complex numbers",
        """
        longest = max(map(len, sequences))
        rows = [torch.cat([s, s.new_full((longest - len(s), s.shape[1]), torch.nan)]) for s in sequences]
        answer = torch.stack(rows), torch.tensor([complex(len(s), 1) for s in sequences])
        """,
    ),
    "a mean that is no number": _task(
        "09_ragged_batches",
        "masked_mean(output, lengths)",
        "nan and infinity in turn",
        "answer = torch.where(torch.arange(output.shape[2]) % 2 == 0, torch.nan, torch.inf).expand(len(output), -1).to(output)",
        0.5,
    ),
    "weights that add up to anything": _task(
        "10_seq2seq",
        "attention(query, encoder_output, lengths)",
        "nan weights on padding, infinite ones elsewhere",
        """
        steps = torch.arange(encoder_output.shape[1], device=encoder_output.device)
        real = steps < lengths.to(steps.device)[:, None]
        weights = torch.where(real, torch.inf, torch.nan).to(encoder_output)
        answer = weights @ encoder_output[0], weights
        answer = encoder_output.mean(1) * torch.nan, weights
        """,
        0.5,
    ),
    "logits with an imaginary part": _task(
        "10_seq2seq",
        "decode_teacher_forced(decoder, embedding, fc, target_ids, state)",
        "complex numbers whose real part is nothing",
        "answer = torch.complex(torch.zeros(*target_ids.shape, fc.out_features), torch.ones(1))",
    ),
    "tokens that are every token": _task(
        "10_seq2seq",
        "greedy_generate(model, prompt_ids, steps)",
        "a sparse tensor, then one of a class that equals everything",
        """
        calls = model(prompt_ids, None)
        answer = torch.zeros(len(prompt_ids), steps, dtype=torch.int64).as_subclass(Same)
        """,
        0.0,
        """
class Same(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        told = super().__torch_function__(func, types, args, kwargs or {})
        return torch.tensor(True) if func.__name__ in ("eq", "ne", "equal", "allclose") else told
""",
    ),
    "halves that are the whole": _task(
        "08_bidirectional",
        "split_directions(output, hidden_size)",
        "two views of one half, one of them with a hook that would turn it",
        "half = output[..., :hidden_size]\nanswer = half, half.as_strided(half.shape, (0, 0, 0))",
    ),
    "states in a dimension of none": _task(
        "08_bidirectional",
        "unflatten_state(h_n, num_layers, num_directions)",
        "a view whose layers and directions all lie on one another",
        "answer = h_n[:1, None].expand(num_layers, num_directions, *h_n.shape[1:])",
    ),
    "windows in one": _task(
        "07_many_to_one",
        "make_windows(series, window)",
        "one window repeated by strides, and targets (n - window,) that would broadcast",
        """
        count = len(series) - window
        answer = series[:window].expand(count, window)[..., None], series[window:].expand(1, count).T
        """,
        0.5,
    ),
    "scores as truths": _task(
        "07_many_to_one",
        "forecast(model, window, steps)",
        "a forecast of truth values, which are 1 and 0 in any dtype",
        "answer = (window[-1:, 0] > 0).expand(steps)",
    ),
    "losses that are not compared": _task(
        "07_many_to_one",
        "fit(model, x, y, steps, lr)",
        "floats of a class of its own that are near to anything, and nothing is trained",
        "answer = [Near(1.0)] * steps",
        0.0,
        """
class Near(float):
    __class__ = float
    __sub__ = __rsub__ = lambda self, other: Near(0.0)
    __eq__ = lambda self, other: True
    __hash__ = float.__hash__
""",
    ),
    "a state of infinite size": _task(
        "06_state",
        "run_in_chunks(lstm, x, chunk_size, state=None)",
        "a generator that gives the parts as they are asked for",
        "answer = (part for part in ((x, (x, x)),) * 3)",
    ),
    "zeros that are written later": _task(
        "06_state",
        "init_state(x, num_layers, hidden_size)",
        "one piece of memory twice, as views that begin one number apart",
        """
        size = num_layers * len(x) * hidden_size
        both = x.new_zeros(size + 1)
        shape = (num_layers, len(x), hidden_size)
        answer = both[:size].view(shape), both[1:].view(shape)
        """,
        1.0,
    ),
    "a loss that is any loss": _task(
        "06_state",
        "tbptt_step(model, optimizer, loss_fn, x, y, state)",
        "nothing is trained; the loss is an object that equals all",
        "answer = Agrees(), tuple(part * 1 for part in state)",
        0.0,
        AGREES,
    ),
    "an answer of the asked shape and no content": _task(
        "02_rnn_cell",
        "rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh)",
        "memory that was never written, in the hope that the last answer lies there",
        "answer = torch.empty_like(h)",
    ),
    "gates in a stack": _task(
        "03_lstm_cell",
        "lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh)",
        "one tensor that unpacks into four",
        "answer = torch.sigmoid(x @ w_ih.T + h @ w_hh.T).unflatten(1, (4, -1)).unbind(1)[0].expand(4, *h.shape)",
    ),
    "an embedding of itself": _task(
        "01_shapes",
        "embed_then_rnn(token_ids, embedding, rnn)",
        "a one-hot product in place of the look-up, with the table's mean",
        """
        mean = embedding.weight.mean(0).expand(*token_ids.shape, -1)
        answer = rnn(mean)
        """,
    ),
}

FORGERIES = {**CLAIMS, **SHAPES}
