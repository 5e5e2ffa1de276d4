"""What a validation leaves behind: its folder, files and figures; and the page that is made of them."""
