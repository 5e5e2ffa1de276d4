/* The heaps of the unbounded frontier: a pairing heap of pages per host, a binary heap of hosts.

   The record of page p is `pages[p + 1]`, so that index 0 means "none"; the record of host h is `hosts[h]`. In this file
   an `index` is an index into `pages`.

   Invariants, whenever no function is running
   - The queued pages of a host form one pairing heap (Fredman, Sedgewick, Sleator, Tarjan: The pairing heap, 1986) with
     its root at the host's `best`. `child` is a page's first child, `next` and `previous` are its siblings, `parent` its
     parent. A page whose score rises stays in its position until it passes its parent, so most changes touch two
     records.
   - A queued page's host is found from its record, whatever the caller says. It is stored as -1 - host where a root has
     no parent and a first child no previous sibling, so it is at most two records away.
   - The first `n_ranked` entries of `ranking` are a binary heap of hosts with queued pages, each with its best page; a
     host's `rank` is its index there plus 1.
   - Hosts that were scanned and passed over are not in the ranking and have `rank` 0. They are, best first, in the array
     `passed_over`, which is kept from one pop to the next. A host whose best page changes is ranked again; its entry in
     `passed_over` is stale then and dropped before the next scan.
   - During a scan, the scanned hosts are in `scanned`. Whatever else changes the heaps ranks them again first, which ends
     the scan. */

#include "heaps.h"

#include <math.h>

/* Pushes whose records are prefetched together; they fit the L1 cache. */
#define WINDOW 64

static bool comes_first(const Heaps *heaps, double score, int32_t page, double other_score, int32_t other_page)
{
    if (score != other_score)
        return score > other_score;
    return mixed_bits((uint64_t)page, heaps->salt) < mixed_bits((uint64_t)other_page, heaps->salt);
}

static int32_t host_at(const Heaps *heaps, int32_t index)
{
    const PageRecord *pages = heaps->pages;
    int32_t mark = pages[index].parent;
    if (mark > 0)
        mark = pages[pages[mark].child].previous;
    return -1 - mark;
}

/* Make the worse of two roots of one host the first child of the better, and return the better. */
static int32_t link_roots(Heaps *heaps, int32_t host, int32_t one, int32_t other)
{
    PageRecord *pages = heaps->pages;
    if (comes_first(heaps, pages[other].score, other - 1, pages[one].score, one - 1)) {
        int32_t better = other;
        other = one;
        one = better;
    }
    int32_t second = pages[one].child;
    pages[one].child = other;
    pages[other].parent = one;
    pages[other].next = second;
    pages[other].previous = -1 - host;
    if (second)
        pages[second].previous = other;
    return one;
}

/* Remove a page that is not a root, with its subtree, from its heap. */
static void cut(Heaps *heaps, int32_t index)
{
    PageRecord *pages = heaps->pages;
    int32_t before = pages[index].previous, after = pages[index].next;
    if (before > 0)
        pages[before].next = after;
    else
        pages[pages[index].parent].child = after;
    if (after)
        pages[after].previous = before;
}

/* Link a page's children into one heap, in pairs and then from the last pair to the first; its root, or 0. */
static int32_t linked_children(Heaps *heaps, int32_t host, int32_t parent)
{
    PageRecord *pages = heaps->pages;
    int32_t one = pages[parent].child, pairs = 0;
    pages[parent].child = 0;
    while (one) {
        int32_t other = pages[one].next;
        int32_t following = other ? pages[other].next : 0;
        int32_t pair = other ? link_roots(heaps, host, one, other) : one;
        pages[pair].next = pairs;
        pairs = pair;
        one = following;
    }
    int32_t root = pairs;
    pairs = pages[pairs].next;
    while (pairs) {
        int32_t following = pages[pairs].next;
        root = link_roots(heaps, host, root, pairs);
        pairs = following;
    }
    return root;
}

static void set_rank(Heaps *heaps, int64_t rank, Entry entry)
{
    heaps->ranking[rank - 1] = entry;
    heaps->hosts[entry.host].rank = (int32_t)rank;
}

