"""Words beside an error that stopped a student's code: what its numbers are, and what it usually means."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from autograder.checking.inputs.sizes import Sizes

_CONFLICT = r"^line \d+: (<<<<<<<|=======|>>>>>>>)"
"""A line that git leaves where two versions of a file differ."""


class _Advice(NamedTuple):
    """Advice about errors: a pattern of their messages, the advice, and a pattern of the student's line.

    In the line's pattern `{0}` is what the first group of the message's has found.
    """

    error: str
    told: str
    line: str = ""

    def fits(self, message: str, code: str) -> bool:
        found = re.search(self.error, message)
        return bool(found and re.search(self.line.format(*map(re.escape, found.groups(""))), code))


_ADVICE = (
    _Advice(
        r"", "The cell holds the marks of a merge conflict: keep one of the two versions.", line=_CONFLICT
    ),
    _Advice(
        r"cannot access local variable '(\w+)'",
        "The function assigns to this name, but not before this line: assign to it first. If you mean "
        "another variable, such as the imported `F`, rename yours.",
    ),
    _Advice(
        r"(?:Tensor\w*\.|^'Tensor' object has no attribute ')(\w+)",
        "`F` is a tensor there, and no longer `torch.nn.functional`: give your variable another name.",
        line=r"\bF\.{0}\b",
    ),
    _Advice(
        r"shapes cannot be multiplied \((\d+x\d+) and \1\)",
        "`@` multiplies matrices: should it be `*`, which multiplies number by number?",
    ),
    _Advice(
        r"(too many|not enough) values to unpack",
        "`split` takes the size of each part, `chunk` the number of parts.",
        line=r"\bsplit\(",
    ),
    _Advice(
        r"^([A-Z]\w*)\.__init__\(\) (takes 1 positional argument but 2 were|got multiple values)",
        "That is a class: `nn.Tanh()` makes a module with its settings, and tensors go to the module, in a "
        "second pair of brackets. Functions that take tensors at once are in `torch` and "
        "`torch.nn.functional`.",
        line=r"\bnn\.{0}\(",
    ),
    _Advice(
        r"Boolean value of Tensor",
        "A loss of `torch.nn` is a class: `nn.MSELoss()` makes the loss, which is then called with two "
        "tensors. `F.mse_loss` takes them at once.",
        line=r"\bnn\.[A-Z]\w*Loss\(",
    ),
    _Advice(
        r"^(reshape|view|expand|repeat|new_\w+|zeros|split|chunk)\(\)|'float' object cannot",
        "Sizes and counts are whole numbers: `/` gives a float, `//` a whole number.",
        line=r"[^/]/[^/]",
    ),
    _Advice(
        r"Boolean value of Tensor with more than one value is ambiguous",
        "A tensor of several numbers is neither true nor false. To ask whether an argument was given, "
        "compare it with `is None`; to turn each truth value of a mask round, write `~mask`, not `not mask`.",
    ),
    _Advice(
        r"a leaf Variable that requires grad is being used in an in-place operation",
        "Write into parameters inside `with torch.no_grad():`.",
    ),
    _Advice(
        r"a view of a leaf Variable that requires grad is being used in an in-place",
        "Write into parameters inside `with torch.no_grad():`.",
    ),
    _Advice(
        r"before Module\.__init__\(\) call",
        "Call `super().__init__()` first in `__init__`.",
    ),
    _Advice(
        r"missing \d+ required positional arguments?",
        "The call passes too few arguments, or one in the place of another: compare it with the definition.",
    ),
    _Advice(
        r"takes (from )?\d+ (to \d+ )?positional arguments? but \d+ (was|were) given",
        "Compare the arguments with those that the task names.",
    ),
    _Advice(
        r"'NoneType' object has no attribute '(append|extend|insert|sort|reverse|add|update|clear)'",
        "`append`, and methods like it, change the list and return nothing (`None`): leave their result "
        "alone.",
    ),
    _Advice(
        r"'(builtin_function_or_method|method)' object|got (builtin_function_or_method|method)\b",
        "A method stands there without its brackets.",
    ),
    _Advice(
        r"'Tensor' object is not callable",
        "A tensor is called like a function there, or has been passed where a function belongs.",
    ),
    _Advice(
        r"'list' object has no attribute|list indices must be integers or slices, not tuple",
        "Something is a list there and is used like a tensor: `torch.stack` or `torch.cat` makes one of its "
        "tensors.",
    ),
    _Advice(
        r"only integer tensors of a single element can be converted to an index",
        "A list meets a tensor there, or a tensor stands where a whole number belongs. Lists are not "
        "multiplied number by number: `torch.tensor` or `torch.stack` makes a tensor of one.",
    ),
    _Advice(
        r"Tensors must have same number of dimensions",
        "`cat` joins tensors of as many dimensions. Print their shapes; methods that end in `_`, such as "
        "`unsqueeze_`, change the tensor itself.",
    ),
    _Advice(
        r"Dimension out of range|too many indices for tensor",
        "A tensor has fewer dimensions there than the line takes it to have: print its shape.",
    ),
    _Advice(
        r"Expected input to be 2D or 3D, got 4D",
        "What is passed there has a dimension too many: print its shape. `stack` and `unsqueeze` make new "
        "ones.",
    ),
    _Advice(
        r"has no attribute 'batch_sizes'",
        "`pad_packed_sequence` takes a packed batch there, which begins with `pack_padded_sequence`: was "
        "what you pass packed, and passed on whole?",
    ),
    _Advice(
        r"(too many|not enough) values to unpack",
        "What is unpacked there does not have as many parts. Is it one tensor, which is taken apart along "
        "its first dimension (`split` and `chunk` cut there, too, without a `dim`), or a tuple, and of what?",
    ),
    _Advice(
        r"cannot unpack non-iterable NoneType",
        "Your code unpacks `None` there: is it an argument that was not given?",
    ),
    _Advice(
        r"'NoneType' object has no attribute '(zero_|fill_|mul_|div_|clamp_|norm)'",
        "Something is `None` there. A parameter's `.grad` is, until a `backward()` has reached it; "
        "`optimizer.zero_grad()` and `nn.utils.clip_grad_norm_` allow for that.",
    ),
    _Advice(
        r"can only change requires_grad flags of leaf variables",
        "The tensor is part of a graph there, perhaps since an earlier call wrote into it: write into "
        "parameters inside `with torch.no_grad():`, and leave `requires_grad` as it is.",
    ),
    _Advice(
        r"Error\(s\) in loading state_dict",
        "The state and the module do not have the same names and shapes. Where no line of yours loads one, "
        "the check does, with the names and shapes that the task states.",
    ),
    _Advice(
        r"uninitialized parameter",
        "A lazy module has no parameters before its first call: make it with its sizes, as "
        "`nn.Linear(in_features, out_features)`.",
    ),
    _Advice(
        r"dtype \(torch\.int64\) does not match|but got: long int != |!= long int|"
        r"expected m1 and m2 to have the same dtype, but got: .*[lL]ong",
        "A tensor of whole numbers, such as ids or lengths, meets one of fractions there. Ids are names, not "
        "numbers to calculate with: is a step left out that makes vectors of them, or is it another tensor "
        "that belongs there?",
    ),
    _Advice(
        r"have the same dtype, but got|does not match weight dtype|expected scalar type \w+ but found",
        "Two dtypes meet there. Which of the tensors did your code make, or convert as `.float()` does, and "
        "which dtype do the call's inputs have?",
    ),
    _Advice(
        r"'NoneType' object (is not|has no)|operand type\(s\) for .*'NoneType'|got NoneType",
        "Something is `None` there: is it an argument that was not given, or the result of a function that "
        "has no `return`?",
    ),
    _Advice(
        r"tuple indices must be integers or slices|unsupported operand type\(s\) for .*'tuple'|"
        r"must be Tensor, not tuple|but got tuple$|"
        r"'tuple' object has no attribute|can only concatenate tuple",
        "Something is a tuple there and is used like one tensor. Was it given as one argument, or returned "
        "by a module? Unpack it first, as in `a, b = pair`.",
    ),
    _Advice(
        r"maximum recursion depth exceeded",
        "A function calls itself there, directly or through another one.",
    ),
    _Advice(
        r"name '\w+' is not defined",
        "Is it misspelt, is `self.` missing before it, or is it defined in a cell that grading does not run?",
    ),
    _Advice(
        r"Trying to backward through the graph a second time",
        "Something computed before the last `backward()` is still in the graph: detach what you carry over.",
    ),
    _Advice(
        r"modified by an inplace operation",
        "A tensor that the backward pass needs was written into after it had been used: make a new one. An "
        "optimizer's `step()` writes, too, into the parameters: it comes after `backward()`, and no later "
        "`backward()` may go through what was computed before it.",
    ),
    _Advice(
        r"is a view and is being modified inplace|A view was created in no_grad mode",
        "A part of a tensor that a loop, `unbind` or `chunk` handed out is written into, which autograd does "
        "not follow. Write through an index, as in `whole[row] = `, or put the parts together at the end.",
    ),
    _Advice(
        r"returned an invalid gradient at index",
        "A tensor has another shape than when it was used: was one changed by an assignment to `.data`, by "
        "`resize_` or the like? Make a new tensor instead.",
    ),
    _Advice(
        r"element 0 of tensors does not require grad",
        "What `backward()` is called on does not depend on any parameter: is something detached, or was it "
        "computed under `torch.no_grad()`?",
    ),
)
"""Errors that beginners meet, and what to do about them. The first that fits is told."""
_ARGUMENTS = re.compile(r"(\w+(?:\.\w+)?)\(\) (?:missing|takes|got (?:an unexpected|multiple))\b")
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_RESHAPED = re.compile(r"is invalid for input of size")
_AS_MANY = (
    "`reshape` and `view` only put numbers into rows of another length: there must be exactly as many after "
    "it as before."
)
_SHAPES = re.compile(
    r"must match|cannot be multiplied|invalid for input of size|must be equal|equal size|out of bounds|"
    r"[Ee]xpected (hidden|size|input|.*\bgot\b)|shape mismatch|split_with_sizes|doesn't match|not compatible"
)
_NO_SIZES = re.compile(
    r"\b(dimension|dim|entry|entries|index|argument|element|position|line|number)\s+-?\d+|\d+-?D\b|\b[A-Za-z]\w*\d+\b"
)
"""Numbers in such errors that are no sizes."""
_TWO_THAT_MEET = re.compile(
    r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)|"
    r"The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)"
)
_FEW = 3
"""A size up to which an incidental dimension is not named: anything may be three."""


def explain_error(
    message: str,
    sizes: Sizes | None,
    letters: set[str],
    others: Collection[int] = (),
    code: str = "",
    elsewhere: tuple[str, Sizes] | None = None,
) -> str:
    """Return what helps with an error: which sizes its numbers are, or advice; `""` if nothing is known.

    `letters` are the dimensions that the call's inputs have, `others` further sizes in it; `code` is
    the student's line. `elsewhere` is the message of the same call at other sizes, and these: only names that
    fit there, too, are told.
    """
    for advice in _ADVICE:
        if advice.fits(message, code):
            return advice.told
    told = ""
    if sizes is not None and is_about_sizes(message):
        told = _sizes_in(message, sizes, letters, others, elsewhere)
    if told or not _RESHAPED.search(message):
        return told
    return f"{_sizes_of_the_call(sizes, letters)}{_AS_MANY}" if sizes is not None else _AS_MANY


def is_about_sizes(message: str) -> bool:
    """Return whether an error's numbers may be the sizes of dimensions."""
    return bool(_SHAPES.search(message))


