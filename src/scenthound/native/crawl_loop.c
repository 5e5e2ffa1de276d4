/* Simulated crawls of strategies whose scores need no Python: `simulator.simulate` in one call.

   The modes of `simulator.modes` decide in which order requested pages return. The loop calls Python for scores that are
   not known yet, and for random numbers, which are those of the crawl's generator. Arrays are checked when a web is made
   and when a crawl starts; strategies and queue rely on that. */

#define _GNU_SOURCE

#include "crawl.h"

#include <time.h>

/* Requests between two looks at signals such as Ctrl-C. */
#define SIGNALS_EVERY 256
/* Visits that are timed together: on some machines reading the clock takes as long as half a visit. */
#define TIMED_TOGETHER 16
#define MAX_BLOCKS 24
#define N_SCORES (4 + N_GENERATIONS + 4)

enum { LINK_OFFSET, LINK_URL, LINK_INDEX, URL_PAGE, URL_HOST, N_WEB_ARRAYS };
enum { SEEDS, RELEVANCE, CONTEXTS, ANCHORS, HAS_LINKS, WEIGHTS, BOUNDS, N_CRAWL_ARRAYS };

/* A crawl with its memory, which the next crawl uses again. */
typedef struct {
    Crawl crawl;
    struct {
        void *memory;
        size_t n_bytes;
    } blocks[MAX_BLOCKS];
    int n_blocks;
    size_t n_requests;
    size_t n_timed;
    int64_t last_ns, scoring_ns;
} Space;

typedef struct {
    PyObject_HEAD
    Web web;
    Py_buffer arrays[N_WEB_ARRAYS];
    Space *idle; /* of the last crawl; NULL while one is running */
} WebObject;

/* Settings by name */

#define INTEGER(name) {#name, offsetof(Settings, name), false}
#define NUMBER(name) {#name, offsetof(Settings, name), true}

static const struct {
    const char *name;
    size_t offset;
    bool is_double;
} fields[] = {
    INTEGER(loop), INTEGER(budget), INTEGER(found_again), INTEGER(by_context), INTEGER(buffer), INTEGER(round_size),
    INTEGER(fifo_size), INTEGER(drops_new), INTEGER(seeds_first), INTEGER(reshare_every), INTEGER(revises_again),
    INTEGER(keeps_when_hopeless), INTEGER(hub_over_max), INTEGER(split_by), INTEGER(deepest),
    INTEGER(counts_community), INTEGER(renews_siblings), INTEGER(has_extras), INTEGER(weighs_link_scores),
    INTEGER(weighs_hosts), INTEGER(weighs_cash), INTEGER(list_size), INTEGER(refill_at), INTEGER(workers),
    INTEGER(fetch_us), INTEGER(delay_us), INTEGER(fetch_list), INTEGER(asks_again), NUMBER(page_weight),
    NUMBER(strength), NUMBER(flatness), NUMBER(threshold), NUMBER(score_range), NUMBER(max_better),
};

#define N_FIELDS (sizeof fields / sizeof *fields)

static bool read_settings(PyObject *dictionary, Settings *settings)
{
    *settings = (Settings){.round_size = 1, .max_better = INFINITY};
    if (!check(PyDict_Check(dictionary), "settings must be a dict")) {
        return false;
    }
    Py_ssize_t n_found = 0;
    for (size_t index = 0; index < N_FIELDS; index++) {
        PyObject *value = PyDict_GetItemString(dictionary, fields[index].name);
        void *field = (char *)settings + fields[index].offset;
        if (value == NULL) {
            continue;
        }
        n_found++;
        if (fields[index].is_double) {
            *(double *)field = PyFloat_AsDouble(value);
        } else {
            /* What is too large is larger than any queue, round or crawl. */
            int overflow;
            int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
            *(int64_t *)field = overflow > 0 ? INT64_MAX : number;
        }
        if (PyErr_Occurred() != NULL) {
            return false;
        }
        if (!fields[index].is_double && *(int64_t *)field < 0) {
            PyErr_Format(PyExc_ValueError, "%s must not be negative", fields[index].name);
            return false;
        }
    }
    bool is_valid = n_found == PyDict_Size(dictionary) && settings->loop <= RANKS && settings->found_again <= FIRST &&
                    settings->round_size > 0 && settings->deepest <= N_GENERATIONS && settings->split_by <= BY_PHASE &&
                    (!settings->fifo_size || settings->loop == BREADTH_FIRST) &&
                    (!settings->buffer || settings->loop == BEST_FIRST) &&
                    !(settings->list_size && settings->workers) && settings->refill_at <= settings->list_size;
    if (!is_valid) {
        PyErr_SetString(PyExc_ValueError, "there is no such crawl");
    }
    return is_valid;
}

