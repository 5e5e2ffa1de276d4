"""What people say of a crawl's pages, and guides that learn from it."""
