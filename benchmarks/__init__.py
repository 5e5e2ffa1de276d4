"""Benchmarks: `make bench`, or `python -m benchmarks NAME...`; `python -m benchmarks --help` lists them."""

import argparse

_MAX_PORT = 65_535


def command_parser(name: str, doc: str) -> argparse.ArgumentParser:
    """The argument parser of a benchmark, whose help is the docstring of its module."""
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def positive(text: str) -> int:
    """An argument that is a number of 1 or more."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def port(text: str) -> int:
    number = positive(text)
    if number > _MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text} is more than {_MAX_PORT}")
    return number


def target(limit: str, *, is_met: bool) -> str:
    return f"target: {limit}: {'met' if is_met else 'MISSED'}"
