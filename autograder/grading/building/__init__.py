"""Problems that an author is told of before a course is built: all that show without running a notebook.

`examine` looks at the source notebooks, the check files and the catalogues of known mistakes, and lists every
`Problem` it finds.
"""
