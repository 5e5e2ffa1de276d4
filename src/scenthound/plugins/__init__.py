"""Plug-ins of other packages: which are installed, and a template for new ones."""
