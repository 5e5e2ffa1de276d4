"""The types of the extension; `scenthound.native` says when it is there."""