/* Time */

static int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Scores */

/* Call a function with a page: the result, or NULL, after which the crawl ends. */
static PyObject *called(Space *space, PyObject *function, int32_t page)
{
    int64_t before_ns = clock_ns();
    PyObject *result = PyObject_CallFunction(function, "i", (int)page);
    space->crawl.has_failed = space->crawl.has_failed || result == NULL;
    space->scoring_ns += clock_ns() - before_ns;
    return result;
}

/* Have the scores that are needed before a page is passed to the strategy; false if that fails. */
static bool get_scores(Space *space, int32_t page)
{
    Crawl *crawl = &space->crawl;
    int64_t loop = crawl->settings.loop;
    if (loop == BREADTH_FIRST || loop == OPIC) {
        return true;
    }
    if (isnan(crawl->relevance[page])) {
        PyObject *score = called(space, crawl->learn_page, page);
        crawl->relevance[page] = score == NULL ? NAN : PyFloat_AsDouble(score);
        Py_XDECREF(score);
        crawl->has_failed = crawl->has_failed || PyErr_Occurred() != NULL;
    }
    bool reads_links = loop == OTIE || crawl->settings.by_context || crawl->settings.weighs_link_scores;
    if (reads_links && !crawl->has_links[page] && !crawl->has_failed) {
        PyObject *done = called(space, crawl->learn_links, page);
        Py_XDECREF(done);
        crawl->has_links[page] = done != NULL;
    }
    return !crawl->has_failed;
}

/* Charge the time since the last call, without that of scores, to the visits since then. */
static void time_visits(Space *space)
{
    Crawl *crawl = &space->crawl;
    int64_t now_ns = clock_ns(), spent_ns = now_ns - space->last_ns - space->scoring_ns;
    for (size_t visit = space->n_timed; visit < crawl->n_visited; visit++) {
        crawl->wall_ns[visit] = spent_ns / (int64_t)(crawl->n_visited - space->n_timed);
    }
    space->last_ns = now_ns;
    space->scoring_ns = 0;
    space->n_timed = crawl->n_visited;
}

/* Fetch a page: visit it, or drop it if it is missing or was visited. */
static void fetch(Space *space, int32_t url, int64_t at_us)
{
    Crawl *crawl = &space->crawl;
    int32_t page = crawl->web->url_page[url];
    if (++space->n_requests % SIGNALS_EVERY == 0 && PyErr_CheckSignals() < 0) {
        crawl->has_failed = true;
    } else if (page < 0 || crawl->visit_of[page] > 0) {
        crawl->n_missing += page < 0;
        crawl->n_repeated += page >= 0;
        drop(crawl, url);
    } else if (get_scores(space, page)) {
        tell(crawl, url, page);
        crawl->visits[crawl->n_visited] = page;
        if (crawl->times_us != NULL) {
            crawl->times_us[crawl->n_visited] = at_us;
        }
        crawl->visit_of[page] = (int32_t)++crawl->n_visited;
        if (crawl->n_visited - space->n_timed == TIMED_TOGETHER) {
            time_visits(space);
        }
    }
}

static bool goes_on(const Crawl *crawl)
{
    return (int64_t)crawl->n_visited < crawl->settings.budget && !crawl->has_failed;
}

/* One page after the other */

static void crawl_in_sequence(Space *space)
{
    int32_t url;
    while (goes_on(&space->crawl) && request_pages(&space->crawl, 1, &url) > 0) {
        fetch(space, url, 0);
    }
}

/* The current list of johnson2003, from which a roulette wheel selects the page that returns next */

