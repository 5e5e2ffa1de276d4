"""What a comparison leaves behind: its folder, files, figures and page."""
