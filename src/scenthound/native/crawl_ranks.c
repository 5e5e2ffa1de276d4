/* The rank function in simulated crawls (johnson2003 section 2.2); `strategies.rank_scores` explains the scores.

   Parents, grandparents and so on: the scores of a generation are reduced to one number, the lowest if all are negative,
   else the highest (johnson2003 Eq. 11 and 12). It is stored as an integer code, so that the code of two generations
   together is the larger one: the bits of a score that is not negative, and those of the magnitude of a negative one minus
   ALL_NEGATIVE. Generation 0 is the page itself. */

#include "crawl.h"

/* Indices of weights, as in `rank_rules.SCORE_NAMES`; those of the generations are consecutive. */
enum { HUB, AUTHORITY, COMM_IN, COMM_OUT, PARENT_1 };
enum { ANCHOR = PARENT_1 + N_GENERATIONS, CONTEXT, HOST_SUCCESS, CASH, N_SCORES };

/* Farther from the seeds than any URL. */
#define FAR (1 << 30)
/* The code of a generation without members, and more than the bits of any magnitude that a score may have. */
#define NO_MEMBERS INT64_MIN
#define ALL_NEGATIVE (INT64_C(1) << 62)
/* A mark is the number of the visit, and below it a bit for each generation for which the URL is listed. Bit 0, which no
   generation needs, is set when the rank was renewed. */
#define MARK_BITS 6
#define RENEWED 1

typedef struct {
    const int32_t *urls;
    int64_t count;
} Links;

static Links distinct_links(const Web *web, int32_t page)
{
    int64_t first = web->distinct_offset[page];
    return (Links){web->distinct_url + first, web->distinct_offset[page + 1] - first};
}

static void discover_ranked(Crawl *crawl, int32_t url)
{
    if (!discover(crawl, url)) {
        return;
    }
    Ranked *known = &crawl->ranked[url];
    *known = (Ranked){.mark = -1, .page = NOTHING, .distance = FAR};
    for (int generation = 0; generation <= N_GENERATIONS; generation++) {
        known->generations[generation] = NO_MEMBERS;
    }
    if (crawl->settings.has_extras) {
        crawl->accounts[url] = (Account){0, -1, 0, IN_QUEUE, UNMARKED};
    }
}

void start_ranks(Crawl *crawl, const int32_t *seeds, size_t n_seeds)
{
    crawl->n_links = 0;
    crawl->n_seen = (int64_t)n_seeds;
    crawl->circulating = 1;
    for (size_t index = 0; index < n_seeds && !crawl->has_failed; index++) {
        Ranked *known = &crawl->ranked[seeds[index]];
        discover_ranked(crawl, seeds[index]);
        known->is_seed = known->in_community = true;
        known->distance = 0;
        if (crawl->settings.has_extras) {
            crawl->accounts[seeds[index]].held = 1 / (double)n_seeds;
        }
        put(crawl, seeds[index], INFINITY);
    }
}

/* Counts */

/* List the downloaded pages with a link to this one. */
static void list_parents(Crawl *crawl, int32_t url)
{
    const Web *web = crawl->web;
    size_t n_parents = 0;
    for (int64_t index = web->parent_offset[url]; index < web->parent_offset[url + 1]; index++) {
        int32_t parent = web->parent_page[index];
        if (crawl->visit_of[parent] > 0) {
            crawl->listed[0][n_parents++] = parent;
            __builtin_prefetch(&web->distinct_offset[parent]);
        }
    }
    crawl->n_listed[0] = n_parents;
}

