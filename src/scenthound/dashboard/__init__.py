"""The dashboard: a web page on this machine over the folders of crawls and experiments."""
