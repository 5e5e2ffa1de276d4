/* SipHash-1-3, the hash that Python uses for strings (PEP 456).

   It hashes with a secret key, so that nobody without the key can choose texts that collide (Aumasson and Bernstein,
   "SipHash: a fast short-input PRF", 2012). */

#ifndef SCENTHOUND_SIPHASH_H
#define SCENTHOUND_SIPHASH_H

#include "native.h"

typedef struct {
    uint64_t first, second;
} HashKey;

typedef struct {
    uint64_t v0, v1, v2, v3;
} HashState;

static inline uint64_t rotated(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static inline uint64_t little_endian(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

static inline void hash_round(HashState *state)
{
    state->v0 += state->v1;
    state->v2 += state->v3;
    state->v1 = rotated(state->v1, 13) ^ state->v0;
    state->v3 = rotated(state->v3, 16) ^ state->v2;
    state->v0 = rotated(state->v0, 32) + state->v3;
    state->v2 += state->v1;
    state->v3 = rotated(state->v3, 21) ^ state->v0;
    state->v1 = rotated(state->v1, 17) ^ state->v2;
    state->v2 = rotated(state->v2, 32);
}

static inline void hash_word(HashState *state, uint64_t word)
{
    state->v3 ^= word;
    hash_round(state);
    state->v0 ^= word;
}

static inline HashState hash_start(HashKey key)
{
    return (HashState){
        0x736F6D6570736575ULL ^ key.first,
        0x646F72616E646F6DULL ^ key.second,
        0x6C7967656E657261ULL ^ key.first,
        0x7465646279746573ULL ^ key.second,
    };
}

/* The hash of what was hashed before, `n_before` bytes, and a text. */
static inline uint64_t hash_end(HashState state, size_t n_before, const uint8_t *text, size_t length)
{
    uint64_t word;
    size_t n_left = length;
    for (; n_left >= sizeof word; n_left -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        hash_word(&state, little_endian(word));
    }
    word = (uint64_t)(n_before + length) << 56;
    for (size_t offset = 0; offset < n_left; offset++)
        word |= (uint64_t)text[offset] << (8 * offset);
    hash_word(&state, word);
    state.v2 ^= 0xFF;
    for (int i = 0; i < 3; i++)
        hash_round(&state);
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

static inline uint64_t siphash(HashKey key, const uint8_t *text, size_t length)
{
    return hash_end(hash_start(key), 0, text, length);
}

/* The hash of a number, as eight bytes, and a text. */
static inline uint64_t siphash_of_pair(HashKey key, uint64_t number, const uint8_t *text, size_t length)
{
    HashState state = hash_start(key);
    hash_word(&state, number);
    return hash_end(state, sizeof number, text, length);
}

#endif
