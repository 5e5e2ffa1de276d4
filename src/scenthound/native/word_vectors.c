/* Vectors of the words of a page: counts of distinct words, products that are rounded once, sums of windows.

   The results are those of numpy and of math.fsum in relevance/rocchio.py. */

#include "native.h"

#include <math.h>

/* Counts */

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

/* The distinct words of 1 and more, ascending, and their counts. */
static PyObject *count_words(PyObject *module, PyObject *argument)
{
    (void)module;
    Py_buffer words;
    if (get_array(argument, &words, sizeof(int32_t)) < 0) {
        return NULL;
    }
    size_t n_words = (size_t)words.len / sizeof(int32_t), n_kept = 0, n_distinct = 0;
    const int32_t *numbers = words.buf;
    int32_t *kept = malloc((2 * n_words + 1) * sizeof *kept);
    if (kept == NULL) {
        PyBuffer_Release(&words);
        return PyErr_NoMemory();
    }
    for (size_t index = 0; index < n_words; index++) {
        kept[n_kept] = numbers[index];
        n_kept += numbers[index] > 0;
    }
    PyBuffer_Release(&words);
    int32_t *in_order = sorted(kept, kept + n_words, n_kept), *counts = in_order == kept ? kept + n_words : kept;
    for (size_t index = 0; index < n_kept;) {
        size_t end = index + 1;
        while (end < n_kept && in_order[end] == in_order[index]) {
            end++;
        }
        counts[n_distinct] = (int32_t)(end - index);
        in_order[n_distinct++] = in_order[index];
        index = end;
    }
    PyObject *of_words = PyByteArray_FromStringAndSize((char *)in_order, (Py_ssize_t)(n_distinct * sizeof *counts));
    PyObject *of_counts = PyByteArray_FromStringAndSize((char *)counts, (Py_ssize_t)(n_distinct * sizeof *counts));
    free(kept);
    PyObject *result = of_words == NULL || of_counts == NULL ? NULL : PyTuple_Pack(2, of_words, of_counts);
    Py_XDECREF(of_words);
    Py_XDECREF(of_counts);
    return result;
}

/* Exact sums */

/* A sum as numbers that do not overlap, ascending in size (Shewchuk 1997). A double has no more than so many parts. */
#define MAX_PARTS 64

typedef struct {
    double parts[MAX_PARTS];
    int n_parts;
} ExactSum;

static void add_exactly(ExactSum *sum, double number)
{
    int n_kept = 0;
    for (int index = 0; index < sum->n_parts; index++) {
        double part = sum->parts[index];
        if (fabs(number) < fabs(part)) {
            double larger = part;
            part = number;
            number = larger;
        }
        double high = number + part;
        double low = part - (high - number);
        if (low != 0) {
            sum->parts[n_kept++] = low;
        }
        number = high;
    }
    sum->parts[n_kept] = number;
    sum->n_parts = n_kept < MAX_PARTS - 1 ? n_kept + 1 : n_kept;
}

/* The sum, rounded once, half to even. */
static double rounded(const ExactSum *sum)
{
    int index = sum->n_parts;
    if (index == 0) {
        return 0.0;
    }
    double high = sum->parts[--index], low = 0.0;
    while (index > 0) {
        double before = high, part = sum->parts[--index];
        high = before + part;
        low = part - (high - before);
        if (low != 0) {
            break;
        }
    }
    /* The rest decides if the last step was exactly between two numbers. */
    if (index > 0 && ((low < 0 && sum->parts[index - 1] < 0) || (low > 0 && sum->parts[index - 1] > 0))) {
        double twice = low * 2, moved = high + twice;
        if (moved - high == twice) {
            high = moved;
        }
    }
    return high;
}

static PyObject *exact_dot(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *of_one, *of_other, *result = NULL;
    Py_buffer one, other;
    if (!PyArg_ParseTuple(arguments, "OO", &of_one, &of_other) || get_array(of_one, &one, sizeof(double)) < 0) {
        return NULL;
    }
    if (get_array(of_other, &other, sizeof(double)) == 0) {
        if (one.len != other.len) {
            PyErr_SetString(PyExc_ValueError, "both arrays must have the same length");
        } else {
            const double *left = one.buf, *right = other.buf;
            ExactSum sum = {.n_parts = 0};
            for (size_t index = 0; index < (size_t)one.len / sizeof(double); index++) {
                double product = left[index] * right[index];
                if (product != 0) {
                    add_exactly(&sum, product);
                }
            }
            result = PyFloat_FromDouble(rounded(&sum));
        }
        PyBuffer_Release(&other);
    }
    PyBuffer_Release(&one);
    return result;
}

/* Sums of windows */

#define N_WINDOW_ARRAYS 7

/* The item sizes of the arrays of `window_sums`, in order. */
static const size_t window_item_sizes[N_WINDOW_ARRAYS] = {
    sizeof(int32_t), sizeof(double), sizeof(double), sizeof(int64_t), sizeof(double), sizeof(int32_t), sizeof(int32_t),
};

