"""From crawled pages to a corpus: the main text of a page, what is known about it, and its quality."""
