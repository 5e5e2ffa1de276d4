/* Figures of the words of a page: the norm of their counts, the sum of their weights, and the simhash of their triples.

   text/vectors.py and web/near_duplicates.py call them. Hash tables are small and last for one call; their slots depend on
   a secret, so that no page can choose words that cluster. */

#include "word_weights.h"

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

uint32_t *n_of_word;
static size_t n_of_word_room;

/* More words than any vocabulary has: a damaged number must not reserve gigabytes. */
#define MAX_WORDS (1 << 27)

bool make_counts(const Py_buffer *words)
{
    const int32_t *items = words->buf;
    int32_t largest = 0;
    for (size_t index = 0; index < length_of(words); index++) {
        largest = items[index] > largest ? items[index] : largest;
    }
    return check(largest < MAX_WORDS, "a word has a number beyond all vocabularies") &&
           make_room((void **)&n_of_word, &n_of_word_room, (size_t)largest + 1, sizeof *n_of_word);
}

/* Both loops are without branches, because stop words and new words are unpredictable. */
size_t count_words(const int32_t *words, size_t n_words, int32_t *distinct)
{
    size_t n_kept = 0, n_distinct = 0;
    for (size_t index = 0; index < n_words; index++) {
        distinct[n_kept] = words[index];
        n_kept += words[index] > 0;
    }
    uint32_t *counts = n_of_word;
    for (size_t index = 0; index < n_kept; index++) {
        int32_t word = distinct[index];
        uint32_t count = counts[word];
        distinct[n_distinct] = word;
        n_distinct += count == 0;
        counts[word] = count + 1;
    }
    return n_distinct;
}

PyObject *squared_norm(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *words = &given->arrays[0];
    uint64_t total = 0;
    int32_t *distinct = make_counts(words) ? room_for(given, length_of(words), sizeof *distinct) : NULL;
    if (distinct == NULL) {
        return NULL;
    }
    size_t n_distinct = count_words(words->buf, length_of(words), distinct);
    for (size_t index = 0; index < n_distinct; index++) {
        uint64_t count = n_of_word[distinct[index]];
        total += count * count;
        n_of_word[distinct[index]] = 0;
    }
    return PyLong_FromUnsignedLongLong(total);
}

PyObject *total_weight(PyObject *Py_UNUSED(module), Arguments *given)
{
    const int32_t *words = given->arrays[0].buf;
    const double *weights = given->arrays[1].buf;
    size_t n_words = length_of(&given->arrays[0]), n_weights = length_of(&given->arrays[1]);
    if (!check(n_weights > 0, "there must be a weight")) {
        return NULL;
    }
    double total = 0;
    for (size_t index = 0; index < n_words; index++) {
        total += weights[index_of(words[index], n_weights)];
    }
    return PyFloat_FromDouble(total);
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

PyObject *simhash(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *words = &given->arrays[0], *factors = &given->arrays[1];
    Py_ssize_t max_words = given->integers[0];
    if (!check(max_words >= 0 && max_words < 1 << COUNTER_BITS && length_of(factors) == N_FACTORS,
               "too many words, or not four factors")) {
        return NULL;
    }
    size_t n_words = length_of(words), room = n_words < (size_t)max_words ? n_words : (size_t)max_words;
    unsigned shift = shift_for(SLOTS_PER_HASH * (room + GROUP));
    uint64_t *hashes = room_for(given, room + GROUP, sizeof *hashes);
    uint64_t *slots = zeros_for(given, (size_t)1 << (64 - shift), sizeof *slots);
    if (hashes == NULL || slots == NULL) {
        return NULL;
    }
    size_t n_kept = keep_words(words->buf, n_words, (size_t)max_words, hashes), n_triples = n_kept < 2 ? 0 : n_kept - 2;
    hash_triples(hashes, n_triples, factors->buf);
    size_t n_hashes = keep_distinct(hashes, n_triples, slots, shift);
    memset(hashes + n_hashes, 0, GROUP * sizeof *hashes);
    return Py_BuildValue("Kn", (unsigned long long)majority(hashes, n_hashes), (Py_ssize_t)n_kept);
}

bool choose_secret(PyObject *module)
{
    /* Python's hashes of strings are random. */
    PyObject *name = PyModule_GetNameObject(module);
    if (name != NULL) {
        secret_factor ^= (uint64_t)PyObject_Hash(name) << 1;
        Py_DECREF(name);
    }
    return name != NULL;
}