bool entry_comes_first(const Heaps *heaps, Entry one, Entry other)
{
    return comes_first(heaps, one.score, one.page, other.score, other.page);
}

/* Insert a host at the free `rank`, sifted up or down. */
static void sift(Heaps *heaps, int64_t rank, Entry entry)
{
    const Entry *ranking = heaps->ranking;
    int64_t n_ranked = (int64_t)heaps->n_ranked;
    while (rank > 1) {
        Entry above = ranking[rank / 2 - 1];
        if (!entry_comes_first(heaps, entry, above))
            break;
        set_rank(heaps, rank, above);
        rank /= 2;
    }
    while (2 * rank <= n_ranked) {
        int64_t below = 2 * rank;
        if (below < n_ranked)
            below += entry_comes_first(heaps, ranking[below], ranking[below - 1]);
        Entry lower = ranking[below - 1];
        if (!entry_comes_first(heaps, lower, entry))
            break;
        set_rank(heaps, rank, lower);
        rank = below;
    }
    set_rank(heaps, rank, entry);
}

void heaps_rank_host(Heaps *heaps, int32_t host)
{
    int64_t rank = heaps->hosts[host].rank;
    int32_t best = heaps->hosts[host].best;
    if (rank == 0)
        rank = (int64_t)++heaps->n_ranked;
    sift(heaps, rank, (Entry){heaps->pages[best].score, best - 1, host});
}

void heaps_unrank_host(Heaps *heaps, int32_t host)
{
    int64_t n_ranked = (int64_t)--heaps->n_ranked, rank = heaps->hosts[host].rank;
    heaps->hosts[host].rank = 0;
    if (rank <= n_ranked)
        sift(heaps, rank, heaps->ranking[n_ranked]);
}

/* Make a page the best of its host. */
static void set_best(Heaps *heaps, int32_t host, int32_t root)
{
    PageRecord *page = &heaps->pages[root];
    page->parent = -1 - host;
    page->next = page->previous = 0;
    heaps->hosts[host].best = root;
    heaps_rank_host(heaps, host);
}

/* Merge a heap, possibly of one page, into that of its host. */
static void merge(Heaps *heaps, int32_t host, int32_t root)
{
    int32_t best = heaps->hosts[host].best;
    int32_t winner = best ? link_roots(heaps, host, best, root) : root;
    if (winner != best)
        set_best(heaps, host, winner);
}

/* Move a page, with its subtree, up after its score has risen. */
static void rise(Heaps *heaps, int32_t index)
{
    PageRecord *pages = heaps->pages;
    int32_t parent = pages[index].parent;
    if (parent < 0) {
        heaps_rank_host(heaps, -1 - parent);
    } else if (comes_first(heaps, pages[index].score, index - 1, pages[parent].score, parent - 1)) {
        int32_t host = host_at(heaps, index);
        cut(heaps, index);
        merge(heaps, host, index);
    }
}

/* Separate a page from its children after its score has fallen, because they may be better now. */
static void fall(Heaps *heaps, int32_t index)
{
    int32_t host = host_at(heaps, index);
    int32_t children = linked_children(heaps, host, index);
    if (heaps->pages[index].parent < 0)
        set_best(heaps, host, children ? link_roots(heaps, host, index, children) : index);
    else if (children)
        merge(heaps, host, children);
}

/* The new score of a queued page; NaN is passed on. */
static double combined(UpdateRule rule, double old, double pushed)
{
    if (rule == RULE_SUM)
        return old + pushed;
    return rule == RULE_FIRST || (rule == RULE_MAX && pushed <= old) ? old : pushed;
}

/* Start to load the records that pushes will change. In a large frontier every step from record to record waits for
   memory; here the steps of many pushes run side by side. */
static void prefetch(const Heaps *heaps, const int32_t *pushed, const int32_t *hosts, size_t count)
{
    const PageRecord *pages = heaps->pages;
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(&pages[pushed[i] + 1]);
        __builtin_prefetch(&heaps->hosts[hosts[i]]);
    }
    for (size_t i = 0; i < count; i++) {
        int32_t parent = pages[pushed[i] + 1].parent;
        if (parent > 0)
            __builtin_prefetch(&pages[parent]);
        __builtin_prefetch(&pages[heaps->hosts[hosts[i]].best]);
    }
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&pages[pages[heaps->hosts[hosts[i]].best].child]);
}

