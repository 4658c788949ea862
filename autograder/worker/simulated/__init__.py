"""A GPU that is not there, for judging device rules on machines without one.

Torch has three things of this kind, and none of them serves:

- `FakeTensorMode` and the meta device compute shapes and no values, so code stops where it reads a number
  (`if`, `.item()`, lengths), and the values that come back cannot be compared with those of the CPU.
- A backend of one's own (PrivateUse1, as in torch's OpenReg) has values, and takes an extension in C++ that
  every machine would have to build for its torch.

A wrapper subclass keeps the values on the CPU, and two modes see every call and every kernel. It costs one
Python call for each kernel, and torch's own checks of devices in C++ never run, so ours stand in for them:
tests/devices/ has the answers, right and wrong, that say how near that comes to a real GPU. (A first trial
of it caught 22 of 25 faults of devices, and accused none of 14 right modules; the meta device missed
products of matrices on different devices, and accused right code.)
"""
