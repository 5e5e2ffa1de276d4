/* The distinct words of pages and their counts, in the order of the words. */

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

PyObject *count_terms(PyObject *Py_UNUSED(module), Arguments *given)
{
    const int32_t *words = given->arrays[0].buf, *lengths = given->arrays[1].buf;
    size_t n_words = length_of(&given->arrays[0]), n_pages = length_of(&given->arrays[1]), n_terms = 0;
    int64_t sum = 0;
    int32_t longest = 0;
    for (size_t page = 0; page < n_pages; page++) {
        sum += lengths[page];
        longest = lengths[page] > longest ? lengths[page] : longest;
    }
    if (!check(are_below(&given->arrays[1], SIZE_MAX) && sum == (int64_t)n_words,
               "lengths must be those of pages that have all the words")) {
        return NULL;
    }
    int32_t *terms = room_for(given, 2 * (n_words + (size_t)longest) + n_pages, sizeof *terms);
    if (terms == NULL) {
        return NULL;
    }
    int32_t *counts = terms + n_words, *term_lengths = counts + n_words, *room = term_lengths + n_pages;
    for (size_t page = 0; page < n_pages; page++) {
        size_t n_of_page = (size_t)lengths[page];
        size_t n_found = count_page(words, n_of_page, room, terms + n_terms, counts + n_terms);
        term_lengths[page] = (int32_t)n_found;
        n_terms += n_found;
        words += n_of_page;
    }
    return Py_BuildValue("NNN", array_of(terms, n_terms, sizeof *terms), array_of(counts, n_terms, sizeof *counts),
                         array_of(term_lengths, n_pages, sizeof *term_lengths));
}
