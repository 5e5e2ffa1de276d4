/* The type Vocabulary: the numbers of words, for Python. */

#include "words.h"

#define N_ASCII 0x80
/* Below, characters take one or two bytes. */
#define THREE_BYTES 0x800

typedef struct {
    PyObject_HEAD
    PyObject *table; /* the bytes of the letters */
    Words words;
} Vocabulary;

static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ mixed >> 31;
}

/* Whether the table agrees with what the code that reads bytes takes for granted. */
static bool is_usable(Letters letters)
{
    if (letters.n_codes < THREE_BYTES) {
        return false;
    }
    for (uint32_t code = 0; code < THREE_BYTES; code++) {
        bool is_capital = code >= 'A' && code <= 'Z', is_small = code >= 'a' && code <= 'z';
        bool is_letter = is_capital || is_small || (code >= '0' && code <= '9');
        uint32_t lower = letters.lower[code];
        if (lower >= UNSPACED || (code < N_ASCII && lower != (is_letter ? code | 0x20 : 0))) {
            return false;
        }
    }
    return true;
}

static int add_stop_words(Words *words, const unsigned char *text, size_t length)
{
    for (size_t start = 0, end = 0; end <= length; end++) {
        if (end < length && text[end] != '\n') {
            continue;
        }
        if (add_stop_word(words, text + start, end - start) < 0) {
            return -1;
        }
        start = end + 1;
    }
    return 0;
}

static int init_words(Vocabulary *self, uint64_t salt, PyObject *stop_words)
{
    Words *words = &self->words;
    words->key.of_block = next_random(&salt);
    words->key.of_chain = next_random(&salt);
    words->key.of_end = next_random(&salt);
    words->letters.lower = (const uint32_t *)(const void *)PyBytes_AsString(self->table);
    words->letters.n_codes = (size_t)PyBytes_Size(self->table) / sizeof(uint32_t);
    if (!is_usable(words->letters)) {
        PyErr_SetString(PyExc_ValueError, "not a table of letters");
        return -1;
    }
    if (stems_init(&words->stems, words->key, words->letters) < 0 || seen_init(&words->seen) < 0) {
        return -1;
    }
    const unsigned char *text = (const unsigned char *)PyBytes_AsString(stop_words);
    return add_stop_words(words, text, (size_t)PyBytes_Size(stop_words));
}

