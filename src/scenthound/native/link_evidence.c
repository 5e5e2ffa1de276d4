/* What a crawl knows of each URL, for the strategy `scent`.

   strategies/link_evidence.py describes the records and the features. */

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

/* The records of URLs; false with an exception set if they are others. */
static bool get_urls(const Py_buffer *records, Url **urls, size_t *n_urls)
{
    *urls = records->buf;
    *n_urls = length_of(records);
    return check(records->itemsize == sizeof(Url), "not the evidence of URLs");
}

static void add_to(float *sum, double number)
{
    *sum = (float)((double)*sum + number);
}

/* No page has as many as the number can count, but a damaged checkpoint may say so. */
static void add_children(Url *url, int32_t count)
{
    url->n_children = url->n_children > INT32_MAX - count ? INT32_MAX : url->n_children + count;
}

static void add_score(float *sum, float *best, bool is_new, double score)
{
    add_to(sum, score);
    *best = is_new || score > (double)*best ? (float)score : *best;
}

typedef struct {
    size_t count, n_words;
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

static bool are_valid(const Url *urls, const Links *links)
{
    for (size_t index = 0; index < links->count; index++) {
        int32_t first = links->first[index], last = links->last[index];
        int64_t n_parents = urls[links->pages[index]].n_parents;
        bool is_window = first >= last || (first >= 0 && (size_t)last <= links->n_words);
        if (!is_window || n_parents < 0 || n_parents + (int64_t)links->count > INT32_MAX) {
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
        add_children(&urls[page], n_children);
    }
}

PyObject *add_link_evidence(PyObject *Py_UNUSED(module), Arguments *given)
{
    enum { URLS, NUMBERS, PAGES, HOSTS, CONTEXT, ANCHOR, FIRST, LAST, WORDS };
    const Py_buffer *arrays = given->arrays;
    Links links = {
        .count = length_of(&arrays[PAGES]),
        .n_words = length_of(&arrays[WORDS]),
        .pages = arrays[PAGES].buf,
        .hosts = arrays[HOSTS].buf,
        .context = arrays[CONTEXT].buf,
        .anchor = arrays[ANCHOR].buf,
        .first = arrays[FIRST].buf,
        .last = arrays[LAST].buf,
        .words = arrays[WORDS].buf,
    };
    Url *urls;
    size_t n_urls;
    if (!get_urls(&arrays[URLS], &urls, &n_urls)) {
        return NULL;
    }
    bool is_valid = length_of(&arrays[NUMBERS]) == 4 && are_below(&arrays[PAGES], n_urls) && given->integers[0] >= 0 &&
                    (size_t)given->integers[0] < n_urls;
    for (int number = PAGES; number < WORDS; number++) {
        is_valid = is_valid && length_of(&arrays[number]) == links.count;
    }
    if (!check(is_valid && are_valid(urls, &links), "links beyond the evidence, or windows beyond the words")) {
        return NULL;
    }
    add_all(urls, (int32_t)given->integers[0], arrays[NUMBERS].buf, &links);
    return Py_NewRef(Py_None);
}

/* Visits */

/* Note the relevance of a page; returns its neighbours. */
PyObject *visit_link_evidence(PyObject *Py_UNUSED(module), Arguments *given)
{
    Url *urls;
    size_t n_urls, count = 0;
    Py_ssize_t page = given->integers[0];
    if (!get_urls(&given->arrays[0], &urls, &n_urls) ||
        !check(page >= 0 && (size_t)page < n_urls, "a page beyond the evidence")) {
        return NULL;
    }
    Url *url = &urls[page];
    url->relevance = (float)given->numbers[0];
    for (size_t index = 0; index < N_PARENTS; index++) {
        int32_t parent = url->parents[index];
        if (parent >= 0 && (size_t)parent < n_urls) {
            add_to(&urls[parent].child_relevance, given->numbers[0]);
            add_children(&urls[parent], 1);
        }
    }
    int32_t found[2 * NEAR];
    for (size_t index = 0; index < 2 * NEAR; index++) {
        found[count] = url->neighbours[index];
        count += url->neighbours[index] != -1;
    }
    return array_of(found, count, sizeof *found);
}

/* Scores */

typedef struct {
    Url *urls;
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

enum { OF_URLS, OF_PAGES, AVERAGES, CONTEXT_WORDS, PAGE_WORDS, LIMITS };

static bool get_crawl(const Py_buffer *arrays, Crawl *crawl)
{
    const double *averages = arrays[AVERAGES].buf;
    if (!get_urls(&arrays[OF_URLS], &crawl->urls, &crawl->n_urls) ||
        !check(length_of(&arrays[AVERAGES]) == 3, "three averages are needed")) {
        return false;
    }
    crawl->n_context_words = length_of(&arrays[CONTEXT_WORDS]);
    crawl->n_page_words = length_of(&arrays[PAGE_WORDS]);
    crawl->mean = averages[0];
    crawl->share = averages[1];
    crawl->n_known = averages[2];
    crawl->context_words = arrays[CONTEXT_WORDS].buf;
    crawl->page_words = arrays[PAGE_WORDS].buf;
    return true;
}

/* Those of the URLs that have a score, their hosts and their scores. */
PyObject *score_link_evidence(PyObject *Py_UNUSED(module), Arguments *given)
{
    const int32_t *pages = given->arrays[OF_PAGES].buf;
    size_t n_pages = length_of(&given->arrays[OF_PAGES]), count = 0;
    Crawl crawl;
    if (!get_crawl(given->arrays, &crawl) ||
        !check(length_of(&given->arrays[LIMITS]) == 3 * N_FEATURES, "three numbers for each feature are needed")) {
        return NULL;
    }
    double *scores = room_for(given, n_pages, sizeof *scores + 2 * sizeof(int32_t));
    if (scores == NULL) {
        return NULL;
    }
    int32_t *found = (int32_t *)(void *)(scores + n_pages), *hosts = found + n_pages;
    for (size_t index = 0; index < n_pages; index++) {
        const Url *url = known_url(&crawl, pages[index]);
        if (url != NULL && url->n_parents > 0 && url->relevance == unvisited) {
            double features[N_FEATURES];
            set_features(&crawl, url, features);
            scores[count] = weighted(features, given->arrays[LIMITS].buf);
            found[count] = pages[index];
            hosts[count++] = url->host;
        }
    }
    return Py_BuildValue("NNN", array_of(found, count, sizeof *found), array_of(hosts, count, sizeof *hosts),
                         array_of(scores, count, sizeof *scores));
}

/* The features of the URLs, one row after the other. */
PyObject *link_features(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *pages = &given->arrays[OF_PAGES];
    Crawl crawl;
    double *rows;
    if (!get_crawl(given->arrays, &crawl) || !check(are_below(pages, crawl.n_urls), "a page beyond the evidence")) {
        return NULL;
    }
    PyObject *result = new_array(length_of(pages) * N_FEATURES, sizeof *rows, &rows);
    for (size_t index = 0; result != NULL && index < length_of(pages); index++) {
        set_features(&crawl, &crawl.urls[((const int32_t *)pages->buf)[index]], rows + N_FEATURES * index);
    }
    return result;
}

/* Words */

PyObject *learn_words(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *words = &given->arrays[2];
    const int32_t *numbers = words->buf;
    double *sums = given->arrays[0].buf, *counts = given->arrays[1].buf;
    size_t n_known = length_of(&given->arrays[0]);
    if (!check(length_of(&given->arrays[1]) == n_known && are_below(words, n_known),
               "words beyond the sums or the counts")) {
        return NULL;
    }
    for (size_t index = 0; index < length_of(words); index++) {
        sums[numbers[index]] += given->numbers[0];
        counts[numbers[index]] += 1.0;
    }
    return Py_NewRef(Py_None);
}
