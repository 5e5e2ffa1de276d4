"""The public Python API, which `scenthound/__init__.py` exports: functions that take plain values and return results.

Rules
- Where several values are possible, one may be given without a list; paths may be strings.
- Strategies, metrics and relevance models are names, classes or instances.
- Options have the names of the command line's, with underscores. Messages of errors name options as flags; an error
  that leaves the API names them as arguments (`arguments.public`).
- Results are objects that print as tables, convert to data frames, and show themselves in a notebook.
"""
