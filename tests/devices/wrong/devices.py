"""Code that is wrong on another device only. `line` is a part of the line that the message must name."""

from tests.devices import Case, H, V
from tests.devices.writing import calls, linear, lstm, makes

DEVICES = {
    "zero state on the CPU": Case(
        lstm("(torch.zeros(B, self.H, dtype=x.dtype) for _ in range(2))"), line="torch.zeros(B, self.H, dtype"
    ),
    "states by a legacy constructor": Case(
        lstm("torch.DoubleTensor(2, B, self.H).zero_().to(x.dtype)"), line="DoubleTensor"
    ),
    "state from a list": Case(
        lstm("torch.tensor([[[0.0] * self.H] * B] * 2, dtype=x.dtype)"), line="torch.tensor([[["
    ),
    "state asks for the CPU": Case(
        lstm("torch.zeros(2, B, self.H, device='cpu', dtype=x.dtype)"), line="device='cpu'"
    ),
    "state on a fixed GPU": Case(
        lstm("torch.zeros(2, B, self.H, dtype=x.dtype).to('cuda:0' if x.device.type != 'cpu' else 'cpu')"),
        line="'cuda:0'",
    ),
    "the first GPU": Case(
        lstm("torch.zeros(2, B, self.H, dtype=x.dtype, device=0 if x.is_cuda else 'cpu')"), line="device=0"
    ),
    "state where a GPU is available": Case(
        lstm(
            "torch.zeros(2, B, self.H, dtype=x.dtype, "
            "device=torch.device('cuda' if torch.cuda.is_available() else 'cpu'))"
        ),
        line="is_available",
    ),
    "state by .cuda()": Case(
        lstm(
            "torch.zeros(2, B, self.H, dtype=x.dtype)",
            before="h = h.cuda() if x.is_cuda else h; outputs = []",
        ),
        line="h.cuda()",
    ),
    "state of nn.LSTM on the CPU": makes(
        "self.lstm = nn.LSTM(D, H, batch_first=True)",
        """
h_0 = torch.zeros(1, x.size(0), self.lstm.hidden_size, dtype=x.dtype)
output, (h, c) = self.lstm(x, (h_0, h_0.clone()))
return output, h, c
""",
        line="h_0 = torch.zeros",
    ),
    "a helper that makes states": makes(
        "self.cell = nn.LSTMCell(D, H)",
        """
state = init(x.size(0), self.cell.hidden_size, x.dtype)
for x_t in x.unbind(1):
    state = self.cell(x_t, state)
return state
""",
        before="""
def init(batch_size, size, dtype):
    return torch.zeros(batch_size, size, dtype=dtype), torch.zeros(batch_size, size, dtype=dtype)
""",
        line="return torch.zeros(batch_size",
    ),
    "state kept from before": makes(
        """
self.rnn = nn.RNN(D, H, batch_first=True)
self.h = torch.zeros(1, 2, H)
""",
        """
out, h = self.rnn(x, self.h.to(x.dtype))
self.h = h.detach()
return out
""",
        line="self.h",
    ),
    "output filled on the CPU": Case(
        lstm(before="out = torch.zeros(B, T, self.H, dtype=x.dtype)", keep="out[:, t] = h", output="out"),
        line="out = torch.zeros",
    ),
    "output filled on the CPU, then moved": Case(
        lstm(
            before="out = torch.empty(T, B, self.H, dtype=x.dtype)",
            keep="out[t].copy_(h)",
            output="out.to(x.device).transpose(0, 1)",
        ),
        line="out = torch.empty",
    ),
    "states collected on the CPU": Case(
        lstm(keep="outputs.append(h.cpu())", output="torch.stack(outputs, 1).to(x.device)"), line="h.cpu()"
    ),
    "padding on the CPU": calls(
        "return torch.cat([torch.zeros(x.shape[0], 1, x.shape[2], dtype=x.dtype), x[:, :-1]], dim=1)",
        line="torch.zeros(x.shape[0], 1",
    ),
    "a start beside every step, in a comprehension": calls(
        "return torch.stack([x_t + torch.ones(x_t.shape, dtype=x.dtype) for x_t in x.unbind(1)], 1)",
        line="torch.ones(x_t.shape",
    ),
    "mask on the CPU": calls(
        """
steps = torch.arange(x.shape[1])
mask = steps[None, :] < lengths[:, None]
return (x * mask[..., None]).sum(1)
""",
        "x, lengths",
        line="steps = torch.arange",
    ),
    "positions on the CPU": Case(
        linear("self.fc(x + self.place(torch.arange(x.shape[1])))", init="self.place = nn.Embedding(64, D)"),
        line="torch.arange(x.shape[1])",
    ),
    "gather by indices on the CPU": calls(
        """
at = torch.tensor([[n - 1] * e.shape[2] for n in lengths.tolist()]).unsqueeze(1)
return e.gather(1, at)
""",
        "e, lengths",
        line="at = torch.tensor",
    ),
    "lengths on the GPU for packing": makes(
        "self.rnn = nn.RNN(D, H, batch_first=True)",
        """
packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
return nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]
""",
        "x, lengths",
        line="pack_padded_sequence(x, lengths",
    ),
    "ids on the CPU": makes(
        "self.embedding = nn.Embedding(D, H)",
        """
start = torch.zeros(ids.shape[0], 1, dtype=torch.long)
return self.embedding(torch.cat([start, ids], dim=1))
""",
        "ids",
        line="start = torch.zeros",
        made_with=(V, H),
    ),
    "noise on the CPU": Case(
        linear("self.fc(x + 0.1 * noise)", before="noise = torch.randn(x.shape).to(x.dtype)"),
        line="torch.randn",
    ),
    "a layer made in forward": makes(
        "self.H = H", "return nn.Linear(x.shape[-1], self.H).to(x.dtype)(x)", line="nn.Linear(x.shape[-1]"
    ),
    "mask as a plain attribute": Case(
        linear("self.fc(x @ self.mask.to(x.dtype))", init="self.mask = torch.ones(D, D).tril()"),
        line="self.mask = torch.ones",
    ),
    "weights in a plain list": Case(
        linear(
            "self.fc(x) * self.scales[0].to(x.dtype)", init="self.scales = [torch.ones(H), torch.ones(H)]"
        ),
        line="self.scales = [torch.ones",
    ),
    "parameters in a list": makes(
        "self.w = [nn.Parameter(torch.ones(D, H))]",
        "return x @ self.w[0].to(x.dtype)",
        line="self.w = [",
    ),
    "layers in a plain list": Case(
        linear("self.layers[0].to(x.dtype)(self.fc(x))", init="self.layers = [nn.Linear(H, H)]"),
        line="self.layers = [nn.Linear",
    ),
    "layers in a dict": makes(
        "self.gates = {k: nn.Linear(D, H) for k in 'io'}",
        "return self.gates['i'].to(x.dtype)(x) * self.gates['o'].to(x.dtype)(x)",
        line="self.gates['i']",
    ),
    "a copy of a weight's data": makes(
        """
self.fc = nn.Linear(D, H)
self.before = copy.deepcopy(self.fc.weight.data)
""",
        "return F.linear(x, self.fc.weight - self.before.to(x.dtype))",
        before="import copy",
        line="self.before",
    ),
    "a constant of the class": Case(
        """
        class Model(nn.Module):
            SCALE = torch.tensor([0.5, 1.0, 2.0])
            def __init__(self, D, H):
                super().__init__()
                self.fc = nn.Linear(D, H)
            def forward(self, x):
                return self.fc(x * self.SCALE.to(x.dtype))
        """,
        line="self.SCALE",
    ),
    "a mask shared by all": calls(
        "return x * MASK.to(x.dtype)", before="MASK = torch.ones(1, 5, 1)", line="MASK = torch.ones"
    ),
    "a layer outside": calls(
        "return F.linear(x, proj.weight.to(x.dtype))", before="proj = nn.Linear(3, 4)", line="proj.weight"
    ),
    "a cache that is not asked where it is": Case(
        linear(
            "self.fc(x * self.cache)",
            init="self.cache = None",
            before="if self.cache is None: self.cache = torch.ones(x.shape[1], 1, dtype=x.dtype)",
        ),
        line="self.cache = torch.ones",
    ),
    "a buffer replaced by a tensor of the CPU": makes(
        """
self.fc = nn.Linear(D, H)
self.register_buffer('mask', torch.ones(1))
""",
        """
self.mask = torch.ones(x.size(1), 1, dtype=x.dtype)
return self.fc(x * self.mask)
""",
        line="self.mask = torch.ones",
    ),
    "the device when it was made": makes(
        """
self.fc, self.H = nn.Linear(D, H), H
self.device = self.fc.weight.device
""",
        "return self.fc(x) + torch.zeros(len(x), 1, self.H, device=self.device, dtype=x.dtype)",
        line="device=self.device",
    ),
    "a device of the whole notebook": calls(
        "return x + torch.ones(x.shape, dtype=x.dtype, device=DEVICE)",
        before='DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
        line="torch.ones(x.shape",
    ),
    "the module moved in forward": makes(
        "self.fc = nn.Linear(D, H)",
        """
if x.is_cuda:
    self.fc.cuda()
return self.fc(x)
""",
        line="self.fc.cuda()",
    ),
    "the module taken to the CPU": makes(
        "self.fc = nn.Linear(D, H)",
        "return self.fc.cpu()(x.cpu()).to(x.device)",
        line=".cpu()",
    ),
    "through the CPU and back": Case(
        linear("out.to(x.device)", before="out = self.fc(x).cpu().tanh()"), line=".cpu()"
    ),
    "through numpy and back": calls(
        "return torch.from_numpy(x.detach().cpu().numpy() * 2).to(x)", line="x.detach().cpu()"
    ),
    "sorted on the CPU": calls(
        """
order = x.detach().to("cpu").argsort(dim=1)
return x.gather(1, order.to(x.device))
""",
        line='to("cpu")',
    ),
    "returned on the CPU": Case(linear("self.fc(x).cpu()"), line=".cpu()"),
    "a gradient sent back on the CPU": calls(
        "return Scale.apply(x)",
        before="""
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, grad):
        return torch.full(grad.shape, 2.0, dtype=grad.dtype) * grad
""",
        line="torch.full",
    ),
}
