/* Names by number, and numbers by name.

   Stored per name: its text, eight bytes (end of the text, group), and a slot of the index with five bytes. The index
   has no hashes. It is rebuilt from the texts when it grows, which reads them in order, and its old memory is freed
   first. Of two names with the same tag in the same run of slots, the texts decide. */

#include "names.h"

#define MIN_ROOM 64
#define GROWTH_DIVISOR 8
#define FIRST_SLOTS 1024
/* Names whose slots are loaded at the same time when the index is rebuilt. */
#define BATCH 16

bool grow_to(void **items, size_t *room, size_t needed, size_t item_bytes)
{
    if (needed <= *room)
        return true;
    size_t new_room = needed + needed / GROWTH_DIVISOR + MIN_ROOM;
    if (new_room > (size_t)PY_SSIZE_T_MAX / item_bytes)
        return false;
    void *grown = realloc(*items, new_room * item_bytes);
    if (grown == NULL)
        return false;
    *items = grown;
    *room = new_room;
    return true;
}

bool names_init(Names *names, HashKey key, int end_bits)
{
    *names = (Names){.key = key, .end_bits = end_bits};
    return names_index(names);
}

void names_free(Names *names)
{
    free(names->names);
    free(names->text);
    free(names->wraps);
    free(names->tags);
    free(names->numbers);
    *names = (Names){0};
}

size_t names_bytes(const Names *names)
{
    return names->names_room * sizeof(Name) + names->text_room + names->wraps_room * sizeof(uint32_t) +
           names->n_slots * (sizeof(uint8_t) + sizeof(uint32_t));
}

/* Up to four fifths of the slots are used. */
static size_t max_names(size_t n_slots)
{
    return n_slots / 5 * 4;
}

static inline uint8_t tag_of(uint64_t hash)
{
    uint8_t tag = (uint8_t)(hash >> 56);
    return tag ? tag : 1;
}

static inline size_t first_slot(uint64_t hash, size_t n_slots)
{
    return (size_t)((hash & 0xFFFFFFFFu) * (uint64_t)n_slots >> 32);
}

void names_prefetch(const Names *names, uint64_t hash)
{
    size_t slot = first_slot(hash, names->n_slots);
    __builtin_prefetch(names->tags + slot);
    __builtin_prefetch(names->numbers + slot);
}

Bytes name_text(const Names *names, size_t number)
{
    uint32_t start = number ? names->names[number - 1].end : 0;
    size_t offset = start;
    for (size_t wrap = 0; wrap < names->n_wraps && names->wraps[wrap] < number; wrap++)
        offset += (size_t)1 << names->end_bits;
    uint32_t mask = (uint32_t)(((uint64_t)1 << names->end_bits) - 1);
    return (Bytes){names->text + offset, (names->names[number].end - start) & mask};
}

bool is_name(const Names *names, size_t number, uint32_t group, Bytes name)
{
    if (names->names[number].group != group)
        return false;
    Bytes known = name_text(names, number);
    return known.length == name.length && (name.length == 0 || memcmp(known.text, name.text, name.length) == 0);
}

/* The slot of a name, or the free slot for it. */
static size_t slot_of(const Names *names, uint64_t hash, uint32_t group, Bytes name)
{
    uint8_t tag = tag_of(hash);
    size_t slot = first_slot(hash, names->n_slots);
    while (names->tags[slot]) {
        if (names->tags[slot] == tag && is_name(names, names->numbers[slot], group, name))
            break;
        if (++slot == names->n_slots)
            slot = 0;
    }
    return slot;
}

int32_t names_find(const Names *names, uint64_t hash, uint32_t group, Bytes name)
{
    size_t slot = slot_of(names, hash, group, name);
    return names->tags[slot] ? (int32_t)names->numbers[slot] : NOT_FOUND;
}

bool names_append(Names *names, uint32_t group, Bytes name)
{
    uint64_t limit = (uint64_t)1 << names->end_bits;
    if (names->n >= INT32_MAX - 1 || name.length >= limit)
        return false;
    if (!grow_to((void **)&names->names, &names->names_room, names->n + 1, sizeof(Name)) ||
        !grow_to((void **)&names->text, &names->text_room, names->n_text + name.length, 1) ||
        !grow_to((void **)&names->wraps, &names->wraps_room, names->n_wraps + 1, sizeof(uint32_t)))
        return false;
    if (name.length)
        memcpy(names->text + names->n_text, name.text, name.length);
    names->n_text += name.length;
    if (names->n_text >= (names->n_wraps + 1) * limit)
        names->wraps[names->n_wraps++] = (uint32_t)names->n;
    names->names[names->n++] = (Name){(uint32_t)(names->n_text % limit), group};
    return true;
}

static void put(Names *names, uint64_t hash, uint32_t number)
{
    size_t slot = first_slot(hash, names->n_slots);
    while (names->tags[slot])
        if (++slot == names->n_slots)
            slot = 0;
    names->tags[slot] = tag_of(hash);
    names->numbers[slot] = number;
}

static void put_all(Names *names)
{
    uint64_t hashes[BATCH];
    for (size_t first = 0; first < names->n; first += BATCH) {
        size_t n = names->n - first < BATCH ? names->n - first : BATCH;
        for (size_t i = 0; i < n; i++) {
            hashes[i] = names_hash(names, names->names[first + i].group, name_text(names, first + i));
            names_prefetch(names, hashes[i]);
        }
        for (size_t i = 0; i < n; i++)
            put(names, hashes[i], (uint32_t)(first + i));
    }
}

/* Replace the index by an empty one. */
static bool replace_slots(Names *names, size_t n_slots)
{
    if (n_slots > UINT32_MAX)
        return false;
    uint8_t *tags = calloc(n_slots, sizeof(uint8_t));
    uint32_t *numbers = malloc(n_slots * sizeof(uint32_t));
    if (tags == NULL || numbers == NULL) {
        free(tags);
        free(numbers);
        return false;
    }
    free(names->tags);
    free(names->numbers);
    names->tags = tags;
    names->numbers = numbers;
    names->n_slots = n_slots;
    return true;
}

/* Rebuild the index with slots for `n` names. */
static bool index_for(Names *names, size_t n)
{
    size_t n_slots = names->n_slots ? names->n_slots : FIRST_SLOTS;
    while (max_names(n_slots) < n)
        n_slots += n_slots / 2;
    if (!replace_slots(names, n_slots))
        return false;
    put_all(names);
    return true;
}

bool names_index(Names *names)
{
    return index_for(names, names->n);
}

int32_t names_add(Names *names, uint64_t hash, uint32_t group, Bytes name)
{
    int32_t known = names_find(names, hash, group, name);
    if (known != NOT_FOUND)
        return known;
    /* Grown before the name is appended: without memory nothing changes. */
    if (names->n + 1 > max_names(names->n_slots) && !index_for(names, names->n + 1))
        return NOT_FOUND;
    if (!names_append(names, group, name))
        return NOT_FOUND;
    put(names, hash, (uint32_t)(names->n - 1));
    return (int32_t)(names->n - 1);
}
