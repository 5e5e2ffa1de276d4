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

/* Arguments. Each function checks its arrays once, before it reads or writes any:
   - that they are arrays of the right numbers, by their kinds in `FUNCTIONS` or in the methods of a type,
   - that their lengths fit each other, and numbers that are indices are within bounds, by `check` and `are_below`.

   The kinds of arguments: arrays whose items are one after the other,
   i l    integers of 4 and 8 bytes, signed or not
   r B    integers of 2 or 4 bytes, and of 1
   d D    doubles; with a capital letter, the array is changed
   u U    records of URLs (`link_evidence.c`)
   y      any bytes
   and others: `n` an index or a number of items, as large as possible if it is larger, `f` a double, `k` a salt, `o` any
   object. Behind `|` an array may be missing; its `obj` is NULL then. */

#define MAX_ARRAYS 16

/* What a function is called with, each kind in order; it is released after the call. No function has more of a kind. */
typedef struct {
    Py_buffer arrays[MAX_ARRAYS];
    Py_ssize_t integers[2];
    double numbers[2];
    uint64_t salt;
    PyObject *objects[4];
    void *rooms[4];
    int n_arrays, n_rooms;
} Arguments;

typedef PyObject *Call(PyObject *self, Arguments *given);

/* Call a function with arguments of these kinds. */
PyObject *call_with(PyObject *self, PyObject *const *objects, Py_ssize_t n_objects, const char *wanted, Call *call);
/* Memory that lasts for a call, of any content or of 0; NULL with an exception set if there is none. That it is new lets
   the compiler keep in registers what loops read elsewhere. */
__attribute__((malloc)) void *room_for(Arguments *given, size_t count, size_t item_size);
__attribute__((malloc)) void *zeros_for(Arguments *given, size_t count, size_t item_size);

/* All functions of the module with the kinds of their arguments. */
#define FUNCTIONS(FUNCTION)                                                                                            \
    FUNCTION(add_link_evidence, "Undiiddiii")                                                                          \
    FUNCTION(are_within, "dff")                                                                                        \
    FUNCTION(best_of_repeats, "id")                                                                                    \
    FUNCTION(context_bounds, "iinn")                                                                                   \
    FUNCTION(count_cosines, "idiif")                                                                                   \
    FUNCTION(count_terms, "ii")                                                                                        \
    FUNCTION(exact_dot, "dd|i")                                                                                        \
    FUNCTION(learn_words, "DDif")                                                                                      \
    FUNCTION(link_features, "uiddd")                                                                                   \
    FUNCTION(pagerank, "liffn")                                                                                        \
    FUNCTION(phrase_positions, "iin")                                                                                  \
    FUNCTION(read_html, "yn")                                                                                          \
    FUNCTION(score_link_evidence, "uidddd")                                                                            \
    FUNCTION(simhash, "inl")                                                                                           \
    FUNCTION(squared_length, "dd")                                                                                     \
    FUNCTION(squared_norm, "i")                                                                                        \
    FUNCTION(stem_word, "y")                                                                                           \
    FUNCTION(subtract_vectors, "idlDd")                                                                                \
    FUNCTION(total_weight, "id")                                                                                       \
    FUNCTION(vector_products, "idld")                                                                                  \
    FUNCTION(visit_link_evidence, "Unf")                                                                               \
    FUNCTION(weigh_words, "irdd")                                                                                      \
    FUNCTION(window_cosines, "irddldiiff")

#define DECLARED(name, wanted) PyObject *name(PyObject *module, Arguments *given);
FUNCTIONS(DECLARED)

#define CALLED_WITH(name, wanted)                                                                                      \
    static PyObject *name##_called(PyObject *self, PyObject *const *objects, Py_ssize_t n_objects)                     \
    {                                                                                                                  \
        return call_with(self, objects, n_objects, wanted, name);                                                      \
    }
#define METHOD_ENTRY(name, wanted) {#name, (PyCFunction)(void (*)(void))name##_called, METH_FASTCALL, NULL},
#define NO_METHOD {NULL, NULL, 0, NULL}

/* Types */

/* A new object, all 0, that `start` was called with; it returns None, or NULL with an exception set. */
PyObject *new_with(PyTypeObject *type, PyObject *arguments, PyObject *named, const char *wanted, Call *start);
/* Release the memory of an object, whose content was released. */
void free_object(PyObject *object);

/* Define a type by how it starts with these kinds of arguments, by `dealloc` and by a list METHODS like FUNCTIONS; more
   slots may follow. */
