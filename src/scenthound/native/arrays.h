/* Arrays of integers of four bytes, and texts that are concatenated with an array of their ends. */

#ifndef SCENTHOUND_ARRAYS_H
#define SCENTHOUND_ARRAYS_H

#include "names.h"

/* To be read by numpy. */
static inline PyObject *new_array(size_t n)
{
    return PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(int32_t)));
}

static inline void set_item(PyObject *array, size_t index, int32_t number)
{
    memcpy(PyByteArray_AsString(array) + index * sizeof number, &number, sizeof number);
}

static inline int32_t item_of(const Py_buffer *array, size_t index)
{
    int32_t number;
    memcpy(&number, (const char *)array->buf + index * sizeof number, sizeof number);
    return number;
}

static inline size_t n_items(const Py_buffer *array)
{
    return (size_t)array->len / sizeof(int32_t);
}

/* Text number `index`; false, with an exception, if the ends do not ascend or exceed the text. */
static inline bool part_of(const Py_buffer *text, const Py_buffer *ends, size_t index, Bytes *part)
{
    uint32_t start = index ? (uint32_t)item_of(ends, index - 1) : 0, end = (uint32_t)item_of(ends, index);
    if (start > end || end > (size_t)text->len) {
        PyErr_SetString(PyExc_ValueError, "The ends of texts must ascend, and not exceed the text.");
        return false;
    }
    *part = (Bytes){(const uint8_t *)text->buf + start, end - start};
    return true;
}

#endif