def wanted_signature(message: str, signatures: Mapping[str, str]) -> str:
    """Say how the task wants the function to be defined that an error of its arguments names, if it is one.

    `signatures` are those of the task, by the names that Python calls the functions by in errors.
    """
    found = _ARGUMENTS.match(message)
    wanted = signatures.get(found[1], "") if found else ""
    return f"The task wants `{wanted}`." if wanted else ""


def undefined_task(message: str, tasks: Collection[str]) -> str:
    """Say of a name that is not defined that it is another task's, if it is."""
    found = _UNDEFINED.match(message)
    return f"`{found[1]}` is a task, too: no cell that ran defines it." if found and found[1] in tasks else ""


def _sizes_in(
    message: str,
    sizes: Sizes,
    letters: set[str],
    others: Collection[int],
    elsewhere: tuple[str, Sizes] | None,
) -> str:
    named = _named(message, sizes, letters)
    borne_out = [name for _, name in _named(*elsewhere, letters)] if elsewhere is not None else []
    if len(borne_out) == len(named):
        pairs = zip(named, borne_out, strict=True)
        named = [(number, name if name == other else "") for (number, name), other in pairs]
    told = dict.fromkeys(f"{name} = {number}" for number, name in named if name)
    return f"In this call {', '.join(told)}{_foreign(message, sizes, letters, others)}." if told else ""


