"""From which relevance on a page should count as relevant: a threshold from a few labelled pages."""
