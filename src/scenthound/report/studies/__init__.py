"""What a study leaves behind: its folder, files, figures and page."""
