/* Simulated crawls: what the loop, the queue and the strategies in C share; see crawl_loop.c.

   URLs have their numbers in the recorded web, so that the record of a link's target is found in one step. Ties are broken
   by the order of discovery, as in crawls in Python. Between two crawls no URL is discovered; what is known of a URL is reset
   when it is discovered. So a crawl of a thousand pages costs the same on a web of millions. */

#ifndef SCENTHOUND_CRAWL_H
#define SCENTHOUND_CRAWL_H

#include "native.h"

#include <math.h>

/* The strategies, as in `strategies.base`. Link-context prediction is BEST_FIRST with `by_context`. */
enum { BREADTH_FIRST, BEST_FIRST, OPIC, OTIE, RANKS };
/* `found_again`: the score of a URL that is found again. */
enum { HIGHEST, LATEST, FIRST };
/* `split_by`: what selects one of several rank functions for a URL. */
enum { BY_NOTHING, BY_DISTANCE, BY_PHASE };

/* By URL: its score if it is queued, its index in a heap plus 1 or one of these, and its number in order of discovery. */
enum { UNSEEN = 0, UNQUEUED = -1, TAKEN = -2, IN_BUFFER = -3 };

typedef struct {
    double score;
    int32_t position, number;
} Slot;

/* Instead of a URL or host. */
#define NOTHING (-1)

typedef struct {
    int64_t loop, budget;
    int64_t found_again, by_context, buffer, round_size, fifo_size, drops_new;
    int64_t seeds_first, reshare_every, revises_again, keeps_when_hopeless;
    int64_t hub_over_max, split_by, deepest, counts_community, renews_siblings;
    int64_t has_extras, weighs_link_scores, weighs_hosts, weighs_cash;
    int64_t list_size, refill_at;
    int64_t workers, fetch_us, delay_us, fetch_list, asks_again;
    double page_weight, strength, flatness, threshold, score_range, max_better;
} Settings;

/* The visible links, with and without repetitions, and their targets. */
typedef struct {
    const int64_t *link_offset, *link_index; /* `link_index`: among all links of the web */
    const int32_t *link_url, *url_page, *url_host;
    int64_t *distinct_offset, *parent_offset; /* `parent_offset` is NULL until a rank function needs it */
    int32_t *distinct_url, *parent_page;
    size_t n_pages, n_urls, n_hosts, n_links, n_all_links;
} Web;

typedef struct {
    double score;
    uint64_t key;
    int32_t url;
} Queued;

/* A heap, the best first. */
typedef struct {
    Queued *items;
    int32_t size, room;
} Heap;

/* A page in a bounded frontier. */
typedef struct {
    double score, key;
    int32_t url;
} Buffered;

/* The cash of a URL (strategies.cash). `relevance` is -1 before the visit. */
typedef struct {
    double held, relevance, promised;
    int32_t location, mark;
} Account;

enum { IN_QUEUE, HELD, LOST };
enum { UNMARKED, PROMISED, COUNTED };
#define MOST_CASH 1e300

#define N_GENERATIONS 5

/* What a rank function knows of a URL. `page` is the recorded page, -1 before the visit; `mark` are the generations for
   which the URL is listed. */
typedef struct {
    int64_t n_links, n_into_community, mark;
    int32_t n_parents, n_in_community, most_links, page, distance;
    bool is_seed, in_community;
    int64_t generations[N_GENERATIONS + 1];
    double anchor, context; /* the highest scores of links to the URL */
} Ranked;

typedef struct {
    int32_t n_downloaded, n_good;
} RankedHost;

typedef struct {
    int64_t at;
    int32_t url, host;
} Event;

/* A FIFO queue. */
typedef struct {
    Event *items;
    size_t first, count, room;
} Events;

