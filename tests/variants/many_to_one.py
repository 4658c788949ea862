"""Right and wrong answers to the tasks of 07_many_to_one."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("07_many_to_one")

WINDOWS, REGRESSOR, CLASSIFIER, FIT, FORECAST = SOLUTIONS.values()

CORRECT = right_answers_of("07_many_to_one")

WRONG = {
    "make_windows": {
        "y with three dimensions": ("shape", edit(WINDOWS, ("y.unsqueeze(-1)", "y[:, None, None]"))),
        "targets brought to the CPU": ("device", edit(WINDOWS, ("series[window:]", "series[window:].cpu()"))),
        "targets in float": ("dtype", edit(WINDOWS, ("series[window:]", "series[window:].float()"))),
    },
    "SimpleRNN": {
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
        "no bias": (
            "registration",
            edit(REGRESSOR, ("hidden_size, output_size)", "hidden_size, output_size, bias=False)")),
        ),
        "not a module": (
            "registration",
            "class SimpleRNN:\n    def __init__(self, input_size, hidden_size, num_layers, output_size=1):\n        self.rnn = nn.RNN(input_size, hidden_size, num_layers, batch_first=True)\n",
        ),
        "super not called": ("registration", edit(REGRESSOR, ("        super().__init__()\n", ""))),
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
        "scores brought to the CPU": (
            "device",
            edit(CLASSIFIER, ("self.fc(h_n[-1])", "self.fc(h_n[-1]).cpu()")),
        ),
    },
    "fit": {
        "nothing returned": ("shape", edit(FIT, ("    return losses\n", ""))),
        "the model": ("shape", edit(FIT, ("return losses", "return model"))),
        "losses and model": ("shape", edit(FIT, ("return losses", "return losses, model"))),
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
    },
    "forecast": {
        "the last window": ("shape", edit(FORECAST, ("torch.stack(predictions)", "window"))),
        "nothing returned": ("shape", edit(FORECAST, ("    return torch.stack(predictions)\n", ""))),
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
    },
}
