"""Which strategy for a topic: crawls by many strategies from the same starts, ranked, and how sure the ranking is."""