/* Each parent of the page has one more link into the community; count it for every URL that the parent links to. */
static void join_community(Crawl *crawl, int32_t url)
{
    crawl->ranked[url].in_community = true;
    if (!crawl->settings.counts_community) {
        return;
    }
    list_parents(crawl, url);
    for (size_t index = 0; index < crawl->n_listed[0]; index++) {
        Links links = distinct_links(crawl->web, crawl->listed[0][index]);
        for (int64_t link = 0; link < links.count; link++) {
            __builtin_prefetch(&crawl->ranked[links.urls[link]]);
        }
    }
    for (size_t index = 0; index < crawl->n_listed[0]; index++) {
        Links links = distinct_links(crawl->web, crawl->listed[0][index]);
        for (int64_t link = 0; link < links.count; link++) {
            crawl->ranked[links.urls[link]].n_into_community++;
        }
    }
}

static void count_links(Crawl *crawl, int32_t url, Links links)
{
    int64_t n_into_community = 0, n_new = 0;
    for (int64_t link = 0; link < links.count; link++) {
        discover_ranked(crawl, links.urls[link]);
        n_into_community += crawl->ranked[links.urls[link]].in_community;
    }
    bool in_community = crawl->ranked[url].in_community;
    int32_t distance = crawl->ranked[url].distance + 1;
    for (int64_t link = 0; link < links.count; link++) {
        Ranked *known = &crawl->ranked[links.urls[link]];
        n_new += known->n_parents == 0 && !known->is_seed;
        known->n_parents++;
        known->n_links += links.count;
        known->n_in_community += in_community;
        known->n_into_community += n_into_community;
        known->most_links = known->most_links > links.count ? known->most_links : (int32_t)links.count;
        known->distance = known->distance < distance ? known->distance : distance;
    }
    crawl->n_seen += n_new;
    crawl->n_links += links.count;
}

/* Generations */

static int64_t encoded(double score)
{
    double size = fabs(score);
    int64_t bits;
    memcpy(&bits, &size, sizeof bits);
    return score >= 0 ? bits : bits - ALL_NEGATIVE;
}

/* The score of a generation; 0 if it has no members. */
static double decoded(int64_t code)
{
    double size;
    int64_t bits = code >= 0 ? code : code + ALL_NEGATIVE;
    if (code == NO_MEMBERS) {
        return 0;
    }
    memcpy(&size, &bits, sizeof size);
    return code >= 0 ? size : -size;
}

static inline void mark_visit(const Crawl *crawl, Ranked *known)
{
    if (known->mark >> MARK_BITS != (int64_t)crawl->n_visited) {
        known->mark = (int64_t)crawl->n_visited << MARK_BITS;
    }
}

/* Extend a generation of a URL; a downloaded page whose generation changed is listed once. */
static inline void extend_generation(Crawl *crawl, int32_t url, int generation, int64_t passed)
{
    Ranked *known = &crawl->ranked[url];
    if (passed <= known->generations[generation]) {
        return;
    }
    known->generations[generation] = passed;
    if (known->page < 0 || generation == crawl->settings.deepest) {
        return;
    }
    mark_visit(crawl, known);
    if (!(known->mark & 1 << generation)) {
        known->mark |= 1 << generation;
        crawl->listed[generation][crawl->n_listed[generation]++] = url;
    }
}

/* Pass the generations of a downloaded page to its links, and from downloaded ones on to theirs. */
static void propagate(Crawl *crawl, int32_t url, Links links)
{
    int deepest = (int)crawl->settings.deepest;
    int64_t own[N_GENERATIONS + 1];
    memcpy(own, crawl->ranked[url].generations, sizeof own);
    for (int generation = 1; generation <= deepest; generation++) {
        crawl->n_listed[generation] = 0;
    }
    for (int64_t link = 0; link < links.count; link++) {
        for (int generation = 1; generation <= deepest; generation++) {
            extend_generation(crawl, links.urls[link], generation, own[generation - 1]);
        }
    }
    for (int generation = 1; generation < deepest; generation++) {
        for (size_t index = 0; index < crawl->n_listed[generation]; index++) {
            Links of_listed = distinct_links(crawl->web, crawl->ranked[crawl->listed[generation][index]].page);
            for (int64_t link = 0; link < of_listed.count; link++) {
                __builtin_prefetch(&crawl->ranked[of_listed.urls[link]].generations[generation]);
            }
        }
        for (size_t index = 0; index < crawl->n_listed[generation]; index++) {
            const Ranked *known = &crawl->ranked[crawl->listed[generation][index]];
            Links of_listed = distinct_links(crawl->web, known->page);
            for (int64_t link = 0; link < of_listed.count; link++) {
                extend_generation(crawl, of_listed.urls[link], generation + 1, known->generations[generation]);
            }
        }
    }
}