static void crawl_by_roulette(Space *space, int32_t *pages, int64_t *stamps, uint64_t salt)
{
    Crawl *crawl = &space->crawl;
    size_t size = (size_t)crawl->settings.list_size, refill_at = (size_t)crawl->settings.refill_at, n_pages = 0;
    for (uint64_t draw = 0; goes_on(crawl); draw++) {
        if (n_pages <= refill_at) {
            size_t n_new = request_pages(crawl, size - n_pages, pages + n_pages);
            for (size_t index = 0; n_new > 0 && index < n_pages; index++) {
                stamps[index]++;
            }
            for (; n_new > 0; n_new--) {
                stamps[n_pages++] = 1;
            }
        }
        if (n_pages == 0) {
            return;
        }
        int64_t total = 0;
        for (size_t index = 0; index < n_pages; index++) {
            total += stamps[index];
        }
        double target = (double)(mixed_bits(draw, salt) >> 11) * 0x1p-53 * (double)total;
        size_t drawn = 0;
        for (int64_t running = stamps[0]; target >= (double)running && drawn < n_pages - 1; running += stamps[drawn]) {
            drawn++;
        }
        int32_t url = pages[drawn];
        pages[drawn] = pages[--n_pages];
        stamps[drawn] = stamps[n_pages];
        fetch(space, url, 0);
    }
}

/* Workers and crawl delays, in simulated time */

static void add_event(Events *events, Event event)
{
    events->items[(events->first + events->count++) % events->room] = event;
}

static Event take_event(Events *events)
{
    Event event = events->items[events->first];
    events->first = (events->first + 1) % events->room;
    events->count--;
    return event;
}

static bool has_event(const Events *events, int64_t until)
{
    return events->count > 0 && events->items[events->first].at <= until;
}

typedef struct {
    Events in_flight, waiting;
    int64_t now_us;
    int32_t *asked, *list; /* pages to send, and the list that all workers share */
    size_t n_listed, room;
} Connections;

/* The first n pages of the list that are on different ready hosts; a new list, when all pages have returned. */
static size_t take_from_list(Crawl *crawl, Connections *connections, size_t n)
{
    size_t size = (size_t)crawl->settings.fetch_list, n_urls = crawl->web->n_urls, n_taken = 0, n_left = 0;
    if (connections->n_listed == 0 && n == (size_t)crawl->settings.workers) {
        connections->n_listed = request_pages(crawl, size < n_urls ? size : n_urls, connections->list);
    }
    crawl->request++;
    for (size_t index = 0; index < connections->n_listed; index++) {
        int32_t url = connections->list[index], host = crawl->web->url_host[url];
        if (n_taken < n && is_usable(crawl, host)) {
            crawl->used_in[host] = crawl->request;
            connections->asked[n_taken++] = url;
        } else {
            connections->list[n_left++] = url;
        }
    }
    connections->n_listed = n_left;
    return n_taken;
}

/* Request pages for the free workers. */
static void send(Crawl *crawl, Connections *connections)
{
    const Settings *settings = &crawl->settings;
    size_t n_free;
    while ((n_free = (size_t)settings->workers - connections->in_flight.count) > 0) {
        size_t n_wanted = n_free < connections->room ? n_free : connections->room;
        size_t n_sent = settings->fetch_list ? take_from_list(crawl, connections, n_free)
                                             : request_pages(crawl, n_wanted, connections->asked);
        for (size_t index = 0; index < n_sent; index++) {
            int32_t url = connections->asked[index], host = crawl->web->url_host[url];
            add_event(&connections->in_flight, (Event){connections->now_us + settings->fetch_us, url, host});
            crawl->is_busy[host] = 1;
        }
        /* A patient strategy returns fewer pages at a time than one after the other. */
        if (n_sent == 0 || !settings->asks_again || crawl->has_failed) {
            return;
        }
    }
}

static void end_delays(Crawl *crawl, Connections *connections)
{
    while (has_event(&connections->waiting, connections->now_us)) {
        int32_t host = take_event(&connections->waiting).host;
        crawl->is_busy[host] = 0;
        crawl->used_in[host] = 0;
        if (crawl->by_host && crawl->settings.buffer == 0) {
            rank_host(crawl, host);
        }
    }
}

