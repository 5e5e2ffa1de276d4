/* The heaps of the unbounded frontier; see heaps.c. */

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

/* A host with its best page, or a popped page. */
typedef struct {
    double score;
    int32_t page, host;
} Entry;

#define POPPED INT32_MIN

/* As in `frontier.priority`. */
typedef enum { RULE_MAX, RULE_SUM, RULE_LATEST, RULE_FIRST, N_RULES } UpdateRule;

typedef struct {
    uint64_t salt;
    PageRecord *pages;
    HostRecord *hosts;
    Entry *ranking;
    Entry *passed_over, *scanned;
    size_t pages_room, hosts_room, ranking_room, passed_over_room, scanned_room;
    size_t n_queued, n_popped, n_ranked, n_passed_over, n_scanned;
    /* How many of those passed over were scanned again. */
    size_t n_rescanned;
    bool is_scanning;
} Heaps;

static inline bool heaps_knows(const Heaps *heaps, int32_t page)
{
    return page >= 0 && (size_t)page + 1 < heaps->pages_room && heaps->pages[page + 1].parent != 0;
}

static inline bool heaps_has(const Heaps *heaps, int32_t page)
{
    return heaps_knows(heaps, page) && heaps->pages[page + 1].parent != POPPED;
}

/* Push pages up to one with a negative number, a host with a negative number, or a score that would be NaN. Returns how
   many were pushed; -1 with an exception set if there is no memory. */
Py_ssize_t heaps_push(Heaps *heaps, const int32_t *pages, const int32_t *hosts, const double *scores, size_t count,
                      UpdateRule rule);
/* Make room for the record of a page; false with an exception set if there is none. */
bool make_room_for_page(Heaps *heaps, int32_t page);
/* Pop the best page of a host, and rank the host by its next best. */
void heaps_pop_page(Heaps *heaps, Entry entry);
/* The host of a queued page. */
int32_t heaps_host_of(const Heaps *heaps, int32_t page);
/* Update the rank of a host after its best page, or that page's score, has changed. */
void heaps_rank_host(Heaps *heaps, int32_t host);
void heaps_unrank_host(Heaps *heaps, int32_t host);
bool entry_comes_first(const Heaps *heaps, Entry one, Entry other);
/* Rank the scanned hosts again, which ends a scan. */
void heaps_cancel_scan(Heaps *heaps);

#endif
