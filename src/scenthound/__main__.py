"""`python -m scenthound`: the command line."""

from scenthound.cli import main

if __name__ == "__main__":
    main()
