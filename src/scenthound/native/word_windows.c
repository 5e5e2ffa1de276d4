/* Windows of words around links: where they are, where phrases are in them, and their cosines with a topic.

   The results are those of numpy in web/parse.py and relevance/word_vectors.py. */

#include "word_weights.h"

#include <math.h>

/* Contexts of links */

/* The window of each anchor `start:end` into `start` and `end`; the remaining words are split between both sides. */
static void widen(int32_t *start, int32_t *end, size_t count, int32_t n_words, int32_t window)
{
    for (size_t index = 0; index < count; index++) {
        int64_t around = window - ((int64_t)end[index] - start[index]);
        around = around < 0 ? 0 : around;
        int64_t first = start[index] - (around + 1) / 2, last = end[index] + around / 2;
        start[index] = (int32_t)(first < 0 ? 0 : first);
        end[index] = (int32_t)(last < n_words ? last : n_words);
    }
}

static PyObject *context_bounds(PyObject *module, PyObject *arguments)
{
    (void)module;
    static const size_t sizes[] = {sizeof(int32_t), sizeof(int32_t)};
    PyObject *objects[2];
    Py_buffer bounds[2];
    int n_words, window;
    if (!PyArg_ParseTuple(arguments, "OOii", &objects[0], &objects[1], &n_words, &window) ||
        get_arrays(objects, bounds, sizes, 2) < 0) {
        return NULL;
    }
    size_t count = length_of(&bounds[0]);
    PyObject *result = NULL;
    if (length_of(&bounds[1]) != count) {
        PyErr_SetString(PyExc_ValueError, "there must be as many ends as starts");
    } else {
        PyObject *items[] = {
            array_of(bounds[0].buf, count, sizeof(int32_t)),
            array_of(bounds[1].buf, count, sizeof(int32_t)),
        };
        result = packed(items, 2);
        if (result != NULL) {
            widen((int32_t *)(void *)PyByteArray_AsString(items[0]), (int32_t *)(void *)PyByteArray_AsString(items[1]),
                  count, n_words, window);
        }
    }
    release_arrays(bounds, 2);
    return result;
}

/* Phrases */

/* Keep those of the ascending positions that have the word within a distance; returns how many. The word is at none. */
static size_t keep_near(const int32_t *words, size_t n_words, int32_t word, int64_t max_distance, int64_t *positions,
                        size_t count)
{
    int64_t before = INT64_MIN / 2, after = -1;
    size_t n_kept = 0;
    for (size_t index = 0; index < count; index++) {
        int64_t position = positions[index];
        while (after < position && after < (int64_t)n_words) {
            before = after >= 0 ? after : before;
            do {
                after++;
            } while (after < (int64_t)n_words && words[after] != word);
        }
        bool is_near = position - before <= max_distance || (after < (int64_t)n_words && after - position <= max_distance);
        positions[n_kept] = position;
        n_kept += is_near;
    }
    return n_kept;
}

static PyObject *positions_of(const Py_buffer *of_words, const Py_buffer *of_phrase, Py_ssize_t max_distance)
{
    const int32_t *words = of_words->buf, *phrase = of_phrase->buf;
    size_t n_words = length_of(of_words), n_parts = length_of(of_phrase), count = 0, n_found = 0;
    for (size_t index = 0; n_parts > 0 && index < n_words; index++) {
        count += words[index] == phrase[0];
    }
    int64_t *positions = malloc((count + 1) * sizeof *positions);
    if (positions == NULL) {
        return PyErr_NoMemory();
    }
    for (size_t index = 0; n_found < count; index++) {
        positions[n_found] = (int64_t)index;
        n_found += words[index] == phrase[0];
    }
    for (size_t part = 1; part < n_parts && count > 0; part++) {
        count = keep_near(words, n_words, phrase[part], max_distance, positions, count);
    }
    PyObject *result = array_of(positions, count, sizeof *positions);
    free(positions);
    return result;
}

static PyObject *phrase_positions(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *of_words, *of_phrase, *result = NULL;
    Py_buffer words, phrase;
    Py_ssize_t max_distance;
    if (!PyArg_ParseTuple(arguments, "OOn", &of_words, &of_phrase, &max_distance) ||
        get_array(of_words, &words, sizeof(int32_t)) < 0) {
        return NULL;
    }
    if (get_array(of_phrase, &phrase, sizeof(int32_t)) == 0) {
        result = positions_of(&words, &phrase, max_distance);
        PyBuffer_Release(&phrase);
    }
    PyBuffer_Release(&words);
    return result;
}

/* Cosines */

enum { WORDS, RANKS, WEIGHTS, FACTORS, POSITIONS, MORE, FIRST, LAST, N_ARRAYS };

static const size_t item_sizes[N_ARRAYS] = {
    sizeof(int32_t), OF_RANKS,       sizeof(double),  sizeof(double),
    sizeof(int64_t), sizeof(double), sizeof(int32_t), sizeof(int32_t),
};

