/* The extension module, and what its parts do with objects of Python. */

#include "native.h"

/* Arguments */

static const struct {
    char kind;
    uint8_t sizes[2]; /* of an item */
    const char *formats;
    bool is_changed;
    const char *name;
} kinds[] = {
    {'i', {4, 4}, "iIlL", false, "integers of 4 bytes"}, {'l', {8, 8}, "lLqQ", false, "integers of 8 bytes"},
    {'r', {2, 4}, "HIL", false, "ranks"},                {'B', {1, 1}, "?bB", true, "integers of 1 byte"},
    {'d', {8, 8}, "d", false, "doubles"},                {'D', {8, 8}, "d", true, "doubles"},
    {'u', {0, 0}, "T", false, "records"},                {'U', {0, 0}, "T", true, "records"},
};

static bool get_array(PyObject *object, Py_buffer *array, char kind)
{
    if (kind == 'y') {
        return PyObject_GetBuffer(object, array, PyBUF_SIMPLE) == 0;
    }
    size_t which = 0;
    while (kinds[which].kind != kind) {
        which++;
    }
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (kinds[which].is_changed ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, array, flags) < 0) {
        return false;
    }
    const uint8_t *sizes = kinds[which].sizes;
    char format = array->format == NULL ? 'B' : array->format[0];
    bool is_kind = strchr(kinds[which].formats, format) != NULL &&
                   (sizes[0] == 0 || array->itemsize == sizes[0] || array->itemsize == sizes[1]);
    /* Records consist of numbers of at most four bytes. */
    uintptr_t alignment = sizes[0] == 0 ? sizeof(int32_t) : (uintptr_t)array->itemsize;
    if (is_kind && (array->len == 0 || (uintptr_t)array->buf % alignment == 0)) {
        return true;
    }
    PyErr_Format(PyExc_ValueError, "not an array of %s", kinds[which].name);
    PyBuffer_Release(array);
    return false;
}

/* Get the arguments of a call by their kinds; false with an exception set. */
static bool get_arguments(Arguments *given, PyObject *const *objects, Py_ssize_t n_objects, const char *wanted)
{
    Py_ssize_t *integer = given->integers, index = 0;
    double *number = given->numbers;
    PyObject **object = given->objects;
    bool is_optional = false;
    for (; *wanted && (index < n_objects || is_optional || *wanted == '|'); wanted++) {
        if (*wanted == '|') {
            is_optional = true;
        } else if (index == n_objects) {
            given->arrays[given->n_arrays++].obj = NULL;
        } else if (*wanted == 'n') {
            *integer++ = PyNumber_AsSsize_t(objects[index++], NULL);
        } else if (*wanted == 'f') {
            *number++ = PyFloat_AsDouble(objects[index++]);
        } else if (*wanted == 'k') {
            given->salt = PyLong_AsUnsignedLongLongMask(objects[index++]);
        } else if (*wanted == 'o') {
            *object++ = objects[index++];
        } else {
            given->n_arrays += get_array(objects[index++], &given->arrays[given->n_arrays], *wanted);
        }
        if (PyErr_Occurred() != NULL) {
            return false;
        }
    }
    if (*wanted || index < n_objects) {
        PyErr_SetString(PyExc_TypeError, "arguments are missing, or there are more than parameters");
        return false;
    }
    return true;
}

PyObject *call_with(PyObject *self, PyObject *const *objects, Py_ssize_t n_objects, const char *wanted, Call *call)
{
    Arguments given;
    given.n_arrays = given.n_rooms = 0;
    PyObject *result = get_arguments(&given, objects, n_objects, wanted) ? call(self, &given) : NULL;
    while (given.n_arrays > 0) {
        PyBuffer_Release(&given.arrays[--given.n_arrays]);
    }
    for (int index = 0; index < given.n_rooms; index++) {
        free(given.rooms[index]);
    }
    return result;
}

static void *room_of(Arguments *given, void *memory)
{
    if (memory == NULL) {
        PyErr_NoMemory();
    } else {
        given->rooms[given->n_rooms++] = memory;
    }
    return memory;
}

void *room_for(Arguments *given, size_t count, size_t item_size)
{
    return room_of(given, malloc((count > 0 ? count : 1) * item_size));
}

void *zeros_for(Arguments *given, size_t count, size_t item_size)
{
    return room_of(given, calloc(count > 0 ? count : 1, item_size));
}

