"""A worker's outputs, as the student's process tells them, made safe to keep and to show."""

from __future__ import annotations

from typing import Any

from autograder.grading.assignment.images import is_image
from autograder.protocol.answers import Raised

MAX_CELL_OUTPUTS = 200
MAX_CELL_OUTPUT = 4_000_000
"""Characters of one cell's outputs; the worker's shell keeps fewer, unless a student has replaced it."""
MAX_OUTPUT = 20_000_000
"""Characters of all outputs of one submission."""
_CUT = {"output_type": "stream", "name": "stdout", "text": "\n… the rest of the output was cut\n"}


def clean_outputs(told: Any, left: int) -> list[dict[str, Any]]:
    """A worker's outputs, field by field: what is no output is dropped, what is too much cut."""
    outputs: list[dict[str, Any]] = []
    left = min(left, MAX_CELL_OUTPUT)
    for item in told if isinstance(told, list) else []:
        output = _clean_output(item)
        if output is None:
            continue
        left -= length(output)
        if left < 0 or len(outputs) >= MAX_CELL_OUTPUTS:
            outputs.append(dict(_CUT))
            break
        outputs.append(output)
    return outputs


def _clean_output(item: Any) -> dict[str, Any] | None:
    match item:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return {"output_type": "stream", "name": name, "text": text}
        case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(lines)}:
            kept = [line for line in lines if isinstance(line, str)]
            return {"output_type": "error", "ename": name, "evalue": value, "traceback": kept}
        case {"output_type": "display_data" | "execute_result" as kind, "data": dict(data)}:
            shown = {
                mime: text for mime, text in data.items() if isinstance(text, str) and _shown(mime, text)
            }
            output: dict[str, Any] = {"output_type": kind, "data": shown, "metadata": {}}
            return {**output, "execution_count": None} if kind == "execute_result" else output
    return None


def _shown(mime: Any, text: str) -> bool:
    """Return whether pages that graders open show it: nothing that can carry a script.

    LaTeX is out as well, since MathJax follows links to scripts.
    """
    return bool(mime == "text/plain") or is_image(mime, text)


def error_output(error: Raised) -> dict[str, Any]:
    """The output of a cell that stopped with an error."""
    lines = [*error.lines, f"{error.type}: {error.message}"]
    return {"output_type": "error", "ename": error.type, "evalue": error.message, "traceback": lines}


def length(output: dict[str, Any]) -> int:
    """The number of characters that an output takes up in a file, roughly."""
    parts = [
        output.get("text", ""),
        output.get("ename", ""),
        output.get("evalue", ""),
        *output.get("traceback", ()),
        *output.get("data", {}).values(),
    ]
    return 100 + sum(map(len, parts))