static bool are_windows(const Py_buffer *arrays)
{
    size_t n_words = length_of(&arrays[WORDS]), n_windows = length_of(&arrays[FIRST]);
    if (length_of(&arrays[FACTORS]) == 0 || length_of(&arrays[POSITIONS]) != length_of(&arrays[MORE]) ||
        length_of(&arrays[LAST]) != n_windows) {
        return false;
    }
    const int64_t *positions = arrays[POSITIONS].buf;
    for (size_t index = 0; index < length_of(&arrays[POSITIONS]); index++) {
        if (positions[index] < 0 || (size_t)positions[index] >= n_words) {
            return false;
        }
    }
    const int32_t *first = arrays[FIRST].buf, *last = arrays[LAST].buf;
    for (size_t index = 0; index < n_windows; index++) {
        if (first[index] < 0 || (size_t)first[index] > n_words || last[index] < 0 || (size_t)last[index] > n_words) {
            return false;
        }
    }
    return true;
}

/* Running sums of weight * factor of each word, plus more at some positions, and of the squares of the weights; each has
   one element more than there are words. They are added from left to right, as numpy.cumsum does. */
static void sum_up(const Py_buffer *arrays, WordWeights weights, double *sums, double *squares)
{
    const int32_t *words = arrays[WORDS].buf;
    const double *factors = arrays[FACTORS].buf, *more = arrays[MORE].buf;
    const int64_t *positions = arrays[POSITIONS].buf;
    size_t n_words = length_of(&arrays[WORDS]), n_factors = length_of(&arrays[FACTORS]);
    double total = 0;
    sums[0] = squares[0] = 0;
    for (size_t index = 0; index < n_words; index++) {
        double weight = weight_of(weights, words[index]), square = weight * weight;
        sums[index + 1] = weight * factors[index_of(words[index], n_factors)];
        total += square;
        squares[index + 1] = total;
    }
    for (size_t index = 0; index < length_of(&arrays[POSITIONS]); index++) {
        sums[positions[index] + 1] += more[index];
    }
    total = 0;
    for (size_t index = 1; index <= n_words; index++) {
        total += sums[index];
        sums[index] = total;
    }
}

static PyObject *cosines_of(const Py_buffer *arrays, WordWeights weights, double length, double least)
{
    size_t n_sums = length_of(&arrays[WORDS]) + 1, n_windows = length_of(&arrays[FIRST]);
    const int32_t *first = arrays[FIRST].buf, *last = arrays[LAST].buf;
    double *sums = malloc(2 * n_sums * sizeof *sums), *squares = sums + n_sums;
    PyObject *result = sums == NULL ? PyErr_NoMemory() : array_of(NULL, n_windows, sizeof(double));
    if (result != NULL) {
        double *cosines = (double *)(void *)PyByteArray_AsString(result);
        sum_up(arrays, weights, sums, squares);
        for (size_t index = 0; index < n_windows; index++) {
            double divisor = sqrt(squares[last[index]] - squares[first[index]]) * length;
            cosines[index] = (sums[last[index]] - sums[first[index]]) / (divisor < least ? least : divisor);
        }
    }
    free(sums);
    return result;
}

static PyObject *window_cosines(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *objects[N_ARRAYS], *result = NULL;
    Py_buffer arrays[N_ARRAYS];
    WordWeights weights;
    double length, least;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOdd", &objects[WORDS], &objects[RANKS], &objects[WEIGHTS],
                          &objects[FACTORS], &objects[POSITIONS], &objects[MORE], &objects[FIRST], &objects[LAST],
                          &length, &least) ||
        get_arrays(objects, arrays, item_sizes, N_ARRAYS) < 0) {
        return NULL;
    }
    if (!are_windows(arrays)) {
        PyErr_SetString(PyExc_ValueError, "the arrays of words and windows do not fit each other");
    } else if (use_weights(&weights, &arrays[RANKS], &arrays[WEIGHTS])) {
        result = cosines_of(arrays, weights, length, least);
    }
    release_arrays(arrays, N_ARRAYS);
    return result;
}

static PyObject *are_within(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *object;
    Py_buffer array;
    double least, most;
    if (!PyArg_ParseTuple(arguments, "Odd", &object, &least, &most) || get_array(object, &array, sizeof(double)) < 0) {
        return NULL;
    }
    const double *numbers = array.buf;
    bool result = true;
    for (size_t index = 0; index < length_of(&array); index++) {
        result = result && numbers[index] >= least && numbers[index] <= most;
    }
    PyBuffer_Release(&array);
    return PyBool_FromLong(result);
}

static PyMethodDef methods[] = {
    {"context_bounds", context_bounds, METH_VARARGS, "The words around each link, its anchor included."},
    {"phrase_positions", phrase_positions, METH_VARARGS, "Where the first word of a phrase has the others close to it."},
    {"window_cosines", window_cosines, METH_VARARGS, "The cosines of windows of words with a topic."},
    {"are_within", are_within, METH_VARARGS, "Whether all numbers are within two bounds; others than numbers are not."},
    {NULL, NULL, 0, NULL},
};

int add_word_windows(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
