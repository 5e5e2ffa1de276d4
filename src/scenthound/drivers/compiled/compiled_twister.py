"""Python's random numbers in compiled code: the Mersenne Twister (Matsumoto and Nishimura 1998), as Python reads it.

A crawl that draws as it goes must draw what its plain twin draws. The state is that of `Random.getstate`: 624 words and
the place of the next. Importing this file needs numba (the extra `fast`).
"""

import numpy as np

from scenthound.compiling import compiled_inline, compiled_part
from scenthound.drivers.compiled.queue_records import WordArray

N_WORDS, _MIDDLE = 624, 397
_UPPER, _LOWER = np.uint64(0x80000000), np.uint64(0x7FFFFFFF)
_TWIST, _ONE, _MASK = np.uint64(0x9908B0DF), np.uint64(1), np.uint64(0xFFFFFFFF)
_TEMPER_B, _TEMPER_C = np.uint64(0x9D2C5680), np.uint64(0xEFC60000)


@compiled_part
def _renew(state: WordArray) -> None:
    for place in range(N_WORDS):
        mixed = (state[place] & _UPPER) | (state[(place + 1) % N_WORDS] & _LOWER)
        twisted = _TWIST if mixed & _ONE else np.uint64(0)
        state[place] = state[(place + _MIDDLE) % N_WORDS] ^ (mixed >> _ONE) ^ twisted
    state[N_WORDS] = 0


@compiled_inline
def next_word(state: WordArray) -> np.uint64:
    """32 random bits."""
    if state[N_WORDS] >= N_WORDS:
        _renew(state)
    word = state[np.int64(state[N_WORDS])]
    state[N_WORDS] += _ONE
    word ^= word >> np.uint64(11)
    word ^= (word << np.uint64(7)) & _TEMPER_B
    word ^= (word << np.uint64(15)) & _TEMPER_C
    return (word ^ (word >> np.uint64(18))) & _MASK


@compiled_inline
def draw_share(state: WordArray) -> float:
    """What `Random.random` answers with."""
    upper, lower = next_word(state) >> np.uint64(5), next_word(state) >> np.uint64(6)
    return (float(upper) * 67108864.0 + float(lower)) * (1.0 / 9007199254740992.0)


@compiled_inline
def draw_below(state: WordArray, n: int) -> int:
    """What `Random.randrange(n)` answers with; n is at least 1."""
    n_bits = 0
    while n >> n_bits:
        n_bits += 1
    drawn = n
    while drawn >= n:
        drawn = int(np.int64(next_word(state) >> np.uint64(32 - n_bits)))
    return drawn
