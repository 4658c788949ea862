"""A course on disk: its directory and configuration, its gradebook, and the files a new one begins with."""
