/* The heaps of the unbounded frontier: a pairing heap of pages per host, a binary heap of hosts.

   The arrays belong to `frontier.native_frontier`. The record of page p is `pages[p + 1]`, so that index 0 means "none";
   the record of host h is `hosts[h]`. In this file an `index` is an index into `pages`.

   Invariants, whenever no function is running
   - The queued pages of a host form one pairing heap (Fredman, Sedgewick, Sleator, Tarjan: The pairing heap, 1986) with
     its root at the host's `best`. `child` is a page's first child, `next` and `previous` are its siblings, `parent` its
     parent. A page whose score rises stays in its position until it passes its parent, so most changes touch two
     records.
   - A queued page's host is found from its record, whatever the caller says. It is stored as -1 - host where a root has
     no parent and a first child no previous sibling, so it is at most two records away.
   - The first `N_RANKED` entries of `ranking` are a binary heap of hosts with queued pages, each with its best page; a
     host's `rank` is its index there plus 1.
   - Hosts that were scanned and passed over are not in the ranking and have `rank` 0. They are, best first, in the array
     `passed_over`, which is kept from one pop to the next. A host whose best page changes is ranked again; its entry in
     `passed_over` is stale then and dropped before the next scan. */

#include "heaps.h"

#include <math.h>

/* Pushes whose records are prefetched together; they fit the L1 cache. */
#define WINDOW 64

