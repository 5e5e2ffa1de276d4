"""The four studies as experiments: settings files, crawls kept by their content, measures, findings."""