static void crawl_politely(Space *space, Connections *connections)
{
    Crawl *crawl = &space->crawl;
    Events *in_flight = &connections->in_flight, *waiting = &connections->waiting;
    while (goes_on(crawl)) {
        send(crawl, connections);
        size_t n_queued = crawl->settings.fetch_list ? connections->n_listed : n_waiting_pages(crawl);
        bool needs_host = in_flight->count < (size_t)crawl->settings.workers && n_queued > 0 && waiting->count > 0;
        if (in_flight->count == 0 && !needs_host) {
            return;
        }
        int64_t ready_at = needs_host ? waiting->items[waiting->first].at : INT64_MAX;
        int64_t returns_at = in_flight->count > 0 ? in_flight->items[in_flight->first].at : INT64_MAX;
        connections->now_us = ready_at < returns_at ? ready_at : returns_at;
        end_delays(crawl, connections);
        while (goes_on(crawl) && has_event(in_flight, connections->now_us)) {
            Event returned = take_event(in_flight);
            add_event(waiting, (Event){connections->now_us + crawl->settings.delay_us, returned.url, returned.host});
            fetch(space, returned.url, connections->now_us);
        }
        end_delays(crawl, connections);
    }
}

/* Memory */

/* An array that is 0 at first, unless it was made for an earlier crawl; false, with an exception set, without memory. */
static bool make_zeros(Space *space, void **array, size_t count, size_t item_size)
{
    if (*array != NULL) {
        return true;
    }
    size_t n_bytes = (count + 1) * item_size;
    *array = allocate_zeros(n_bytes);
    if (*array == NULL) {
        PyErr_NoMemory();
        return false;
    }
    space->blocks[space->n_blocks].memory = *array;
    space->blocks[space->n_blocks++].n_bytes = n_bytes;
    return true;
}

#define MAKE_ZEROS(array, count) make_zeros(space, (void **)&crawl->array, count, sizeof *crawl->array)

/* What no crawl of the settings touches costs nothing. */
static bool make_arrays(Space *space)
{
    Crawl *crawl = &space->crawl;
    size_t n_urls = crawl->web->n_urls, n_hosts = crawl->web->n_hosts;
    size_t n_queued = (size_t)crawl->settings.buffer < n_urls ? (size_t)crawl->settings.buffer : n_urls;
    return MAKE_ZEROS(slots, n_urls) && MAKE_ZEROS(found, n_urls) && MAKE_ZEROS(visit_of, crawl->web->n_pages) &&
           MAKE_ZEROS(heaps, n_hosts) && MAKE_ZEROS(host_slots, n_hosts) && MAKE_ZEROS(is_busy, n_hosts) &&
           MAKE_ZEROS(used_in, n_hosts) && MAKE_ZEROS(waited_in, n_hosts) && MAKE_ZEROS(accounts, n_urls) &&
           MAKE_ZEROS(cash_slots, n_urls) && MAKE_ZEROS(ranked, n_urls) && MAKE_ZEROS(ranked_hosts, n_hosts) &&
           MAKE_ZEROS(buffered_key, n_urls) &&
           /* With room for some evictions before the others are moved to the start. */
           make_room((void **)&crawl->buffer, &crawl->buffer_room, 2 * n_queued + 2, sizeof *crawl->buffer);
}

static void free_space(Space *space)
{
    if (space == NULL) {
        return;
    }
    Crawl *crawl = &space->crawl;
    for (size_t host = 0; crawl->heaps != NULL && host <= crawl->web->n_hosts; host++) {
        free(crawl->heaps[host].items);
    }
    free(crawl->max_cash.items);
    free(crawl->ranking.items);
    release_memory(crawl->buffer, crawl->buffer_room * sizeof *crawl->buffer);
    release_memory(crawl->round, crawl->round_room * sizeof *crawl->round);
    while (space->n_blocks > 0) {
        space->n_blocks--;
        release_memory(space->blocks[space->n_blocks].memory, space->blocks[space->n_blocks].n_bytes);
    }
    free(space);
}

/* Reset what a crawl has touched. */
static void reset(Space *space)
{
    Crawl *crawl = &space->crawl;
    for (size_t index = 0; index < crawl->n_found; index++) {
        int32_t url = crawl->found[index], host = crawl->web->url_host[url];
        crawl->slots[url].position = UNSEEN;
        crawl->heaps[host].size = 0;
        if (crawl->settings.loop == OTIE) {
            crawl->cash_slots[url].position = 0;
        }
        if (crawl->settings.workers) {
            crawl->is_busy[host] = 0;
            crawl->host_slots[host].position = 0;
        }
        if (crawl->settings.loop == RANKS) {
            crawl->ranked_hosts[host] = (RankedHost){0, 0};
        }
    }
    for (size_t index = 0; index < crawl->n_visited; index++) {
        crawl->visit_of[crawl->visits[index]] = 0;
    }
    if (crawl->heaps != NULL) {
        crawl->heaps[0].size = 0;
    }
    crawl->max_cash.size = 0;
    crawl->n_found = crawl->n_visited = crawl->n_missing = crawl->n_repeated = crawl->n_evicted = crawl->n_queued = 0;
    crawl->buffer_first = crawl->buffer_end = 0;
    crawl->n_in_round = crawl->ranking.size = 0;
    crawl->n_in_order = crawl->n_rounds = 0;
    crawl->n_dropped = 0;
    crawl->has_failed = false;
}

