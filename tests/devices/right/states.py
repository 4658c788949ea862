"""A layer from scratch that is right, its zero state and its output made in many ways."""

from tests.devices import Case
from tests.devices.writing import lstm

LAYERS = {
    "new_zeros": Case(lstm()),
    "zeros on the input's device and dtype": Case(
        lstm("(torch.zeros(B, self.H, device=x.device, dtype=x.dtype) for _ in range(2))")
    ),
    "zeros moved": Case(lstm("torch.zeros(2, B, self.H).to(x.device, x.dtype)")),
    "zeros by type_as": Case(lstm("torch.zeros(2, B, self.H).type_as(x)")),
    "zeros from the weights' device": Case(
        lstm("torch.zeros(2, B, self.H, device=self.W_x.device, dtype=self.W_x.dtype)")
    ),
    "zeros from the first parameter": Case(lstm("next(self.parameters()).new_zeros(2, B, self.H).unbind(0)")),
    "state as a product with nothing": Case(lstm("(x[:, 0, :1] * 0 + self.b.new_zeros(self.H),) * 2")),
    "full and expand": Case(lstm("x.new_full((), 0.0).expand(2, B, self.H)")),
    "the device by its name": Case(lstm("torch.zeros(2, B, self.H, device=str(x.device), dtype=x.dtype)")),
    "moved with all options": Case(
        lstm("torch.zeros(2, B, self.H).to(device=x.device, dtype=x.dtype, non_blocking=True, copy=True)")
    ),
    "preallocated output": Case(
        lstm(before="out = x.new_empty(B, T, self.H)", keep="out[:, t] = h", output="out")
    ),
    "unsqueeze in place": Case(
        lstm(keep="outputs.append(h.clone().unsqueeze_(1))", output="torch.cat(outputs, 1)")
    ),
    "concatenated one by one": Case(
        lstm(
            before="out = x.new_zeros(B, 0, self.H)",
            keep="out = torch.cat([out, h.unsqueeze(1)], 1)",
            output="out",
        )
    ),
}
