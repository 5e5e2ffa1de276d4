"""Evolved strategies put to the test, as in johnson2003 section 3, and the verdict on its findings."""
