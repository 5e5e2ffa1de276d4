/* Windows of words around links: where they are, where phrases are in them, and their cosines with a topic.

   Slow versions are in tests/oracles/word_vectors.py. */

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

PyObject *context_bounds(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *starts = &given->arrays[0], *ends = &given->arrays[1];
    Py_ssize_t n_words = given->integers[0], window = given->integers[1];
    size_t count = length_of(starts), limit = n_words < 0 ? 0 : (size_t)n_words + 1;
    bool is_valid = length_of(ends) == count && n_words <= INT32_MAX && window >= 0 && window <= INT32_MAX;
    if (!check(is_valid && are_below(starts, limit) && are_below(ends, limit),
               "there must be as many ends as starts, all of them within the words")) {
        return NULL;
    }
    PyObject *first = array_of(starts->buf, count, sizeof(int32_t));
    PyObject *last = array_of(ends->buf, count, sizeof(int32_t));
    if (first != NULL && last != NULL) {
        widen((int32_t *)(void *)PyByteArray_AsString(first), (int32_t *)(void *)PyByteArray_AsString(last), count,
              (int32_t)n_words, (int32_t)window);
    }
    return Py_BuildValue("NN", first, last);
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
        bool is_before_end = after < (int64_t)n_words;
        bool is_near = position - before <= max_distance || (is_before_end && after - position <= max_distance);
        positions[n_kept] = position;
        n_kept += is_near;
    }
    return n_kept;
}

PyObject *phrase_positions(PyObject *Py_UNUSED(module), Arguments *given)
{
    const int32_t *words = given->arrays[0].buf, *phrase = given->arrays[1].buf;
    size_t n_words = length_of(&given->arrays[0]), n_parts = length_of(&given->arrays[1]), count = 0, n_found = 0;
    for (size_t index = 0; n_parts > 0 && index < n_words; index++) {
        count += words[index] == phrase[0];
    }
    int64_t *positions = room_for(given, count, sizeof *positions);
    if (positions == NULL) {
        return NULL;
    }
    for (size_t index = 0; n_found < count; index++) {
        positions[n_found] = (int64_t)index;
        n_found += words[index] == phrase[0];
    }
    for (size_t part = 1; part < n_parts && count > 0; part++) {
        count = keep_near(words, n_words, phrase[part], given->integers[0], positions, count);
    }
    return array_of(positions, count, sizeof *positions);
}

/* Cosines */

enum { WORDS, RANKS, WEIGHTS, FACTORS, POSITIONS, MORE, FIRST, LAST };

static bool are_windows(const Py_buffer *first, const Py_buffer *last, size_t n_words)
{
    const int32_t *starts = first->buf, *ends = last->buf;
    bool are_valid = length_of(first) == length_of(last);
    for (size_t index = 0; are_valid && index < length_of(first); index++) {
        are_valid = starts[index] >= 0 && starts[index] <= ends[index] && (size_t)ends[index] <= n_words;
    }
    return are_valid;
}

/* Running sums of weight * factor of each word, plus more at some positions, and of the squares of the weights; each has
   one element more than there are words. They are added from left to right, as numpy.cumsum does. */
static void sum_up(const Py_buffer *arrays, WordWeights weights, double *sums, double *squares)
{
    const int32_t *words = arrays[WORDS].buf;
    const double *factors = arrays[FACTORS].buf, *more = arrays[MORE].buf;
    const int64_t *positions = arrays[POSITIONS].buf;
    size_t n_words = length_of(&arrays[WORDS]), n_factors = length_of(&arrays[FACTORS]);
    double sum = 0, square = 0;
    /* NaN where nothing is added. */
    memset(sums, 0xFF, (n_words + 1) * sizeof *sums);
    for (size_t index = 0; index < length_of(&arrays[POSITIONS]); index++) {
        int32_t word = words[positions[index]];
        sums[positions[index] + 1] = weight_of(weights, word) * factors[index_of(word, n_factors)];
    }
    for (size_t index = 0; index < length_of(&arrays[POSITIONS]); index++) {
        sums[positions[index] + 1] += more[index];
    }
    sums[0] = squares[0] = 0;
    for (size_t index = 0; index < n_words; index++) {
        double weight = weight_of(weights, words[index]);
        double product = weight * factors[index_of(words[index], n_factors)];
        sum += isnan(sums[index + 1]) ? product : sums[index + 1];
        square += weight * weight;
        sums[index + 1] = sum;
        squares[index + 1] = square;
    }
}

