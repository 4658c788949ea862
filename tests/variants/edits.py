"""Wrong answers as small edits of a right one."""


def edit(source: str, *changes: tuple[str, str]) -> str:
    """The source with each `find` replaced once by its `replace`; an edit that does not apply is an error."""
    for find, replace in changes:
        assert source.count(find) == 1, f"{find!r} occurs {source.count(find)} times"
        source = source.replace(find, replace)
    return source
