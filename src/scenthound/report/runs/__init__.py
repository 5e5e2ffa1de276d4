"""The page of a run of simulated crawls, which are judged for it."""
