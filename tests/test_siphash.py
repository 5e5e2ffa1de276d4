"""SipHash-1-3, compared with Python's hash of bytes."""

import os
import subprocess
import sys

import pytest

from url_tables import needs_native

pytestmark = needs_native

#: 1 to 40 bytes, so that the last word has every length, and a text whose length exceeds one byte.
TEXTS = [bytes((7 * i + length) % 256 for i in range(length)) for length in [*range(1, 41), 255, 256, 300]]


def siphash(text: bytes, first: int, second: int) -> int:
    from scenthound.native import _native

    return _native.siphash(text, first, second)


@pytest.mark.skipif(sys.hash_info.algorithm != "siphash13", reason="this Python hashes otherwise")
def test_hashes_equal_those_of_python_with_the_same_key() -> None:
    program = f"print(*[hash(text) for text in {TEXTS!r}])"
    # With this seed the key of Python is 0 (PEP 456); its hashes are signed.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    ours = [siphash(text, 0, 0) for text in TEXTS]
    assert ours == [int(theirs) % (1 << 64) for theirs in done.stdout.split()]


def test_both_halves_of_the_key_count() -> None:
    assert len({siphash(b"http://a.org/", first, second) for first in (0, 1 << 63) for second in (0, 1)}) == 4
