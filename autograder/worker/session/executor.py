"""Does what messages say on the objects of one notebook: the only place that tells one kind from another.

The same code serves the worker, where messages come over the wire, and a student's own notebook, where they
come from the next frame: `Executor(namespace).perform([Call(target=Target("cell"), args=(x,))])`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import torch

from autograder.protocol import answers, messages
from autograder.protocol.tensors import DTYPES, tensors_in
from autograder.protocol.values import DtypeName
from autograder.protocol.without import Without
from autograder.worker.session import operations
from autograder.worker.session.answering import Answering, Cells
from autograder.worker.session.calls.limit import Limit
from autograder.worker.session.eager import as_plain_python
from autograder.worker.session.objects import Objects
from autograder.worker.session.probe import probe_call
from autograder.worker.session.taken_away import absent
from autograder.worker.tracing.lines import describe_exception

# As they were before a student's code ran: what it puts in their place is not asked.
_default_dtype, _set_default_dtype = torch.get_default_dtype, torch.set_default_dtype
_OF_DTYPES = re.compile("dtype|[Ff]loat|[Dd]ouble")
"""In torch's words for operands that do not go together."""


class Executor(Answering):
    """Answers messages about the objects of one notebook."""

    def __init__(
        self,
        namespace: dict[str, Any],
        limit: Limit | None = None,
        cells: Cells | None = None,
        without: Without | None = None,
    ) -> None:
        """`limit` is for where nobody outside sees to it that each call ends, `cells` for a worker.

        `without` does not work in `perform`, for a process that needs it otherwise.
        """
        super().__init__(namespace, limit, cells)
        self.objects, self._without = Objects(namespace), without

    def perform(self, batch: Iterable[messages.AnyMessage]) -> list[answers.AnyAnswer]:
        """Do what messages say, up to the first that stops, and return an answer to each that was done."""
        with absent(self._without):
            return list(self.answers_to(batch))

    def _performed(self, message: messages.AnyMessage) -> answers.AnyAnswer:
        """Do one message with torch as every call finds it. What the student's code raises is its answer."""
        operation = _OPERATIONS.get(type(message), _refuse)
        try:
            with _torch_as_it_was(message.default_dtype):
                return operation(self.objects, message)
        except (Exception, SystemExit) as error:
            if _may_be_the_default(error, message):
                with suppress(Exception, SystemExit), _torch_as_it_was("float32"):
                    return operation(self.objects, message)
            return describe_exception(error)


def _refuse(objects: Objects, message: messages.AnyMessage) -> answers.AnyAnswer:
    raise ValueError(f"nobody here does {type(message).__name__}")


_OPERATIONS: Mapping[type, Callable[[Objects, Any], answers.AnyAnswer]] = {
    messages.Call: operations.call,
    messages.ProbeCall: probe_call,
    messages.Begin: operations.begin,
    messages.Construct: operations.construct,
    messages.Make: operations.make,
    messages.Load: operations.load_state,
    messages.Convert: operations.convert_module,
    messages.Backward: operations.backward,
    messages.ListRegistered: operations.registered,
    messages.Parameters: operations.parameters,
    messages.Attribute: operations.attribute,
}


@contextmanager
def _torch_as_it_was(default: DtypeName | None) -> Iterator[None]:
    """Run the block with gradients, which a cell may have switched off, and with a default dtype."""
    previous = _default_dtype()
    try:
        _set_default_dtype(DTYPES[default] if default else previous)
        with as_plain_python(), torch.enable_grad():
            yield
    finally:
        _set_default_dtype(previous)


def _may_be_the_default(error: BaseException, message: messages.AnyMessage) -> bool:
    """Return whether a call may have stopped only because torch's default is float64 in it.

    It is so in no notebook: an `allclose(sums.float(), torch.ones(3))` of the student's own, say, runs there.
    """
    return (
        isinstance(message, messages.Call)
        and message.default_dtype == "float64"
        and isinstance(error, RuntimeError)
        and _OF_DTYPES.search(str(error)) is not None
        and all(each.dtype == torch.float64 for each in tensors_in(message.args) if each.is_floating_point())
    )
