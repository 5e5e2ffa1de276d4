"""Search algorithms for the weights of a rank function: ask for individuals, evaluate them, tell their fitness.

`base` has the interface and the encoding of weights as genes, `methods` the algorithms and their names. Nothing here
crawls, reads a file or uses a clock.
"""
