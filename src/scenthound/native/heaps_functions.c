/* The functions on heaps that Python calls, with the arrays of `frontier.native_frontier`. */

#include "heaps.h"

#define N_ARRAYS 4

typedef struct {
    Py_buffer arrays[N_ARRAYS];
    int n_arrays;
    Heaps heaps;
} Borrowed;

static bool borrow_array(PyObject *object, Py_buffer *buffer, Py_ssize_t item_size)
{
    if (PyObject_GetBuffer(object, buffer, PyBUF_CONTIG) < 0)
        return false;
    if (buffer->len % item_size == 0)
        return true;
    PyBuffer_Release(buffer);
    PyErr_SetString(PyExc_ValueError, "An array has elements of another size.");
    return false;
}

static void give_back(Borrowed *borrowed)
{
    while (borrowed->n_arrays)
        PyBuffer_Release(&borrowed->arrays[--borrowed->n_arrays]);
}

/* Borrow pages, hosts, ranking and numbers. */
static bool borrow(PyObject *const objects[N_ARRAYS], Borrowed *borrowed)
{
    static const Py_ssize_t sizes[N_ARRAYS] = {sizeof(PageRecord), sizeof(HostRecord), sizeof(Entry), sizeof(int64_t)};
    for (borrowed->n_arrays = 0; borrowed->n_arrays < N_ARRAYS; borrowed->n_arrays++) {
        if (!borrow_array(objects[borrowed->n_arrays], &borrowed->arrays[borrowed->n_arrays],
                          sizes[borrowed->n_arrays])) {
            give_back(borrowed);
            return false;
        }
    }
    Py_buffer *arrays = borrowed->arrays;
    Heaps heaps = {arrays[0].buf, arrays[1].buf, arrays[2].buf, arrays[3].buf, 0, 0};
    heaps.n_pages = arrays[0].len / (Py_ssize_t)sizeof(PageRecord);
    heaps.n_hosts = arrays[1].len / (Py_ssize_t)sizeof(HostRecord);
    if (arrays[3].len < (Py_ssize_t)(N_NUMBERS * sizeof(int64_t)) ||
        arrays[2].len / (Py_ssize_t)sizeof(Entry) < heaps.n_hosts) {
        give_back(borrowed);
        PyErr_SetString(PyExc_ValueError, "The arrays of a frontier do not fit each other.");
        return false;
    }
    borrowed->heaps = heaps;
    return true;
}

/* Call a function on the heaps and an array of entries; returns how many it processed. */
static PyObject *with_entries(PyObject *arguments, Py_ssize_t (*function)(Heaps *, Entry *, Py_ssize_t))
{
    PyObject *objects[N_ARRAYS], *entries;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &objects[0], &objects[1], &objects[2], &objects[3], &entries))
        return NULL;
    Borrowed borrowed;
    Py_buffer buffer;
    if (!borrow(objects, &borrowed))
        return NULL;
    PyObject *count = NULL;
    if (borrow_array(entries, &buffer, sizeof(Entry))) {
        count = PyLong_FromSsize_t(function(&borrowed.heaps, buffer.buf, buffer.len / (Py_ssize_t)sizeof(Entry)));
        PyBuffer_Release(&buffer);
    }
    give_back(&borrowed);
    return count;
}

static PyObject *push_batch(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    return with_entries(arguments, heaps_push);
}

static PyObject *pop_best(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    return with_entries(arguments, heaps_pop_best);
}

static PyObject *pop_each(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    return with_entries(arguments, heaps_pop_each);
}

static PyObject *put_back(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    return with_entries(arguments, heaps_put_back);
}

