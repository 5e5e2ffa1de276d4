"""The live crawler: the same strategies crawl the real web.

`engine` decides what to fetch, without clock or sockets; `runner` executes its tasks on the real clock. The inputs of
the engine are written to a journal, from which `start` resumes a crawl.
"""
