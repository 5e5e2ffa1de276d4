/* The heaps of the unbounded frontier: their records, and the operations on them; see heaps.c. */

#ifndef SCENTHOUND_HEAPS_H
#define SCENTHOUND_HEAPS_H

#include "native.h"

/* `parent` is 0 for an unknown page and POPPED for a popped one. */
typedef struct {
    double score;
    int32_t parent, child, next, previous;
} PageRecord;

typedef struct {
    int32_t best, rank;
} HostRecord;

/* The element of a batch, of the ranking and of the popped pages. */
typedef struct {
    double score;
    int32_t page, host;
} Entry;

#define POPPED INT32_MIN

/* Indices of `numbers`, and the update rules, as in `frontier.native_frontier`. */
enum { N_QUEUED, N_POPPED, N_RANKED, SALT, N_RESCANNED, RULE, N_NUMBERS };
enum { RULE_MAX, RULE_SUM, RULE_LATEST, RULE_FIRST };

typedef struct {
    PageRecord *pages;
    HostRecord *hosts;
    Entry *ranking;
    int64_t *numbers;
    int64_t n_pages, n_hosts;
} Heaps;

/* Push a batch by the rule in `numbers`, up to an element without a record or with NaN; returns their number. */
Py_ssize_t heaps_push(Heaps *heaps, Entry *batch, Py_ssize_t length);

/* Fill `popped` with the best pages of the ranked hosts; returns their number. */
Py_ssize_t heaps_pop_best(Heaps *heaps, Entry *popped, Py_ssize_t length);

/* Pop these pages, each the best of another host. */
Py_ssize_t heaps_pop_each(Heaps *heaps, Entry *bests, Py_ssize_t length);

/* Rank scanned hosts again. */
Py_ssize_t heaps_put_back(Heaps *heaps, Entry *bests, Py_ssize_t length);

/* Fill `scanned` with the best hosts, best first, from the ranking, which they leave, and from `passed_over`, of which
   the first `N_RESCANNED` were scanned before. */
void heaps_scan(Heaps *heaps, const Entry *passed_over, Py_ssize_t n_passed, Entry *scanned, Py_ssize_t length);

/* Fill two arrays of the length of the queue with the pages and their hosts, by walking every heap. */
void heaps_list(const Heaps *heaps, int32_t *pages, int32_t *hosts);

/* Add the functions on heaps to the module; -1 with an exception if that fails. */
int add_heaps(PyObject *module);

#endif
