"""The study of johnson2003: genetic searches on a few topics, their results held against Best-First, on others too."""
