/* Figures of the words of a page: the norm of their counts, the sum of their weights, and the simhash of their triples.

   The results are those of text/vectors.py and web/near_duplicates.py. Hash tables are small and last for one call; their
   slots depend on a secret, so that no page can choose words that cluster. */

#include "native.h"

#define MIN_SLOTS 64
/* Slots for each hash at least: collisions cause mispredicted branches. */
#define SLOTS_PER_HASH 4
/* Hashes added at a time. */
#define GROUP 8
/* Bits of a counter; there are never more hashes than 2 to this power. */
#define COUNTER_BITS 24
#define N_FACTORS 4

uint64_t secret_factor = UINT64_C(0x9E3779B97F4A7C15);

unsigned shift_for(size_t n_slots)
{
    unsigned shift = 64;
    for (size_t slots = 1; slots < n_slots || slots < MIN_SLOTS; slots *= 2) {
        shift--;
    }
    return shift;
}

typedef struct {
    uint32_t word_above; /* the word + 1; 0: free */
    uint32_t count;
} WordSlot;

static uint64_t squared_norm_of(const int32_t *words, size_t n_words, WordSlot *slots, unsigned shift)
{
    size_t last_slot = ((size_t)1 << (64 - shift)) - 1;
    uint64_t total = 0, n_stop_words = 0;
    for (size_t index = 0; index < n_words; index++) {
        uint32_t word_above = (uint32_t)words[index] + 1;
        size_t slot = (size_t)(word_above * secret_factor >> shift);
        while (slots[slot].word_above != word_above && slots[slot].word_above != 0) {
            slot = (slot + 1) & last_slot;
        }
        slots[slot].word_above = word_above;
        /* (n + 1)^2 - n^2 */
        total += 2 * (uint64_t)slots[slot].count++ + 1;
        /* Counted and subtracted without a branch, because stop words are unpredictable. */
        n_stop_words += words[index] == 0;
    }
    return total - n_stop_words * n_stop_words;
}

static PyObject *squared_norm(PyObject *module, PyObject *argument)
{
    (void)module;
    Py_buffer words;
    if (get_array(argument, &words, sizeof(int32_t)) < 0) {
        return NULL;
    }
    size_t n_words = (size_t)words.len / sizeof(int32_t);
    /* Most words of a page occur several times, so that there are less entries than words. */
    unsigned shift = shift_for(n_words + n_words / 4 + 1);
    WordSlot *slots = calloc((size_t)1 << (64 - shift), sizeof *slots);
    PyObject *result = NULL;
    if (slots == NULL) {
        PyErr_NoMemory();
    } else {
        result = PyLong_FromUnsignedLongLong(squared_norm_of(words.buf, n_words, slots, shift));
    }
    free(slots);
    PyBuffer_Release(&words);
    return result;
}

static double sum_of_weights(const int32_t *words, size_t n_words, const double *weights, int32_t last)
{
    double total = 0;
    for (size_t index = 0; index < n_words; index++) {
        int32_t word = words[index] < last ? words[index] : last;
        total += weights[word < 0 ? 0 : word];
    }
    return total;
}

static PyObject *total_weight(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *of_words, *of_weights, *result = NULL;
    Py_buffer words, weights;
    if (!PyArg_ParseTuple(arguments, "OO", &of_words, &of_weights) ||
        get_array(of_words, &words, sizeof(int32_t)) < 0) {
        return NULL;
    }
    if (get_array(of_weights, &weights, sizeof(double)) == 0) {
        size_t n_weights = (size_t)weights.len / sizeof(double);
        if (n_weights == 0 || n_weights > INT32_MAX) {
            PyErr_SetString(PyExc_ValueError, "there must be a weight, and less than 2 billion");
        } else {
            size_t n_words = (size_t)words.len / sizeof(int32_t);
            result = PyFloat_FromDouble(sum_of_weights(words.buf, n_words, weights.buf, (int32_t)n_weights - 1));
        }
        PyBuffer_Release(&weights);
    }
    PyBuffer_Release(&words);
    return result;
}

/* Copy the first words that are no stop words; return how many there are. */
static size_t keep_words(const int32_t *words, size_t n_words, size_t max_words, uint64_t *kept)
{
    size_t n_kept = 0;
    for (size_t index = 0; index < n_words && n_kept < max_words; index++) {
        /* Without a branch, because stop words are unpredictable. */
        kept[n_kept] = (uint64_t)(int64_t)words[index];
        n_kept += words[index] != 0;
    }
    return n_kept;
}

/* Replace words by the hashes of the triples that they start. */
static void hash_triples(uint64_t *words, size_t n_triples, const uint64_t *factors)
{
    for (size_t index = 0; index < n_triples; index++) {
        uint64_t mixed = words[index] * factors[0] + words[index + 1] * factors[1] + words[index + 2] * factors[2];
        mixed = (mixed ^ mixed >> 32) * factors[3];
        words[index] = mixed ^ mixed >> 32;
    }
}

/* Move the distinct hashes other than 0 to the front; return how many there are. */
static size_t keep_distinct(uint64_t *hashes, size_t n_hashes, uint64_t *slots, unsigned shift)
{
    size_t n_kept = 0, last_slot = ((size_t)1 << (64 - shift)) - 1;
    for (size_t index = 0; index < n_hashes; index++) {
        uint64_t hash = hashes[index];
        size_t slot = (size_t)(hash * secret_factor >> shift);
        while (slots[slot] != hash && slots[slot] != 0) {
            slot = (slot + 1) & last_slot;
        }
        /* An entry that does not count is overwritten by the next. */
        hashes[n_kept] = hash;
        n_kept += slots[slot] != hash;
        slots[slot] = hash;
    }
    return n_kept;
}