bool is_index(Py_ssize_t number, size_t limit)
{
    if (number < 0 || (size_t)number >= limit) {
        PyErr_Format(PyExc_IndexError, "There is no number %zd in a table of %zu.", number, limit);
        return false;
    }
    return true;
}

bool get_range(const Py_ssize_t *from_and_count, size_t limit, size_t *first, size_t *end)
{
    if (from_and_count[0] < 0 || from_and_count[1] < 0) {
        PyErr_SetString(PyExc_IndexError, "Numbers must be 0 or more.");
        return false;
    }
    size_t from = (size_t)from_and_count[0], count = (size_t)from_and_count[1];
    *first = from < limit ? from : limit;
    *end = count < limit - *first ? *first + count : limit;
    return true;
}

bool are_offsets(const Py_buffer *offsets, size_t end)
{
    const int64_t *items = offsets->buf;
    size_t count = length_of(offsets);
    bool is_valid = count > 0 && items[0] == 0 && items[count - 1] == (int64_t)end;
    for (size_t index = 1; index < count; index++) {
        is_valid &= items[index - 1] <= items[index];
    }
    return is_valid;
}

bool are_indices(const Py_buffer *numbers, size_t limit)
{
    const int64_t *items = numbers->buf;
    bool is_valid = true;
    for (size_t index = 0; index < length_of(numbers); index++) {
        is_valid &= items[index] >= 0 && (size_t)items[index] < limit;
    }
    return is_valid;
}

/* Texts */

bool utf_8_of(PyObject *string, Bytes *bytes, PyObject **owner)
{
    Py_ssize_t length;
    *owner = NULL;
    const char *text = PyUnicode_AsUTF8AndSize(string, &length);
    if (text == NULL && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear();
        *owner = PyUnicode_AsEncodedString(string, "utf-8", "surrogatepass");
        if (*owner == NULL) {
            return false;
        }
        text = PyBytes_AsString(*owner);
        length = PyBytes_Size(*owner);
    }
    *bytes = (Bytes){(const uint8_t *)text, text == NULL ? 0 : (size_t)length};
    return text != NULL;
}

PyObject *string_of(Bytes text)
{
    return PyUnicode_DecodeUTF8((const char *)text.text, (Py_ssize_t)text.length, "surrogatepass");
}

bool next_line(Bytes *text, Bytes *line)
{
    if (text->text == NULL) {
        return false;
    }
    const uint8_t *end = text->length == 0 ? NULL : memchr(text->text, '\n', text->length);
    *line = (Bytes){text->text, end == NULL ? text->length : (size_t)(end - text->text)};
    *text = end == NULL ? (Bytes){NULL, 0} : (Bytes){end + 1, text->length - line->length - 1};
    return true;
}

/* Types and functions */

PyObject *new_with(PyTypeObject *type, PyObject *arguments, PyObject *named, const char *wanted, Call *start)
{
    PyObject *objects[MAX_ARRAYS], *self = NULL, *started = NULL;
    Py_ssize_t n_objects = PyTuple_Size(arguments);
    if (named != NULL || n_objects > MAX_ARRAYS) {
        return PyErr_Format(PyExc_TypeError, "there are more arguments than parameters, or some have names");
    }
    for (Py_ssize_t index = 0; index < n_objects; index++) {
        objects[index] = PyTuple_GetItem(arguments, index);
    }
    self = ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    started = self == NULL ? NULL : call_with(self, objects, n_objects, wanted, start);
    if (started == NULL) {
        Py_CLEAR(self);
    }
    Py_XDECREF(started);
    return self;
}

void free_object(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

FUNCTIONS(CALLED_WITH)
static PyMethodDef functions[] = {FUNCTIONS(METHOD_ENTRY) NO_METHOD};

static int prepare(PyObject *module)
{
    PyType_Spec *specs[] = {&heaps_spec, &url_table_spec, &vocabulary_spec, &crawled_web_spec};
    for (size_t index = 0; index < sizeof specs / sizeof *specs; index++) {
        PyObject *type = PyType_FromModuleAndSpec(module, specs[index], NULL);
        int result = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
        Py_XDECREF(type);
        if (result < 0) {
            return -1;
        }
    }
    return choose_secret(module) && prepare_html() ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, prepare},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = "Functions in C; see scenthound.native.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
