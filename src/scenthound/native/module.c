/* The extension module. Each part of it adds its types and functions. */

#include "heaps.h"
#include "html.h"
#include "native.h"
#include "url_types.h"

int get_array(PyObject *object, Py_buffer *array, size_t item_size)
{
    if (PyObject_GetBuffer(object, array, PyBUF_C_CONTIGUOUS) < 0) {
        return -1;
    }
    /* Records consist of numbers of at most eight bytes. */
    size_t alignment = item_size > sizeof(double) ? sizeof(double) : item_size;
    bool is_aligned = array->len == 0 || (uintptr_t)array->buf % alignment == 0;
    if ((size_t)array->itemsize != item_size || !is_aligned) {
        PyBuffer_Release(array);
        PyErr_Format(PyExc_ValueError, "not an array of numbers of %zu bytes", item_size);
        return -1;
    }
    return 0;
}

static int get_ranks(PyObject *object, Py_buffer *array)
{
    if (get_array(object, array, sizeof(uint16_t)) == 0) {
        return 0;
    }
    PyErr_Clear();
    return get_array(object, array, sizeof(uint32_t));
}

int get_arrays(PyObject *const *objects, Py_buffer *arrays, const size_t *item_sizes, int count)
{
    for (int index = 0; index < count; index++) {
        size_t size = item_sizes[index];
        if ((size == OF_RANKS ? get_ranks(objects[index], &arrays[index])
                              : get_array(objects[index], &arrays[index], size)) < 0) {
            release_arrays(arrays, index);
            return -1;
        }
    }
    return 0;
}

void release_arrays(Py_buffer *arrays, int count)
{
    while (count > 0) {
        PyBuffer_Release(&arrays[--count]);
    }
}

PyObject *packed(PyObject **items, Py_ssize_t count)
{
    bool is_complete = true;
    for (Py_ssize_t index = 0; index < count; index++) {
        is_complete = is_complete && items[index] != NULL;
    }
    PyObject *result = is_complete ? PyTuple_New(count) : NULL;
    for (Py_ssize_t index = 0; index < count; index++) {
        if (result == NULL) {
            Py_XDECREF(items[index]);
        } else {
            PyTuple_SetItem(result, index, items[index]);
        }
    }
    return result;
}

static int add_all(PyObject *module)
{
    bool is_added = add_html(module) == 0 && add_url_types(module) == 0 && add_vocabulary(module) == 0 &&
                    add_word_counts(module) == 0 && add_word_statistics(module) == 0 && add_word_vectors(module) == 0 &&
                    add_word_windows(module) == 0 && add_repeats(module) == 0 && add_heaps(module) == 0 &&
                    add_link_evidence_functions(module) == 0;
    return is_added ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, add_all},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = "Functions in C; see scenthound.native.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
