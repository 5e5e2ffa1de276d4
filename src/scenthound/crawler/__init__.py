"""The live driver: the same strategies crawl the real web.

`engine` decides what to fetch and is free of clocks and sockets; `crawl` carries it out, page by page; `loop` runs it
on the real clock and `virtual` on a made-up one. What the engine is told is journaled, and `replay` takes a crawl up
again from its journal.
"""
