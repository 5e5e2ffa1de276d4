/* What all parts of the extension share. */

#ifndef SCENTHOUND_NATIVE_H
#define SCENTHOUND_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Get the buffer of an array of items of this size, one after the other; -1 with an exception set. */
int get_array(PyObject *object, Py_buffer *array, size_t item_size);
/* The same for several arrays, of which none is kept if one fails. */
int get_arrays(PyObject *const *objects, Py_buffer *arrays, const size_t *item_sizes, int count);
void release_arrays(Py_buffer *arrays, int count);
/* The item size of an array of ranks, whose items have two or four bytes. */
#define OF_RANKS 0

static inline size_t length_of(const Py_buffer *array)
{
    return (size_t)array->len / (size_t)array->itemsize;
}

/* A new array of numbers, to be read by numpy. */
static inline PyObject *array_of(const void *items, size_t count, size_t item_size)
{
    return PyByteArray_FromStringAndSize(items, (Py_ssize_t)(count * item_size));
}

/* A tuple that owns these objects; NULL if one of them is NULL. */
PyObject *packed(PyObject **items, Py_ssize_t count);

/* word_statistics.c: of small hash tables that last for one call. Their slots depend on a secret, so that no page can
   choose numbers that cluster. */
extern uint64_t secret_factor;
/* The shift that reduces a product with the factor to a slot, with at least `n_slots` of them. */
unsigned shift_for(size_t n_slots);

/* memory.c: arrays that may be large. They fail with NULL and without an exception; sizes are those of the last call. */
void *allocate_zeros(size_t n_bytes);
void release_memory(void *memory, size_t n_bytes);
/* What is added is not set to 0; `memory` may be NULL, with 0 bytes. */
void *enlarge_memory(void *memory, size_t n_bytes, size_t n_new_bytes);
/* Ensure that an array has room for so many items, with an eighth more than before; -1 with an exception set. */
int make_room(void **array, size_t *room, size_t needed, size_t item_size);

/* Each adds its types and functions to the module; -1 with an exception set. */
int add_vocabulary(PyObject *module);
int add_word_counts(PyObject *module);
int add_word_statistics(PyObject *module);
int add_word_vectors(PyObject *module);
int add_word_windows(PyObject *module);
int add_repeats(PyObject *module);
int add_link_evidence_functions(PyObject *module);

#endif