/* Extra scores: anchor, context, success of the host, and OTIE's cash */

/* wang2009 Eq. 6-9 as in OTIE, but no page shares twice. */
static void share_cash(Crawl *crawl, int32_t url, int32_t page)
{
    const Web *web = crawl->web;
    double before = crawl->accounts[url].held, amount = revised_cash(crawl, before, crawl->relevance[page]);
    crawl->accounts[url].held = 0;
    crawl->circulating += amount - before;
    for (int64_t link = web->link_offset[page]; link < web->link_offset[page + 1]; link++) {
        note_promise(crawl, page, link);
    }
    size_t n_distinct;
    double total = sum_promises(crawl, page, &n_distinct);
    if (n_distinct == 0) {
        crawl->circulating -= amount;
    }
    for (int64_t link = web->link_offset[page]; link < web->link_offset[page + 1]; link++) {
        Account *account = &crawl->accounts[web->link_url[link]];
        if (account->mark == COUNTED) {
            account->mark = UNMARKED;
            account->held += amount * (total > 0 ? account->promised / total : 1 / (double)n_distinct);
        }
    }
}

static void learn_extras(Crawl *crawl, int32_t url, int32_t page)
{
    const Web *web = crawl->web;
    crawl->accounts[url].relevance = crawl->relevance[page];
    for (int64_t link = web->link_offset[page]; crawl->settings.weighs_link_scores && link < web->link_offset[page + 1];
         link++) {
        Ranked *known = &crawl->ranked[web->link_url[link]];
        int64_t index = web->link_index[link];
        if (crawl->anchors != NULL && crawl->anchors[index] > known->anchor) {
            known->anchor = crawl->anchors[index];
        }
        if (crawl->contexts != NULL && crawl->contexts[index] > known->context) {
            known->context = crawl->contexts[index];
        }
    }
    if (crawl->settings.weighs_hosts) {
        RankedHost *host = &crawl->ranked_hosts[web->url_host[url]];
        host->n_downloaded++;
        host->n_good += crawl->ranked[url].in_community;
    }
    if (crawl->settings.weighs_cash) {
        share_cash(crawl, url, page);
    }
}

static double with_extras(const Crawl *crawl, int32_t url, const double *weights, double rank)
{
    if (crawl->settings.weighs_link_scores) {
        rank += crawl->ranked[url].anchor * weights[ANCHOR];
        rank += crawl->ranked[url].context * weights[CONTEXT];
    }
    if (crawl->settings.weighs_hosts) {
        const RankedHost *host = &crawl->ranked_hosts[crawl->web->url_host[url]];
        if (host->n_downloaded > 0) {
            rank += (double)host->n_good / (double)host->n_downloaded * weights[HOST_SUCCESS];
        }
    }
    if (crawl->settings.weighs_cash && crawl->circulating > 0) {
        double cash = crawl->accounts[url].held * (double)crawl->n_seen / crawl->circulating;
        rank += (cash < MOST_CASH ? cash : MOST_CASH) * weights[CASH];
    }
    return rank;
}

/* Ranks */

/* The rank function that applies to a URL: its weights. */
static const double *weights_for(const Crawl *crawl, int32_t distance)
{
    size_t rule = 0;
    int64_t split_by = crawl->settings.split_by;
    if (split_by == BY_DISTANCE) {
        while (rule < crawl->n_bounds && distance > crawl->bounds[rule]) {
            rule++;
        }
    } else if (split_by == BY_PHASE) {
        while (rule < crawl->n_bounds && (int64_t)crawl->n_visited + 1 >= crawl->bounds[rule]) {
            rule++;
        }
    }
    return crawl->weights + rule * N_SCORES;
}