/* The crawl */

static void start(Crawl *crawl, const Py_buffer *seeds)
{
    if (crawl->settings.loop == RANKS) {
        start_ranks(crawl, seeds->buf, length_of(seeds));
    } else {
        start_crawl(crawl, seeds->buf, length_of(seeds));
    }
}

/* 64 random bits; 0, with an exception set, if that fails. */
static uint64_t random_bits(Crawl *crawl)
{
    PyObject *drawn = PyObject_CallFunction(crawl->getrandbits, "i", 64);
    uint64_t bits = drawn == NULL ? 0 : PyLong_AsUnsignedLongLong(drawn);
    Py_XDECREF(drawn);
    crawl->has_failed = crawl->has_failed || PyErr_Occurred() != NULL;
    return bits;
}

/* Random numbers are drawn in the order of a crawl in Python: first for the frontier, then for the wheel. */
static void run(Space *space, const Py_buffer *seeds, int32_t *pages, int64_t *numbers, Connections *connections)
{
    Crawl *crawl = &space->crawl;
    crawl->by_host = crawl->settings.workers && !crawl->settings.fetch_list;
    crawl->is_patient = crawl->by_host && crawl->settings.max_better < INFINITY;
    crawl->salt = crawl->settings.buffer ? 0 : random_bits(crawl);
    space->last_ns = clock_ns();
    space->scoring_ns = 0;
    space->n_timed = 0;
    /* No host was used in the request of the start. */
    crawl->request++;
    start(crawl, seeds);
    if (crawl->settings.workers) {
        crawl_politely(space, connections);
    } else if (crawl->settings.list_size) {
        uint64_t salt = goes_on(crawl) ? random_bits(crawl) : 0;
        crawl_by_roulette(space, pages, numbers, salt);
    } else {
        crawl_in_sequence(space);
    }
    time_visits(space);
}

static PyObject *result_of(const Crawl *crawl)
{
    size_t count = crawl->n_visited;
    return Py_BuildValue("NNNnnn", array_of(crawl->visits, count, sizeof *crawl->visits),
                         array_of(crawl->wall_ns, count, sizeof *crawl->wall_ns),
                         array_of(crawl->times_us, crawl->times_us == NULL ? 0 : count, sizeof *crawl->times_us),
                         (Py_ssize_t)crawl->n_missing, (Py_ssize_t)crawl->n_repeated, (Py_ssize_t)crawl->n_evicted);
}

/* Allocate what lasts for one crawl, and run it. */
static PyObject *crawled(Space *space, Arguments *given)
{
    Crawl *crawl = &space->crawl;
    const Settings *settings = &crawl->settings;
    size_t n_urls = crawl->web->n_urls, n_hosts = crawl->web->n_hosts, n_pages = crawl->web->n_pages;
    size_t n_visits = settings->budget < (int64_t)n_pages ? (size_t)settings->budget : n_pages;
    size_t n_asked = (size_t)(settings->workers > settings->list_size ? settings->workers : settings->list_size);
    n_asked = n_asked < n_urls ? n_asked : n_urls;
    size_t n_events = settings->workers ? n_hosts + 1 : 0, n_of_list = settings->fetch_list ? n_urls : 0;
    size_t n_of_row = settings->loop == RANKS ? n_visits + 1 : 0;
    int64_t *times = room_for(given, 2 * n_visits + n_asked, sizeof *times);
    size_t n_numbers = n_visits + n_asked + n_of_list + (N_GENERATIONS + 1) * n_of_row;
    int32_t *numbers = room_for(given, n_numbers, sizeof *numbers);
    Event *events = room_for(given, 2 * n_events, sizeof *events);
    if (times == NULL || numbers == NULL || events == NULL) {
        return NULL;
    }
    int32_t *asked = numbers + n_visits;
    crawl->wall_ns = times;
    crawl->times_us = settings->workers ? times + n_visits : NULL;
    crawl->visits = numbers;
    for (size_t row = 0; row <= N_GENERATIONS; row++) {
        crawl->listed[row] = asked + n_asked + n_of_list + row * n_of_row;
    }
    Connections connections = {.in_flight = {events, 0, 0, n_events}, .waiting = {events + n_events, 0, 0, n_events},
                               .asked = asked, .list = asked + n_asked, .room = n_asked};
    run(space, &given->arrays[SEEDS], asked, times + 2 * n_visits, &connections);
    PyObject *result = crawl->has_failed ? NULL : result_of(crawl);
    reset(space);
    return result;
}

