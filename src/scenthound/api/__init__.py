"""The public Python API, which `scenthound/__init__.py` exports: functions that take plain values and return results.

Rules
- Where several values are possible, one may be passed without a list; paths may be strings.
- Strategies, metrics and relevance models are names, classes or instances.
- Arguments have the names of the command line's options, with underscores. The library's messages name options as
  flags; an error that leaves the API names them as arguments (`arguments.public`).
- Results are objects that print as tables, convert to data frames, and display themselves in a notebook.
- `progress=` is a function, True or False; by default a bar appears in a terminal or a notebook (`progress`).
- A command of the command line parses its options, calls one of these functions, and prints the result.
"""
