/* Names by number, and numbers by name.

   Stored per name: its text, eight bytes (end of the text, group), and a slot of the index with five bytes. The index
   has no hashes. It is rebuilt from the texts when it grows, which reads them in order. Of two names with the same tag in
   the same run of slots, the texts decide. */

#include "names.h"

#define FIRST_SLOTS 1024
/* Names whose slots are loaded at the same time when the index is rebuilt. */
#define BATCH 16

static void free_slots(Names *names)
{
    release_memory(names->tags, names->n_slots * sizeof *names->tags);
    release_memory(names->numbers, names->n_slots * sizeof *names->numbers);
}

void names_free(Names *names)
{
    release_memory(names->names, names->names_room * sizeof *names->names);
    release_memory(names->text, names->text_room);
    free_slots(names);
}

size_t names_bytes(const Names *names)
{
    return names->names_room * sizeof *names->names + names->text_room +
           names->n_slots * (sizeof *names->tags + sizeof *names->numbers);
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
    size_t start = number ? names->names[number - 1].end : 0;
    return (Bytes){names->text + start, names->names[number].end - start};
}

bool has_text(const Names *names, size_t number, Bytes text)
{
    Bytes known = name_text(names, number);
    return known.length == text.length && (text.length == 0 || memcmp(known.text, text.text, text.length) == 0);
}

int32_t names_find(const Names *names, uint64_t hash, uint32_t group, Bytes name)
{
    uint8_t tag = tag_of(hash);
    for (size_t slot = first_slot(hash, names->n_slots); names->tags[slot];) {
        uint32_t number = names->numbers[slot];
        if (names->tags[slot] == tag && names->names[number].group == group && has_text(names, number, name))
            return (int32_t)number;
        slot = slot + 1 == names->n_slots ? 0 : slot + 1;
    }
    return NOT_FOUND;
}

static void put(Names *names, uint64_t hash, size_t number)
{
    size_t slot = first_slot(hash, names->n_slots);
    while (names->tags[slot])
        slot = slot + 1 == names->n_slots ? 0 : slot + 1;
    names->tags[slot] = tag_of(hash);
    names->numbers[slot] = (uint32_t)number;
}

static void put_all(Names *names)
{
    uint64_t hashes[BATCH];
    for (size_t first = 0; first < names->n; first += BATCH) {
        size_t n = names->n - first < BATCH ? names->n - first : BATCH;
        for (size_t i = 0; i < n; i++) {
            hashes[i] = names_hash(names, (uint32_t)names->names[first + i].group, name_text(names, first + i));
            names_prefetch(names, hashes[i]);
        }
        for (size_t i = 0; i < n; i++)
            put(names, hashes[i], first + i);
    }
}

/* Up to four fifths of the slots are used. */
bool names_reserve(Names *names, size_t n_more)
{
    size_t n_slots = names->n_slots ? names->n_slots : FIRST_SLOTS;
    while (n_slots / 5 * 4 < names->n + n_more)
        n_slots += n_slots / 2;
    if (n_slots == names->n_slots)
        return true;
    uint8_t *tags = n_slots > UINT32_MAX ? NULL : allocate_zeros(n_slots * sizeof *tags);
    uint32_t *numbers = tags == NULL ? NULL : allocate_zeros(n_slots * sizeof *numbers);
    if (numbers == NULL) {
        release_memory(tags, n_slots * sizeof *tags);
        PyErr_NoMemory();
        return false;
    }
    free_slots(names);
    names->tags = tags;
    names->numbers = numbers;
    names->n_slots = n_slots;
    put_all(names);
    return true;
}

bool names_init(Names *names, HashKey key)
{
    *names = (Names){.key = key};
    return names_reserve(names, 1);
}

int32_t names_add(Names *names, uint64_t hash, uint32_t group, Bytes name)
{
    int32_t known = names_find(names, hash, group, name);
    if (known != NOT_FOUND)
        return known;
    size_t start = names->n ? names->names[names->n - 1].end : 0;
    if (names->n >= INT32_MAX - 1 || name.length >= ((uint64_t)1 << END_BITS) - start || group >> GROUP_BITS) {
        PyErr_NoMemory();
        return NOT_FOUND;
    }
    /* All room is made before the name is appended: without memory nothing changes. */
    if (!make_room((void **)&names->names, &names->names_room, names->n + 1, sizeof *names->names) ||
        !make_room((void **)&names->text, &names->text_room, start + name.length, 1) || !names_reserve(names, 1))
        return NOT_FOUND;
    if (name.length)
        memcpy(names->text + start, name.text, name.length);
    names->names[names->n] = (Name){start + name.length, group};
    put(names, hash, names->n);
    return (int32_t)names->n++;
}