/* Whether the arrays fit the web and the settings; otherwise an exception is set. */
static bool use_arrays(Crawl *crawl, const Py_buffer *arrays)
{
    const Web *web = crawl->web;
    const Settings *settings = &crawl->settings;
    size_t n_contexts = length_of(&arrays[CONTEXTS]), n_anchors = length_of(&arrays[ANCHORS]);
    size_t n_bounds = length_of(&arrays[BOUNDS]);
    bool needs_contexts = settings->loop == OTIE || settings->by_context || settings->weighs_cash;
    bool is_valid = length_of(&arrays[RELEVANCE]) == web->n_pages && length_of(&arrays[HAS_LINKS]) == web->n_pages &&
                    (n_contexts == web->n_all_links || (n_contexts == 0 && !needs_contexts)) &&
                    (n_anchors == web->n_all_links || n_anchors == 0) &&
                    (settings->loop != RANKS || length_of(&arrays[WEIGHTS]) == (n_bounds + 1) * N_SCORES) &&
                    (!settings->has_extras || settings->loop == RANKS);
    if (!check(is_valid && are_below(&arrays[SEEDS], web->n_urls), "the arrays do not fit the web or the crawl")) {
        return false;
    }
    crawl->relevance = arrays[RELEVANCE].buf;
    crawl->contexts = n_contexts ? arrays[CONTEXTS].buf : NULL;
    crawl->anchors = n_anchors ? arrays[ANCHORS].buf : NULL;
    crawl->has_links = arrays[HAS_LINKS].buf;
    crawl->weights = arrays[WEIGHTS].buf;
    crawl->bounds = arrays[BOUNDS].buf;
    crawl->n_bounds = n_bounds;
    return true;
}

/* The pages with a link to each URL, ascending. */
static bool invert_links(Web *web)
{
    if (web->parent_offset != NULL) {
        return true;
    }
    int64_t *offset = calloc(web->n_urls + 1, sizeof *offset);
    int32_t *pages = malloc(((size_t)web->distinct_offset[web->n_pages] + 1) * sizeof *pages);
    if (offset == NULL || pages == NULL) {
        free(offset);
        free(pages);
        PyErr_NoMemory();
        return false;
    }
    transpose(web->distinct_offset, web->distinct_url, web->n_pages, web->n_urls, false, offset, pages);
    web->parent_offset = offset;
    web->parent_page = pages;
    return true;
}

static PyObject *crawl_with(WebObject *self, Space *space, Arguments *given)
{
    Crawl *crawl = &space->crawl;
    crawl->web = &self->web;
    bool is_ready = read_settings(given->objects[0], &crawl->settings) && use_arrays(crawl, given->arrays) &&
                    make_arrays(space) && (crawl->settings.loop != RANKS || invert_links(&self->web));
    return is_ready ? crawled(space, given) : NULL;
}

static PyObject *crawl(PyObject *object, Arguments *given)
{
    WebObject *self = (WebObject *)object;
    /* A score may start another crawl, or another thread run while one is computed: that has its own memory. */
    Space *space = self->idle != NULL ? self->idle : calloc(1, sizeof *space);
    PyObject *result = NULL;
    self->idle = NULL;
    if (space == NULL) {
        return PyErr_NoMemory();
    }
    Crawl *of_space = &space->crawl;
    of_space->learn_page = given->objects[1];
    of_space->learn_links = given->objects[2];
    of_space->getrandbits = PyObject_GetAttrString(given->objects[3], "getrandbits");
    of_space->random = of_space->getrandbits == NULL ? NULL : PyObject_GetAttrString(given->objects[3], "random");
    if (of_space->random != NULL) {
        result = crawl_with(self, space, given);
    }
    Py_XDECREF(of_space->getrandbits);
    Py_XDECREF(of_space->random);
    if (self->idle == NULL) {
        self->idle = space;
    } else {
        free_space(space);
    }
    return result;
}

