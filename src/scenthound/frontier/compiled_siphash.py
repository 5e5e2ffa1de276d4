"""SipHash-1-3, compiled: a hash under a secret key, made so that nobody without the key can choose texts that collide.

Importing this file needs numba (the extra `fast`). See Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012;
with one round for eight bytes and three in the end it is what Python hashes strings with (PEP 456). A polynomial will
not do: there are some that vanish modulo 2^64 at every odd number, and so collide under every key.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.compiling import compiled, compiled_inline

Bytes = npt.NDArray[np.uint8]
State = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

WORD_BYTES = 8
LAST_ROUNDS = 3
INITIAL = (
    np.uint64(0x736F6D6570736575),
    np.uint64(0x646F72616E646F6D),
    np.uint64(0x6C7967656E657261),
    np.uint64(0x7465646279746573),
)
END_MARK = np.uint64(0xFF)
WORD_BITS = np.uint64(64)
LENGTH_SHIFT = np.uint64(56)


class Key(NamedTuple):
    """128 bits."""

    first: np.uint64
    second: np.uint64


@compiled_inline
def turned(word: np.uint64, bits: int) -> np.uint64:
    """The bits of a word turned to the left."""
    return word << np.uint64(bits) | word >> (WORD_BITS - np.uint64(bits))


@compiled_inline
def after_round(state: State) -> State:
    v0, v1, v2, v3 = state
    v0 += v1
    v2 += v3
    v1 = turned(v1, 13) ^ v0
    v3 = turned(v3, 16) ^ v2
    v0 = turned(v0, 32) + v3
    v2 += v1
    v3 = turned(v3, 21) ^ v0
    v1 = turned(v1, 17) ^ v2
    return v0, v1, turned(v2, 32), v3


@compiled_inline
def after_word(state: State, word: np.uint64) -> State:
    v0, v1, v2, v3 = after_round((state[0], state[1], state[2], state[3] ^ word))
    return v0 ^ word, v1, v2, v3


@compiled_inline
def word_at(text: Bytes, place: int, n_bytes: int) -> np.uint64:
    """The first of eight bytes from `place` on, as many as are asked for, the first one lowest."""
    word = np.uint64(0)
    for at in range(n_bytes):
        word |= np.uint64(text[place + at]) << np.uint64(8 * at)
    return word


@compiled_inline
def siphash(text: Bytes, start: int, end: int, key: Key) -> np.uint64:
    """The hash of `text[start:end]`."""
    state = INITIAL[0] ^ key.first, INITIAL[1] ^ key.second, INITIAL[2] ^ key.first, INITIAL[3] ^ key.second
    place = start
    while place + WORD_BYTES <= end:
        state = after_word(state, word_at(text, place, WORD_BYTES))
        place += WORD_BYTES
    length = np.uint64(end - start) << LENGTH_SHIFT
    v0, v1, v2, v3 = after_word(state, length | word_at(text, place, end - place))
    state = v0, v1, v2 ^ END_MARK, v3
    for _ in range(LAST_ROUNDS):
        state = after_round(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


@compiled
def siphash_of(text: Bytes, key: Key) -> np.uint64:
    return siphash(text, 0, len(text), key)
