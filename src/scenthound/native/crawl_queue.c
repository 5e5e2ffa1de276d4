/* The queue of a simulated crawl: the frontiers, rounds and ready hosts of `frontier` and `strategies.frontier_strategy`.

   An unbounded frontier has a heap for each host in polite crawls, and otherwise one for all. The ranking is a heap of
   hosts by their best pages. In a crawl that is not patient it has only those that are ready, so that busy hosts take no
   time. In a patient one it has all of them: few are looked at, because it gives up after some better pages.

   A bounded frontier is a sorted array; random keys break ties. */

#include "crawl.h"

/* Heaps */

/* Of an item. Three quarters of the items then have none, and most changes of scores move an item nowhere. */
#define CHILDREN 4

static inline bool comes_first(const Queued *one, const Queued *other)
{
    return one->score > other->score || (one->score == other->score && one->key < other->key);
}

static inline void place(Heap *heap, Slot *slots, int32_t index, Queued item)
{
    heap->items[index] = item;
    slots[item.url].position = index + 1;
}

/* Put an item at a free index, or above or below it. */
static void settle(Heap *heap, Slot *slots, int32_t index, Queued item)
{
    while (index > 0) {
        int32_t parent = (index - 1) / CHILDREN;
        if (!comes_first(&item, &heap->items[parent])) {
            break;
        }
        place(heap, slots, index, heap->items[parent]);
        index = parent;
    }
    for (int32_t first = CHILDREN * index + 1; first < heap->size; first = CHILDREN * index + 1) {
        int32_t best = first, end = first + CHILDREN < heap->size ? first + CHILDREN : heap->size;
        for (int32_t child = first + 1; child < end; child++) {
            best = comes_first(&heap->items[child], &heap->items[best]) ? child : best;
        }
        if (!comes_first(&heap->items[best], &item)) {
            break;
        }
        place(heap, slots, index, heap->items[best]);
        index = best;
    }
    place(heap, slots, index, item);
}

void heap_put(Crawl *crawl, Heap *heap, Slot *slots, Queued item)
{
    int32_t index = slots[item.url].position - 1;
    if (index < 0) {
        size_t room = (size_t)heap->room;
        if (heap->size == heap->room) {
            Queued *items = realloc(heap->items, (room + room / 2 + 16) * sizeof *items);
            if (items == NULL) {
                crawl->has_failed = true;
                PyErr_NoMemory();
                return;
            }
            heap->items = items;
            heap->room = (int32_t)(room + room / 2 + 16);
        }
        index = heap->size++;
    }
    settle(heap, slots, index, item);
}

void heap_remove(Heap *heap, Slot *slots, int32_t url)
{
    int32_t index = slots[url].position - 1;
    Queued last = heap->items[--heap->size];
    slots[url].position = UNSEEN;
    if (last.url != url) {
        settle(heap, slots, index, last);
    }
}

/* Hosts */

bool is_usable(const Crawl *crawl, int32_t host)
{
    return !crawl->is_busy[host] && crawl->used_in[host] != crawl->request;
}

void rank_host(Crawl *crawl, int32_t host)
{
    const Heap *heap = &crawl->heaps[host];
    if (heap->size > 0 && (crawl->is_patient || is_usable(crawl, host))) {
        heap_put(crawl, &crawl->ranking, crawl->host_slots, (Queued){heap->items[0].score, heap->items[0].key, host});
    } else if (crawl->host_slots[host].position > 0) {
        heap_remove(&crawl->ranking, crawl->host_slots, host);
    }
}

static void use_host(Crawl *crawl, int32_t host)
{
    crawl->used_in[host] = crawl->request;
    crawl->n_used++;
    if (!crawl->is_patient && crawl->settings.buffer == 0) {
        rank_host(crawl, host);
    }
}

/* Whether all further pages stay queued (`ReadyHosts.refuses`). */
static bool refuses(const Crawl *crawl)
{
    return crawl->is_patient && (double)(crawl->n_waited + crawl->n_used) >= crawl->settings.max_better;
}

static void pass_over(Crawl *crawl, int32_t host)
{
    if (crawl->is_busy[host] && crawl->waited_in[host] != crawl->request) {
        crawl->waited_in[host] = crawl->request;
        crawl->n_waited++;
    }
}

