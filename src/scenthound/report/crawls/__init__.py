"""Reports of live crawls: of one, and of several side by side."""
