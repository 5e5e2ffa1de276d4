"""Workers on several machines, by Ray: the only package that uses it.

`connection` connects to a cluster or starts a local one; `pool` has the interface of `processes.WorkerPool`.
"""
