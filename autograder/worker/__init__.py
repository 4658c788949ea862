"""The student's side of the wall: everything that shares a process with a student's code.

`forkserver` is the warm process that forks, `sandbox` shuts a fork in, `session` runs its cells and answers
calls to its objects, with `tracing` to see what a call does and `devices` to make it elsewhere. It imports
`protocol` and nothing else of ours, and nothing secret is ever in its memory.
"""
