/* The weights of words: each word has a rank, and each rank a weight. The last rank is that of all higher words. */

#ifndef SCENTHOUND_WORD_WEIGHTS_H
#define SCENTHOUND_WORD_WEIGHTS_H

#include "native.h"

/* word_statistics.c: how often each word is on the page or in the window at hand; all 0 between two calls. It is as large
   as the vocabulary, so that counting takes neither hashing nor sorting. */
extern uint32_t *n_of_word;
/* Make room for the counts of words; false, with an exception set, if there is none, or no vocabulary has such words. */
bool make_counts(const Py_buffer *words);
/* Count words, and write the distinct ones of 1 and more in the order of their first occurrences; returns how many. */
size_t count_words(const int32_t *words, size_t n_words, int32_t *distinct);

/* The index of a word in an array whose last item is for all higher words. */
static inline size_t index_of(int32_t word, size_t length)
{
    size_t index = word < 0 ? 0 : (size_t)word;
    return index < length ? index : length - 1;
}

/* Passed by value, so that the compiler keeps it in registers: a stored number might be one of its fields otherwise. */
typedef struct {
    const uint16_t *ranks;
    const uint32_t *wide_ranks; /* NULL if ranks have two bytes */
    const double *of_rank;
    size_t n_words, n_ranks;
} WordWeights;

/* False, with an exception set, if there are no ranks or no weights. */
static inline bool use_weights(WordWeights *weights, const Py_buffer *ranks, const Py_buffer *of_rank)
{
    bool is_wide = ranks->itemsize == sizeof(uint32_t);
    const uint32_t *wide_ranks = is_wide ? ranks->buf : NULL;
    *weights = (WordWeights){ranks->buf, wide_ranks, of_rank->buf, length_of(ranks), length_of(of_rank)};
    return check(weights->n_words > 0 && weights->n_ranks > 0, "there must be a rank and a weight");
}

static inline double weight_of(WordWeights weights, int32_t word)
{
    size_t index = index_of(word, weights.n_words);
    size_t rank = weights.wide_ranks == NULL ? weights.ranks[index] : weights.wide_ranks[index];
    return weights.of_rank[rank < weights.n_ranks ? rank : weights.n_ranks - 1];
}

#endif
