/* The distinct words of pages and their counts, in the order of the words. The result is that of `plain_terms_of` in
   store/builder.py. */

#include "native.h"

#define DIGIT_BITS 8
#define N_DIGITS (1 << DIGIT_BITS)

/* Sort numbers of 0 and more, in as many passes as the largest one has digits; returns the array that has them. */
static int32_t *sorted(int32_t *numbers, int32_t *others, size_t count)
{
    int32_t largest = 0;
    for (size_t index = 0; index < count; index++) {
        largest |= numbers[index];
    }
    for (unsigned shift = 0; shift < 31 && largest >> shift; shift += DIGIT_BITS) {
        size_t starts[N_DIGITS + 1] = {0};
        for (size_t index = 0; index < count; index++) {
            starts[(numbers[index] >> shift & (N_DIGITS - 1)) + 1]++;
        }
        for (size_t digit = 0; digit < N_DIGITS; digit++) {
            starts[digit + 1] += starts[digit];
        }
        for (size_t index = 0; index < count; index++) {
            others[starts[numbers[index] >> shift & (N_DIGITS - 1)]++] = numbers[index];
        }
        int32_t *swapped = numbers;
        numbers = others;
        others = swapped;
    }
    return numbers;
}

/* Write the distinct words of 1 and more, ascending, and their counts; returns how many there are. `room` has two items
   for each word. */
static size_t count_page(const int32_t *words, size_t n_words, int32_t *room, int32_t *terms, int32_t *counts)
{
    size_t n_kept = 0, n_terms = 0;
    for (size_t index = 0; index < n_words; index++) {
        room[n_kept] = words[index];
        n_kept += words[index] > 0;
    }
    const int32_t *in_order = sorted(room, room + n_words, n_kept);
    for (size_t index = 0, end; index < n_kept; index = end) {
        for (end = index + 1; end < n_kept && in_order[end] == in_order[index]; end++) {
        }
        terms[n_terms] = in_order[index];
        counts[n_terms++] = (int32_t)(end - index);
    }
    return n_terms;
}

/* The number of words of the longest page; -1, with an exception, if the lengths are not those of the words. */
static Py_ssize_t longest_of(const Py_buffer *lengths, size_t n_words)
{
    const int32_t *of_page = lengths->buf;
    size_t sum = 0;
    int32_t longest = 0;
    bool is_valid = true;
    for (size_t page = 0; page < length_of(lengths); page++) {
        is_valid = is_valid && of_page[page] >= 0;
        sum += (size_t)(is_valid ? of_page[page] : 0);
        longest = of_page[page] > longest ? of_page[page] : longest;
    }
    if (!is_valid || sum != n_words) {
        PyErr_SetString(PyExc_ValueError, "lengths must be those of pages that have all the words");
        return -1;
    }
    return longest;
}

static PyObject *counted(const int32_t *words, size_t n_words, const Py_buffer *lengths, size_t longest)
{
    size_t n_pages = length_of(lengths), n_terms = 0;
    const int32_t *of_page = lengths->buf;
    int32_t *terms = malloc((2 * (n_words + longest) + n_pages + 1) * sizeof *terms);
    if (terms == NULL) {
        return PyErr_NoMemory();
    }
    int32_t *counts = terms + n_words, *term_lengths = counts + n_words, *room = term_lengths + n_pages;
    for (size_t page = 0; page < n_pages; page++) {
        size_t n_page = (size_t)of_page[page];
        size_t n_found = count_page(words, n_page, room, terms + n_terms, counts + n_terms);
        term_lengths[page] = (int32_t)n_found;
        n_terms += n_found;
        words += n_page;
    }
    PyObject *items[] = {
        array_of(terms, n_terms, sizeof *terms),
        array_of(counts, n_terms, sizeof *counts),
        array_of(term_lengths, n_pages, sizeof *term_lengths),
    };
    free(terms);
    return packed(items, 3);
}

static PyObject *count_terms(PyObject *module, PyObject *arguments)
{
    (void)module;
    enum { WORDS, LENGTHS, N_ARRAYS };
    static const size_t item_sizes[N_ARRAYS] = {sizeof(int32_t), sizeof(int32_t)};
    PyObject *objects[N_ARRAYS], *result = NULL;
    Py_buffer arrays[N_ARRAYS];
    if (!PyArg_ParseTuple(arguments, "OO", &objects[WORDS], &objects[LENGTHS]) ||
        get_arrays(objects, arrays, item_sizes, N_ARRAYS) < 0) {
        return NULL;
    }
    Py_ssize_t longest = longest_of(&arrays[LENGTHS], length_of(&arrays[WORDS]));
    if (longest >= 0) {
        result = counted(arrays[WORDS].buf, length_of(&arrays[WORDS]), &arrays[LENGTHS], (size_t)longest);
    }
    release_arrays(arrays, N_ARRAYS);
    return result;
}

static PyMethodDef functions[] = {
    {"count_terms", count_terms, METH_VARARGS, "The distinct words of pages, their counts, and how many a page has."},
    {NULL, NULL, 0, NULL},
};

int add_word_counts(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
