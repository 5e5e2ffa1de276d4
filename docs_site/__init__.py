"""The documentation as a site: `make docs`, or `python -m docs_site` in a checkout.

Pages are written to `build/docs` first, as plain Markdown: those of `docs/`, documents of the root folder, notebooks
with the outputs of their cells, and the reference, which is generated from option definitions, docstrings and
registries. MkDocs turns that folder into the site, and the links of the result are checked.

Nothing here runs within MkDocs, so that another site generator can take its place.
"""