/* Eq. 2, added from left to right as in Python. */
static double weighted_sum(const Crawl *crawl, int32_t url, double mean_out, double mean_in)
{
    const Ranked *known = &crawl->ranked[url];
    const double *weights = weights_for(crawl, known->distance);
    double n_parents = known->n_parents;
    double n_out = crawl->settings.hub_over_max ? (double)known->most_links : (double)known->n_links / n_parents;
    double rank = n_out / mean_out * weights[HUB];                                           /* Eq. 3 */
    rank += n_parents / mean_in * weights[AUTHORITY];                                        /* Eq. 5 */
    rank += (double)known->n_in_community / n_parents * weights[COMM_IN];                    /* Eq. 7 */
    rank += (double)known->n_into_community / (double)known->n_links * weights[COMM_OUT];    /* Eq. 8 */
    for (int generation = 1; generation <= crawl->settings.deepest; generation++) {
        double parent_score = decoded(known->generations[generation]) * crawl->settings.score_range; /* Eq. 11, 12 */
        rank += parent_score * weights[PARENT_1 + generation - 1];
    }
    return crawl->settings.has_extras ? with_extras(crawl, url, weights, rank) : rank;
}

/* Whether the rank of a URL was renewed by the current visit; marks it. Only siblings are met twice. */
static bool is_renewed(const Crawl *crawl, Ranked *known)
{
    if (!crawl->settings.renews_siblings) {
        return false;
    }
    mark_visit(crawl, known);
    bool was_renewed = known->mark & RENEWED;
    known->mark |= RENEWED;
    return was_renewed;
}

static void rank_links(Crawl *crawl, Links links)
{
    double mean_out = (double)crawl->n_links / (double)(crawl->n_visited + 1); /* Eq. 4 */
    double mean_in = (double)crawl->n_links / (double)crawl->n_seen;           /* Eq. 6 */
    for (int64_t link = 0; link < links.count; link++) {
        int32_t url = links.urls[link], position = crawl->slots[url].position;
        if (position == TAKEN || is_renewed(crawl, &crawl->ranked[url])) {
            continue;
        }
        double rank = crawl->ranked[url].is_seed ? INFINITY : weighted_sum(crawl, url, mean_out, mean_in);
        if (position == UNQUEUED || crawl->slots[url].score != rank) {
            put(crawl, url, rank);
        }
    }
}

void tell_ranks(Crawl *crawl, int32_t url, int32_t page)
{
    Links links = distinct_links(crawl->web, page);
    double threshold = crawl->settings.threshold, distance = crawl->relevance[page] - threshold;
    double score = distance >= 0 ? distance / (1 - threshold) : distance / threshold;
    for (int64_t link = 0; link < links.count; link++) {
        const char *record = (const char *)&crawl->ranked[links.urls[link]];
        __builtin_prefetch(record);
        __builtin_prefetch(record + 64);
        __builtin_prefetch(&crawl->slots[links.urls[link]].position);
    }
    crawl->n_listed[0] = 0;
    if (score >= 0 && !crawl->ranked[url].in_community) {
        join_community(crawl, url);
    }
    count_links(crawl, url, links);
    crawl->ranked[url].page = page;
    crawl->ranked[url].generations[0] = encoded(score);
    if (crawl->settings.deepest > 0) {
        propagate(crawl, url, links);
    }
    if (crawl->settings.has_extras) {
        learn_extras(crawl, url, page);
    }
    rank_links(crawl, links);
    for (size_t index = 0; crawl->settings.renews_siblings && index < crawl->n_listed[0]; index++) {
        rank_links(crawl, distinct_links(crawl->web, crawl->listed[0][index]));
    }
}
