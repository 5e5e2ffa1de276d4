/* The type Heaps, for `frontier.priority`. */

#include "heaps.h"

#include <math.h>

typedef struct {
    PyObject_HEAD
    Heaps heaps;
} HeapsObject;

static Heaps *heaps_of(PyObject *self)
{
    return &((HeapsObject *)self)->heaps;
}

static PyObject *start(PyObject *self, Arguments *given)
{
    heaps_of(self)->salt = given->salt;
    return Py_NewRef(Py_None);
}

static void dealloc(PyObject *self)
{
    const Heaps *heaps = heaps_of(self);
    release_memory(heaps->pages, heaps->pages_room * sizeof *heaps->pages);
    release_memory(heaps->hosts, heaps->hosts_room * sizeof *heaps->hosts);
    release_memory(heaps->ranking, heaps->ranking_room * sizeof *heaps->ranking);
    release_memory(heaps->passed_over, heaps->passed_over_room * sizeof *heaps->passed_over);
    release_memory(heaps->scanned, heaps->scanned_room * sizeof *heaps->scanned);
    free_object(self);
}

static Py_ssize_t length(PyObject *self)
{
    return (Py_ssize_t)heaps_of(self)->n_queued;
}

static PyObject *tuple_of(Entry entry)
{
    return Py_BuildValue("dii", entry.score, (int)entry.page, (int)entry.host);
}

static PyObject *push(PyObject *self, Arguments *given)
{
    const Py_buffer *pages = &given->arrays[0], *hosts = &given->arrays[1], *scores = &given->arrays[2];
    size_t count = length_of(pages), rule = (size_t)given->integers[0];
    if (!check(length_of(hosts) == count && length_of(scores) == count,
               "There must be as many hosts and scores as pages.") ||
        !check(rule < N_RULES, "There is no update rule of this number.")) {
        return NULL;
    }
    Py_ssize_t n_pushed = heaps_push(heaps_of(self), pages->buf, hosts->buf, scores->buf, count, (UpdateRule)rule);
    return n_pushed < 0 ? NULL : PyLong_FromSsize_t(n_pushed);
}

/* Note pages that were popped before, none of which is known. */
static PyObject *add_popped(PyObject *self, Arguments *given)
{
    Heaps *heaps = heaps_of(self);
    const int32_t *pages = given->arrays[0].buf;
    for (size_t i = 0; i < length_of(&given->arrays[0]); i++) {
        if (pages[i] < 0 || pages[i] == INT32_MAX || heaps_knows(heaps, pages[i]))
            return PyErr_Format(PyExc_ValueError, "Page %d cannot be a popped one: its number is invalid, or known.",
                                (int)pages[i]);
        if (!make_room_for_page(heaps, pages[i]))
            return NULL;
        heaps->pages[pages[i] + 1].parent = POPPED;
        heaps->n_popped++;
    }
    Py_RETURN_NONE;
}

static PyObject *pop(PyObject *self, Arguments *given)
{
    Heaps *heaps = heaps_of(self);
    PyObject *popped = PyList_New(0);
    heaps_cancel_scan(heaps);
    for (Py_ssize_t n = given->integers[0]; popped != NULL && n > 0 && heaps->n_ranked > 0; n--) {
        Entry entry = heaps->ranking[0];
        heaps_pop_page(heaps, entry);
        PyObject *item = tuple_of(entry);
        if (item == NULL || PyList_Append(popped, item) < 0)
            Py_CLEAR(popped);
        Py_XDECREF(item);
    }
    return popped;
}

/* Drop the hosts that have a rank or no page any more from those that were passed over. */
static void drop_stale(Heaps *heaps)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < heaps->n_passed_over; i++) {
        Entry entry = heaps->passed_over[i];
        HostRecord host = heaps->hosts[entry.host];
        if (host.rank == 0 && host.best == entry.page + 1)
            heaps->passed_over[n_kept++] = entry;
    }
    heaps->n_passed_over = n_kept;
}

static PyObject *rank_all(PyObject *self, Arguments *Py_UNUSED(given))
{
    Heaps *heaps = heaps_of(self);
    heaps_cancel_scan(heaps);
    drop_stale(heaps);
    for (size_t i = 0; i < heaps->n_passed_over; i++)
        heaps_rank_host(heaps, heaps->passed_over[i].host);
    heaps->n_passed_over = 0;
    Py_RETURN_NONE;
}

