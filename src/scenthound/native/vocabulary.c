/* The type Vocabulary: the numbers of words, for Python. */

#include "words.h"

#define N_ASCII 0x80
/* Below, characters take one or two bytes. */
#define THREE_BYTES 0x800

typedef struct {
    PyObject_HEAD
    Py_buffer letters; /* bytes, which never change */
    Words words;
} Vocabulary;

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

static PyObject *start(PyObject *object, Arguments *given)
{
    Vocabulary *self = (Vocabulary *)object;
    Words *words = &self->words;
    const Py_buffer *stop_words = &given->arrays[1];
    self->letters = given->arrays[0];
    given->arrays[0].obj = NULL;
    words->key = key_of(given->salt);
    words->letters = (Letters){self->letters.buf, (size_t)self->letters.len / sizeof(uint32_t)};
    bool is_added = check(self->letters.readonly && is_usable(words->letters), "not a table of letters") &&
                    names_init(&words->stems, words->key) && add_stem(words, (Bytes){NULL, 0}) == STOP &&
                    seen_enlarge(&words->seen) == 0;
    Bytes rest = {stop_words->buf, (size_t)stop_words->len};
    for (Bytes word; is_added && next_line(&rest, &word);) {
        is_added = add_stop_word(words, word) == 0;
    }
    return none_if(is_added);
}

static void dealloc(PyObject *object)
{
    Vocabulary *self = (Vocabulary *)object;
    names_free(&self->words.stems);
    seen_clear(&self->words.seen);
    PyBuffer_Release(&self->letters);
    free_object(object);
}

static bool are_cuts(const Py_buffer *cuts, size_t length)
{
    const uint32_t *positions = cuts->buf;
    uint32_t last = 0;
    for (size_t index = 0; index < length_of(cuts); index++) {
        if (positions[index] < last || positions[index] > length) {
            return false;
        }
        last = positions[index];
    }
    return true;
}

static PyObject *scan(PyObject *self, Arguments *given)
{
    const Py_buffer *text = &given->arrays[0], *cuts = &given->arrays[1];
    size_t length = (size_t)text->len, n_cuts = length_of(cuts), n_words = 0;
    /* A word is followed by another character, a cut or the end. */
    size_t max_words = length / 2 + n_cuts + 1;
    if (!check(text->len <= INT32_MAX && are_cuts(cuts, length),
               "cuts must be ascending positions in a text of less than 2 GB")) {
        return NULL;
    }
    int32_t *numbers = room_for(given, max_words + n_cuts, sizeof *numbers), *before = numbers + max_words;
    if (numbers == NULL) {
        return NULL;
    }
    Words *words = &((Vocabulary *)self)->words;
    enum scan_result state = scan_words(words, text->buf, length, cuts->buf, n_cuts, numbers, &n_words, before);
    if (state != SCAN_DONE) {
        return none_if(state == SCAN_UNSUPPORTED);
    }
    return Py_BuildValue("NN", array_of(numbers, n_words, sizeof *numbers), array_of(before, n_cuts, sizeof *before));
}

/* Numbers a stem; -1 with an exception set. */
typedef int32_t NumberStem(Words *words, Bytes stem);

