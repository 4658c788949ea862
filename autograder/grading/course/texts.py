"""The README and the .gitignore of a new course, for whoever opens its folder first."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

_TEMPLATES = {"README.md": "README.md.j2", ".gitignore": "gitignore"}


_LOOP = (
    ("jupyter lab source/{0}", "prose, solutions and grade cells are written here only"),
    ("autograder build {0}", "makes release/ and solutions/; refuses what would be unfair"),
    ("autograder validate {0}", "grades the checks themselves"),
    ("nbgrader release_assignment {0}", "or hand out release/{0}/ as you like"),
    ("nbgrader collect {0}", "or put the uploads into submitted/STUDENT/{0}/"),
    ("autograder grade {0}", "the whole class; again after anything has changed"),
    ("autograder status", "where every assignment stands, and what to do next"),
    ("autograder report {0}", "one page about the class; without a name, about the course"),
    ("nbgrader generate_feedback {0}", "then `nbgrader release_feedback {0}`"),
    ("autograder export --to canvas", "marks for Canvas, Moodle or a spreadsheet"),
)


def texts(
    course_id: str, assignments: list[str], *, has_mistakes: bool, has_variants: bool, has_page: bool
) -> dict[str, str]:
    """The files to write, by name."""
    environment = Environment(  # the texts are no HTML: nothing is escaped
        loader=PackageLoader("autograder.grading.course"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    example = assignments[0] if assignments else "01_first"
    daily = [(command.format(example), why.format(example)) for command, why in _LOOP]
    given = {
        "course_id": course_id,
        "assignments": assignments,
        "daily": daily,
        "width": max(len(command) for command, _ in daily) + 2,
        "has_mistakes": has_mistakes,
        "has_variants": has_variants,
        "has_page": has_page,
    }
    return {name: environment.get_template(file).render(given) for name, file in _TEMPLATES.items()}