static PyObject *scan(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *objects[N_ARRAYS], *passed_over, *scanned;
    if (!PyArg_ParseTuple(arguments, "OOOOOO", &objects[0], &objects[1], &objects[2], &objects[3], &passed_over,
                          &scanned))
        return NULL;
    Borrowed borrowed;
    Py_buffer passed_buffer, scanned_buffer;
    if (!borrow(objects, &borrowed))
        return NULL;
    bool is_done = false;
    if (borrow_array(passed_over, &passed_buffer, sizeof(Entry))) {
        if (borrow_array(scanned, &scanned_buffer, sizeof(Entry))) {
            heaps_scan(&borrowed.heaps, passed_buffer.buf, passed_buffer.len / (Py_ssize_t)sizeof(Entry),
                       scanned_buffer.buf, scanned_buffer.len / (Py_ssize_t)sizeof(Entry));
            PyBuffer_Release(&scanned_buffer);
            is_done = true;
        }
        PyBuffer_Release(&passed_buffer);
    }
    give_back(&borrowed);
    if (!is_done)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *list_queued(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *objects[N_ARRAYS];
    if (!PyArg_ParseTuple(arguments, "OOOO", &objects[0], &objects[1], &objects[2], &objects[3]))
        return NULL;
    Borrowed borrowed;
    if (!borrow(objects, &borrowed))
        return NULL;
    Py_ssize_t n_bytes = (Py_ssize_t)(borrowed.heaps.numbers[N_QUEUED] * (int64_t)sizeof(int32_t));
    PyObject *pages = PyByteArray_FromStringAndSize(NULL, n_bytes);
    PyObject *hosts = PyByteArray_FromStringAndSize(NULL, n_bytes);
    if (pages && hosts)
        heaps_list(&borrowed.heaps, (int32_t *)PyByteArray_AsString(pages), (int32_t *)PyByteArray_AsString(hosts));
    give_back(&borrowed);
    if (pages && hosts)
        return Py_BuildValue("NN", pages, hosts);
    Py_XDECREF(pages);
    Py_XDECREF(hosts);
    return NULL;
}

/* Move the hosts without a rank to the front of `passed_over`, in their order; returns their number. */
static PyObject *drop_stale(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *hosts, *passed_over;
    if (!PyArg_ParseTuple(arguments, "OO", &hosts, &passed_over))
        return NULL;
    Py_buffer host_buffer, entry_buffer;
    if (!borrow_array(hosts, &host_buffer, sizeof(HostRecord)))
        return NULL;
    if (!borrow_array(passed_over, &entry_buffer, sizeof(Entry))) {
        PyBuffer_Release(&host_buffer);
        return NULL;
    }
    const HostRecord *records = host_buffer.buf;
    Entry *entries = entry_buffer.buf;
    Py_ssize_t n_kept = 0;
    for (Py_ssize_t i = 0; i < entry_buffer.len / (Py_ssize_t)sizeof(Entry); i++)
        if (records[entries[i].host].rank == 0)
            entries[n_kept++] = entries[i];
    PyBuffer_Release(&entry_buffer);
    PyBuffer_Release(&host_buffer);
    return PyLong_FromSsize_t(n_kept);
}

/* Move the scanned hosts at the ascending positions `usable` to the front of `scanned`, and copy the others to the
   front of `passed_over`, which has room for them. */
static PyObject *split_scanned(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *objects[3];
    if (!PyArg_ParseTuple(arguments, "OOO", &objects[0], &objects[1], &objects[2]))
        return NULL;
    static const Py_ssize_t sizes[3] = {sizeof(Entry), sizeof(int64_t), sizeof(Entry)};
    Py_buffer buffers[3];
    int n_borrowed = 0;
    while (n_borrowed < 3 && borrow_array(objects[n_borrowed], &buffers[n_borrowed], sizes[n_borrowed]))
        n_borrowed++;
    bool is_done = false;
    if (n_borrowed == 3) {
        Entry *scanned = buffers[0].buf, *passed_over = buffers[2].buf;
        const int64_t *usable = buffers[1].buf;
        Py_ssize_t length = buffers[0].len / sizes[0], n_usable = buffers[1].len / sizes[1], n_done = 0;
        Py_ssize_t room = buffers[2].len / sizes[2];
        is_done = true;
        for (Py_ssize_t position = 0; is_done && position < length; position++) {
            if (n_done < n_usable && usable[n_done] == position)
                scanned[n_done++] = scanned[position];
            else if (position - n_done < room)
                passed_over[position - n_done] = scanned[position];
            else
                is_done = false;
        }
        if (!is_done)
            PyErr_SetString(PyExc_ValueError, "There is no room for the hosts that were passed over.");
    }
    while (n_borrowed)
        PyBuffer_Release(&buffers[--n_borrowed]);
    if (!is_done)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"push_batch", push_batch, METH_VARARGS, "Push entries; see scenthound.frontier.native_frontier."},
    {"pop_best", pop_best, METH_VARARGS, "Fill an array with the best pages of the ranked hosts."},
    {"pop_each", pop_each, METH_VARARGS, "Pop pages, each the best of another host."},
    {"put_back", put_back, METH_VARARGS, "Rank scanned hosts again."},
    {"scan", scan, METH_VARARGS, "Fill an array with the best hosts, which lose their rank."},
    {"drop_stale", drop_stale, METH_VARARGS, "Move the hosts without a rank to the front."},
    {"split_scanned", split_scanned, METH_VARARGS, "Separate usable hosts from those that are passed over."},
    {"list_queued", list_queued, METH_VARARGS, "The queued pages and their hosts."},
    {NULL, NULL, 0, NULL},
};

int add_heaps(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
