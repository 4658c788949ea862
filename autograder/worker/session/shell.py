"""Runs a notebook's cells in an IPython `InteractiveShell` and returns their outputs as data.

The shell is built once, in the fork server, because building one costs as much as a fork does.
Outputs are capped while they stream, so that a flood of prints costs memory nowhere.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.inputtransformer2 import TransformerManager
from traitlets import Any as AnyTrait
from traitlets import Instance, Type

from autograder.protocol.answers import AnyAnswer, CellRan, Raised, Reply
from autograder.protocol.frames import WireError, encode_frame
from autograder.protocol.messages import Batch
from autograder.protocol.stream import MOST, Stream, WireClosed
from autograder.protocol.values import Json
from autograder.worker.session.answering import Answering, met
from autograder.worker.session.likeness import look_like_a_kernel, see_new_modules
from autograder.worker.session.shell_lines import WithoutPrograms
from autograder.worker.tracing.lines import describe_exception

MAX_TEXT = 100_000
"""Characters of printed text kept from one cell."""
MAX_DISPLAY = 2_000_000
"""Characters of displayed data (figures, tables) kept from one cell."""
_LOST = "This cell's output was too large, or in too many parts, to be kept.\n"
_RESERVED = 4096
"""Bytes of what may be sent that are kept for the word that an answer does not travel."""


class Outputs:
    """The outputs of the running cell, in nbformat's shape, within the caps."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.items: list[Json] = []
        self.text_left, self.display_left = MAX_TEXT, MAX_DISPLAY

    def write(self, name: str, text: str) -> None:
        if self.text_left <= 0 or not text:
            return
        kept, self.text_left = text[: self.text_left], self.text_left - len(text)
        if self.text_left <= 0:
            kept += "\n… the rest of this cell's output was cut\n"
        last = self.items[-1] if self.items else None
        if last and last["output_type"] == "stream" and last["name"] == name:
            last["parts"].append(kept)
        else:
            self.items.append({"output_type": "stream", "name": name, "parts": [kept]})

    def display(self, kind: str, data: Json) -> None:
        data = {str(mime)[:100]: item for mime, item in data.items() if isinstance(item, str)}
        self.display_left -= sum(map(len, data.values()))
        if self.display_left <= 0:
            data = {"text/plain": "(this output was too large to keep)"}
        if len(self.items) < 200:
            self.items.append({"output_type": kind, "data": data})

    def error(self, error: BaseException) -> None:
        """The exception with the student's own lines: no path and no line of anybody else's code."""
        told = describe_exception(error)
        traceback = [*told.lines, f"{told.type}: {told.message}"]
        self.items.append(
            {"output_type": "error", "ename": told.type, "evalue": told.message, "traceback": traceback}
        )

    def as_data(self) -> list[Json]:
        return [
            {"output_type": "stream", "name": item["name"], "text": "".join(item["parts"])}
            if "parts" in item
            else item
            for item in self.items
        ]


class _Written(io.TextIOBase):
    """`sys.stdout` and `sys.stderr` of the shell."""

    encoding = "UTF-8"

    def __init__(self, outputs: Outputs, name: str) -> None:
        self._outputs, self._name = outputs, name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._outputs.write(self._name, text)
        return len(text)


class _Published(DisplayPublisher):
    outputs = AnyTrait()

    def publish(self, data: Any, metadata: Any = None, source: Any = None, **_: Any) -> None:
        self.outputs.display("display_data", data)


class _Result(DisplayHook):
    outputs = AnyTrait()

    def quiet(self) -> bool:
        """A semicolon at the end hides a value; IPython would look for it in a history we do not keep."""
        shell: Any = self.shell  # declared optional, and there is always one
        return bool(self.semicolon_at_end_of_expression(shell.source))

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self.outputs.display("execute_result", format_dict)


class Transformers(TransformerManager):
    """IPython's own syntax: looked for only in cells that hold a sign of it.

    So a cell whose indentation is wrong is told of by the compiler, with the cell's name, and not by the
    tokenizer.
    """

    _sign = re.compile(r"^\s*[%!,;/]|=\s*[%!]|\?")  # `%magic`, `!command`, `x = %magic`, `help?`

    def __init__(self) -> None:
        super().__init__()
        self._usual = list(self.token_transformers)

    def do_token_transforms(self, lines: list[str]) -> list[str]:
        if self.token_transformers == self._usual and not any(map(self._sign.search, lines)):
            return lines
        transformed: list[str] = super().do_token_transforms(lines)
        return transformed


