"""Benchmarks: `make bench`, or `python -m benchmarks NAME...`; `python -m benchmarks --help` lists them."""

import argparse


def command_parser(name: str, doc: str) -> argparse.ArgumentParser:
    """The argument parser of a benchmark, whose help is the docstring of its module."""
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def target(limit: str, *, is_met: bool) -> str:
    return f"target: {limit}: {'met' if is_met else 'MISSED'}"
