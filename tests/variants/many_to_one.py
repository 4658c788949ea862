"""Right and wrong answers to the tasks of 07_many_to_one."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("07_many_to_one")

WINDOWS, REGRESSOR, CLASSIFIER, FIT, FORECAST = SOLUTIONS.values()

CORRECT = right_answers_of("07_many_to_one")

WRONG = {
    "make_windows": {
        "the target is two ahead": (
            "values",
            edit(WINDOWS, ("series[window:]", "torch.cat([series[window + 1 :], series[:1]])")),
        ),
        "the target is the first of the window": (
            "values",
            edit(WINDOWS, ("series[window:]", "series[:count]")),
        ),
        "windows do not overlap": (
            "values",
            edit(
                WINDOWS,
                (
                    "series[start : start + window]",
                    "torch.cat([series, series, series]).repeat(9)[start * window : start * window + window]",
                ),
            ),
        ),
        "windows in reverse": ("values", edit(WINDOWS, ("start + window]", "start + window].flip(0)"))),
        "windows start at one": (
            "values",
            edit(WINDOWS, ("series[start : start + window]", "series[start + 1 : start + 1 + window]")),
        ),
        "the first window everywhere": (
            "values",
            edit(WINDOWS, ("series[start : start + window]", "series[:window]")),
        ),
        "windows cut by reshape": (
            "values",
            edit(
                WINDOWS,
                (
                    "torch.stack([series[start : start + window] for start in range(count)])",
                    "torch.stack([series[start : start + count] for start in range(window)]).reshape(count, window)",
                ),
            ),
        ),
        "sorted by target": (
            "values",
            edit(WINDOWS, ("    y =", "    x = x[series[window:].argsort()]\n    y =")),
        ),
        "one window too many": (
            "shape",
            edit(
                WINDOWS,
                ("- window\n", "- window + 1\n"),
                ("y = series[window:]", "y = torch.cat([series[window:], series[:1]])"),
            ),
        ),
        "one window too few": (
            "shape",
            edit(WINDOWS, ("- window\n", "- window - 1\n"), ("series[window:]", "series[window:-1]")),
        ),
        "no feature dimension": ("shape", edit(WINDOWS, ("x.unsqueeze(-1)", "x"))),
        "y with three dimensions": ("shape", edit(WINDOWS, ("y.unsqueeze(-1)", "y[:, None, None]"))),
        "time first": ("shape", edit(WINDOWS, ("x.unsqueeze(-1)", "x.T.unsqueeze(-1)"))),
        "lists of windows": (
            "shape",
            edit(WINDOWS, ("torch.stack([", "list([")).replace("x.unsqueeze(-1)", "x"),
        ),
        "squeeze": ("generality", edit(WINDOWS, ("x.unsqueeze(-1), y", "x.squeeze().unsqueeze(-1), y"))),
        "at most fifty windows": (
            "generality",
            edit(
                WINDOWS,
                ("- window\n", "- window\n    series = series[:50]\n    count = min(count, 50 - window)\n"),
            ),
        ),
        "two windows at least": (
            "generality",
            edit(WINDOWS, ("range(count)", "range(max(count, 2))")),
        ),
        "detached": ("gradient", edit(WINDOWS, ("    count", "    series = series.detach()\n    count"))),
        "targets detached": ("gradient", edit(WINDOWS, ("series[window:]", "series[window:].detach()"))),
        "copied without their graph": (
            "gradient",
            edit(
                WINDOWS,
                (
                    "series[start : start + window] for",
                    "torch.empty_like(series[:window]).copy_(series[start : start + window].detach()) for",
                ),
            ),
        ),
        "a buffer of the default dtype": (
            "dtype",
            edit(
                WINDOWS,
                (
                    "    y =",
                    "    buffer = torch.zeros(count, window)\n    buffer[:] = x\n    x = buffer\n    y =",
                ),
            ),
        ),
        "a buffer on the CPU": (
            "device",
            edit(
                WINDOWS,
                (
                    "    y =",
                    "    buffer = torch.zeros(count, window, dtype=series.dtype)\n    buffer[:] = x\n    x = buffer\n    y =",
                ),
            ),
        ),
        "targets brought to the CPU": ("device", edit(WINDOWS, ("series[window:]", "series[window:].cpu()"))),
        "targets in float": ("dtype", edit(WINDOWS, ("series[window:]", "series[window:].float()"))),
        "the series is scaled first": (
            "mutation",
            edit(
                WINDOWS,
                ("    return", "    x, y = x.clone(), y.clone()\n    series -= series.mean()\n    return"),
            ),
        ),
        "the series is sorted afterwards": (
            "mutation",
            edit(
                WINDOWS,
                ("    return", "    y = y.clone()\n    series.copy_(series.sort().values)\n    return"),
            ),
        ),
    },
    "SimpleRNN": {
        "the mean over time": ("values", edit(REGRESSOR, ("output[:, -1]", "output.mean(1)"))),
        "the last but one step": (
            "values",
            edit(REGRESSOR, ("output[:, -1]", "output[:, max(x.shape[1] - 2, 0)]")),
        ),
        "the state viewed as batch first": (
            "values",
            edit(REGRESSOR, ("output[:, -1]", "h_n.view(x.shape[0], -1, self.rnn.hidden_size)[:, -1]")),
        ),
        "ones as the initial state": ("values", edit(REGRESSOR, ("new_zeros(", "new_ones("))),
        "relu": ("values", edit(REGRESSOR, ("num_layers, batch_first", "num_layers, 'relu', batch_first"))),
        "relu before fc": ("values", edit(REGRESSOR, ("output[:, -1])", "output[:, -1].relu())"))),
        "time runs over the batch": (
            "values",
            edit(REGRESSOR, (", batch_first=True", ""), ("x.shape[0]", "x.shape[1]")),
        ),
        "dropout between the layers": (
            "values",
            edit(REGRESSOR, ("batch_first=True", "batch_first=True, dropout=0.3")),
        ),
        "the state is carried over": (
            "values",
            edit(
                REGRESSOR,
                (
                    "        h_0 = x",
                    "        h_0 = self.kept if getattr(self, 'kept', None) is not None and self.kept.shape[1] == len(x) and self.kept.dtype == x.dtype else x",
                ),
                ("        return", "        self.kept = h_n.detach()\n        return"),
            ),
        ),
        "the last row of all": (
            "shape",
            edit(REGRESSOR, ("output[:, -1]", "output.reshape(-1, self.rnn.hidden_size)[-1:]")),
        ),
        "squeezed state": (
            "generality",
            edit(
                REGRESSOR,
                ("output[:, -1]", "output.squeeze()[:, -1] if len(x) > 1 else output.squeeze()[None, -1]"),
            ),
        ),
        "the length of the first batch": (
            "generality",
            edit(
                REGRESSOR,
                ("output[:, -1]", "output[:, self.length - 1]"),
                ("        h_0 =", "        self.length = getattr(self, 'length', x.shape[1])\n        h_0 ="),
            ),
        ),
        "at most twenty steps": (
            "generality",
            edit(REGRESSOR, ("self.rnn(x, h_0)", "self.rnn(x[:, :20], h_0)")),
        ),
        "the batch size of the first call": (
            "generality",
            edit(
                REGRESSOR,
                ("x.shape[0], self", "self.batch, self"),
                ("        h_0 =", "        self.batch = getattr(self, 'batch', x.shape[0])\n        h_0 ="),
            ),
        ),
        "one layer": (
            "registration",
            edit(
                REGRESSOR,
                ("hidden_size, num_layers, batch", "hidden_size, batch"),
                ("self.rnn.num_layers", "1"),
            ),
        ),
        "bidirectional": (
            "registration",
            edit(
                REGRESSOR,
                ("batch_first=True", "batch_first=True, bidirectional=True"),
                ("Linear(hidden_size", "Linear(2 * hidden_size"),
                ("zeros(self.rnn.num_layers", "zeros(2 * self.rnn.num_layers"),
            ),
        ),
        "an LSTM": (
            "registration",
            edit(REGRESSOR, ("nn.RNN", "nn.LSTM"), ("self.rnn(x, h_0)", "self.rnn(x)")),
        ),
        "other names": (
            "registration",
            edit(REGRESSOR, ("self.fc =", "self.linear ="), ("self.fc(", "self.linear(")),
        ),
        "the layer in a list": (
            "registration",
            edit(
                REGRESSOR,
                (
                    "self.fc = nn.Linear(hidden_size, output_size)",
                    "self.fc = [nn.Linear(hidden_size, output_size).double()]",
                ),
                ("self.fc(", "self.fc[0]("),
            ),
        ),
        "a learned initial state": (
            "registration",
            edit(
                REGRESSOR,
                (
                    "        self.fc =",
                    "        self.h_0 = nn.Parameter(torch.zeros(num_layers, 1, hidden_size))\n        self.fc =",
                ),
                (
                    "x.new_zeros(self.rnn.num_layers, x.shape[0], self.rnn.hidden_size)",
                    "self.h_0.expand(-1, x.shape[0], -1).contiguous()",
                ),
            ),
        ),
        "no bias": (
            "registration",
            edit(REGRESSOR, ("hidden_size, output_size)", "hidden_size, output_size, bias=False)")),
        ),
        "not a module": (
            "registration",
            "class SimpleRNN:\n    def __init__(self, input_size, hidden_size, num_layers, output_size=1):\n        self.rnn = nn.RNN(input_size, hidden_size, num_layers, batch_first=True)\n",
        ),
        "super not called": ("registration", edit(REGRESSOR, ("        super().__init__()\n", ""))),
        "no gradients in the RNN": (
            "gradient",
            edit(
                REGRESSOR,
                (
                    "output, h_n = self.rnn(x, h_0)",
                    "with torch.no_grad():\n            output, h_n = self.rnn(x, h_0)",
                ),
            ),
        ),
        "the input detached": (
            "gradient",
            edit(REGRESSOR, ("self.rnn(x, h_0)", "self.rnn(x.detach(), h_0)")),
        ),
        "through data": ("gradient", edit(REGRESSOR, ("output[:, -1]", "output.data[:, -1]"))),
        "a state kept from before the move": (
            "device",
            edit(
                REGRESSOR,
                (
                    "        self.fc =",
                    "        self.zero = torch.zeros(num_layers, 1, hidden_size)\n        self.fc =",
                ),
                (
                    "x.new_zeros(self.rnn.num_layers, x.shape[0], self.rnn.hidden_size)",
                    "self.zero.to(x.dtype).repeat(1, len(x), 1)",
                ),
            ),
        ),
        "a result buffer on the CPU": (
            "device",
            edit(
                REGRESSOR,
                (
                    "        return self.fc(output[:, -1])",
                    "        result = torch.zeros(x.shape[0], self.fc.out_features, dtype=x.dtype)\n        result[:] = self.fc(output[:, -1])\n        return result",
                ),
            ),
        ),
        "a result buffer of the default dtype": (
            "dtype",
            edit(
                REGRESSOR,
                (
                    "        return self.fc(output[:, -1])",
                    "        result = torch.zeros(x.shape[0], self.fc.out_features)\n        result[:] = self.fc(output[:, -1])\n        return result",
                ),
            ),
        ),
        "the input is centred in place": (
            "mutation",
            edit(
                REGRESSOR,
                (
                    "        return",
                    "        with torch.no_grad():\n            x.sub_(x.mean())\n        return",
                ),
            ),
        ),
    },
    "SequenceClassifier": {
        "the largest over time": ("values", edit(CLASSIFIER, ("h_n[-1]", "output.max(dim=1).values"))),
        "softmax": ("values", edit(CLASSIFIER, ("self.fc(h_n[-1])", "self.fc(h_n[-1]).softmax(dim=-1)"))),
        "log softmax": (
            "values",
            edit(CLASSIFIER, ("self.fc(h_n[-1])", "F.log_softmax(self.fc(h_n[-1]), dim=-1)")),
        ),
        "the layers summed": ("values", edit(CLASSIFIER, ("h_n[-1]", "h_n.sum(0)"))),
        "states of the ids' dtype": (
            "shape",
            edit(
                CLASSIFIER,
                ("self.embedding(ids))\n", "self.embedding(ids), (zeros, zeros))\n"),
                (
                    "        output,",
                    "        zeros = ids.new_zeros(self.lstm.num_layers, len(ids), self.lstm.hidden_size)\n        output,",
                ),
            ),
        ),
        "the sequence is reversed": (
            "values",
            edit(CLASSIFIER, ("self.embedding(ids)", "self.embedding(ids.flip(1))")),
        ),
        "dropout": (
            "values",
            edit(CLASSIFIER, ("batch_first=True", "batch_first=True, dropout=0.5 * (num_layers > 1)")),
        ),
        "the state is carried over": (
            "values",
            edit(
                CLASSIFIER,
                (
                    "self.embedding(ids))\n",
                    "self.embedding(ids), self.kept if self.kept is not None and self.kept[0].shape[1] == len(ids) else None)\n        self.kept = (h_n.detach(), c_n.detach())\n",
                ),
                ("        self.fc =", "        self.kept = None\n        self.fc ="),
            ),
        ),
        "argmax": ("shape", edit(CLASSIFIER, ("self.fc(h_n[-1])", "self.fc(h_n[-1]).argmax(dim=-1)"))),
        "scores and state": ("shape", edit(CLASSIFIER, ("self.fc(h_n[-1])", "self.fc(h_n[-1]), h_n"))),
        "squeezed": (
            "generality",
            edit(
                CLASSIFIER,
                (
                    "self.fc(h_n[-1])",
                    "self.fc(h_n.squeeze()[-1]) if h_n.shape[1] == 1 and h_n.shape[0] > 1 else self.fc(h_n[-1])",
                ),
            ),
        ),
        "squeezed steps": ("generality", edit(CLASSIFIER, ("h_n[-1]", "output.squeeze()[:, -1]"))),
        "three layers": ("generality", edit(CLASSIFIER, ("h_n[-1]", "h_n[min(2, len(h_n))]"))),
        "layer two at most": ("generality", edit(CLASSIFIER, ("h_n[-1]", "h_n[2 if len(h_n) > 2 else 0]"))),
        "view": (
            "generality",
            edit(CLASSIFIER, ("self.embedding(ids)", "self.embedding(ids.view(-1)).view(*ids.shape, -1)")),
        ),
        "a binary classifier": (
            "registration",
            edit(CLASSIFIER, ("hidden_size, num_classes)", "hidden_size, 1)")),
        ),
        "classes and hidden the wrong way round": (
            "registration",
            edit(CLASSIFIER, ("Linear(hidden_size, num_classes)", "Linear(num_classes, hidden_size)")),
        ),
        "bidirectional": (
            "registration",
            edit(CLASSIFIER, ("batch_first=True", "batch_first=True, bidirectional=True")),
        ),
        "a GRU": (
            "registration",
            edit(CLASSIFIER, ("nn.LSTM", "nn.GRU"), ("output, (h_n, c_n)", "output, h_n")),
        ),
        "the embedding is frozen": (
            "registration",
            edit(
                CLASSIFIER,
                (
                    "        self.lstm =",
                    "        self.embedding.weight.requires_grad_(False)\n        self.lstm =",
                ),
            ),
        ),
        "the embedding in a list": (
            "registration",
            edit(
                CLASSIFIER,
                (
                    "self.embedding = nn.Embedding(vocab_size, embedding_dim)",
                    "self.embedding = [nn.Embedding(vocab_size, embedding_dim)]",
                ),
                ("self.embedding(ids)", "self.embedding[0](ids)"),
            ),
        ),
        "no gradients in the LSTM": (
            "gradient",
            edit(
                CLASSIFIER,
                (
                    "        output, (h_n, c_n) = ",
                    "        with torch.no_grad():\n            output, (h_n, c_n) = ",
                ),
            ),
        ),
        "states of the weights' dtype on the CPU": (
            "device",
            edit(
                CLASSIFIER,
                ("self.embedding(ids))\n", "self.embedding(ids), (zeros, zeros))\n"),
                (
                    "        output,",
                    "        zeros = torch.zeros(self.lstm.num_layers, len(ids), self.lstm.hidden_size, dtype=self.fc.weight.dtype)\n        output,",
                ),
            ),
        ),
        "scores brought to the CPU": (
            "device",
            edit(CLASSIFIER, ("self.fc(h_n[-1])", "self.fc(h_n[-1]).cpu()")),
        ),
        "the ids are cleared": (
            "mutation",
            edit(CLASSIFIER, ("        return", "        ids.zero_()\n        return")),
        ),
    },
    "fit": {
        "batches of 128": (
            "generality",
            """