def _named(message: str, sizes: Sizes, letters: set[str]) -> list[tuple[int, str]]:
    """Return the numbers of an error, each with the name of the dimension of that size, or `""`."""
    names = _names(sizes, letters)
    numbers = map(int, re.findall(r"\d+", _NO_SIZES.sub("", message)))
    return [(number, names.get(number, "")) for number in numbers]


def _sizes_of_the_call(sizes: Sizes, letters: set[str]) -> str:
    """Name the size of each dimension of the call's inputs, for numbers that are none of them."""
    named = [letter for letter in sizes.dimensions if letter in letters]
    told = [f"{sizes.spell(letter)} = {sizes.shape(letter)[0]}" for letter in named]
    return f"In this call {', '.join(told)}. " if told else ""


def _foreign(message: str, sizes: Sizes, letters: set[str], others: Collection[int]) -> str:
    """Say which of two sizes that meet is that of no dimension, small multiple or neighbour of one."""
    found = _TWO_THAT_MEET.search(message)
    theirs = {1, *others}
    for letter in letters & set(sizes.dimensions):
        (size,) = sizes.shape(letter)
        theirs |= {factor * size + more for factor in range(1, 5) for more in (-1, 0, 1)}
    foreign = [size for size in (found.groups() if found else ()) if size and int(size) not in theirs]
    return f"; nothing in it has the size {foreign[0]}" if len(foreign) == 1 else ""


def _names(sizes: Sizes, letters: set[str]) -> dict[int, str]:
    """Return the name of each size that is only one dimension's, or one multiple's."""
    found: dict[int, list[str]] = {}
    for letter, each in sizes.dimensions.items():
        if letter not in letters or (each.incidental and sizes.shape(letter)[0] <= _FEW):
            continue
        for factor in ("", *map(str, each.multiples)):
            (size,) = sizes.shape(factor + letter)
            found.setdefault(size, []).append(sizes.spell(factor + letter))
    return {size: names[0] for size, names in found.items() if len(names) == 1 and size > 1}
