"""Pages that people look at: what may stand on one (`values`), and the one HTML file that it becomes (`html`)."""
