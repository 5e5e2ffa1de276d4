/* The types and functions of the extension for URLs; `_native.pyi` describes them. */

#include "url_types.h"

#include "arrays.h"
#include "resolved_references.h"

typedef struct {
    PyObject_HEAD
    UrlTable table;
} UrlTableObject;

/* Where URLs are put together. */
typedef struct {
    uint8_t *text;
    size_t room;
} Text;

static UrlTable *table_of(PyObject *self)
{
    return &((UrlTableObject *)self)->table;
}


/* The UTF-8 of a string, with lone surrogates. `owner` is set if it must be released afterwards. */
static bool bytes_of(PyObject *string, Bytes *bytes, PyObject **owner)
{
    Py_ssize_t length;
    *owner = NULL;
    const char *text = PyUnicode_AsUTF8AndSize(string, &length);
    if (text == NULL && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear();
        *owner = PyUnicode_AsEncodedString(string, "utf-8", "surrogatepass");
        if (*owner == NULL)
            return false;
        text = PyBytes_AsString(*owner);
        length = PyBytes_Size(*owner);
    }
    *bytes = (Bytes){(const uint8_t *)text, text == NULL ? 0 : (size_t)length};
    return text != NULL;
}

static PyObject *string_of(Bytes text)
{
    return PyUnicode_DecodeUTF8((const char *)text.text, (Py_ssize_t)text.length, "surrogatepass");
}

/* URL table */

static PyObject *table_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"key", "end_bits", NULL};
    const char *key;
    Py_ssize_t key_length;
    int end_bits = 32;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "y#|i", names, &key, &key_length, &end_bits))
        return NULL;
    HashKey hash_key;
    if (key_length != sizeof hash_key || end_bits < 1 || end_bits > 32) {
        PyErr_SetString(PyExc_ValueError, "The key must have 16 bytes, and ends 1 to 32 bits.");
        return NULL;
    }
    memcpy(&hash_key, key, sizeof hash_key);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = allocate(type, 0);
    if (self != NULL && !table_init(table_of(self), hash_key, end_bits)) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return self;
}

static void table_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    table_free(table_of(self));
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static Py_ssize_t table_length(PyObject *self)
{
    return (Py_ssize_t)table_of(self)->urls.n;
}

static bool add_string(UrlTable *table, PyObject *url, int32_t *number)
{
    Bytes text;
    PyObject *owner;
    if (!bytes_of(url, &text, &owner))
        return false;
    *number = table_add(table, text);
    Py_XDECREF(owner);
    if (*number == NOT_FOUND)
        PyErr_NoMemory();
    return *number != NOT_FOUND;
}

static PyObject *table_add_strings(PyObject *self, PyObject *urls)
{
    if (!PyList_Check(urls)) {
        PyErr_SetString(PyExc_TypeError, "The URLs must be a list.");
        return NULL;
    }
    Py_ssize_t n = PyList_Size(urls);
    PyObject *numbers = new_array((size_t)n);
    for (Py_ssize_t i = 0; numbers != NULL && i < n; i++) {
        int32_t number;
        PyObject *url = PyList_GetItem(urls, i);
        if (url == NULL || !add_string(table_of(self), url, &number))
            Py_CLEAR(numbers);
        else
            set_item(numbers, (size_t)i, number);
    }
    return numbers;
}

/* Copy numbers to `added`, with those of the next texts for NEW ones. */
static bool add_found(UrlTable *table, const Py_buffer *numbers, const Py_buffer *text, const Py_buffer *ends,
                      PyObject *added)
{
    size_t n_used = 0;
    for (size_t i = 0; i < n_items(numbers); i++) {
        int32_t number = item_of(numbers, i);
        if (number == NEW) {
            Bytes url;
            if (n_used == n_items(ends)) {
                PyErr_SetString(PyExc_ValueError, "There are more new URLs than texts.");
                return false;
            }
            if (!part_of(text, ends, n_used++, &url))
                return false;
            number = table_add(table, url);
            if (number == NOT_FOUND) {
                PyErr_NoMemory();
                return false;
            }
        }
        set_item(added, i, number);
    }
    return true;
}

static PyObject *table_add_found(PyObject *self, PyObject *arguments)
{
    Py_buffer numbers, text, ends;
    if (!PyArg_ParseTuple(arguments, "y*y*y*", &numbers, &text, &ends))
        return NULL;
    PyObject *added = new_array(n_items(&numbers));
    if (added != NULL && !add_found(table_of(self), &numbers, &text, &ends, added))
        Py_CLEAR(added);
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&text);
    PyBuffer_Release(&ends);
    return added;
}

static bool append_all(UrlTable *table, PyObject *texts)
{
    PyObject *iterator = PyObject_GetIter(texts), *text = NULL;
    if (iterator == NULL)
        return false;
    bool is_appended = true;
    while (is_appended && (text = PyIter_Next(iterator)) != NULL) {
        char *bytes;
        Py_ssize_t length;
        is_appended = PyBytes_AsStringAndSize(text, &bytes, &length) == 0;
        if (is_appended && !table_append_lines(table, (Bytes){(const uint8_t *)bytes, (size_t)length})) {
            PyErr_NoMemory();
            is_appended = false;
        }
        Py_DECREF(text);
    }
    Py_DECREF(iterator);
    return is_appended && !PyErr_Occurred();
}

static PyObject *table_load(PyObject *self, PyObject *texts)
{
    UrlTable *table = table_of(self);
    if (table->urls.n) {
        PyErr_SetString(PyExc_ValueError, "Only an empty table can be loaded.");
        return NULL;
    }
    bool is_loaded = append_all(table, texts);
    /* Also after a failure: without its index the table would not know what it has. */
    if (!table_index(table))
        return PyErr_NoMemory();
    return is_loaded ? Py_NewRef(Py_None) : NULL;
}