class Shell(WithoutPrograms):
    """An `InteractiveShell` that keeps its outputs instead of printing them."""

    input_transformer_manager = Instance(Transformers, ())
    displayhook_class = Type(_Result)
    display_pub_class = Type(_Published)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.outputs = Outputs()
        self.streams = (_Written(self.outputs, "stdout"), _Written(self.outputs, "stderr"))
        self.source = ""
        hook: Any = self.displayhook  # declared as the classes that ours replace
        publisher: Any = self.display_pub
        hook.outputs = publisher.outputs = self.outputs

    async def run_code(self, code_obj: Any, result: Any = None, *, async_: bool = False) -> bool:
        """Run one statement; return True if the cell ends with it.

        Where something has been called that this worker lacks, as to compare an answer with torch's, what
        fails for the want of it is passed over: the statements after it may define what is judged.
        """
        failed: bool = await super().run_code(code_obj, result, async_=async_)
        if failed and met.any and result is not None and isinstance(result.error_in_exec, Exception):
            result.error_in_exec = None
            return False
        return failed

    def init_io(self) -> None:
        pass

    def enable_gui(self, gui: str | None = None) -> None:
        pass

    def enable_matplotlib(self, gui: str | None = None) -> Any:
        """Draw into the notebook where there is no window: `%matplotlib widget` or `qt` would want one."""
        try:
            return super().enable_matplotlib(gui)
        except Exception:  # each of matplotlib's backends raises its own
            return super().enable_matplotlib("inline")

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: list[str]) -> None:
        self.outputs.error(evalue)

    def run(self, source: str, count: int | None = None) -> CellRan:
        """Run one cell, the notebook's `count`th."""
        self.outputs.clear()
        self.source = source
        self._number(source, self.execution_count + 1 if count is None else count)
        see_new_modules()
        stdout, stderr = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = self.streams
        try:
            result = self.run_cell(source, store_history=False)
            _flush_figures()
        finally:
            sys.stdout, sys.stderr = stdout, stderr
        error = result.error_before_exec or result.error_in_exec
        told = describe_exception(error) if error else None
        return CellRan(outputs=self.outputs.as_data(), error=told, missed=met.any)

    def _number(self, source: str, count: int) -> None:
        """Have `Out[count]` and `In[count]` be this cell's. IPython's own history would keep errors, too."""
        self.execution_count = count
        history: Any = self.history_manager  # declared optional, and there is always one
        for kept in (history.input_hist_parsed, history.input_hist_raw):
            kept.extend([""] * (count - len(kept)))
        history.store_inputs(count, source)


def build_shell() -> Shell:
    """A shell ready to be forked: no history file, no colours, nothing on disk."""
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.autoindent = False
    config.IPKernelApp.connection_file = "kernel.json"  # by this, and by the name, code tells a notebook
    Shell.__name__, Shell.__module__ = "ZMQInteractiveShell", "ipykernel.zmqshell"
    return Shell.instance(config=config)


def serve(stream: Stream, shell: Shell, answering: type[Answering]) -> None:
    """Answer batches of messages until the judge hangs up."""
    executor = answering(shell.user_ns, cells=shell)
    look_like_a_kernel()
    sys.stdout, sys.stderr = shell.streams  # a cell's logging handler keeps its stream: so there is one
    while True:
        try:
            batch = stream.receive(Batch)
            stream.send_frames(_replies(batch.number, executor.answers_to(batch.messages)))
        except (WireClosed, WireError):
            return


def _replies(number: int, answers: Iterable[AnyAnswer]) -> Iterator[bytes]:
    """Return a frame for each answer, up to the first that does not travel: too large, or of another kind."""
    room = MOST - _RESERVED
    for answer in answers:
        try:
            frame = encode_frame(Reply(number, answer))
            if len(frame) > room:
                raise WireError("the answers together are larger than a frame may be")
        except Exception as error:
            yield encode_frame(Reply(number, _instead_of(answer, error)))
            return
        room -= len(frame)
        yield frame


def _instead_of(answer: AnyAnswer, error: Exception) -> CellRan | Raised:
    """Return what is sent for an answer that does not travel: of a cell, that it ran."""
    if isinstance(answer, CellRan):
        lost = {"output_type": "stream", "name": "stderr", "text": _LOST}
        return CellRan(outputs=[lost], error=answer.error, missed=answer.missed)
    return Raised(type="AnswerTooLarge", message=str(error)[:200])


def _flush_figures() -> None:
    """Draw what a cell left open, as the inline backend does in a notebook."""
    backend: Any = sys.modules.get("matplotlib_inline.backend_inline")
    flush: Callable[[], None] | None = getattr(backend, "flush_figures", None)
    if flush is not None:
        flush()