PyObject *window_cosines(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *arrays = given->arrays;
    size_t n_words = length_of(&arrays[WORDS]), n_windows = length_of(&arrays[FIRST]);
    WordWeights weights;
    if (!check(length_of(&arrays[FACTORS]) > 0 && length_of(&arrays[POSITIONS]) == length_of(&arrays[MORE]) &&
                   are_indices(&arrays[POSITIONS], n_words) && are_windows(&arrays[FIRST], &arrays[LAST], n_words),
               "the arrays of words and windows do not fit each other") ||
        !use_weights(&weights, &arrays[RANKS], &arrays[WEIGHTS])) {
        return NULL;
    }
    const int32_t *first = arrays[FIRST].buf, *last = arrays[LAST].buf;
    double *sums = room_for(given, 2 * (n_words + 1), sizeof *sums), *squares = sums + n_words + 1, *cosines = NULL;
    PyObject *result = sums == NULL ? NULL : new_array(n_windows, sizeof *cosines, &cosines);
    if (result != NULL) {
        sum_up(arrays, weights, sums, squares);
        for (size_t index = 0; index < n_windows; index++) {
            double divisor = sqrt(squares[last[index]] - squares[first[index]]) * given->numbers[0];
            double sum = sums[last[index]] - sums[first[index]];
            cosines[index] = sum / (divisor < given->numbers[1] ? given->numbers[1] : divisor);
        }
    }
    return result;
}

/* The cosine of the word counts of a window and of a topic, whose last weight is that of all higher words. Sums are of
   whole numbers, so that their order does not matter. */
static double count_cosine(const int32_t *words, const int32_t *end, const double *weights, size_t n_weights,
                           double length)
{
    double product = 0;
    uint64_t squares = 0;
    for (const int32_t *word = words; word < end; word++) {
        if (*word > 0) {
            squares += 2 * (uint64_t)n_of_word[*word]++ + 1;
            product += weights[index_of(*word, n_weights)];
        }
    }
    for (const int32_t *word = words; word < end; word++) {
        n_of_word[*word > 0 ? *word : 0] = 0;
    }
    return squares == 0 ? 0 : product / (sqrt((double)squares) * length);
}

PyObject *count_cosines(PyObject *Py_UNUSED(module), Arguments *given)
{
    enum { OF_WORDS, OF_TOPIC, STARTS, ENDS };
    const Py_buffer *arrays = given->arrays;
    const int32_t *words = arrays[OF_WORDS].buf, *first = arrays[STARTS].buf, *last = arrays[ENDS].buf;
    size_t n_windows = length_of(&arrays[STARTS]), n_weights = length_of(&arrays[OF_TOPIC]);
    double *cosines = NULL;
    PyObject *result = NULL;
    if (check(n_weights > 0 && are_windows(&arrays[STARTS], &arrays[ENDS], length_of(&arrays[OF_WORDS])),
              "the arrays of words and windows do not fit each other") &&
        make_counts(&arrays[OF_WORDS]) && (result = new_array(n_windows, sizeof *cosines, &cosines)) != NULL) {
        for (size_t index = 0; index < n_windows; index++) {
            cosines[index] = count_cosine(words + first[index], words + last[index], arrays[OF_TOPIC].buf, n_weights,
                                          given->numbers[0]);
        }
    }
    return result;
}

PyObject *are_within(PyObject *Py_UNUSED(module), Arguments *given)
{
    const double *numbers = given->arrays[0].buf;
    bool result = true;
    for (size_t index = 0; index < length_of(&given->arrays[0]); index++) {
        result = result && numbers[index] >= given->numbers[0] && numbers[index] <= given->numbers[1];
    }
    return PyBool_FromLong(result);
}
