/* Byte strings ("names") with numbers 0, 1, 2, ... in order of first appearance, each within a group. */

#ifndef SCENTHOUND_NAMES_H
#define SCENTHOUND_NAMES_H

#include "siphash.h"

#define NOT_FOUND (-1)

typedef struct {
    uint32_t end; /* of its text, modulo the limit of ends */
    uint32_t group;
} Name;

typedef struct {
    HashKey key;
    size_t n;
    Name *names;
    size_t names_room;
    uint8_t *text;
    size_t n_text, text_room;
    /* The numbers of the names from which on another limit must be added to ends. */
    uint32_t *wraps;
    size_t n_wraps, wraps_room;
    int end_bits;
    /* The index: linear probing. A tag is eight bits of the hash, 0 in a free slot. */
    uint8_t *tags;
    uint32_t *numbers;
    size_t n_slots;
} Names;

typedef struct {
    const uint8_t *text;
    size_t length;
} Bytes;

/* Make room for at least `needed` items and an eighth more. False if there is no memory. */
bool grow_to(void **items, size_t *room, size_t needed, size_t item_bytes);

/* `end_bits` is 32; tests use less. */
bool names_init(Names *names, HashKey key, int end_bits);
void names_free(Names *names);
size_t names_bytes(const Names *names);

static inline uint64_t names_hash(const Names *names, uint32_t group, Bytes name)
{
    return siphash_of_pair(names->key, group, name.text, name.length);
}

/* Let the processor load the slots of a hash. */
void names_prefetch(const Names *names, uint64_t hash);

/* The text of a number below `n`, valid until a name is added. */
Bytes name_text(const Names *names, size_t number);
bool is_name(const Names *names, size_t number, uint32_t group, Bytes name);

/* The number of a name, or NOT_FOUND. */
int32_t names_find(const Names *names, uint64_t hash, uint32_t group, Bytes name);

/* The number of a name, which is added if it is new; NOT_FOUND if there is no memory. */
int32_t names_add(Names *names, uint64_t hash, uint32_t group, Bytes name);

/* Append a name that is new, without an entry in the index; `names_index` adds those of all names. False if there is no
   memory. */
bool names_append(Names *names, uint32_t group, Bytes name);
bool names_index(Names *names);

#endif