/* The host with the best page that is not refused, or NOTHING. */
static int32_t best_host(Crawl *crawl)
{
    Heap *ranking = &crawl->ranking;
    if (!crawl->is_patient) {
        return ranking->size > 0 ? ranking->items[0].url : NOTHING;
    }
    int32_t best = NOTHING, n_before = ranking->size;
    while (best == NOTHING && ranking->size > 0 && !refuses(crawl)) {
        Queued first = ranking->items[0];
        if (is_usable(crawl, first.url)) {
            best = first.url;
        } else {
            pass_over(crawl, first.url);
            heap_remove(ranking, crawl->host_slots, first.url);
            /* The place that has become free. */
            ranking->items[ranking->size] = first;
        }
    }
    while (ranking->size < n_before) {
        int32_t index = ranking->size++;
        settle(ranking, crawl->host_slots, index, ranking->items[index]);
    }
    return best;
}

/* The bounded frontier */

static bool entry_is_less(const Buffered *one, double score, double key)
{
    return one->score < score || (one->score == score && one->key < key);
}

/* The index of an entry, or where to insert it. */
static size_t index_in_buffer(const Crawl *crawl, double score, double key)
{
    size_t low = crawl->buffer_first, high = crawl->buffer_end;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (entry_is_less(&crawl->buffer[middle], score, key)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void remove_from_buffer(Crawl *crawl, size_t index)
{
    Buffered *buffer = crawl->buffer;
    memmove(buffer + index, buffer + index + 1, (crawl->buffer_end - index - 1) * sizeof *buffer);
    crawl->buffer_end--;
    crawl->n_queued--;
}

static void insert_into_buffer(Crawl *crawl, Buffered entry)
{
    Buffered *buffer = crawl->buffer;
    if (crawl->buffer_end == crawl->buffer_room) {
        memmove(buffer, buffer + crawl->buffer_first, crawl->n_queued * sizeof *buffer);
        crawl->buffer_first = 0;
        crawl->buffer_end = crawl->n_queued;
    }
    size_t index = index_in_buffer(crawl, entry.score, entry.key);
    memmove(buffer + index + 1, buffer + index, (crawl->buffer_end - index) * sizeof *buffer);
    buffer[index] = entry;
    crawl->buffer_end++;
    crawl->n_queued++;
    crawl->slots[entry.url].position = IN_BUFFER;
    crawl->slots[entry.url].score = entry.score;
    crawl->buffered_key[entry.url] = entry.key;
}

static double random_key(Crawl *crawl)
{
    PyObject *drawn = PyObject_CallNoArgs(crawl->random);
    double key = drawn == NULL ? 0 : PyFloat_AsDouble(drawn);
    Py_XDECREF(drawn);
    crawl->has_failed = crawl->has_failed || drawn == NULL;
    return key;
}

static void put_into_buffer(Crawl *crawl, int32_t url, double score)
{
    if (crawl->slots[url].position == IN_BUFFER) {
        double key = crawl->buffered_key[url];
        remove_from_buffer(crawl, index_in_buffer(crawl, crawl->slots[url].score, key));
        insert_into_buffer(crawl, (Buffered){score, key, url});
        return;
    }
    if (crawl->n_queued >= (size_t)crawl->settings.buffer) {
        crawl->slots[crawl->buffer[crawl->buffer_first++].url].position = UNQUEUED;
        crawl->n_queued--;
        crawl->n_evicted++;
    }
    insert_into_buffer(crawl, (Buffered){score, random_key(crawl), url});
}

static int32_t take_from_buffer(Crawl *crawl)
{
    for (size_t index = crawl->buffer_end; index > crawl->buffer_first && !refuses(crawl); index--) {
        int32_t url = crawl->buffer[index - 1].url, host = crawl->web->url_host[url];
        if (!crawl->by_host || is_usable(crawl, host)) {
            remove_from_buffer(crawl, index - 1);
            crawl->slots[url].position = TAKEN;
            return url;
        }
        pass_over(crawl, host);
    }
    return NOTHING;
}

/* The queue */

static Heap *heap_of(const Crawl *crawl, int32_t url)
{
    return &crawl->heaps[crawl->by_host ? crawl->web->url_host[url] : 0];
}

void put(Crawl *crawl, int32_t url, double score)
{
    if (crawl->has_failed) {
        return;
    }
    if (isnan(score)) {
        crawl->has_failed = true;
        PyErr_SetString(PyExc_ValueError, "The score of a link is NaN. Check how the relevance model computes scores.");
        return;
    }
    if (crawl->settings.buffer) {
        put_into_buffer(crawl, url, score);
        return;
    }
    Heap *heap = heap_of(crawl, url);
    int32_t before = crawl->slots[url].position;
    Queued item = {score, 0, url};
    if (before > 0) {
        item.key = heap->items[before - 1].key;
    } else {
        item.key = mixed_bits((uint64_t)crawl->slots[url].number, crawl->salt);
        crawl->n_queued++;
    }
    crawl->slots[url].score = score;
    heap_put(crawl, heap, crawl->slots, item);
    if (crawl->by_host && !crawl->has_failed && (before == 1 || crawl->slots[url].position == 1)) {
        rank_host(crawl, crawl->web->url_host[url]);
    }
}

void take_away(Crawl *crawl, int32_t url)
{
    bool is_best = crawl->slots[url].position == 1;
    heap_remove(heap_of(crawl, url), crawl->slots, url);
    crawl->slots[url].position = TAKEN;
    crawl->n_queued--;
    if (crawl->by_host && is_best) {
        rank_host(crawl, crawl->web->url_host[url]);
    }
}

/* The best page on a host that is ready, which leaves the queue; or NOTHING. */
static int32_t take_best(Crawl *crawl)
{
    if (crawl->settings.buffer) {
        return take_from_buffer(crawl);
    }
    int32_t host = crawl->by_host ? best_host(crawl) : 0;
    if (host == NOTHING || crawl->heaps[host].size == 0) {
        return NOTHING;
    }
    Queued best = crawl->heaps[host].items[0];
    take_away(crawl, best.url);
    note_taken(crawl, best.url, best.score);
    return best.url;
}

/* Rounds */

/* `Random.randrange(n)`; n is at least 1. */
static int32_t random_below(Crawl *crawl, int32_t n)
{
    int n_bits = 0;
    while (n >> n_bits) {
        n_bits++;
    }
    while (!crawl->has_failed) {
        PyObject *drawn = PyObject_CallFunction(crawl->getrandbits, "i", n_bits);
        long number = drawn == NULL ? 0 : PyLong_AsLong(drawn);
        Py_XDECREF(drawn);
        crawl->has_failed = crawl->has_failed || drawn == NULL;
        if (number < n) {
            return number < 0 ? 0 : (int32_t)number;
        }
    }
    return 0;
}

/* Let the best queued pages be the next round, in random order; false if there are none. */
static bool fill_round(Crawl *crawl)
{
    size_t room = (size_t)crawl->settings.round_size;
    if (crawl->settings.buffer) {
        size_t largest = (size_t)(crawl->settings.buffer > crawl->settings.round_size ? crawl->settings.buffer
                                                                                      : crawl->settings.round_size);
        size_t left = largest > (size_t)crawl->n_in_round ? largest - (size_t)crawl->n_in_round : 0;
        room = left < room ? left : room;
    }
    int32_t first = crawl->n_in_round, url;
    while ((size_t)(crawl->n_in_round - first) < room && (url = take_best(crawl)) != NOTHING) {
        if ((size_t)crawl->n_in_round == crawl->round_room &&
            !make_room((void **)&crawl->round, &crawl->round_room, crawl->round_room + 1, sizeof *crawl->round)) {
            crawl->has_failed = true;
            return false;
        }
        crawl->round[crawl->n_in_round++] = url;
    }
    for (int32_t index = crawl->n_in_round - first - 1; index > 0; index--) {
        int32_t other = random_below(crawl, index + 1), *pages = crawl->round + first, swapped = pages[index];
        pages[index] = pages[other];
        pages[other] = swapped;
    }
    note_round(crawl, crawl->n_in_round == first);
    return crawl->n_in_round > first;
}

static size_t take_from_round(Crawl *crawl, size_t n, int32_t *pages)
{
    size_t n_taken = 0;
    for (int32_t index = crawl->n_in_round - 1; index >= 0 && n_taken < n; index--) {
        int32_t url = crawl->round[index], host = crawl->web->url_host[url];
        if (crawl->by_host && !is_usable(crawl, host)) {
            continue;
        }
        memmove(crawl->round + index, crawl->round + index + 1,
                (size_t)(crawl->n_in_round - index - 1) * sizeof *crawl->round);
        crawl->n_in_round--;
        pages[n_taken++] = url;
        if (crawl->by_host) {
            use_host(crawl, host);
        }
    }
    return n_taken;
}

size_t request_pages(Crawl *crawl, size_t n, int32_t *pages)
{
    crawl->request++;
    crawl->n_used = crawl->n_waited = 0;
    size_t n_taken = take_from_round(crawl, n, pages);
    while (n_taken < n && !crawl->has_failed) {
        if (crawl->settings.round_size > 1) {
            if (!fill_round(crawl)) {
                break;
            }
            n_taken += take_from_round(crawl, n - n_taken, pages + n_taken);
            continue;
        }
        int32_t url = take_best(crawl);
        if (url == NOTHING) {
            break;
        }
        pages[n_taken++] = url;
        if (crawl->by_host) {
            use_host(crawl, crawl->web->url_host[url]);
        }
        note_round(crawl, false);
    }
    return n_taken;
}

size_t n_waiting_pages(const Crawl *crawl)
{
    return crawl->n_queued + (size_t)crawl->n_in_round;
}
