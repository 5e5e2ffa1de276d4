"""`python -m scenthound`: the command line."""

from scenthound.cli.process import run

if __name__ == "__main__":
    run()
