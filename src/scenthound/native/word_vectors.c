/* Vectors of the words of a page: distinct words with weights, scaled to length 1, and products that are rounded once.

   The results are those of numpy and of math.fsum in relevance/word_vectors.py. */

#include "exact_sums.h"
#include "native.h"
#include "word_weights.h"

#include <math.h>

/* Counts */

/* How often each word is on the page at hand; all 0 between two calls. It is as large as the vocabulary, so that counting
   takes neither hashing nor sorting. Counts end at `MAX_COUNT`. */
static uint16_t *n_of_word;
static size_t n_of_word_room;

#define MAX_COUNT UINT16_MAX

/* Make room for the counts of all words; false, with an exception set, without memory. */
static bool make_room_for(const int32_t *words, size_t n_words)
{
    int32_t largest = 0;
    for (size_t index = 0; index < n_words; index++) {
        largest = words[index] > largest ? words[index] : largest;
    }
    size_t before = n_of_word_room;
    if ((size_t)largest < before) {
        return true;
    }
    if (make_room((void **)&n_of_word, &n_of_word_room, (size_t)largest + 1, sizeof *n_of_word) < 0) {
        return false;
    }
    memset(n_of_word + before, 0, (n_of_word_room - before) * sizeof *n_of_word);
    return true;
}

/* The distinct words of 1 and more, in the order of their first occurrences; returns how many there are. Both loops are
   without branches, because stop words and new words are unpredictable. */
static size_t count_words(const int32_t *words, size_t n_words, int32_t *distinct)
{
    size_t n_kept = 0, n_distinct = 0;
    for (size_t index = 0; index < n_words; index++) {
        distinct[n_kept] = words[index];
        n_kept += words[index] > 0;
    }
    uint16_t *counts = n_of_word;
    for (size_t index = 0; index < n_kept; index++) {
        int32_t word = distinct[index];
        uint16_t count = counts[word];
        distinct[n_distinct] = word;
        n_distinct += count == 0;
        counts[word] = (uint16_t)(count + (count < MAX_COUNT));
    }
    return n_distinct;
}

/* Vectors of length 1 */

enum { WORDS, RANKS, WEIGHTS, LOGARITHMS, QUERY, N_ARRAYS };

static const size_t item_sizes[N_ARRAYS] = {sizeof(int32_t), OF_RANKS, sizeof(double), sizeof(double), sizeof(double)};

typedef struct {
    double *log_counts, *values, *products; /* the parts of one allocation, as the words */
    int32_t *words;
    size_t count;
    double length; /* before it is scaled; 1 if it is 0 */
} Vector;

static void free_vector(Vector *vector)
{
    free(vector->log_counts);
    vector->log_counts = NULL;
}

/* Weigh the distinct words and reset their counts; false if one of the counts has no logarithm. */
static bool weigh(Vector vector, WordWeights weights, const Py_buffer *logarithms)
{
    const double *of_count = logarithms->buf;
    size_t n_logarithms = length_of(logarithms);
    bool is_complete = true;
    for (size_t index = 0; index < vector.count; index++) {
        int32_t word = vector.words[index];
        size_t count = n_of_word[word];
        n_of_word[word] = 0;
        is_complete = is_complete && count < n_logarithms;
        double log_count = is_complete ? of_count[count] : 0, value = log_count * weight_of(weights, word);
        vector.log_counts[index] = log_count;
        vector.values[index] = value;
        vector.products[index] = value * value;
    }
    return is_complete;
}

static void scale(Vector *vector)
{
    double length = sqrt(exact_sum(vector->products, vector->count));
    vector->length = length == 0 ? 1 : length;
    for (size_t index = 0; index < vector->count; index++) {
        vector->values[index] /= vector->length;
    }
}

/* The vector of a page. Without memory there is none, with an exception set; nor is there if a count has no logarithm. */
static bool make_vector(Vector *vector, const Py_buffer *arrays)
{
    size_t n_words = length_of(&arrays[WORDS]);
    WordWeights weights;
    if (!use_weights(&weights, &arrays[RANKS], &arrays[WEIGHTS]) || !make_room_for(arrays[WORDS].buf, n_words)) {
        return false;
    }
    double *room = malloc((n_words + 1) * (3 * sizeof *room + sizeof(int32_t)));
    if (room == NULL) {
        PyErr_NoMemory();
        return false;
    }
    *vector = (Vector){room, room + n_words, room + 2 * n_words, (int32_t *)(void *)(room + 3 * n_words), 0, 1};
    vector->count = count_words(arrays[WORDS].buf, n_words, vector->words);
    if (!weigh(*vector, weights, &arrays[LOGARITHMS])) {
        free_vector(vector);
        return false;
    }
    scale(vector);
    return true;
}

