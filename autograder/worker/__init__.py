"""The student's side of the wall: everything that shares a process with a student's code.

`parent` is the warm process that forks, `supervise` and `confine` shut a fork in, `shell` runs its
cells, `objects` answers calls, `wire` is the only language spoken across. Imports nothing of
`checking`, `exercises`, `grading` or `reporting`, and nothing secret is ever in its memory.
"""
