"""A crawl at a glance: its curves, its hosts, its best pages and how they were found. Nothing here changes a crawl."""
