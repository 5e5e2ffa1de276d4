"""Simulated crawls in compiled code: what `drivers/simulate` does for some strategies, some fifty times as fast."""
