"""Judges on the workers of a Dask cluster. Imported only where a scheduler is named."""
