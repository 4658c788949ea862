"""The commands that look at a course as a whole."""

from __future__ import annotations

from pathlib import Path

from autograder.cli.console import CourseOption, JsonOption, app, importing, out, print_json, tell, told


@app.command()
def status(as_json: JsonOption = False, course: CourseOption = Path(".")) -> None:
    """Say of each assignment what is built, released, handed in and graded, and what to do next."""
    with told():
        with importing():
            from autograder.cli.standing_table import standing_table, summary, told_after
            from autograder.grading.course.course import Course
            from autograder.reporting.overview.standing import standings

        at = Course.at(course)
        found = standings(at)
        if as_json:
            print_json({"course": str(at.directory.course_id), "assignments": found})
            return
        if not found:
            tell("There is no assignment yet: `autograder new-assignment 01_first` writes one to begin with.")
            return
        out.print(standing_table(found))
        for each in found:
            if each.problem:
                tell(f"! {each.problem}")
            if each.release_after:
                tell(f"! {each.assignment}: {told_after(each.release_after)}")
        tell(summary(found))