/* Scanning ends with `end_scan` or when the heaps are changed. */
static PyObject *start_scan(PyObject *self, Arguments *Py_UNUSED(given))
{
    Heaps *heaps = heaps_of(self);
    heaps_cancel_scan(heaps);
    drop_stale(heaps);
    heaps->n_rescanned = 0;
    heaps->is_scanning = true;
    Py_RETURN_NONE;
}

static bool make_room_for_scan(Heaps *heaps, size_t n_more)
{
    return check(heaps->is_scanning, "A scan was not started, or the heaps have changed since.") &&
           make_room((void **)&heaps->scanned, &heaps->scanned_room, heaps->n_scanned + n_more, sizeof(Entry));
}

/* Scan up to this many hosts, best first, which lose their rank. */
static PyObject *scan(PyObject *self, Arguments *given)
{
    Heaps *heaps = heaps_of(self);
    size_t wanted = given->integers[0] < 0 ? 0 : (size_t)given->integers[0];
    size_t n_left = heaps->n_ranked + heaps->n_passed_over - heaps->n_rescanned, n = wanted < n_left ? wanted : n_left;
    PyObject *hosts = make_room_for_scan(heaps, n) ? PyList_New((Py_ssize_t)n) : NULL;
    for (size_t i = 0; hosts != NULL && i < n; i++) {
        bool is_ranked = heaps->n_rescanned == heaps->n_passed_over;
        if (!is_ranked && heaps->n_ranked)
            is_ranked = entry_comes_first(heaps, heaps->ranking[0], heaps->passed_over[heaps->n_rescanned]);
        Entry entry = is_ranked ? heaps->ranking[0] : heaps->passed_over[heaps->n_rescanned++];
        heaps->scanned[heaps->n_scanned++] = entry;
        if (is_ranked)
            heaps_unrank_host(heaps, entry.host);
        PyObject *host = PyLong_FromLong(entry.host);
        if (host == NULL || PyList_SetItem(hosts, (Py_ssize_t)i, host) < 0)
            Py_CLEAR(hosts);
    }
    return hosts;
}

static PyObject *scanned(PyObject *self, Arguments *given)
{
    const Heaps *heaps = heaps_of(self);
    return is_index(given->integers[0], heaps->n_scanned) ? tuple_of(heaps->scanned[given->integers[0]]) : NULL;
}

/* Rank the scanned hosts at these ascending positions again, or pop their best pages. The others are passed over. */
static PyObject *end_scan(PyObject *self, Arguments *given)
{
    Heaps *heaps = heaps_of(self);
    const int64_t *usable = given->arrays[0].buf;
    size_t n_usable = length_of(&given->arrays[0]), n_kept = 0, n_done = 0;
    size_t n_unscanned = heaps->n_passed_over - heaps->n_rescanned;
    bool is_valid = are_indices(&given->arrays[0], heaps->n_scanned);
    for (size_t i = 1; i < n_usable; i++)
        is_valid &= usable[i] > usable[i - 1];
    if (!make_room_for_scan(heaps, n_unscanned) ||
        !check(is_valid, "Usable hosts must be ascending positions among the scanned ones."))
        return NULL;
    for (size_t i = 0; i < heaps->n_scanned; i++) {
        Entry entry = heaps->scanned[i];
        if (n_done == n_usable || (size_t)usable[n_done] != i) {
            heaps->scanned[n_kept++] = entry;
            continue;
        }
        n_done++;
        if (given->integers[0])
            heaps_pop_page(heaps, entry);
        else
            heaps_rank_host(heaps, entry.host);
    }
    if (n_unscanned)
        memcpy(heaps->scanned + n_kept, heaps->passed_over + heaps->n_rescanned, n_unscanned * sizeof(Entry));
    Entry *passed_over = heaps->scanned;
    size_t room = heaps->scanned_room;
    heaps->scanned = heaps->passed_over;
    heaps->scanned_room = heaps->passed_over_room;
    heaps->passed_over = passed_over;
    heaps->passed_over_room = room;
    heaps->n_passed_over = n_kept + n_unscanned;
    heaps->n_scanned = heaps->n_rescanned = 0;
    heaps->is_scanning = false;
    Py_RETURN_NONE;
}

static PyObject *knows(PyObject *self, Arguments *given)
{
    Py_ssize_t page = given->integers[0];
    return PyBool_FromLong(page >= 0 && page < INT32_MAX && heaps_knows(heaps_of(self), (int32_t)page));
}

