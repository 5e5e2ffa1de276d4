/* All references of a page: their URLs, or the numbers of their URLs in a table. */

#include "resolved_references.h"

#include "arrays.h"
#include "references.h"

/* URLs that are looked up at the same time, so that the processor loads their slots together. */
#define BATCH 16

/* The URLs of references: numbers are NEW or say why there is no URL, which is empty then. */
typedef struct {
    Buffer urls;
    PyObject *numbers, *ends;
    size_t n;
} Resolved;

static void free_resolved(Resolved *resolved)
{
    free(resolved->urls.text);
    Py_CLEAR(resolved->numbers);
    Py_CLEAR(resolved->ends);
}

static bool resolve_each(const Base *base, const Py_buffer *text, const Py_buffer *ends, Resolved *resolved)
{
    Buffer scratch = {0};
    bool is_done = true;
    for (size_t i = 0; is_done && i < resolved->n; i++) {
        Bytes reference;
        if (!part_of(text, ends, i, &reference)) {
            is_done = false;
            break;
        }
        Resolution result = resolve_reference(base, reference, &resolved->urls, &scratch);
        if (result == NO_MEMORY || resolved->urls.length > UINT32_MAX) {
            PyErr_NoMemory();
            is_done = false;
        }
        set_item(resolved->numbers, i, result == RESOLVED ? NEW : result == UNUSUAL ? LEFT_TO_LIBRARY : WITHOUT_TARGET);
        set_item(resolved->ends, i, (int32_t)(uint32_t)resolved->urls.length);
    }
    free(scratch.text);
    return is_done;
}

static bool resolve_all(PyObject *arguments, Resolved *resolved)
{
    Py_buffer base_url, text, ends;
    if (!PyArg_ParseTuple(arguments, "y*y*y*", &base_url, &text, &ends))
        return false;
    Base base;
    bool is_done = read_base(&base, (Bytes){base_url.buf, (size_t)base_url.len});
    if (is_done) {
        *resolved = (Resolved){.n = n_items(&ends)};
        resolved->numbers = new_array(resolved->n);
        resolved->ends = new_array(resolved->n);
        is_done = resolved->numbers != NULL && resolved->ends != NULL && resolve_each(&base, &text, &ends, resolved);
    } else {
        PyErr_SetString(PyExc_ValueError, "The base URL is not canonical.");
    }
    PyBuffer_Release(&base_url);
    PyBuffer_Release(&text);
    PyBuffer_Release(&ends);
    return is_done;
}

static PyObject *as_tuple(Resolved *resolved)
{
    const char *text = resolved->urls.length ? (const char *)resolved->urls.text : "";
    PyObject *urls = PyBytes_FromStringAndSize(text, (Py_ssize_t)resolved->urls.length), *tuple = NULL;
    if (urls != NULL)
        tuple = PyTuple_Pack(3, resolved->numbers, urls, resolved->ends);
    Py_XDECREF(urls);
    return tuple;
}

PyObject *resolve_references(PyObject *module, PyObject *arguments)
{
    (void)module;
    Resolved resolved = {0};
    PyObject *tuple = resolve_all(arguments, &resolved) ? as_tuple(&resolved) : NULL;
    free_resolved(&resolved);
    return tuple;
}

/* Replace NEW by the numbers of known URLs, and keep only the others. */
static bool find_known(UrlTable *table, Resolved *resolved)
{
    int32_t *numbers = (int32_t *)PyByteArray_AsString(resolved->numbers);
    uint32_t *ends = (uint32_t *)PyByteArray_AsString(resolved->ends);
    uint8_t *text = resolved->urls.text;
    UrlKey keys[BATCH];
    Bytes urls[BATCH];
    size_t n_new = 0, new_end = 0, start = 0;
    for (size_t first = 0; first < resolved->n; first += BATCH) {
        size_t n = resolved->n - first < BATCH ? resolved->n - first : BATCH;
        for (size_t i = 0; i < n; i++) {
            urls[i] = (Bytes){text + start, ends[first + i] - start};
            start = ends[first + i];
            if (numbers[first + i] == NEW)
                keys[i] = table_key(table, urls[i]);
        }
        for (size_t i = 0; i < n; i++) {
            if (numbers[first + i] != NEW || (numbers[first + i] = table_find(table, keys[i])) != NOT_FOUND)
                continue;
            numbers[first + i] = NEW;
            /* Before or at its place, and so before all that are still to be read. */
            memmove(text + new_end, urls[i].text, urls[i].length);
            new_end += urls[i].length;
            ends[n_new++] = (uint32_t)new_end;
        }
    }
    resolved->urls.length = new_end;
    return PyByteArray_Resize(resolved->ends, (Py_ssize_t)(n_new * sizeof(uint32_t))) == 0;
}

PyObject *resolve_in_table(UrlTable *table, PyObject *arguments)
{
    Resolved resolved = {0};
    PyObject *tuple = NULL;
    if (resolve_all(arguments, &resolved) && find_known(table, &resolved))
        tuple = as_tuple(&resolved);
    free_resolved(&resolved);
    return tuple;
}