static uint64_t key_of(int32_t page, uint64_t salt)
{
    uint64_t mixed = (uint64_t)page * 0x9E3779B97F4A7C15u + salt;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

static bool comes_first(const Heaps *heaps, double score, int32_t page, double other_score, int32_t other_page)
{
    if (score != other_score)
        return score > other_score;
    uint64_t salt = (uint64_t)heaps->numbers[SALT];
    return key_of(page, salt) < key_of(other_page, salt);
}

static int32_t host_of(const Heaps *heaps, int32_t index)
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

static bool entry_comes_first(const Heaps *heaps, Entry one, Entry other)
{
    return comes_first(heaps, one.score, one.page, other.score, other.page);
}

/* Insert a host at the free `rank`, sifted up or down. */
static void sift(Heaps *heaps, int64_t rank, Entry entry)
{
    const Entry *ranking = heaps->ranking;
    int64_t n_ranked = heaps->numbers[N_RANKED];
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

/* Update the rank of a host after its best page, or that page's score, has changed. */
static void rank_host(Heaps *heaps, int32_t host)
{
    int64_t rank = heaps->hosts[host].rank;
    int32_t best = heaps->hosts[host].best;
    if (rank == 0)
        rank = ++heaps->numbers[N_RANKED];
    sift(heaps, rank, (Entry){heaps->pages[best].score, best - 1, host});
}

static void unrank_host(Heaps *heaps, int32_t host)
{
    int64_t n_ranked = --heaps->numbers[N_RANKED], rank = heaps->hosts[host].rank;
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
    rank_host(heaps, host);
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
        rank_host(heaps, -1 - parent);
    } else if (comes_first(heaps, pages[index].score, index - 1, pages[parent].score, parent - 1)) {
        int32_t host = host_of(heaps, index);
        cut(heaps, index);
        merge(heaps, host, index);
    }
}

/* Separate a page from its children after its score has fallen, because they may be better now. */
static void fall(Heaps *heaps, int32_t index)
{
    int32_t host = host_of(heaps, index);
    int32_t children = linked_children(heaps, host, index);
    if (heaps->pages[index].parent < 0)
        set_best(heaps, host, children ? link_roots(heaps, host, index, children) : index);
    else if (children)
        merge(heaps, host, children);
}

/* The new score of a queued page; NaN is passed on. */
static double combined(int64_t rule, double old, double pushed)
{
    if (rule == RULE_SUM)
        return old + pushed;
    return rule == RULE_FIRST || (rule == RULE_MAX && pushed <= old) ? old : pushed;
}

/* Start to load the records that a batch will change. In a large frontier every step from record to record waits for
   memory; here the steps of many pushes run side by side. */
static void prefetch(const Heaps *heaps, const Entry *batch, Py_ssize_t length)
{
    const PageRecord *pages = heaps->pages;
    for (Py_ssize_t i = 0; i < length; i++) {
        __builtin_prefetch(&pages[batch[i].page + 1]);
        __builtin_prefetch(&heaps->hosts[batch[i].host]);
    }
    for (Py_ssize_t i = 0; i < length; i++) {
        int32_t parent = pages[batch[i].page + 1].parent;
        if (parent > 0)
            __builtin_prefetch(&pages[parent]);
        __builtin_prefetch(&pages[heaps->hosts[batch[i].host].best]);
    }
    for (Py_ssize_t i = 0; i < length; i++)
        __builtin_prefetch(&pages[pages[heaps->hosts[batch[i].host].best].child]);
}

/* Push a page; false, with nothing changed, if its score would be NaN. */
static bool push(Heaps *heaps, int32_t index, int32_t host, double pushed, int64_t rule)
{
    PageRecord *page = &heaps->pages[index];
    if (page->parent == POPPED)
        return true;
    double score = page->parent ? combined(rule, page->score, pushed) : pushed;
    if (isnan(score))
        return false;
    if (page->parent == 0) {
        page->score = score;
        heaps->numbers[N_QUEUED]++;
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

/* The number of leading elements whose page and host are within the arrays. */
static Py_ssize_t n_within(const Heaps *heaps, const Entry *batch, Py_ssize_t length)
{
    for (Py_ssize_t i = 0; i < length; i++)
        if (batch[i].page < 0 || batch[i].page >= heaps->n_pages - 1 || batch[i].host < 0 ||
            batch[i].host >= heaps->n_hosts)
            return i;
    return length;
}

Py_ssize_t heaps_push(Heaps *heaps, Entry *batch, Py_ssize_t length)
{
    int64_t rule = heaps->numbers[RULE];
    Py_ssize_t done = 0;
    while (done < length) {
        Py_ssize_t window = length - done < WINDOW ? length - done : WINDOW;
        Py_ssize_t end = done + n_within(heaps, batch + done, window);
        if (end == done)
            break;
        prefetch(heaps, batch + done, end - done);
        for (; done < end; done++)
            if (!push(heaps, batch[done].page + 1, batch[done].host, batch[done].score, rule))
                return done;
    }
    return done;
}

/* Pop the best page of a host and rank the host by its next best. */
static void pop_page(Heaps *heaps, Entry entry)
{
    heaps->pages[entry.page + 1].parent = POPPED;
    heaps->numbers[N_QUEUED]--;
    heaps->numbers[N_POPPED]++;
    int32_t root = linked_children(heaps, entry.host, entry.page + 1);
    if (root) {
        set_best(heaps, entry.host, root);
        return;
    }
    heaps->hosts[entry.host].best = 0;
    if (heaps->hosts[entry.host].rank)
        unrank_host(heaps, entry.host);
}

Py_ssize_t heaps_pop_best(Heaps *heaps, Entry *popped, Py_ssize_t length)
{
    for (Py_ssize_t i = 0; i < length; i++) {
        if (heaps->numbers[N_RANKED] == 0)
            return i;
        popped[i] = heaps->ranking[0];
        pop_page(heaps, popped[i]);
    }
    return length;
}

Py_ssize_t heaps_pop_each(Heaps *heaps, Entry *bests, Py_ssize_t length)
{
    for (Py_ssize_t i = 0; i < length; i++)
        pop_page(heaps, bests[i]);
    return length;
}

Py_ssize_t heaps_put_back(Heaps *heaps, Entry *bests, Py_ssize_t length)
{
    for (Py_ssize_t i = 0; i < length; i++)
        rank_host(heaps, bests[i].host);
    return length;
}

void heaps_scan(Heaps *heaps, const Entry *passed_over, Py_ssize_t n_passed, Entry *scanned, Py_ssize_t length)
{
    for (Py_ssize_t i = 0; i < length; i++) {
        int64_t n = heaps->numbers[N_RESCANNED];
        bool has_ranked = heaps->numbers[N_RANKED] > 0;
        if (n < n_passed && (!has_ranked || entry_comes_first(heaps, passed_over[n], heaps->ranking[0]))) {
            scanned[i] = passed_over[n];
            heaps->numbers[N_RESCANNED]++;
        } else if (has_ranked) {
            scanned[i] = heaps->ranking[0];
            unrank_host(heaps, heaps->ranking[0].host);
        } else {
            return;
        }
    }
}

void heaps_list(const Heaps *heaps, int32_t *pages, int32_t *hosts)
{
    const PageRecord *records = heaps->pages;
    int64_t n = 0;
    for (int64_t host = 0; host < heaps->n_hosts; host++) {
        int32_t root = heaps->hosts[host].best, index = root;
        while (index) {
            pages[n] = index - 1;
            hosts[n++] = (int32_t)host;
            if (records[index].child) {
                index = records[index].child;
                continue;
            }
            while (index != root && records[index].next == 0)
                index = records[index].parent;
            index = records[index].next;
        }
    }
}