static PyObject *vocabulary_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"salt", "letters", "stop_words", NULL};
    unsigned long long salt;
    PyObject *table, *stop_words;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "KSS", names, &salt, &table, &stop_words)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Vocabulary *self = (Vocabulary *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    Py_INCREF(table);
    self->table = table;
    if (init_words(self, salt, stop_words) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void vocabulary_dealloc(PyObject *object)
{
    Vocabulary *self = (Vocabulary *)object;
    PyTypeObject *type = Py_TYPE(object);
    stems_clear(&self->words.stems);
    seen_clear(&self->words.seen);
    Py_XDECREF(self->table);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static bool are_cuts(const Py_buffer *cuts, size_t length)
{
    const uint32_t *positions = cuts->buf;
    uint32_t last = 0;
    for (Py_ssize_t index = 0; index < cuts->len / (Py_ssize_t)sizeof *positions; index++) {
        if (positions[index] < last || positions[index] > length) {
            return false;
        }
        last = positions[index];
    }
    return true;
}

static PyObject *scanned(Words *words, const Py_buffer *text, const Py_buffer *cuts)
{
    size_t length = (size_t)text->len, n_cuts = (size_t)cuts->len / sizeof(uint32_t), n_words = 0;
    /* A word is followed by another character, a cut or the end. */
    size_t max_words = length / 2 + n_cuts + 1;
    int32_t *numbers = malloc((max_words + n_cuts) * sizeof *numbers), *before = numbers + max_words;
    if (numbers == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *result = NULL;
    enum scan_result state = scan_words(words, text->buf, length, cuts->buf, n_cuts, numbers, &n_words, before);
    if (state == SCAN_UNSUPPORTED) {
        result = Py_NewRef(Py_None);
    } else if (state == SCAN_DONE) {
        PyObject *of_words = PyByteArray_FromStringAndSize((char *)numbers, (Py_ssize_t)(n_words * sizeof *numbers));
        PyObject *of_cuts = PyByteArray_FromStringAndSize((char *)before, (Py_ssize_t)(n_cuts * sizeof *before));
        result = of_words == NULL || of_cuts == NULL ? NULL : PyTuple_Pack(2, of_words, of_cuts);
        Py_XDECREF(of_words);
        Py_XDECREF(of_cuts);
    }
    free(numbers);
    return result;
}

static PyObject *vocabulary_scan(PyObject *self, PyObject *arguments)
{
    Py_buffer text = {0}, cuts = {0};
    PyObject *cut_positions, *result = NULL;
    if (!PyArg_ParseTuple(arguments, "y*O", &text, &cut_positions)) {
        return NULL;
    }
    if (get_array(cut_positions, &cuts, sizeof(uint32_t)) == 0) {
        if (text.len > INT32_MAX || !are_cuts(&cuts, (size_t)text.len)) {
            PyErr_SetString(PyExc_ValueError, "cuts must be ascending positions in a text of less than 2 GB");
        } else {
            result = scanned(&((Vocabulary *)self)->words, &text, &cuts);
        }
        PyBuffer_Release(&cuts);
    }
    PyBuffer_Release(&text);
    return result;
}

/* Numbers stems; -1 with an exception set. */
typedef int32_t NumberStem(Stems *stems, const unsigned char *stem, size_t length);

static int32_t number_of_string(Stems *stems, PyObject *string, NumberStem *number_stem)
{
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(string, &length);
    if (text != NULL) {
        return number_stem(stems, (const unsigned char *)text, (size_t)length);
    }
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        return -1;
    }
    PyErr_Clear();
    PyObject *encoded = PyUnicode_AsEncodedString(string, "utf-8", "surrogatepass");
    if (encoded == NULL) {
        return -1;
    }
    int32_t number = number_stem(stems, (unsigned char *)PyBytes_AsString(encoded), (size_t)PyBytes_Size(encoded));
    Py_DECREF(encoded);
    return number;
}

static PyObject *numbers_of(Stems *stems, PyObject *strings, NumberStem *number_stem)
{
    PyObject *items = PySequence_Tuple(strings);
    if (items == NULL) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_Size(items);
    PyObject *result = PyByteArray_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(int32_t));
    for (Py_ssize_t index = 0; result != NULL && index < count; index++) {
        int32_t number = number_of_string(stems, PyTuple_GetItem(items, index), number_stem);
        if (number < 0) {
            Py_CLEAR(result);
        } else {
            memcpy(PyByteArray_AsString(result) + index * (Py_ssize_t)sizeof number, &number, sizeof number);
        }
    }
    Py_DECREF(items);
    return result;
}

static PyObject *vocabulary_find(PyObject *self, PyObject *strings)
{
    return numbers_of(&((Vocabulary *)self)->words.stems, strings, stems_number);
}

static PyObject *vocabulary_look_up(PyObject *self, PyObject *strings)
{
    return numbers_of(&((Vocabulary *)self)->words.stems, strings, stems_known);
}

static PyObject *vocabulary_look_up_from(PyObject *self, PyObject *arguments)
{
    PyObject *other;
    Py_ssize_t first, at_most;
    if (!PyArg_ParseTuple(arguments, "O!nn", Py_TYPE(self), &other, &first, &at_most)) {
        return NULL;
    }
    const Stems *stems = &((Vocabulary *)other)->words.stems;
    if (first < 0 || at_most < 0) {
        PyErr_SetString(PyExc_IndexError, "no word has this number");
        return NULL;
    }
    Py_ssize_t n_left = first < (Py_ssize_t)stems->count ? (Py_ssize_t)stems->count - first : 0;
    size_t count = (size_t)(n_left < at_most ? n_left : at_most);
    PyObject *result = array_of(NULL, count, sizeof(int32_t));
    if (result != NULL) {
        int32_t *numbers = (int32_t *)(void *)PyByteArray_AsString(result);
        stems_look_up(&((Vocabulary *)self)->words.stems, stems, (uint32_t)first, count, numbers);
    }
    return result;
}

static PyObject *vocabulary_load(PyObject *self, PyObject *lines)
{
    Py_buffer text;
    if (PyObject_GetBuffer(lines, &text, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    int result = stems_load(&((Vocabulary *)self)->words.stems, text.buf, (size_t)text.len);
    PyBuffer_Release(&text);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *stem_of(const Stems *stems, uint32_t number)
{
    uint32_t start = number == 0 ? 0 : stems->ends[number - 1];
    return PyUnicode_DecodeUTF8((const char *)stems->text + start, stems->ends[number] - start, "surrogatepass");
}

static PyObject *vocabulary_stem(PyObject *self, PyObject *argument)
{
    const Stems *stems = &((Vocabulary *)self)->words.stems;
    long number = PyLong_AsLong(argument);
    if (number == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (number < 0 || (unsigned long)number >= stems->count) {
        PyErr_SetString(PyExc_IndexError, "no word has this number");
        return NULL;
    }
    return stem_of(stems, (uint32_t)number);
}

static PyObject *vocabulary_stems_from(PyObject *self, PyObject *arguments)
{
    const Stems *stems = &((Vocabulary *)self)->words.stems;
    Py_ssize_t first, at_most;
    if (!PyArg_ParseTuple(arguments, "nn", &first, &at_most)) {
        return NULL;
    }
    if (first < 0 || at_most < 0) {
        PyErr_SetString(PyExc_IndexError, "no word has this number");
        return NULL;
    }
    Py_ssize_t n_left = first < (Py_ssize_t)stems->count ? (Py_ssize_t)stems->count - first : 0;
    Py_ssize_t count = n_left < at_most ? n_left : at_most;
    PyObject *result = PyList_New(count);
    for (Py_ssize_t index = 0; result != NULL && index < count; index++) {
        PyObject *stem = stem_of(stems, (uint32_t)(first + index));
        if (stem == NULL) {
            Py_CLEAR(result);
        } else {
            PyList_SetItem(result, index, stem);
        }
    }
    return result;
}

static PyObject *vocabulary_count_unspaced(PyObject *self, PyObject *words)
{
    const Stems *stems = &((Vocabulary *)self)->words.stems;
    Py_buffer numbers;
    if (get_array(words, &numbers, sizeof(int32_t)) < 0) {
        return NULL;
    }
    const uint32_t *items = numbers.buf;
    size_t total = 0, n_words = stems->has_unspaced ? (size_t)numbers.len / sizeof *items : 0;
    bool is_known = true;
    for (size_t index = 0; index < n_words && is_known; index++) {
        is_known = items[index] < stems->count;
        total += is_known && stems_is_unspaced(stems, items[index]);
    }
    PyBuffer_Release(&numbers);
    if (!is_known) {
        PyErr_SetString(PyExc_IndexError, "no word has this number");
        return NULL;
    }
    return PyLong_FromSize_t(total);
}

static PyObject *vocabulary_n_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    const Words *words = &((Vocabulary *)self)->words;
    return PyLong_FromSize_t(stems_bytes(&words->stems) + words->seen.n_slots * sizeof *words->seen.slots);
}

static Py_ssize_t vocabulary_length(PyObject *self)
{
    return (Py_ssize_t)((Vocabulary *)self)->words.stems.count;
}

static PyMethodDef methods[] = {
    {"scan", vocabulary_scan, METH_VARARGS, "The number of every word, and the number of words before each cut."},
    {"find", vocabulary_find, METH_O, "The number of every stem; new ones get the next numbers."},
    {"look_up", vocabulary_look_up, METH_O, "The number of every stem; 0 for those that have none."},
    {"look_up_from", vocabulary_look_up_from, METH_VARARGS, "The same for the stems of another vocabulary."},
    {"load", vocabulary_load, METH_O, "Find all stems of a text with one in each line."},
    {"stem", vocabulary_stem, METH_O, "The stem with a number."},
    {"stems_from", vocabulary_stems_from, METH_VARARGS, "The stems with this number and above, or some of them."},
    {"count_unspaced", vocabulary_count_unspaced, METH_O, "How many of the words are of unspaced letters."},
    {"n_bytes", vocabulary_n_bytes, METH_NOARGS, "The memory that is used."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Numbers of words; see scenthound.text.vocabulary."},
    {Py_tp_new, vocabulary_new},
    {Py_tp_dealloc, vocabulary_dealloc},
    {Py_tp_methods, methods},
    {Py_sq_length, vocabulary_length},
    {0, NULL},
};

static PyType_Spec spec = {"scenthound.native._native.Vocabulary", sizeof(Vocabulary), 0, Py_TPFLAGS_DEFAULT, slots};

static PyObject *stem_word(PyObject *module, PyObject *word)
{
    (void)module;
    char *text;
    Py_ssize_t length;
    unsigned char buffer[MAX_WORD_BYTES + 1];
    if (PyBytes_AsStringAndSize(word, &text, &length) < 0) {
        return NULL;
    }
    if (length > MAX_WORD_BYTES) {
        PyErr_SetString(PyExc_ValueError, "the word is too long");
        return NULL;
    }
    memcpy(buffer, text, (size_t)length);
    return PyBytes_FromStringAndSize((char *)buffer, (Py_ssize_t)porter_stem(buffer, (size_t)length));
}

static PyMethodDef functions[] = {
    {"stem_word", stem_word, METH_O, "The Porter stem of a word of lower-case letters, in UTF-8."},
    {NULL, NULL, 0, NULL},
};

int add_vocabulary(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int result = type == NULL ? -1 : PyModule_AddObjectRef(module, "Vocabulary", type);
    Py_XDECREF(type);
    return result < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
