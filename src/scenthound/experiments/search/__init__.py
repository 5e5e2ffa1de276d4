"""Searches for the weights of a rank function: they ask for individuals to be evaluated and are told their fitness.

`naming` finds a search by its name, `base` says what every search answers, `genome` what the genes stand for. Nothing
here crawls, reads a file or looks at a clock.
"""
