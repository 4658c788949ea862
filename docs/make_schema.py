"""Write docs/verdict.schema.json: the JSON of a verdict, from the types that are written as it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from autograder.grading.records.scores import Counting
from autograder.verdict import CheckVerdict, Finding, TaskVerdict, Verdict

SCHEMA = Path(__file__).parent / "verdict.schema.json"
COMPUTED = {"score": float | None, "max_score": float, "kept_back": float}
"""The types of the properties that are written; a score is `null` where nothing could be read."""


def schema() -> str:
    """Return the schema of a verdict, with the `mark` that `autograder results --json` adds."""
    _, types = msgspec.json.schema_components([Verdict, Counting], ref_template="#/$defs/{name}")
    computed = {name: msgspec.json.schema(kind) for name, kind in COMPUTED.items()}
    for record in (Verdict, TaskVerdict, CheckVerdict, Finding):
        fields = computed | types[record.__name__]["properties"]
        written = {name: fields[name] for name in record.WRITTEN}
        required = [name for name in written if name not in getattr(record, "IF_SET", ())]
        types[record.__name__] |= {"properties": written, "required": required}
    whole = types.pop("Verdict")
    whole["properties"]["mark"] = {"anyOf": [{"$ref": "#/$defs/Counting"}, {"type": "null"}]}
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "$defs": types}
    return json.dumps(whole, indent=1) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