static PyObject *no_vector(void)
{
    return PyErr_Occurred() == NULL ? Py_NewRef(Py_None) : NULL;
}

static PyObject *weigh_words(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *objects[QUERY];
    Py_buffer arrays[QUERY];
    if (!PyArg_ParseTuple(arguments, "OOOO", &objects[WORDS], &objects[RANKS], &objects[WEIGHTS],
                          &objects[LOGARITHMS]) ||
        get_arrays(objects, arrays, item_sizes, QUERY) < 0) {
        return NULL;
    }
    Vector vector;
    bool is_made = make_vector(&vector, arrays);
    release_arrays(arrays, QUERY);
    if (!is_made) {
        return no_vector();
    }
    PyObject *items[] = {
        array_of(vector.words, vector.count, sizeof *vector.words),
        array_of(vector.log_counts, vector.count, sizeof *vector.log_counts),
        array_of(vector.values, vector.count, sizeof *vector.values),
        PyFloat_FromDouble(vector.length),
    };
    free_vector(&vector);
    return packed(items, 4);
}

/* Products */

/* Multiply values by the factors of their words, or one by one without words; the last factor is that of all higher
   words. */
static double product_of(const double *values, size_t count, const double *factors, size_t n_factors,
                         const int32_t *words, double *products)
{
    for (size_t index = 0; index < count; index++) {
        products[index] = values[index] * factors[words == NULL ? index : index_of(words[index], n_factors)];
    }
    return exact_sum(products, count);
}

static PyObject *page_product(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *objects[N_ARRAYS], *result = NULL;
    Py_buffer arrays[N_ARRAYS];
    if (!PyArg_ParseTuple(arguments, "OOOOO", &objects[WORDS], &objects[RANKS], &objects[WEIGHTS],
                          &objects[LOGARITHMS], &objects[QUERY]) ||
        get_arrays(objects, arrays, item_sizes, N_ARRAYS) < 0) {
        return NULL;
    }
    Vector vector;
    if (length_of(&arrays[QUERY]) == 0) {
        PyErr_SetString(PyExc_ValueError, "the query must not be empty");
    } else if (!make_vector(&vector, arrays)) {
        result = no_vector();
    } else {
        double product = product_of(vector.values, vector.count, arrays[QUERY].buf, length_of(&arrays[QUERY]),
                                    vector.words, vector.products);
        result = Py_BuildValue("dd", product, vector.length);
        free_vector(&vector);
    }
    release_arrays(arrays, N_ARRAYS);
    return result;
}

enum { ONE, OTHER, POSITIONS, N_FACTORS };

static const size_t factor_sizes[N_FACTORS] = {sizeof(double), sizeof(double), sizeof(int32_t)};

static PyObject *exact_product(const Py_buffer *one, const Py_buffer *other, const Py_buffer *words)
{
    size_t count = length_of(one), n_factors = length_of(other);
    if (count != (words == NULL ? n_factors : length_of(words)) || (count > 0 && n_factors == 0)) {
        PyErr_SetString(PyExc_ValueError, "both arrays must have the same length");
        return NULL;
    }
    double *products = malloc((count + 1) * sizeof *products);
    if (products == NULL) {
        return PyErr_NoMemory();
    }
    double product = product_of(one->buf, count, other->buf, n_factors, words == NULL ? NULL : words->buf, products);
    free(products);
    return PyFloat_FromDouble(product);
}

static PyObject *exact_dot(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *objects[N_FACTORS] = {NULL};
    Py_buffer arrays[N_FACTORS];
    if (!PyArg_ParseTuple(arguments, "OO|O", &objects[ONE], &objects[OTHER], &objects[POSITIONS])) {
        return NULL;
    }
    int n_arrays = objects[POSITIONS] == NULL ? POSITIONS : N_FACTORS;
    if (get_arrays(objects, arrays, factor_sizes, n_arrays) < 0) {
        return NULL;
    }
    PyObject *result = exact_product(&arrays[ONE], &arrays[OTHER], n_arrays == N_FACTORS ? &arrays[POSITIONS] : NULL);
    release_arrays(arrays, n_arrays);
    return result;
}

static PyMethodDef methods[] = {
    {"weigh_words", weigh_words, METH_VARARGS, "The vector of the words of a page."},
    {"page_product", page_product, METH_VARARGS, "The product of this vector and a query, and its length."},
    {"exact_dot", exact_dot, METH_VARARGS, "The dot product, rounded once."},
    {NULL, NULL, 0, NULL},
};

int add_word_vectors(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