def fit(model, x, y, steps, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        order = torch.randperm(len(x), device=x.device)
        total = 0.0
        for part in order.split(128):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x[part]), y[part])
            total += loss.item() * len(part) / len(x)
            loss.backward()
            optimizer.step()
        losses.append(total)
    return losses
""",
        ),
        "cleared between backward and step": (
            "values",
            edit(
                FIT,
                ("        optimizer.zero_grad()\n", ""),
                ("loss.backward()\n", "loss.backward()\n        optimizer.zero_grad()\n"),
            ),
        ),
        "a new optimizer at every step": (
            "values",
            edit(
                FIT,
                ("    optimizer = torch.optim.Adam(model.parameters(), lr=lr)\n", ""),
                (
                    "        optimizer.zero_grad()\n",
                    "        optimizer = torch.optim.Adam(model.parameters(), lr=lr)\n        optimizer.zero_grad()\n",
                ),
            ),
        ),
        "RMSprop": ("values", edit(FIT, ("optim.Adam", "optim.RMSprop"))),
        "weight decay": ("values", edit(FIT, ("lr=lr", "lr=lr, weight_decay=0.01"))),
        "other betas": ("values", edit(FIT, ("lr=lr", "lr=lr, betas=(0.9, 0.99)"))),
        "lr ignored": ("values", edit(FIT, (", lr=lr", ", lr=0.05"))),
        "lr decays": (
            "values",
            edit(
                FIT, ("optimizer.step()", "optimizer.step()\n        optimizer.param_groups[0]['lr'] *= 0.9")
            ),
        ),
        "the root": ("values", edit(FIT, ("F.mse_loss(model(x), y)", "F.mse_loss(model(x), y).sqrt()"))),
        "targets broadcast": (
            "values",
            edit(FIT, ("F.mse_loss(model(x), y)", "((model(x)[:, None] - y[None]) ** 2).mean()")),
        ),
        "one sequence a step": (
            "values",
            edit(
                FIT,
                ("for _ in range", "for i in range"),
                ("model(x), y", "model(x)[[i % len(x)]], y[[i % len(x)]]"),
            ),
        ),
        "a random half of the batch": (
            "values",
            edit(
                FIT,
                (
                    "        optimizer.zero_grad()\n",
                    "        rows = torch.randperm(len(x))[: max(1, len(x) // 2)]\n        optimizer.zero_grad()\n",
                ),
                ("model(x), y", "model(x[rows]), y[rows]"),
            ),
        ),
        "no update": ("values", edit(FIT, ("        optimizer.step()\n", ""))),
        "no backward": ("values", edit(FIT, ("        loss.backward()\n", ""))),
        "the mean loss so far": (
            "values",
            edit(FIT, ("append(loss.item())", "append((loss.item() + sum(losses)) / (1 + len(losses)))")),
        ),
        "gradients clipped": (
            "values",
            edit(
                FIT,
                (
                    "        optimizer.step()",
                    "        nn.utils.clip_grad_norm_(model.parameters(), 0.001)\n        optimizer.step()",
                ),
            ),
        ),
        "weights drawn anew": (
            "values",
            edit(FIT, ("    optimizer =", "    model.fc.reset_parameters()\n    optimizer =")),
        ),
        "the optimizer of the first call": (
            "values",
            edit(
                FIT,
                (
                    "    optimizer = torch.optim.Adam(model.parameters(), lr=lr)\n",
                    "    optimizer = kept.setdefault(id(model), torch.optim.Adam(model.parameters(), lr=lr))\n",
                ),
            )
            + "kept = {}\n",
        ),
        "losses of the call before": (
            "shape",
            edit(FIT, ("    losses = []\n", ""), ("steps, lr)", "steps, lr, losses=[1.0])")),
        ),
        "one loss more": (
            "shape",
            edit(FIT, ("return losses", "return [*losses, F.mse_loss(model(x), y).item()]")),
        ),
        "every tenth loss": ("shape", edit(FIT, ("return losses", "return losses[::10]"))),
        "nothing returned": ("shape", edit(FIT, ("    return losses\n", ""))),
        "the model": ("shape", edit(FIT, ("return losses", "return model"))),
        "losses and model": ("shape", edit(FIT, ("return losses", "return losses, model"))),
        "at most thirty steps": (
            "generality",
            edit(
                FIT,
                (
                    "losses.append(loss.item())",
                    "losses.append(loss.item())\n        if len(losses) > 30:\n            continue",
                ),
            ),
        ),
        "stops when it gets worse": (
            "generality",
            edit(
                FIT,
                (
                    "        loss.backward()",
                    "        if len(losses) > 25:\n            continue\n        loss.backward()",
                ),
            ),
        ),
        "squeezed predictions": ("values", edit(FIT, ("model(x), y", "model(x).squeeze(), y.squeeze()[:1]"))),
        "one output only": ("values", edit(FIT, ("model(x), y", "model(x)[:, 0], y[:, 0]"))),
        "the model becomes float": (
            "dtype",
            edit(FIT, ("    return losses", "    model.float()\n    return losses")).replace(
                "lr):", "lr):\n    model.to(x.dtype)"
            ),
        ),
        "data in float32": (
            "dtype",
            edit(
                FIT,
                (
                    "    losses = []",
                    "    x, y = x.to(torch.get_default_dtype()), y.to(torch.get_default_dtype())\n    losses = []",
                ),
            ),
        ),
        "the targets are scaled": (
            "mutation",
            edit(FIT, ("    return", "    y /= y.abs().max()\n    return")),
        ),
        "noise is added to x afterwards": (
            "mutation",
            edit(FIT, ("    return", "    x += 0.01\n    return")),
        ),
    },
    "forecast": {
        "zeros are fed": ("values", edit(FORECAST, ("window[1:], prediction", "window[1:], 0 * prediction"))),
        "the first prediction is left out": (
            "values",
            edit(
                FORECAST,
                ("range(steps)", "range(steps + 1)"),
                ("torch.stack(predictions)", "torch.stack(predictions[1:])"),
            ),
        ),
        "in reverse": (
            "values",
            edit(FORECAST, ("torch.stack(predictions)", "torch.stack(predictions[::-1])")),
        ),
        "two values are dropped": (
            "values",
            edit(FORECAST, ("window[1:]", "window[2:] if len(window) > 2 else window[1:]")),
        ),
        "differences are added up": (
            "values",
            edit(FORECAST, ("prediction[0, 0])", "prediction[0, 0] + window[-1, 0])")),
        ),
        "predictions clamped": (
            "values",
            edit(FORECAST, ("model(window.unsqueeze(0))", "model(window.unsqueeze(0)).clamp(-0.001, 0.001)")),
        ),
        "the window shifted by one before": (
            "values",
            edit(FORECAST, ("model(window.unsqueeze(0))", "model(window.roll(1, 0).unsqueeze(0))")),
        ),
        "the window too": (
            "shape",
            edit(
                FORECAST, ("torch.stack(predictions)", "torch.cat([window[:, 0], torch.stack(predictions)])")
            ),
        ),
        "the last window": ("shape", edit(FORECAST, ("torch.stack(predictions)", "window"))),
        "one step too many": ("shape", edit(FORECAST, ("range(steps)", "range(steps + 1)"))),
        "nothing returned": ("shape", edit(FORECAST, ("    return torch.stack(predictions)\n", ""))),
        "the values as a batch": ("values", edit(FORECAST, ("window.unsqueeze(0)", "window.unsqueeze(-1)"))),
        "ends with the window": (
            "generality",
            edit(
                FORECAST,
                (
                    "    return",
                    "    predictions = predictions if len(window) > 1 else predictions[:1]\n    return",
                ),
            ),
        ),
        "the last steps of the window are lost": (
            "generality",
            edit(FORECAST, ("window.unsqueeze(0)", "window[-20:].unsqueeze(0)")),
        ),
        "two values at least": (
            "generality",
            edit(
                FORECAST,
                ("window[1:], prediction", "window[1:-1], window[1:][-1], prediction[0]"),
                ("torch.cat([", "torch.cat([part.reshape(-1, 1) for part in ["),
                ("prediction[0]])", "prediction[0]]])"),
            ),
        ),
        "with gradients": ("gradient", edit(FORECAST, ("with torch.no_grad():", "if True:"))),
        "detached window, attached predictions": (
            "gradient",
            edit(
                FORECAST,
                ("with torch.no_grad():", "if True:"),
                ("window[1:], prediction]", "window[1:], prediction.detach()]"),
            ),
        ),
        "a buffer of the default dtype": (
            "dtype",
            edit(
                FORECAST,
                ("predictions = []", "predictions = torch.zeros(steps)"),
                ("for _ in", "for i in"),
                ("predictions.append(prediction[0, 0])", "predictions[i] = prediction[0, 0]"),
                ("torch.stack(predictions)", "predictions"),
            ),
        ),
        "a buffer on the CPU": (
            "device",
            edit(
                FORECAST,
                ("predictions = []", "predictions = torch.zeros(steps, dtype=window.dtype)"),
                ("for _ in", "for i in"),
                ("predictions.append(prediction[0, 0])", "predictions[i] = prediction[0, 0]"),
                ("torch.stack(predictions)", "predictions"),
            ),
        ),
        "predictions brought to the CPU": (
            "device",
            edit(FORECAST, ("prediction[0, 0]", "prediction[0, 0].cpu()")),
        ),
        "shifted in place": (
            "mutation",
            edit(
                FORECAST,
                (
                    "window = torch.cat([window[1:], prediction])",
                    "window.copy_(torch.cat([window[1:], prediction]))",
                ),
            ),
        ),
        "the model is trained on": (
            "mutation",
            edit(
                FORECAST,
                (
                    "    return",
                    "    for parameter in model.parameters():\n        parameter.data.mul_(0.999)\n    return",
                ),
            ),
        ),
    },
}