static PyObject *numbers_of(PyObject *self, PyObject *strings, NumberStem *number_stem)
{
    PyObject *items = PySequence_Tuple(strings);
    Py_ssize_t count = items == NULL ? 0 : PyTuple_Size(items);
    int32_t *numbers;
    PyObject *result = items == NULL ? NULL : new_array((size_t)count, sizeof *numbers, &numbers);
    for (Py_ssize_t index = 0; result != NULL && index < count; index++) {
        Bytes stem;
        PyObject *owner = NULL;
        bool is_text = utf_8_of(PyTuple_GetItem(items, index), &stem, &owner);
        if (!is_text || (numbers[index] = number_stem(&((Vocabulary *)self)->words, stem)) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(owner);
    }
    Py_XDECREF(items);
    return result;
}

static PyObject *find(PyObject *self, Arguments *given)
{
    return numbers_of(self, given->objects[0], add_stem);
}

static PyObject *look_up(PyObject *self, Arguments *given)
{
    return numbers_of(self, given->objects[0], find_stem);
}

static PyObject *look_up_from(PyObject *self, Arguments *given)
{
    if (!PyObject_TypeCheck(given->objects[0], Py_TYPE(self))) {
        return PyErr_Format(PyExc_TypeError, "not a vocabulary");
    }
    const Names *stems = &((Vocabulary *)given->objects[0])->words.stems;
    size_t first, end;
    int32_t *numbers;
    PyObject *result =
        get_range(given->integers, stems->n, &first, &end) ? new_array(end - first, sizeof *numbers, &numbers) : NULL;
    for (size_t number = first; result != NULL && number < end; number++) {
        numbers[number - first] = find_stem(&((Vocabulary *)self)->words, name_text(stems, number));
    }
    return result;
}

static PyObject *load(PyObject *self, Arguments *given)
{
    const Py_buffer *text = &given->arrays[0];
    Words *words = &((Vocabulary *)self)->words;
    /* Most stems have more letters. */
    bool is_loaded = names_reserve(&words->stems, (size_t)text->len / 8);
    Bytes rest = {text->buf, (size_t)text->len};
    for (Bytes stem; is_loaded && next_line(&rest, &stem);) {
        is_loaded = add_stem(words, stem) >= 0;
    }
    return none_if(is_loaded);
}

static PyObject *stem(PyObject *self, Arguments *given)
{
    const Names *stems = &((Vocabulary *)self)->words.stems;
    Py_ssize_t number = given->integers[0];
    return is_index(number, stems->n) ? string_of(name_text(stems, (size_t)number)) : NULL;
}

static PyObject *stems_from(PyObject *self, Arguments *given)
{
    const Names *stems = &((Vocabulary *)self)->words.stems;
    size_t first, end;
    PyObject *result =
        get_range(given->integers, stems->n, &first, &end) ? PyList_New((Py_ssize_t)(end - first)) : NULL;
    for (size_t number = first; result != NULL && number < end; number++) {
        PyObject *text = string_of(name_text(stems, number));
        if (text == NULL || PyList_SetItem(result, (Py_ssize_t)(number - first), text) < 0) {
            Py_CLEAR(result);
        }
    }
    return result;
}

static PyObject *count_unspaced(PyObject *self, Arguments *given)
{
    const Words *known = &((Vocabulary *)self)->words;
    const Py_buffer *words = &given->arrays[0];
    const uint32_t *numbers = words->buf;
    size_t total = 0;
    if (!check(are_below(words, known->stems.n), "no word has this number")) {
        return NULL;
    }
    for (size_t index = 0; known->has_unspaced && index < length_of(words); index++) {
        total += known->stems.names[numbers[index]].group;
    }
    return PyLong_FromSize_t(total);
}

static PyObject *n_bytes(PyObject *self, Arguments *Py_UNUSED(given))
{
    const Words *words = &((Vocabulary *)self)->words;
    return PyLong_FromSize_t(names_bytes(&words->stems) + words->seen.n_slots * sizeof *words->seen.slots);
}

static Py_ssize_t length(PyObject *self)
{
    return (Py_ssize_t)((Vocabulary *)self)->words.stems.n;
}

#define METHODS(METHOD)                                                                                                \
    METHOD(scan, "yi")                                                                                                 \
    METHOD(find, "o")                                                                                                  \
    METHOD(look_up, "o")                                                                                               \
    METHOD(look_up_from, "onn")                                                                                        \
    METHOD(load, "y")                                                                                                  \
    METHOD(stem, "n")                                                                                                  \
    METHOD(stems_from, "nn")                                                                                           \
    METHOD(count_unspaced, "i")                                                                                        \
    METHOD(n_bytes, "")
DEFINE_TYPE(Vocabulary, Vocabulary, vocabulary_spec, "kyy", start, {Py_sq_length, length}, )

PyObject *stem_word(PyObject *Py_UNUSED(module), Arguments *given)
{
    size_t length_before = (size_t)given->arrays[0].len;
    unsigned char word[MAX_WORD_BYTES + 1];
    if (!check(length_before <= MAX_WORD_BYTES, "the word is too long")) {
        return NULL;
    }
    memcpy(word, given->arrays[0].buf, length_before);
    return PyBytes_FromStringAndSize((char *)word, (Py_ssize_t)porter_stem(word, length_before));
}