typedef struct {
    Settings settings;
    Web *web;
    bool has_failed; /* an exception is set */
    /* Discovery and visits */
    Slot *slots;
    int32_t *found;             /* URLs in order of discovery */
    int32_t *visit_of, *visits; /* by recorded page, its visit plus 1; recorded pages in order */
    int64_t *wall_ns, *times_us;
    size_t n_found, n_visited, n_missing, n_repeated, n_evicted;
    /* The queue */
    Heap *heaps; /* by host, or one for all */
    uint64_t salt;
    size_t n_queued;
    Buffered *buffer; /* ascending, from `buffer_first` */
    double *buffered_key;
    size_t buffer_first, buffer_end, buffer_room;
    int32_t *round, n_in_round;
    size_t round_room;
    int64_t n_in_order; /* breadth-first: URLs queued so far */
    size_t n_dropped;   /* URLs found that a full queue has dropped, or that were taken before */
    /* Ready hosts */
    bool by_host, is_patient;
    Heap ranking; /* hosts, each with the score and the key of its best page */
    Slot *host_slots;
    uint8_t *is_busy;               /* by host */
    int64_t *used_in, *waited_in;   /* by host, the last request in which it was used, or waited for */
    int64_t request;
    size_t n_used, n_waited;
    /* Scores */
    double *relevance, *contexts, *anchors;
    uint8_t *has_links;
    PyObject *learn_page, *learn_links, *getrandbits, *random;
    /* Cash */
    Account *accounts;
    Heap max_cash;
    Slot *cash_slots;
    int64_t n_rounds;
    double circulating;
    /* Ranks */
    Ranked *ranked;
    RankedHost *ranked_hosts;
    int32_t *listed[N_GENERATIONS + 1];
    size_t n_listed[N_GENERATIONS + 1];
    const double *weights;
    const int64_t *bounds;
    size_t n_bounds;
    int64_t n_links, n_seen;
} Crawl;

/* Number a URL if it is new; returns whether it is. */
static inline bool discover(Crawl *crawl, int32_t url)
{
    if (crawl->slots[url].position != UNSEEN) {
        return false;
    }
    crawl->slots[url].position = UNQUEUED;
    crawl->slots[url].number = (int32_t)crawl->n_found;
    crawl->found[crawl->n_found++] = url;
    return true;
}

/* crawl_queue.c */
/* Queue a URL or change its score; a full bounded frontier evicts its last page first. */
void put(Crawl *crawl, int32_t url, double score);
void heap_put(Crawl *crawl, Heap *heap, Slot *slots, Queued item);
void heap_remove(Heap *heap, Slot *slots, int32_t url);
/* Take at most n pages, in polite crawls each of another host that is ready; returns how many. */
size_t request_pages(Crawl *crawl, size_t n, int32_t *pages);
size_t n_waiting_pages(const Crawl *crawl);
/* Take a URL out of an unbounded frontier. */
void take_away(Crawl *crawl, int32_t url);
bool is_usable(const Crawl *crawl, int32_t host);
/* Rank a host after its best page, or whether it is ready, has changed. */
void rank_host(Crawl *crawl, int32_t host);

/* crawl_strategies.c */
void start_crawl(Crawl *crawl, const int32_t *seeds, size_t n_seeds);
/* Learn from a visited page. */
void tell(Crawl *crawl, int32_t url, int32_t page);
/* Learn that there is no page at a requested URL. */
void drop(Crawl *crawl, int32_t url);
/* What a strategy does when its page has left the queue. */
void note_taken(Crawl *crawl, int32_t url, double score);
void note_round(Crawl *crawl, bool is_empty);
double revised_cash(const Crawl *crawl, double amount, double relevance);
void note_promise(Crawl *crawl, int32_t page, int64_t link);
double sum_promises(Crawl *crawl, int32_t page, size_t *n_distinct);

/* crawl_ranks.c */
void start_ranks(Crawl *crawl, const int32_t *seeds, size_t n_seeds);
void tell_ranks(Crawl *crawl, int32_t url, int32_t page);

#endif
