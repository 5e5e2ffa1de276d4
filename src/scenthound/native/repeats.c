/* Links to the same page: the first of them, the highest value of all, and the first link that has it.

   The results are those of numpy in strategies/frontier_strategy.py. */

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

static PyObject *distinct_of(const Py_buffer *pages, const Py_buffer *values)
{
    size_t n_links = length_of(pages);
    if (length_of(values) != n_links || n_links > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "there must be as many values as pages");
        return NULL;
    }
    unsigned shift = shift_for(2 * n_links);
    PageSlot *slots = calloc((size_t)1 << (64 - shift), sizeof *slots);
    double *room = malloc((n_links + 1) * (sizeof *room + 2 * sizeof(int32_t)));
    PyObject *result = NULL;
    if (slots == NULL || room == NULL) {
        PyErr_NoMemory();
    } else {
        int32_t *first = (int32_t *)(void *)(room + n_links);
        Distinct distinct = {first, room, first + n_links, 0};
        find_distinct(pages->buf, values->buf, n_links, slots, shift, &distinct);
        PyObject *items[] = {
            array_of(distinct.first, distinct.count, sizeof *distinct.first),
            array_of(distinct.best, distinct.count, sizeof *distinct.best),
            array_of(distinct.best_index, distinct.count, sizeof *distinct.best_index),
        };
        result = packed(items, 3);
    }
    free(room);
    free(slots);
    return result;
}

static PyObject *best_of_repeats(PyObject *module, PyObject *arguments)
{
    (void)module;
    static const size_t sizes[] = {sizeof(int32_t), sizeof(double)};
    PyObject *objects[2];
    Py_buffer arrays[2];
    if (!PyArg_ParseTuple(arguments, "OO", &objects[0], &objects[1]) || get_arrays(objects, arrays, sizes, 2) < 0) {
        return NULL;
    }
    PyObject *result = distinct_of(&arrays[0], &arrays[1]);
    release_arrays(arrays, 2);
    return result;
}

static PyMethodDef methods[] = {
    {"best_of_repeats", best_of_repeats, METH_VARARGS, "The first link to each page, the highest value of all, and the first link that has it."},
    {NULL, NULL, 0, NULL},
};

int add_repeats(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
