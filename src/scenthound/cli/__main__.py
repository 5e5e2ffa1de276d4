"""`python -m scenthound.cli` does what `scenthound` does."""

from scenthound.cli import main

if __name__ == "__main__":
    main()