#define DEFINE_TYPE(name, Type, spec_name, wanted, start, ...)                                                         \
    METHODS(CALLED_WITH)                                                                                               \
    static PyMethodDef methods[] = {METHODS(METHOD_ENTRY) NO_METHOD};                                                  \
    static PyObject *new(PyTypeObject *type, PyObject *arguments, PyObject *named)                                     \
    {                                                                                                                  \
        return new_with(type, arguments, named, wanted, start);                                                        \
    }                                                                                                                  \
    static PyType_Slot slots[] = {                                                                                     \
        {Py_tp_new, new}, {Py_tp_dealloc, dealloc}, {Py_tp_methods, methods}, __VA_ARGS__ {0, NULL}};                  \
    PyType_Spec spec_name = {                                                                                          \
        "scenthound.native._native." #name, sizeof(Type), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

extern PyType_Spec heaps_spec, url_table_spec, vocabulary_spec, crawled_web_spec;

/* Checks */

static inline size_t length_of(const Py_buffer *array)
{
    return (size_t)array->len / (size_t)array->itemsize;
}

/* Whether arguments are valid; if not, with a ValueError set. */
static inline bool check(bool is_valid, const char *message)
{
    if (!is_valid) {
        PyErr_SetString(PyExc_ValueError, message);
    }
    return is_valid;
}

/* Whether all numbers of four bytes are at least 0 and below a limit. */
static inline bool are_below(const Py_buffer *numbers, size_t limit)
{
    const uint32_t *items = (const uint32_t *)numbers->buf;
    uint32_t first_invalid = limit > INT32_MAX ? (uint32_t)INT32_MAX + 1 : (uint32_t)limit;
    size_t count = length_of(numbers);
    bool is_any_invalid = false;
    for (size_t index = 0; index < count; index++) {
        is_any_invalid |= items[index] >= first_invalid;
    }
    return !is_any_invalid;
}

/* Whether a number is below a limit; if not, with an IndexError set. */
bool is_index(Py_ssize_t number, size_t limit);
/* A range of numbers below a limit, from the first one on; false with an IndexError if that or the count is negative. */
bool get_range(const Py_ssize_t *from_and_count, size_t limit, size_t *first, size_t *end);
/* Whether numbers of eight bytes ascend from 0 to the end of an array. */
bool are_offsets(const Py_buffer *offsets, size_t end);
/* Whether all numbers of eight bytes are at least 0 and below a limit. */
bool are_indices(const Py_buffer *numbers, size_t limit);

/* Results */

/* A new array of numbers, to be read by numpy. */
static inline PyObject *array_of(const void *items, size_t count, size_t item_size)
{
    return PyByteArray_FromStringAndSize(items, (Py_ssize_t)(count * item_size));
}

/* A new array that is to be filled, by a pointer to its items. */
static inline PyObject *new_array(size_t count, size_t item_size, void *items)
{
    PyObject *array = array_of(NULL, count, item_size);
    *(void **)items = array == NULL ? NULL : PyByteArray_AsString(array);
    return array;
}

/* None if the condition holds, otherwise NULL with the exception that is set. */
static inline PyObject *none_if(bool is_done)
{
    return is_done ? Py_NewRef(Py_None) : NULL;
}

/* Texts */

/* A part of a text. */
typedef struct {
    const uint8_t *text;
    size_t length;
} Bytes;

/* Bytes that grow. `failed` is set if there is no memory; then nothing more is written. */
typedef struct {
    uint8_t *bytes;
    size_t length, room;
    bool failed;
} Text;

bool text_reserve(Text *text, size_t more);
void text_add(Text *text, const void *bytes, size_t length);

/* The UTF-8 of a string, with lone surrogates. `owner` is set if it must be released afterwards. */
bool utf_8_of(PyObject *string, Bytes *bytes, PyObject **owner);
PyObject *string_of(Bytes text);
/* Cut the next line off; false at the end. A text without lines is one. */
bool next_line(Bytes *text, Bytes *line);

#define INVALID UINT32_MAX
/* A character at the start of `available` > 0 bytes of UTF-8 and its size; `INVALID` and 1 if there is none. */
uint32_t decode_character(const uint8_t *bytes, size_t available, size_t *size);
/* Write a character of up to four bytes, return its size. */
size_t encode_character(uint8_t *bytes, uint32_t code);

static inline bool is_letter(uint8_t byte)
{
    return (uint8_t)((byte | 0x20) - 'a') < 26;
}

static inline bool is_digit(uint8_t byte)
{
    return (uint8_t)(byte - '0') < 10;
}

/* Whether a text starts with a word in lower case, in any case; whether it is that word. */
static inline bool starts_with(Bytes text, const char *word)
{
    size_t index = 0;
    for (; word[index] && index < text.length; index++) {
        uint8_t byte = text.text[index];
        if ((byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte) != (uint8_t)word[index]) {
            return false;
        }
    }
    return word[index] == 0;
}

static inline bool is_word(Bytes text, const char *word)
{
    return text.length == strlen(word) && starts_with(text, word);
}

/* Hashes */

/* The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): different
   numbers have different results. It is that of `frontier.base.tie_keys`. */
static inline uint64_t mixed_bits(uint64_t number, uint64_t salt)
{
    uint64_t mixed = number * UINT64_C(0x9E3779B97F4A7C15) + salt;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ mixed >> 31;
}

/* word_statistics.c: of small hash tables that last for one call. Their slots depend on a secret, so that no page can
   choose numbers that cluster. */
extern uint64_t secret_factor;
/* The shift that reduces a product with the factor to a slot, with at least `n_slots` of them. */
unsigned shift_for(size_t n_slots);

/* pagerank.c: the pages with a link to each target, ascending, in arrays that are 0. Links of a page to the target of
   its own number may be dropped. */
void transpose(const int64_t *offset, const int32_t *target, size_t n_pages, size_t n_targets, bool drops_loops,
               int64_t *of_target, int32_t *sources);

/* Memory of arrays that may be large (memory.c); sizes are those of the last call. */

/* NULL without an exception if there is none. */
void *allocate_zeros(size_t n_bytes);
void release_memory(void *memory, size_t n_bytes);
/* Ensure that an array has room for this many items, with a sixteenth more than before, set to 0: memory that nothing was
   written to is not used yet. False with an exception set if there is none. */
bool make_room(void **array, size_t *room, size_t needed, size_t item_size);

/* What has to be done once; false with an exception set. */
bool choose_secret(PyObject *module); /* word_statistics.c */
bool prepare_html(void);

#endif
