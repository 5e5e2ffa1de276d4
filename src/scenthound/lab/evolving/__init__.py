"""Searches for a rank function: fitness of simulated crawls in, a better formula out."""
