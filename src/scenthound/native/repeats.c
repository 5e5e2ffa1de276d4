/* Links to the same page: the first of them, the highest value of all, and the first link that has it. */

#include "native.h"

typedef struct {
    uint32_t page_above; /* the page + 1; 0: free */
    uint32_t number; /* of the page among the distinct ones */
} PageSlot;

typedef struct {
    int32_t *first; /* the index of the first link to each distinct page */
    double *best;
    int32_t *best_index; /* of the first link with that value */
    size_t count;
} Distinct;

static void find_distinct(const int32_t *pages, const double *values, size_t n_links, PageSlot *slots, unsigned shift,
                          Distinct *distinct)
{
    size_t last_slot = ((size_t)1 << (64 - shift)) - 1;
    for (size_t index = 0; index < n_links; index++) {
        uint32_t page_above = (uint32_t)pages[index] + 1;
        size_t slot = (size_t)(page_above * secret_factor >> shift);
        while (slots[slot].page_above != page_above && slots[slot].page_above != 0) {
            slot = (slot + 1) & last_slot;
        }
        if (slots[slot].page_above == 0) {
            slots[slot] = (PageSlot){page_above, (uint32_t)distinct->count};
            distinct->first[distinct->count] = (int32_t)index;
            distinct->best_index[distinct->count] = (int32_t)index;
            distinct->best[distinct->count++] = values[index];
        } else if (values[index] > distinct->best[slots[slot].number]) {
            distinct->best[slots[slot].number] = values[index];
            distinct->best_index[slots[slot].number] = (int32_t)index;
        }
    }
}

PyObject *best_of_repeats(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *pages = &given->arrays[0], *values = &given->arrays[1];
    size_t n_links = length_of(pages);
    if (!check(length_of(values) == n_links && n_links <= INT32_MAX && are_below(pages, SIZE_MAX),
               "there must be as many values as pages, which have numbers from 0 on")) {
        return NULL;
    }
    unsigned shift = shift_for(2 * n_links);
    PageSlot *slots = zeros_for(given, (size_t)1 << (64 - shift), sizeof *slots);
    double *best = room_for(given, n_links, sizeof *best + 2 * sizeof(int32_t));
    if (slots == NULL || best == NULL) {
        return NULL;
    }
    int32_t *first = (int32_t *)(void *)(best + n_links);
    Distinct distinct = {first, best, first + n_links, 0};
    find_distinct(pages->buf, values->buf, n_links, slots, shift, &distinct);
    return Py_BuildValue("NNN", array_of(distinct.first, distinct.count, sizeof *distinct.first),
                         array_of(distinct.best, distinct.count, sizeof *distinct.best),
                         array_of(distinct.best_index, distinct.count, sizeof *distinct.best_index));
}
