/* The tags of HTML by their names: a hash table of the names in lower case. */

#include "html_tags.h"

#define TAG_PROPERTIES(identifier, name, properties) properties,
const uint32_t properties_of[N_TAGS] = {0, 0, HTML_TAGS(TAG_PROPERTIES)};

#define TAG_NAME(identifier, name, properties) name,
const char *const tag_names[N_TAGS] = {"", "", HTML_TAGS(TAG_NAME)};

#define N_SLOTS 1024u
#define MAX_NAME 16

typedef struct {
    uint64_t first, second; /* the name in lower case, padded with 0 */
    Tag tag;
} Slot;

static Slot slots[N_SLOTS];

static uint64_t mixed(uint64_t first, uint64_t second)
{
    uint64_t hash = (first ^ (second * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
    return hash * 0xD6E8FEB86659FD93u;
}

/* Instead of U+0000, which is part of a name: a byte that UTF-8 does not have. */
#define NULL_IN_NAME 0xFFu

static uint64_t lowered(const uint8_t *name, size_t length)
{
    uint64_t letters = 0;
    for (size_t index = 0; index < length; index++) {
        uint8_t letter = name[index] ? name[index] : NULL_IN_NAME;
        letters |= (uint64_t)(letter >= 'A' && letter <= 'Z' ? letter | 0x20 : letter) << (8 * index);
    }
    return letters;
}

void html_tags_prepare(void)
{
    memset(slots, 0, sizeof slots);
    for (Tag tag = TAG_other + 1; tag < N_TAGS; tag++) {
        const uint8_t *name = (const uint8_t *)tag_names[tag];
        size_t length = strlen(tag_names[tag]);
        uint64_t first = lowered(name, length < 8 ? length : 8);
        uint64_t second = length > 8 ? lowered(name + 8, length - 8) : 0;
        size_t slot = mixed(first, second) >> 54;
        while (slots[slot].tag != TAG_none)
            slot = (slot + 1) % N_SLOTS;
        slots[slot] = (Slot){first, second, tag};
    }
}

Tag tag_named(const uint8_t *name, size_t length, uint32_t *hash)
{
    uint64_t first = lowered(name, length < 8 ? length : 8);
    uint64_t second = length > 8 ? lowered(name + 8, length < MAX_NAME ? length - 8 : 8) : 0;
    uint64_t mix = mixed(first, second);
    for (size_t at = MAX_NAME; at < length; at += 8)
        mix = mixed(mix, lowered(name + at, length - at < 8 ? length - at : 8));
    *hash = (uint32_t)mix;
    if (length > MAX_NAME)
        return TAG_other;
    for (size_t slot = mix >> 54; slots[slot].tag != TAG_none; slot = (slot + 1) % N_SLOTS)
        if (slots[slot].first == first && slots[slot].second == second)
            return slots[slot].tag;
    return TAG_other;
}
