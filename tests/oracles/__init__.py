"""Slow, obvious versions of what the extension in C does. Property tests compare both."""
