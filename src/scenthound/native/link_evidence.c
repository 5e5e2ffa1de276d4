/* What a crawl knows of each URL, for the strategy `scent`.

   The results are those of numpy in strategies/link_evidence.py, which describes the records and the features. */

#include "native.h"

#include <math.h>

enum { N_PARENTS = 4, NEAR = 3, N_WORDS = 12, N_FEATURES = 15 };

static const double prior_parents = 2.0, prior_neighbours = 1.0, prior_siblings = 5.0;
static const float unvisited = -1.0F;

typedef struct {
    float relevance; /* negative if it was not visited: -1, or -2 for a start page */
    float page_sum, context_sum, context_best, anchor_sum, anchor_best;
    float relevance_sum, cash, n_links_sum, child_relevance;
    int32_t n_children, n_parents, host;
    int32_t parents[N_PARENTS], neighbours[2 * NEAR], words[N_WORDS];
} Url;

static void add_to(float *sum, double number)
{
    *sum = (float)((double)*sum + number);
}

static void add_score(float *sum, float *best, bool is_new, double score)
{
    add_to(sum, score);
    *best = is_new || score > (double)*best ? (float)score : *best;
}

typedef struct {
    size_t count, n_urls, n_words;
    const int32_t *pages, *hosts, *first, *last, *words;
    const double *context, *anchor;
} Links;

static void set_neighbours(Url *url, const Links *links, size_t index)
{
    size_t number = 0;
    for (int distance = -NEAR; distance <= NEAR; distance++) {
        if (distance != 0) {
            int64_t other = (int64_t)index + distance;
            bool is_on_page = other >= 0 && other < (int64_t)links->count;
            url->neighbours[number++] = is_on_page ? links->pages[other] : -1;
        }
    }
}

static void set_words(Url *url, const Links *links, size_t index)
{
    size_t number = 0;
    for (int32_t position = links->first[index]; position < links->last[index] && number < N_WORDS; position++) {
        if (links->words[position] > 0) {
            url->words[number++] = links->words[position];
        }
    }
    while (number < N_WORDS) {
        url->words[number++] = 0;
    }
}

static bool are_valid(const Links *links)
{
    for (size_t index = 0; index < links->count; index++) {
        bool is_url = links->pages[index] >= 0 && (size_t)links->pages[index] < links->n_urls;
        int32_t first = links->first[index], last = links->last[index];
        bool is_window = first >= last || (first >= 0 && (size_t)last <= links->n_words);
        if (!is_url || !is_window) {
            return false;
        }
    }
    return true;
}

static void add_all(Url *urls, int32_t page, const double *numbers, const Links *links)
{
    double child_relevance = 0.0;
    int32_t n_children = 0;
    for (size_t index = 0; index < links->count; index++) {
        Url *url = &urls[links->pages[index]];
        bool is_new = url->n_parents == 0;
        bool is_better = is_new || (float)links->context[index] > url->context_best;
        add_to(&url->page_sum, numbers[0]);
        add_score(&url->context_sum, &url->context_best, is_new, links->context[index]);
        add_score(&url->anchor_sum, &url->anchor_best, is_new, links->anchor[index]);
        add_to(&url->relevance_sum, numbers[1]);
        add_to(&url->cash, numbers[2]);
        add_to(&url->n_links_sum, numbers[3]);
        url->parents[url->n_parents++ % N_PARENTS] = page;
        url->host = links->hosts[index];
        set_neighbours(url, links, index);
        if (is_better) {
            set_words(url, links, index);
        }
        if (url->relevance >= 0) {
            child_relevance += (double)url->relevance;
            n_children++;
        }
    }
    if (n_children > 0) {
        add_to(&urls[page].child_relevance, child_relevance);
        urls[page].n_children += n_children;
    }
}

