"""One call on another device or in another dtype, and what was seen on the way.

On machines without a GPU one is simulated. Torch has two things of this kind, and neither serves:

- `FakeTensorMode` and the meta device compute shapes and no values, so code stops where it reads a number
  (`if`, `.item()`, lengths).
- A backend of one's own (PrivateUse1, as in torch's OpenReg) has values, and takes an extension in C++ that
  every machine would have to build for its torch.

A wrapper subclass keeps the values on the CPU, and two modes see every call and every kernel. Torch's own
checks of devices in C++ never run, so ours stand in for them: tests/devices/ has the answers, right and
wrong, that say how near that comes to a real GPU.
"""
