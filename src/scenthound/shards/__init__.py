"""Crawls in shards on several machines."""
