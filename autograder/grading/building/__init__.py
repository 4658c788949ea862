"""What an author is told before a course is built: everything that can be seen without running a notebook.

`examine` looks at the source notebooks, the check files and the catalogues of known mistakes, and lists every
`Problem` it finds.
"""
