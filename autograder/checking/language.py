"""The names that a check may use; `autograder.checking` hands them on."""

from autograder.checking.devices import expect_device_neutral
from autograder.checking.draw import Draw, Sizes
from autograder.checking.dtypes import DTYPES, EXTREMES, expect_dtypes, expect_without_numpy
from autograder.checking.expect import (
    CheckFailed,
    agree,
    carried,
    case,
    compare,
    expect,
    expect_dtype,
    expect_no_kernel,
    expect_no_mention,
    expect_not_shared,
    expect_shapes,
    fail,
    in_words,
    parts_of,
    tree_leaves,
)
from autograder.checking.failed import NotWritten
from autograder.checking.follows import expect_follows
from autograder.checking.gradients import as_leaves, expect_gradients
from autograder.checking.marks import anywhere, hidden, needs, points, rule, teaching_only, without
from autograder.checking.once import computed_once
from autograder.checking.references import recorded
from autograder.checking.registered import expect_module, expect_registered, make_module
from autograder.checking.submission import Submission
from autograder.checking.target import Target
from autograder.checking.untouched import (
    expect_module_untouched,
    expect_settings_untouched,
    expect_untouched,
)
from autograder.protocol.values import Opaque
from autograder.protocol.without import Without

__all__ = [
    "DTYPES",
    "EXTREMES",
    "CheckFailed",
    "Draw",
    "NotWritten",
    "Opaque",
    "Sizes",
    "Submission",
    "Target",
    "Without",
    "agree",
    "anywhere",
    "as_leaves",
    "carried",
    "case",
    "compare",
    "computed_once",
    "expect",
    "expect_device_neutral",
    "expect_dtype",
    "expect_dtypes",
    "expect_follows",
    "expect_gradients",
    "expect_module",
    "expect_module_untouched",
    "expect_no_kernel",
    "expect_no_mention",
    "expect_not_shared",
    "expect_registered",
    "expect_settings_untouched",
    "expect_shapes",
    "expect_untouched",
    "expect_without_numpy",
    "fail",
    "hidden",
    "in_words",
    "make_module",
    "needs",
    "parts_of",
    "points",
    "recorded",
    "rule",
    "teaching_only",
    "tree_leaves",
    "without",
]
