"""The names that a check may use; `autograder.checking` hands them on."""

from autograder.checking.expectations.comparing import compare
from autograder.checking.expectations.equal import computed, expect_equal, expect_table
from autograder.checking.expectations.forbidden import expect_no_mention
from autograder.checking.expectations.gradients import as_leaves, expect_gradients
from autograder.checking.expectations.in_use import expect_follows
from autograder.checking.expectations.modules import expect_module, expect_registered, make_module
from autograder.checking.expectations.numbers import expect_count, expect_whole
from autograder.checking.expectations.portability.devices import expect_device_neutral
from autograder.checking.expectations.portability.dtypes import (
    DTYPES,
    EXTREMES,
    expect_dtype,
    expect_dtypes,
)
from autograder.checking.expectations.raising import expect_raises
from autograder.checking.expectations.untouched import (
    expect_module_untouched,
    expect_not_shared,
    expect_settings_untouched,
    expect_untouched,
    expect_weights_untouched,
)
from autograder.checking.expectations.values import (
    carried,
    case,
    expect,
    expect_shapes,
    fail,
    parts_of,
)
from autograder.checking.expectations.wording import in_words
from autograder.checking.explain.failure import CheckFailed, NotWritten
from autograder.checking.inputs.cache import computed_once
from autograder.checking.inputs.dimensions import Dimension, Dimensions
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.references import recorded as recorded  # older courses mark with it
from autograder.checking.inputs.sizes import Sizes, spell
from autograder.checking.remote.connection import Request, asked
from autograder.checking.remote.errors import StudentError
from autograder.checking.remote.handle import Call, Handle
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.marks import anywhere, hidden, needs, points, rule, teaching_only, without
from autograder.checking.runner.reference import reference
from autograder.checking.specs.cases import USUAL, Case, leaving_out, sized, strided, with_inputs
from autograder.checking.specs.function import FunctionSpec
from autograder.checking.specs.inputs import Handed, Optimizer, weight
from autograder.checking.specs.module import ModuleSpec
from autograder.checking.specs.standard import standard, worth
from autograder.checking.tolerance import agree
from autograder.protocol.values import Opaque
from autograder.protocol.without import Without

__all__ = [
    "DTYPES",
    "EXTREMES",
    "USUAL",
    "Call",
    "Case",
    "CheckFailed",
    "Dimension",
    "Dimensions",
    "Draw",
    "FunctionSpec",
    "Handed",
    "Handle",
    "ModuleSpec",
    "NotWritten",
    "Opaque",
    "Optimizer",
    "Request",
    "Sizes",
    "StudentError",
    "Submission",
    "Without",
    "agree",
    "anywhere",
    "as_leaves",
    "asked",
    "carried",
    "case",
    "compare",
    "computed",
    "computed_once",
    "expect",
    "expect_count",
    "expect_device_neutral",
    "expect_dtype",
    "expect_dtypes",
    "expect_equal",
    "expect_follows",
    "expect_gradients",
    "expect_module",
    "expect_module_untouched",
    "expect_no_mention",
    "expect_not_shared",
    "expect_raises",
    "expect_registered",
    "expect_settings_untouched",
    "expect_shapes",
    "expect_table",
    "expect_untouched",
    "expect_weights_untouched",
    "expect_whole",
    "fail",
    "hidden",
    "in_words",
    "leaving_out",
    "make_module",
    "needs",
    "parts_of",
    "points",
    "reference",
    "rule",
    "sized",
    "spell",
    "standard",
    "strided",
    "teaching_only",
    "weight",
    "with_inputs",
    "without",
    "worth",
]