/* The web */

static bool are_between(const int32_t *numbers, size_t count, int32_t least, size_t end)
{
    bool is_valid = true;
    for (size_t index = 0; index < count; index++) {
        is_valid &= numbers[index] >= least && (numbers[index] < 0 || (size_t)numbers[index] < end);
    }
    return is_valid;
}

/* Whether the arrays are those of a web. */
static bool is_web(const Web *web, const Py_buffer *arrays)
{
    return are_offsets(&arrays[LINK_OFFSET], web->n_links) && length_of(&arrays[LINK_INDEX]) == web->n_links &&
           are_indices(&arrays[LINK_INDEX], web->n_all_links) && length_of(&arrays[URL_HOST]) == web->n_urls &&
           web->n_urls < INT32_MAX && web->n_hosts < INT32_MAX && are_below(&arrays[LINK_URL], web->n_urls) &&
           are_between(web->url_page, web->n_urls, -1, web->n_pages) && are_below(&arrays[URL_HOST], web->n_hosts);
}

/* Write the distinct links of each page in page order; false, with an exception set, without memory. */
static bool find_distinct_links(Web *web)
{
    size_t *seen_on = calloc(web->n_urls + 1, sizeof *seen_on);
    web->distinct_offset = calloc(web->n_pages + 1, sizeof *web->distinct_offset);
    web->distinct_url = malloc((web->n_links + 1) * sizeof *web->distinct_url);
    bool has_memory = seen_on != NULL && web->distinct_offset != NULL && web->distinct_url != NULL;
    int64_t end = 0;
    for (size_t page = 0; has_memory && page < web->n_pages; page++) {
        for (int64_t link = web->link_offset[page]; link < web->link_offset[page + 1]; link++) {
            int32_t url = web->link_url[link];
            if (seen_on[url] != page + 1) {
                seen_on[url] = page + 1;
                web->distinct_url[end++] = url;
            }
        }
        web->distinct_offset[page + 1] = end;
    }
    free(seen_on);
    if (!has_memory) {
        PyErr_NoMemory();
    }
    return has_memory;
}

static PyObject *start_web(PyObject *object, Arguments *given)
{
    WebObject *self = (WebObject *)object;
    const Py_buffer *arrays = self->arrays;
    /* They last as long as the web. */
    memcpy(self->arrays, given->arrays, sizeof self->arrays);
    given->n_arrays = 0;
    self->web = (Web){
        .link_offset = arrays[LINK_OFFSET].buf,
        .link_url = arrays[LINK_URL].buf,
        .link_index = arrays[LINK_INDEX].buf,
        .url_page = arrays[URL_PAGE].buf,
        .url_host = arrays[URL_HOST].buf,
        .n_pages = length_of(&arrays[LINK_OFFSET]) - 1,
        .n_urls = length_of(&arrays[URL_PAGE]),
        .n_hosts = given->integers[0] < 0 ? 0 : (size_t)given->integers[0],
        .n_links = length_of(&arrays[LINK_URL]),
        .n_all_links = given->integers[1] < 0 ? 0 : (size_t)given->integers[1],
    };
    return none_if(check(is_web(&self->web, arrays), "the arrays are not those of a recorded web") &&
                   find_distinct_links(&self->web));
}

static void dealloc(PyObject *object)
{
    WebObject *self = (WebObject *)object;
    free_space(self->idle);
    free(self->web.distinct_offset);
    free(self->web.distinct_url);
    free(self->web.parent_offset);
    free(self->web.parent_page);
    for (int number = 0; number < N_WEB_ARRAYS; number++) {
        PyBuffer_Release(&self->arrays[number]);
    }
    free_object(object);
}

#define METHODS(METHOD) METHOD(crawl, "oiDDDBdlooo")
DEFINE_TYPE(CrawledWeb, WebObject, crawled_web_spec, "liliinn", start_web, )