/* Push a page; false, with nothing changed, if its score would be NaN. */
static bool push(Heaps *heaps, int32_t index, int32_t host, double pushed, UpdateRule rule)
{
    PageRecord *page = &heaps->pages[index];
    if (page->parent == POPPED)
        return true;
    double score = page->parent ? combined(rule, page->score, pushed) : pushed;
    if (isnan(score))
        return false;
    if (page->parent == 0) {
        page->score = score;
        heaps->n_queued++;
        merge(heaps, host, index);
    } else if (score != page->score) {
        bool is_higher = score > page->score;
        page->score = score;
        if (is_higher)
            rise(heaps, index);
        else
            fall(heaps, index);
    }
    return true;
}

/* After the first record, which stands for none. */
bool make_room_for_page(Heaps *heaps, int32_t page)
{
    return make_room((void **)&heaps->pages, &heaps->pages_room, (size_t)page + 2, sizeof *heaps->pages);
}

/* The number of leading pages and hosts with a record, which they get if need be; -1 with an exception set. */
static Py_ssize_t with_records(Heaps *heaps, const int32_t *pages, const int32_t *hosts, size_t count)
{
    int32_t last_page = -1, last_host = -1;
    size_t n = 0;
    /* The highest numbers have no index, or stand for something else as -1 - host. */
    for (; n < count && pages[n] >= 0 && pages[n] < INT32_MAX && hosts[n] >= 0 && hosts[n] < INT32_MAX; n++) {
        last_page = pages[n] > last_page ? pages[n] : last_page;
        last_host = hosts[n] > last_host ? hosts[n] : last_host;
    }
    size_t n_hosts = (size_t)(last_host + 1);
    if (!make_room_for_page(heaps, last_page) ||
        !make_room((void **)&heaps->hosts, &heaps->hosts_room, n_hosts, sizeof *heaps->hosts) ||
        !make_room((void **)&heaps->ranking, &heaps->ranking_room, n_hosts, sizeof *heaps->ranking))
        return -1;
    return (Py_ssize_t)n;
}

void heaps_cancel_scan(Heaps *heaps)
{
    for (size_t i = 0; i < heaps->n_scanned; i++)
        heaps_rank_host(heaps, heaps->scanned[i].host);
    heaps->n_scanned = 0;
    heaps->is_scanning = false;
}

Py_ssize_t heaps_push(Heaps *heaps, const int32_t *pages, const int32_t *hosts, const double *scores, size_t count,
                      UpdateRule rule)
{
    heaps_cancel_scan(heaps);
    size_t done = 0;
    while (done < count) {
        size_t window = count - done < WINDOW ? count - done : WINDOW;
        Py_ssize_t usable = with_records(heaps, pages + done, hosts + done, window);
        if (usable < 0)
            return -1;
        prefetch(heaps, pages + done, hosts + done, (size_t)usable);
        size_t end = done + (size_t)usable;
        for (; done < end; done++)
            if (!push(heaps, pages[done] + 1, hosts[done], scores[done], rule))
                return (Py_ssize_t)done;
        if ((size_t)usable < window)
            break;
    }
    return (Py_ssize_t)done;
}

void heaps_pop_page(Heaps *heaps, Entry entry)
{
    heaps->pages[entry.page + 1].parent = POPPED;
    heaps->n_queued--;
    heaps->n_popped++;
    int32_t root = linked_children(heaps, entry.host, entry.page + 1);
    if (root) {
        set_best(heaps, entry.host, root);
        return;
    }
    heaps->hosts[entry.host].best = 0;
    if (heaps->hosts[entry.host].rank)
        heaps_unrank_host(heaps, entry.host);
}

int32_t heaps_host_of(const Heaps *heaps, int32_t page)
{
    return host_at(heaps, page + 1);
}