static PyObject *scores(PyObject *self, Arguments *given)
{
    const Heaps *heaps = heaps_of(self);
    const int32_t *pages = given->arrays[0].buf;
    size_t count = length_of(&given->arrays[0]);
    double *found;
    PyObject *result = new_array(count, sizeof *found, &found);
    for (size_t i = 0; result != NULL && i < count; i++)
        found[i] = heaps_has(heaps, pages[i]) ? heaps->pages[pages[i] + 1].score : Py_NAN;
    return result;
}

/* Replace the lowest of some scores, a binary heap with the lowest first. */
static void replace_lowest(double *scores, size_t count, double score)
{
    size_t parent = 0;
    for (size_t child = 1; child < count; child = 2 * parent + 1) {
        child += child + 1 < count && scores[child + 1] < scores[child];
        if (scores[child] >= score)
            break;
        scores[parent] = scores[child];
        parent = child;
    }
    scores[parent] = score;
}

static PyObject *best_scores(PyObject *self, Arguments *given)
{
    const Heaps *heaps = heaps_of(self);
    size_t wanted = given->integers[0] < 0 ? 0 : (size_t)given->integers[0];
    size_t count = wanted < heaps->n_queued ? wanted : heaps->n_queued;
    double *found;
    PyObject *result = new_array(count, sizeof *found, &found);
    for (size_t i = 0; result != NULL && i < count; i++)
        found[i] = -INFINITY;
    for (size_t index = 1; result != NULL && count && index < heaps->pages_room; index++) {
        const PageRecord *page = &heaps->pages[index];
        if (page->score > found[0] && page->parent != 0 && page->parent != POPPED)
            replace_lowest(found, count, page->score);
    }
    return result;
}

/* The queued pages and their hosts, by walking every heap. */
static PyObject *queued(PyObject *self, Arguments *Py_UNUSED(given))
{
    const Heaps *heaps = heaps_of(self);
    int32_t *of_pages, *of_hosts;
    PyObject *pages = new_array(heaps->n_queued, sizeof *of_pages, &of_pages);
    PyObject *hosts = new_array(heaps->n_queued, sizeof *of_hosts, &of_hosts);
    for (size_t page = 0; pages != NULL && hosts != NULL && page < heaps->pages_room; page++) {
        if (heaps_has(heaps, (int32_t)page)) {
            *of_pages++ = (int32_t)page;
            *of_hosts++ = heaps_host_of(heaps, (int32_t)page);
        }
    }
    return Py_BuildValue("NN", pages, hosts);
}

static PyObject *popped(PyObject *self, Arguments *Py_UNUSED(given))
{
    const Heaps *heaps = heaps_of(self);
    int32_t *pages;
    PyObject *result = new_array(heaps->n_popped, sizeof *pages, &pages);
    for (size_t index = 1; result != NULL && index < heaps->pages_room; index++)
        if (heaps->pages[index].parent == POPPED)
            *pages++ = (int32_t)index - 1;
    return result;
}

static PyObject *n_popped(PyObject *self, Arguments *Py_UNUSED(given))
{
    return PyLong_FromSize_t(heaps_of(self)->n_popped);
}

static PyObject *n_bytes(PyObject *self, Arguments *Py_UNUSED(given))
{
    const Heaps *heaps = heaps_of(self);
    size_t n_entries = heaps->ranking_room + heaps->passed_over_room + heaps->scanned_room;
    return PyLong_FromSize_t(heaps->pages_room * sizeof(PageRecord) + heaps->hosts_room * sizeof(HostRecord) +
                             n_entries * sizeof(Entry));
}

#define METHODS(METHOD)                                                                                                \
    METHOD(push, "iidn")                                                                                               \
    METHOD(add_popped, "i")                                                                                            \
    METHOD(pop, "n")                                                                                                   \
    METHOD(rank_all, "")                                                                                               \
    METHOD(start_scan, "")                                                                                             \
    METHOD(scan, "n")                                                                                                  \
    METHOD(scanned, "n")                                                                                               \
    METHOD(end_scan, "ln")                                                                                             \
    METHOD(knows, "n")                                                                                                 \
    METHOD(scores, "i")                                                                                                \
    METHOD(best_scores, "n")                                                                                           \
    METHOD(queued, "")                                                                                                 \
    METHOD(popped, "")                                                                                                 \
    METHOD(n_popped, "")                                                                                               \
    METHOD(n_bytes, "")
DEFINE_TYPE(Heaps, HeapsObject, heaps_spec, "k", start, {Py_sq_length, length}, )
