/* Vectors of the words of a page: distinct words with weights, scaled to length 1, and products that are rounded once.

   Slow versions are in tests/oracles/word_vectors.py. */

#include "exact_sums.h"
#include "native.h"
#include "word_weights.h"

#include <math.h>

/* Vectors of length 1 */

enum { WORDS, RANKS, WEIGHTS, LOGARITHMS };

typedef struct {
    double *log_counts, *values, *products; /* the parts of one allocation, as the words */
    int32_t *words;
    size_t count;
} Vector;

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

PyObject *weigh_words(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *arrays = given->arrays;
    size_t n_words = length_of(&arrays[WORDS]);
    WordWeights weights;
    if (!use_weights(&weights, &arrays[RANKS], &arrays[WEIGHTS]) || !make_counts(&arrays[WORDS])) {
        return NULL;
    }
    double *room = room_for(given, n_words, 3 * sizeof *room + sizeof(int32_t));
    if (room == NULL) {
        return NULL;
    }
    Vector vector = {room, room + n_words, room + 2 * n_words, (int32_t *)(void *)(room + 3 * n_words), 0};
    vector.count = count_words(arrays[WORDS].buf, n_words, vector.words);
    if (!weigh(vector, weights, &arrays[LOGARITHMS])) {
        return Py_NewRef(Py_None);
    }
    double length = sqrt(exact_sum(vector.products, vector.count));
    length = length == 0 ? 1 : length;
    for (size_t index = 0; index < vector.count; index++) {
        vector.values[index] /= length;
    }
    return Py_BuildValue("NNNd", array_of(vector.words, vector.count, sizeof *vector.words),
                         array_of(vector.log_counts, vector.count, sizeof *vector.log_counts),
                         array_of(vector.values, vector.count, sizeof *vector.values), length);
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

PyObject *exact_dot(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *one = &given->arrays[0], *other = &given->arrays[1], *words = &given->arrays[2];
    size_t count = length_of(one), n_factors = length_of(other);
    bool has_words = words->obj != NULL;
    double *products = room_for(given, count, sizeof *products);
    if (products == NULL || !check(count == (has_words ? length_of(words) : n_factors) && (count == 0 || n_factors > 0),
                                   "both arrays must have the same length")) {
        return NULL;
    }
    const int32_t *numbers = has_words ? words->buf : NULL;
    return PyFloat_FromDouble(product_of(one->buf, count, other->buf, n_factors, numbers, products));
}

PyObject *squared_length(PyObject *Py_UNUSED(module), Arguments *given)
{
    const double *vector = given->arrays[0].buf, *more = given->arrays[1].buf;
    size_t length = length_of(&given->arrays[0]), n_more = length_of(&given->arrays[1]), n_squares = 0;
    double *squares = room_for(given, length + n_more, sizeof *squares);
    if (squares == NULL) {
        return NULL;
    }
    /* Most words are not in the query; without a branch, because they are unpredictable. */
    for (size_t index = 0; index < length; index++) {
        squares[n_squares] = vector[index] * vector[index];
        n_squares += vector[index] != 0;
    }
    memcpy(squares + n_squares, more, n_more * sizeof *squares);
    return PyFloat_FromDouble(exact_sum(squares, n_squares + n_more));
}

/* Several vectors, one after the other */

enum { OF_WORDS, OF_VALUES, ENDS, QUERY, OF_FACTORS };

/* False, with an exception set, if the vectors are not within their arrays, or a word not within the target. */
static bool are_vectors(const Py_buffer *arrays)
{
    const int64_t *ends = arrays[ENDS].buf;
    size_t n_vectors = length_of(&arrays[ENDS]), n_words = length_of(&arrays[OF_WORDS]);
    bool is_valid = length_of(&arrays[OF_VALUES]) == n_words &&
                    are_below(&arrays[OF_WORDS], length_of(&arrays[QUERY])) &&
                    (n_vectors == 0 ? 0 : ends[n_vectors - 1]) == (int64_t)n_words;
    int64_t before = 0;
    for (size_t index = 0; index < n_vectors; index++) {
        is_valid = is_valid && ends[index] >= before;
        before = ends[index];
    }
    return check(is_valid, "vectors must end in their arrays, and have words of the query");
}

PyObject *subtract_vectors(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *arrays = given->arrays;
    if (!check(length_of(&arrays[OF_FACTORS]) == length_of(&arrays[ENDS]), "each vector must have a factor") ||
        !are_vectors(arrays)) {
        return NULL;
    }
    const int64_t *ends = arrays[ENDS].buf;
    const int32_t *words = arrays[OF_WORDS].buf;
    const double *values = arrays[OF_VALUES].buf, *factors = arrays[OF_FACTORS].buf;
    double *query = arrays[QUERY].buf;
    size_t index = 0;
    for (size_t vector = 0; vector < length_of(&arrays[ENDS]); vector++) {
        for (; index < (size_t)ends[vector]; index++) {
            query[words[index]] -= factors[vector] * values[index];
        }
    }
    return Py_NewRef(Py_None);
}

PyObject *vector_products(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *arrays = given->arrays;
    const int64_t *ends = arrays[ENDS].buf;
    const int32_t *words = arrays[OF_WORDS].buf;
    const double *values = arrays[OF_VALUES].buf;
    size_t n_vectors = length_of(&arrays[ENDS]), n_values = length_of(&arrays[OF_VALUES]);
    double *room = are_vectors(arrays) ? room_for(given, n_vectors + n_values, sizeof *room) : NULL;
    if (room == NULL) {
        return NULL;
    }
    for (size_t vector = 0, start = 0; vector < n_vectors; start = (size_t)ends[vector++]) {
        room[vector] = product_of(values + start, (size_t)ends[vector] - start, arrays[QUERY].buf,
                                  length_of(&arrays[QUERY]), words + start, room + n_vectors);
    }
    return array_of(room, n_vectors, sizeof *room);
}