static PyObject *table_find_string(PyObject *self, PyObject *url)
{
    Bytes text;
    PyObject *owner;
    if (!bytes_of(url, &text, &owner))
        return NULL;
    int32_t number = table_find(table_of(self), table_key(table_of(self), text));
    Py_XDECREF(owner);
    return number == NOT_FOUND ? Py_NewRef(Py_None) : PyLong_FromLong(number);
}

/* The URL of a number below the length of the table. */
static PyObject *url_string(const UrlTable *table, size_t number, Text *buffer)
{
    Bytes origin = name_text(&table->origins, table->urls.names[number].group);
    Bytes rest = name_text(&table->urls, number);
    size_t length = origin.length + rest.length;
    if (!grow_to((void **)&buffer->text, &buffer->room, length, 1))
        return PyErr_NoMemory();
    if (origin.length)
        memcpy(buffer->text, origin.text, origin.length);
    if (rest.length)
        memcpy(buffer->text + origin.length, rest.text, rest.length);
    return string_of((Bytes){buffer->text, length});
}

static PyObject *table_url(PyObject *self, PyObject *argument)
{
    Py_ssize_t number = PyNumber_AsSsize_t(argument, PyExc_IndexError), n = table_length(self);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    if (number < 0 || number >= n)
        return PyErr_Format(PyExc_IndexError, "No URL %zd in a table of %zd.", number, n);
    Text buffer = {0};
    PyObject *url = url_string(table_of(self), (size_t)number, &buffer);
    free(buffer.text);
    return url;
}

static PyObject *table_urls(PyObject *self, PyObject *arguments)
{
    Py_ssize_t first, last, n = table_length(self);
    if (!PyArg_ParseTuple(arguments, "nn", &first, &last))
        return NULL;
    if (first < 0 || first > last || last > n)
        return PyErr_Format(PyExc_IndexError, "No URLs %zd to %zd in a table of %zd.", first, last, n);
    Text buffer = {0};
    PyObject *urls = PyList_New(last - first);
    for (Py_ssize_t number = first; urls != NULL && number < last; number++) {
        PyObject *url = url_string(table_of(self), (size_t)number, &buffer);
        if (url == NULL || PyList_SetItem(urls, number - first, url) < 0)
            Py_CLEAR(urls);
    }
    free(buffer.text);
    return urls;
}

static PyObject *table_hosts(PyObject *self, PyObject *argument)
{
    const UrlTable *table = table_of(self);
    Py_buffer numbers;
    if (PyObject_GetBuffer(argument, &numbers, PyBUF_SIMPLE) < 0)
        return NULL;
    PyObject *hosts = new_array(n_items(&numbers));
    for (size_t i = 0; hosts != NULL && i < n_items(&numbers); i++) {
        int32_t number = item_of(&numbers, i);
        if (number >= 0 && (size_t)number < table->urls.n) {
            set_item(hosts, i, (int32_t)table_host(table, (size_t)number));
        } else {
            PyErr_Format(PyExc_IndexError, "No URL %d in a table of %zd.", (int)number, table_length(self));
            Py_CLEAR(hosts);
        }
    }
    PyBuffer_Release(&numbers);
    return hosts;
}

static PyObject *table_host_name(PyObject *self, PyObject *argument)
{
    const Names *hosts = &table_of(self)->hosts;
    Py_ssize_t number = PyNumber_AsSsize_t(argument, PyExc_IndexError);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    if (number < 0 || (size_t)number >= hosts->n)
        return PyErr_Format(PyExc_IndexError, "No host %zd among %zu.", number, hosts->n);
    return string_of(name_text(hosts, (size_t)number));
}

static PyObject *table_n_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromSize_t(table_bytes(table_of(self)));
}

static PyObject *table_resolve(PyObject *self, PyObject *arguments)
{
    return resolve_in_table(table_of(self), arguments);
}

static PyMethodDef table_methods[] = {
    {"add_strings", table_add_strings, METH_O, NULL},
    {"add_texts", table_add_found, METH_VARARGS, NULL},
    {"load", table_load, METH_O, NULL},
    {"find", table_find_string, METH_O, NULL},
    {"url", table_url, METH_O, NULL},
    {"urls", table_urls, METH_VARARGS, NULL},
    {"host_numbers", table_hosts, METH_O, NULL},
    {"host", table_host_name, METH_O, NULL},
    {"n_bytes", table_n_bytes, METH_NOARGS, NULL},
    {"resolve_texts", table_resolve, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot table_slots[] = {
    {Py_tp_new, table_new},
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_methods, table_methods},
    {Py_sq_length, table_length},
    {0, NULL},
};

static PyType_Spec table_spec = {
    .name = "scenthound.native._native.UrlTable",
    .basicsize = sizeof(UrlTableObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = table_slots,
};

/* Functions */

static PyObject *siphash_of(PyObject *module, PyObject *arguments)
{
    (void)module;
    unsigned long long first, second;
    Py_buffer text;
    if (!PyArg_ParseTuple(arguments, "y*KK", &text, &first, &second))
        return NULL;
    uint64_t hash = siphash((HashKey){first, second}, text.buf, (size_t)text.len);
    PyBuffer_Release(&text);
    return PyLong_FromUnsignedLongLong(hash);
}

static PyMethodDef functions[] = {
    {"resolve_references", resolve_references, METH_VARARGS, NULL},
    {"siphash", siphash_of, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_url_types(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &table_spec, NULL);
    int result = type == NULL ? -1 : PyModule_AddObjectRef(module, "UrlTable", type);
    Py_XDECREF(type);
    return result < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
