"""Messages to a student's objects: everything that the trusted side may ask to have done.

    Batch(number=7, messages=(Begin(name="cell", seed=1), Call(target=Target("cell"), args=(x, h))))

They travel in batches, and each is answered by one of `answers.py`. `worker/session/executor.py` says who
performs which. In a notebook, where the objects are next door, the same messages go there directly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from autograder.protocol.values import ByName, DtypeName


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """One of the student's objects: by its name in the notebook, or by its number; or an attribute of it.

    The student's side numbers what it hands out from 1 upwards; what a check has made is numbered by the
    check, from -1 downwards. 0 is no number.
    """

    name: str = ""
    number: int = 0
    path: tuple[str, ...] = ()

    def attribute(self, *names: str) -> Target:
        """Return an attribute of it, or an attribute's attribute."""
        return Target(self.name, self.number, (*self.path, *names))


class Message(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op"):
    """One thing to be done."""

    default_dtype: DtypeName | None = None
    """Torch's default dtype while it is done; `None` leaves it as it is."""


class Begin(Message, frozen=True, tag="begin"):
    """Let go of all that was handed out before, and seed: the first message of a check.

    Where the name that the check is about is not there, the answer is `Missing`.
    """

    name: str
    seed: int


class WithoutConstructor(Struct, frozen=True, forbid_unknown_fields=True):
    """A module of torch's as it is after its constructor, to make it where that must not be run."""

    settings: ByName
    """Its plain attributes."""
    lists: dict[str, list[str]]
    """Its attributes that are lists of parameters, by the parameters' names."""
    absent: list[str]
    """The names of the parameters that it does not have."""


class Construct(Message, frozen=True, tag="build"):
    """Make what a task is given: `nn.<name>`, or what `source` defines by that name."""

    name: str
    number: int
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] | None = None
    source: str | None = None
    state: Mapping[str, Any] | None = None
    dtype: DtypeName | None = None
    """The dtype that it is then given; not necessarily the default of the time."""
    assembled: WithoutConstructor | None = None


class Make(Message, frozen=True, tag="make"):
    """Call a class that makes a module; what is none comes back in `NoModule`."""

    target: Target
    number: int
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] | None = None


class Load(Message, frozen=True, tag="load"):
    """Give a module its parameters and buffers."""

    target: Target
    state: Mapping[str, Any]


class Convert(Message, frozen=True, tag="convert"):
    """Give a module's floating tensors a dtype, in place."""

    target: Target
    dtype: DtypeName


class Call(Message, frozen=True, tag="call"):
    """Call an object."""

    target: Target
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] | None = None
    number: int = 0
    """The number under which a `Backward` finds the call again; 0 for none."""
    grad: bool = False
    """True to have every floating tensor among the arguments ask for a gradient."""
    arguments: bool = False
    """True to be told what the call left behind, in its arguments above all."""
    numpy: bool = False
    """True to hand numpy float32 for the bfloat16 that it does not have."""
    unanswered: bool = False
    """True if nobody wants to know what it returns."""
    packed: bool = False
    """True if arguments and answer go as `packed.py` packs them: sets, arrays and such travel then, too."""


class Backward(Message, frozen=True, tag="backward"):
    """Take the gradients of a call: of the sum of its floating outputs, each weighted."""

    call: int
    weights: Sequence[Any]


class ListRegistered(Message, frozen=True, tag="list_registered"):
    """Say what a module registers, by name; of parameters the shapes."""

    target: Target


class Parameters(Message, frozen=True, tag="parameters"):
    """Send a module's parameters, whatever its `state_dict()` gives."""

    target: Target
    computed: bool = False
    """True where numbers were computed: buffers come, too. Of drawn numbers the spread alone counts."""


class Attribute(Message, frozen=True, tag="attribute"):
    """Send an object itself."""

    target: Target
    packed: bool = False
    """True to have it packed, as in a `Call`."""


class Made(Struct, frozen=True, forbid_unknown_fields=True):
    """The making of a module for one call: its constructor's arguments, and the parameters it then gets."""

    args: tuple[Any, ...]
    state: Mapping[str, Any] | None = None


class ProbeCall(Message, frozen=True, tag="place"):
    """Make one call on a device, or in a dtype, and say what was seen on the way.

    `device` is `cpu`, `pretend` or a real one, `cuda:1`; `cuda` is the one of the highest number. What is
    moved is moved for good: the modules among the arguments, and the target unless it is `made`.
    """

    target: Target
    args: tuple[Any, ...] = ()
    device: str = "cpu"
    dtype: DtypeName | None = None
    made: Made | None = None
    """The making of the module that is called: the target is then its class."""
    as_made: bool = False
    """True to leave that module in the dtype in which it was made."""
    method: str = ""
    """The method that is called in place of the object itself."""
    on_cpu: tuple[int, ...] = ()
    """The positions of arguments that stay on the CPU."""
    seed: int = 0
    gradients: bool = False
    trace: str = ""
    """The log of dtypes: none, whether something rounds (`coarser`), or all (`all`)."""


class RunCell(Message, frozen=True, tag="run"):
    """Run a cell, the notebook's `count`th."""

    source: str
    count: int | None = None
    task: str = ""
    """The task whose own cell it is: what the cell makes of that name is what the name means from now on."""
    added: bool = False
    """True for a cell that the student added: in those the names of tasks may mean something else."""


class WriteFile(Message, frozen=True, tag="file"):
    """Put a file into the working folder: base64 of its bytes, or of the next part of them."""

    path: str
    content: str
    continues: bool = False


OfObjects = (
    Begin
    | Construct
    | Make
    | Load
    | Convert
    | Call
    | Backward
    | ListRegistered
    | Parameters
    | Attribute
    | ProbeCall
)
"""The messages that a notebook's objects understand."""

AnyMessage = OfObjects | RunCell | WriteFile


class Batch(Struct, frozen=True, forbid_unknown_fields=True):
    """Messages that are done in their order, up to the first one that stops."""

    number: int
    """The number that every reply to it must say: nothing that was sent unasked is taken for one."""
    messages: tuple[AnyMessage, ...]