static size_t length_of(const Py_buffer *array)
{
    return (size_t)array->len / (size_t)array->itemsize;
}

static bool are_windows(const Py_buffer *arrays)
{
    size_t n_words = length_of(&arrays[0]), n_windows = length_of(&arrays[5]);
    if (length_of(&arrays[1]) != n_words || length_of(&arrays[2]) == 0 ||
        length_of(&arrays[3]) != length_of(&arrays[4]) || length_of(&arrays[6]) != n_windows) {
        return false;
    }
    const int64_t *positions = arrays[3].buf;
    for (size_t index = 0; index < length_of(&arrays[3]); index++) {
        if (positions[index] < 0 || (size_t)positions[index] >= n_words) {
            return false;
        }
    }
    const int32_t *first = arrays[5].buf, *last = arrays[6].buf;
    for (size_t index = 0; index < n_windows; index++) {
        if (first[index] < 0 || (size_t)first[index] > n_words || last[index] < 0 || (size_t)last[index] > n_words) {
            return false;
        }
    }
    return true;
}

/* Running sums of weight * factor of the word, plus more at some positions, and of the squares of the weights; each has
   one element more than there are words. They are added from left to right, as numpy.cumsum does. */
static void sum_up(const Py_buffer *arrays, double *sums, double *squares)
{
    const int32_t *words = arrays[0].buf;
    const double *weights = arrays[1].buf, *factors = arrays[2].buf, *more = arrays[4].buf;
    const int64_t *positions = arrays[3].buf;
    size_t n_words = length_of(&arrays[0]);
    int32_t last_factor = (int32_t)length_of(&arrays[2]) - 1;
    sums[0] = squares[0] = 0;
    for (size_t index = 0; index < n_words; index++) {
        int32_t word = words[index] < last_factor ? words[index] : last_factor;
        sums[index + 1] = weights[index] * factors[word < 0 ? 0 : word];
    }
    for (size_t index = 0; index < length_of(&arrays[3]); index++) {
        sums[positions[index] + 1] += more[index];
    }
    double sum = 0, square = 0;
    for (size_t index = 1; index <= n_words; index++) {
        sum += sums[index];
        sums[index] = sum;
        square += weights[index - 1] * weights[index - 1];
        squares[index] = square;
    }
}

static PyObject *differences(const Py_buffer *arrays, const double *sums)
{
    const int32_t *first = arrays[5].buf, *last = arrays[6].buf;
    size_t n_windows = length_of(&arrays[5]);
    PyObject *result = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(n_windows * sizeof(double)));
    double *values = result == NULL ? NULL : (double *)(void *)PyByteArray_AsString(result);
    for (size_t index = 0; values != NULL && index < n_windows; index++) {
        values[index] = sums[last[index]] - sums[first[index]];
    }
    return result;
}

static PyObject *sums_of_windows(const Py_buffer *arrays)
{
    if (!are_windows(arrays)) {
        PyErr_SetString(PyExc_ValueError, "the arrays of words and windows do not fit each other");
        return NULL;
    }
    size_t n_sums = length_of(&arrays[0]) + 1;
    double *sums = malloc(2 * n_sums * sizeof *sums);
    if (sums == NULL) {
        return PyErr_NoMemory();
    }
    sum_up(arrays, sums, sums + n_sums);
    PyObject *of_values = differences(arrays, sums), *of_squares = differences(arrays, sums + n_sums);
    free(sums);
    PyObject *result = of_values == NULL || of_squares == NULL ? NULL : PyTuple_Pack(2, of_values, of_squares);
    Py_XDECREF(of_values);
    Py_XDECREF(of_squares);
    return result;
}

static PyObject *window_sums(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_buffer arrays[N_WINDOW_ARRAYS];
    int n_borrowed = 0;
    if (PyTuple_Size(arguments) != N_WINDOW_ARRAYS) {
        PyErr_SetString(PyExc_TypeError, "window_sums takes seven arrays");
        return NULL;
    }
    while (n_borrowed < N_WINDOW_ARRAYS && get_array(PyTuple_GetItem(arguments, n_borrowed), &arrays[n_borrowed],
                                                     window_item_sizes[n_borrowed]) == 0) {
        n_borrowed++;
    }
    PyObject *result = n_borrowed == N_WINDOW_ARRAYS ? sums_of_windows(arrays) : NULL;
    while (n_borrowed > 0) {
        PyBuffer_Release(&arrays[--n_borrowed]);
    }
    return result;
}

static PyMethodDef methods[] = {
    {"count_words", count_words, METH_O, "The distinct words of 1 and more, ascending, and their counts."},
    {"exact_dot", exact_dot, METH_VARARGS, "The dot product, rounded once."},
    {"window_sums", window_sums, METH_VARARGS, "Sums of weights and of their squares over windows of words."},
    {NULL, NULL, 0, NULL},
};

int add_word_vectors(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