/* The sums of three bits at each of 64 positions: the low bits, and the high ones in `carry`. */
static inline uint64_t add_bits(uint64_t first, uint64_t second, uint64_t third, uint64_t *carry)
{
    uint64_t half = first ^ second;
    *carry = (first & second) | (half & third);
    return half ^ third;
}

/* The bits whose counters are above the bound, compared all at once from the highest bits on. */
static uint64_t bits_above(const uint64_t *planes, uint64_t bound)
{
    uint64_t above = 0, equal = ~UINT64_C(0);
    for (int plane = COUNTER_BITS - 1; plane >= 0; plane--) {
        if (bound >> plane & 1) {
            equal &= planes[plane];
        } else {
            above |= equal & planes[plane];
            equal &= ~planes[plane];
        }
    }
    return above;
}

/* The bits set in more than half of the hashes; zeros fill up the last group.

   Counters are bit-sliced: bit i of `planes[p]` is bit p of the counter of bit i, so that all 64 count at once. Eight
   hashes are added before their carry goes to the counters (Harley-Seal adder). */
static uint64_t majority(const uint64_t *hashes, size_t n_hashes)
{
    uint64_t planes[COUNTER_BITS] = {0}, twos_1, twos_2, fours_1, fours_2, carried;
    for (size_t start = 0; start < n_hashes; start += GROUP) {
        const uint64_t *group = hashes + start;
        planes[0] = add_bits(planes[0], group[0], group[1], &twos_1);
        planes[0] = add_bits(planes[0], group[2], group[3], &twos_2);
        planes[1] = add_bits(planes[1], twos_1, twos_2, &fours_1);
        planes[0] = add_bits(planes[0], group[4], group[5], &twos_1);
        planes[0] = add_bits(planes[0], group[6], group[7], &twos_2);
        planes[1] = add_bits(planes[1], twos_1, twos_2, &fours_2);
        planes[2] = add_bits(planes[2], fours_1, fours_2, &carried);
        for (int plane = 3; carried != 0 && plane < COUNTER_BITS; plane++) {
            uint64_t sum = planes[plane] ^ carried;
            carried &= planes[plane];
            planes[plane] = sum;
        }
    }
    return bits_above(planes, n_hashes / 2);
}

static PyObject *fingerprint(const Py_buffer *words, size_t max_words, const uint64_t *factors)
{
    size_t n_words = (size_t)words->len / sizeof(int32_t);
    size_t room = (n_words < max_words ? n_words : max_words) + GROUP;
    unsigned shift = shift_for(SLOTS_PER_HASH * room);
    uint64_t *hashes = malloc(room * sizeof *hashes), *slots = calloc((size_t)1 << (64 - shift), sizeof *slots);
    PyObject *result = NULL;
    if (hashes == NULL || slots == NULL) {
        PyErr_NoMemory();
    } else {
        size_t n_kept = keep_words(words->buf, n_words, max_words, hashes), n_triples = n_kept < 2 ? 0 : n_kept - 2;
        hash_triples(hashes, n_triples, factors);
        size_t n_hashes = keep_distinct(hashes, n_triples, slots, shift);
        memset(hashes + n_hashes, 0, GROUP * sizeof *hashes);
        result = Py_BuildValue("Kn", (unsigned long long)majority(hashes, n_hashes), (Py_ssize_t)n_kept);
    }
    free(hashes);
    free(slots);
    return result;
}

static PyObject *simhash(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *of_words, *of_factors, *result = NULL;
    Py_buffer words, factors;
    Py_ssize_t max_words;
    if (!PyArg_ParseTuple(arguments, "OnO", &of_words, &max_words, &of_factors) ||
        get_array(of_words, &words, sizeof(int32_t)) < 0) {
        return NULL;
    }
    if (get_array(of_factors, &factors, sizeof(uint64_t)) == 0) {
        if (max_words < 0 || max_words >= 1 << COUNTER_BITS || factors.len != N_FACTORS * sizeof(uint64_t)) {
            PyErr_SetString(PyExc_ValueError, "too many words, or not four factors");
        } else {
            result = fingerprint(&words, (size_t)max_words, factors.buf);
        }
        PyBuffer_Release(&factors);
    }
    PyBuffer_Release(&words);
    return result;
}

static PyMethodDef functions[] = {
    {"squared_norm", squared_norm, METH_O, "The sum of the squared counts of words, without stop words (0)."},
    {"total_weight", total_weight, METH_VARARGS, "The sum of the weights of words; the last is that of all above."},
    {"simhash", simhash, METH_VARARGS, "The simhash of the triples of words, and how many words it is of."},
    {NULL, NULL, 0, NULL},
};

int add_word_statistics(PyObject *module)
{
    /* Python's hashes of strings are random. */
    PyObject *name = PyModule_GetNameObject(module);
    if (name == NULL) {
        return -1;
    }
    secret_factor ^= (uint64_t)PyObject_Hash(name) << 1;
    Py_DECREF(name);
    return PyModule_AddFunctions(module, functions);
}