static PyObject *add_link_evidence(PyObject *module, PyObject *arguments)
{
    (void)module;
    static const size_t sizes[] = {sizeof(Url),    sizeof(double), sizeof(int32_t), sizeof(int32_t), sizeof(double),
                                   sizeof(double), sizeof(int32_t), sizeof(int32_t), sizeof(int32_t)};
    PyObject *objects[9];
    Py_buffer arrays[9];
    int page;
    if (!PyArg_ParseTuple(arguments, "OiOOOOOOOO", &objects[0], &page, &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5], &objects[6], &objects[7], &objects[8]) ||
        get_arrays(objects, arrays, sizes, 9) < 0) {
        return NULL;
    }
    Links links = {
        .count = length_of(&arrays[2]),
        .n_urls = length_of(&arrays[0]),
        .n_words = length_of(&arrays[8]),
        .pages = arrays[2].buf,
        .hosts = arrays[3].buf,
        .context = arrays[4].buf,
        .anchor = arrays[5].buf,
        .first = arrays[6].buf,
        .last = arrays[7].buf,
        .words = arrays[8].buf,
    };
    bool is_valid = length_of(&arrays[1]) == 4 && page >= 0 && (size_t)page < links.n_urls;
    for (int number = 3; number < 8; number++) {
        is_valid = is_valid && length_of(&arrays[number]) == links.count;
    }
    is_valid = is_valid && are_valid(&links);
    if (is_valid) {
        add_all(arrays[0].buf, page, arrays[1].buf, &links);
    }
    release_arrays(arrays, 9);
    if (!is_valid) {
        PyErr_SetString(PyExc_ValueError, "links beyond the evidence, or windows beyond the words");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Visits */

static PyObject *neighbours_of(const Url *url)
{
    int32_t found[2 * NEAR];
    size_t count = 0;
    for (size_t index = 0; index < 2 * NEAR; index++) {
        found[count] = url->neighbours[index];
        count += url->neighbours[index] != -1;
    }
    return array_of(found, count, sizeof *found);
}

static PyObject *visit_link_evidence(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *object;
    Py_buffer array;
    int page;
    double relevance;
    if (!PyArg_ParseTuple(arguments, "Oid", &object, &page, &relevance) || get_array(object, &array, sizeof(Url)) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    Url *urls = array.buf;
    if (page < 0 || (size_t)page >= length_of(&array)) {
        PyErr_SetString(PyExc_ValueError, "a page beyond the evidence");
    } else {
        urls[page].relevance = (float)relevance;
        for (size_t index = 0; index < N_PARENTS; index++) {
            int32_t parent = urls[page].parents[index];
            if (parent >= 0 && (size_t)parent < length_of(&array)) {
                add_to(&urls[parent].child_relevance, relevance);
                urls[parent].n_children++;
            }
        }
        result = neighbours_of(&urls[page]);
    }
    PyBuffer_Release(&array);
    return result;
}

/* Scores */

typedef struct {
    const Url *urls;
    size_t n_urls, n_context_words, n_page_words;
    double mean, share, n_known; /* averages over the crawl, and the number of known URLs */
    const double *context_words, *page_words;
} Crawl;

static const Url *known_url(const Crawl *crawl, int32_t page)
{
    return page >= 0 && (size_t)page < crawl->n_urls ? &crawl->urls[page] : NULL;
}

static void neighbour_features(const Crawl *crawl, const Url *url, double *features)
{
    double total = 0.0, n_visited = 0.0;
    for (size_t index = 0; index < 2 * NEAR; index++) {
        const Url *other = known_url(crawl, url->neighbours[index]);
        if (other != NULL && other->relevance >= 0) {
            total += (double)other->relevance;
            n_visited += 1.0;
        }
    }
    features[0] = (total + prior_neighbours * crawl->mean) / (n_visited + prior_neighbours) - crawl->mean;
    features[1] = sqrt(total);
}

static void sibling_features(const Crawl *crawl, const Url *url, double *features)
{
    double total = 0.0, n_known = 0.0, n_relevant = 0.0;
    for (size_t index = 0; index < N_PARENTS; index++) {
        const Url *parent = known_url(crawl, url->parents[index]);
        if (parent != NULL) {
            double relevance = (double)parent->child_relevance + prior_siblings * crawl->mean;
            total += relevance / ((double)parent->n_children + prior_siblings) - crawl->mean;
            n_relevant += (double)parent->child_relevance;
            n_known += 1.0;
        }
    }
    features[0] = total / (n_known > 1.0 ? n_known : 1.0);
    features[1] = sqrt(n_relevant);
}

typedef struct {
    double all, speak_for; /* the sum of the scores of all words, and of those that speak for relevance */
} WordSums;

static WordSums word_sums(const Url *url, const double *scores, size_t n_scores)
{
    WordSums sums = {0.0, 0.0};
    for (size_t index = 0; index < N_WORDS; index++) {
        int32_t word = url->words[index];
        double score = word > 0 && (size_t)word < n_scores ? scores[word] : 0.0;
        sums.all += score;
        sums.speak_for += score > 0.0 ? score : 0.0;
    }
    return sums;
}

static void set_features(const Crawl *crawl, const Url *url, double *features)
{
    double n_parents = (double)url->n_parents, relevance_sum = (double)url->relevance_sum;
    WordSums page_words = word_sums(url, crawl->page_words, crawl->n_page_words);
    features[0] = (double)url->page_sum / n_parents;
    features[1] = (double)url->context_sum / n_parents;
    features[2] = (double)url->anchor_sum / n_parents;
    features[3] = (double)url->anchor_best;
    features[4] =
        sqrt((relevance_sum + prior_parents * crawl->share) / ((n_parents + prior_parents) * crawl->share));
    neighbour_features(crawl, url, &features[5]);
    features[7] = word_sums(url, crawl->context_words, crawl->n_context_words).speak_for;
    features[8] = sqrt(n_parents);
    features[9] = sqrt((double)url->cash * crawl->n_known);
    sibling_features(crawl, url, &features[10]);
    features[12] = (double)url->n_links_sum / n_parents;
    features[13] = page_words.all;
    features[14] = page_words.speak_for;
}

/* The sum of the features, each within its limits and times its weight. */
static double weighted(const double *features, const double *limits)
{
    const double *weight = limits, *low = limits + N_FEATURES, *high = limits + 2 * N_FEATURES;
    double total = 0.0;
    for (size_t index = 0; index < N_FEATURES; index++) {
        double value = features[index] > low[index] ? features[index] : low[index];
        total += weight[index] * (value < high[index] ? value : high[index]);
    }
    return total;
}

/* Those of the URLs that have a score, their hosts and their scores. */
static PyObject *scored(const Crawl *crawl, const Py_buffer *pages, const double *limits)
{
    size_t n_pages = length_of(pages), count = 0;
    double *scores = malloc((n_pages + 1) * (sizeof *scores + 2 * sizeof(int32_t)));
    if (scores == NULL) {
        return PyErr_NoMemory();
    }
    int32_t *found = (int32_t *)(void *)(scores + n_pages), *hosts = found + n_pages;
    for (size_t index = 0; index < n_pages; index++) {
        int32_t page = ((const int32_t *)pages->buf)[index];
        const Url *url = known_url(crawl, page);
        if (url != NULL && url->n_parents > 0 && url->relevance == unvisited) {
            double features[N_FEATURES];
            set_features(crawl, url, features);
            scores[count] = weighted(features, limits);
            found[count] = page;
            hosts[count++] = url->host;
        }
    }
    PyObject *items[] = {
        array_of(found, count, sizeof *found),
        array_of(hosts, count, sizeof *hosts),
        array_of(scores, count, sizeof *scores),
    };
    free(scores);
    return packed(items, 3);
}

static PyObject *score_link_evidence(PyObject *module, PyObject *arguments)
{
    (void)module;
    static const size_t sizes[] = {sizeof(Url),    sizeof(int32_t), sizeof(double),
                                   sizeof(double), sizeof(double),  sizeof(double)};
    PyObject *objects[6];
    Py_buffer arrays[6];
    if (!PyArg_ParseTuple(arguments, "OOOOOO", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5]) ||
        get_arrays(objects, arrays, sizes, 6) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    if (length_of(&arrays[2]) != 3 || length_of(&arrays[5]) != 3 * N_FEATURES) {
        PyErr_SetString(PyExc_ValueError, "three averages and three numbers for each feature are needed");
    } else {
        const double *averages = arrays[2].buf;
        Crawl crawl = {
            .urls = arrays[0].buf,
            .n_urls = length_of(&arrays[0]),
            .n_context_words = length_of(&arrays[3]),
            .n_page_words = length_of(&arrays[4]),
            .mean = averages[0],
            .share = averages[1],
            .n_known = averages[2],
            .context_words = arrays[3].buf,
            .page_words = arrays[4].buf,
        };
        result = scored(&crawl, &arrays[1], arrays[5].buf);
    }
    release_arrays(arrays, 6);
    return result;
}

/* Words */

static PyObject *learn_words(PyObject *module, PyObject *arguments)
{
    (void)module;
    static const size_t sizes[] = {sizeof(double), sizeof(double), sizeof(int32_t)};
    PyObject *objects[3];
    Py_buffer arrays[3];
    double relevance;
    if (!PyArg_ParseTuple(arguments, "OOOd", &objects[0], &objects[1], &objects[2], &relevance) ||
        get_arrays(objects, arrays, sizes, 3) < 0) {
        return NULL;
    }
    double *sums = arrays[0].buf, *counts = arrays[1].buf;
    const int32_t *words = arrays[2].buf;
    size_t n_words = length_of(&arrays[2]), n_known = length_of(&arrays[0]);
    bool is_valid = length_of(&arrays[1]) == n_known;
    for (size_t index = 0; index < n_words; index++) {
        is_valid = is_valid && words[index] >= 0 && (size_t)words[index] < n_known;
    }
    for (size_t index = 0; is_valid && index < n_words; index++) {
        sums[words[index]] += relevance;
        counts[words[index]] += 1.0;
    }
    release_arrays(arrays, 3);
    if (!is_valid) {
        PyErr_SetString(PyExc_ValueError, "words beyond the sums or the counts");
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"learn_words", learn_words, METH_VARARGS, NULL},
    {"add_link_evidence", add_link_evidence, METH_VARARGS, NULL},
    {"visit_link_evidence", visit_link_evidence, METH_VARARGS, NULL},
    {"score_link_evidence", score_link_evidence, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_link_evidence_functions(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
