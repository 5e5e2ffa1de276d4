"""The page of a search for weights, finished or on its way."""
