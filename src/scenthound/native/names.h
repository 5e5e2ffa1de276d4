/* Byte strings ("names") with numbers 0, 1, 2, ... in order of first appearance, each within a group. */

#ifndef SCENTHOUND_NAMES_H
#define SCENTHOUND_NAMES_H

#include "native.h"

#define NOT_FOUND (-1)
#define BLOCK_BYTES 8

/* The high and the low half of a product, folded. */
static inline uint64_t folded_product(uint64_t first, uint64_t second)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)first * second;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (first & UINT32_MAX) * (second & UINT32_MAX), high = (first >> 32) * (second >> 32);
    uint64_t middle = (first >> 32) * (second & UINT32_MAX) + (low >> 32);
    uint64_t other = (first & UINT32_MAX) * (second >> 32) + (middle & UINT32_MAX);
    return (first * second) ^ (high + (middle >> 32) + (other >> 32));
#endif
}

/* Up to eight bytes, the first of them lowest, padded with 0. */
static inline uint64_t load_block(const uint8_t *bytes, size_t length)
{
    uint64_t block = 0;
    if (length >= BLOCK_BYTES) {
        memcpy(&block, bytes, BLOCK_BYTES);
    } else if (length > 0) {
        memcpy(&block, bytes, length);
    }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    block = __builtin_bswap64(block);
#endif
    return block;
}

/* The hash of a text, block by block. The key is secret, so that no page can choose texts that collide. */
typedef struct {
    uint64_t of_block, of_chain, of_end;
} HashKey;

static inline HashKey key_of(uint64_t salt)
{
    return (HashKey){mixed_bits(1, salt), mixed_bits(2, salt), mixed_bits(3, salt)};
}

static inline uint64_t hash_block(HashKey key, uint64_t hash, uint64_t block)
{
    return folded_product(block ^ key.of_block, hash ^ key.of_chain);
}

static inline uint64_t hash_end(HashKey key, uint64_t hash)
{
    return folded_product(hash ^ key.of_end, key.of_block | 1);
}

static inline uint64_t hash_bytes(HashKey key, uint64_t hash, Bytes bytes)
{
    for (size_t start = 0; start < bytes.length; start += BLOCK_BYTES) {
        hash = hash_block(key, hash, load_block(bytes.text + start, bytes.length - start));
    }
    return hash_end(key, hash);
}

#define END_BITS 36
#define GROUP_BITS 28

typedef struct {
    uint64_t end : END_BITS; /* of its text */
    uint64_t group : GROUP_BITS;
} Name;

typedef struct {
    HashKey key;
    size_t n;
    Name *names;
    uint8_t *text;
    size_t names_room, text_room;
    /* The index: linear probing. A tag is eight bits of the hash, 0 in a free slot. */
    uint8_t *tags;
    uint32_t *numbers;
    size_t n_slots;
} Names;

/* Functions that may run out of memory set an exception then. */
bool names_init(Names *names, HashKey key);
void names_free(Names *names);
size_t names_bytes(const Names *names);
/* Make room in the index for more names at once. */
bool names_reserve(Names *names, size_t n_more);

static inline uint64_t names_hash(const Names *names, uint32_t group, Bytes name)
{
    return hash_bytes(names->key, group ^ (uint64_t)name.length << 32, name);
}

/* Let the processor load the slots of a hash. */
void names_prefetch(const Names *names, uint64_t hash);

/* The text of a number below `n`, valid until a name is added. */
Bytes name_text(const Names *names, size_t number);
bool has_text(const Names *names, size_t number, Bytes text);

/* The number of a name, or NOT_FOUND. */
int32_t names_find(const Names *names, uint64_t hash, uint32_t group, Bytes name);

/* The number of a name, which is added if it is new; NOT_FOUND if there is no memory. */
int32_t names_add(Names *names, uint64_t hash, uint32_t group, Bytes name);

#endif
