/* The numbers of words that were seen, as they are written in texts, so that each is stemmed once.

   A word is identified by its hash of 64 bits: among three million words, the probability that any two have the same one
   is below one in a million, and then both count as one word. */

#include "words.h"

#define FIRST_SLOTS 1024
/* At most 7 of 10 slots are used. */
#define USED_TENTHS 7

void seen_clear(SeenWords *seen)
{
    release_memory(seen->slots, seen->n_slots * sizeof *seen->slots);
}

static void put(SeenWords *seen, SeenSlot slot)
{
    size_t index = seen_first(seen, (uint64_t)slot.hash_high << 32);
    while (seen->slots[index].number_above != 0) {
        index = index + 1 == seen->n_slots ? 0 : index + 1;
    }
    seen->slots[index] = slot;
}

int seen_enlarge(SeenWords *seen)
{
    SeenWords larger = {NULL, seen->n_slots == 0 ? FIRST_SLOTS : seen->n_slots + seen->n_slots / 4, seen->count};
    if (larger.n_slots <= SIZE_MAX / sizeof *larger.slots) {
        larger.slots = allocate_zeros(larger.n_slots * sizeof *larger.slots);
    }
    if (larger.slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t index = 0; index < seen->n_slots; index++) {
        if (seen->slots[index].number_above != 0) {
            put(&larger, seen->slots[index]);
        }
    }
    seen_clear(seen);
    *seen = larger;
    return 0;
}

int seen_add(SeenWords *seen, uint64_t hash, int32_t number)
{
    if (seen->count >= seen->n_slots / 10 * USED_TENTHS && seen_enlarge(seen) < 0) {
        return -1;
    }
    put(seen, (SeenSlot){(uint32_t)hash, (uint32_t)(hash >> 32), (uint32_t)number + 1});
    seen->count++;
    return 0;
}
