/* Breadth-first, best-first, OPIC and OTIE in simulated crawls; the modules of `strategies` explain each step. */

#include "crawl.h"

/* Start to load the records of all URLs that a page links to: crawls of large webs access memory at random. */
static void prefetch_targets(const Crawl *crawl, int64_t first, int64_t end)
{
    for (int64_t link = first; link < end; link++) {
        __builtin_prefetch(&crawl->slots[crawl->web->distinct_url[link]].position);
    }
}

/* Breadth-first: the earlier a page was found, the higher its score. */

static void append(Crawl *crawl, int32_t url)
{
    discover(crawl, url);
    if (crawl->slots[url].position != UNQUEUED) {
        return;
    }
    if (crawl->settings.drops_new && crawl->n_queued >= (size_t)crawl->settings.fifo_size) {
        crawl->n_evicted++;
        return;
    }
    put(crawl, url, -(double)crawl->n_in_order++);
}

/* All URLs are queued in the order in which they were found. */
static void drop_oldest(Crawl *crawl)
{
    size_t size = (size_t)crawl->settings.fifo_size;
    while (size > 0 && !crawl->settings.drops_new && crawl->n_queued > size && !crawl->has_failed) {
        int32_t url = crawl->found[crawl->n_dropped++];
        if (crawl->slots[url].position > 0) {
            take_away(crawl, url);
            crawl->n_evicted++;
        }
    }
}

/* Best-first */

/* wang2009 Eq. 9. */
static double link_score(const Crawl *crawl, int32_t page, int64_t link)
{
    double weight = crawl->settings.page_weight;
    return weight * crawl->relevance[page] + (1 - weight) * crawl->contexts[crawl->web->link_index[link]];
}

/* Queue a URL, unless it was taken; `found_again` decides the score of one that is queued. */
static void push(Crawl *crawl, int32_t url, double score)
{
    discover(crawl, url);
    int32_t position = crawl->slots[url].position;
    if (position == TAKEN) {
        return;
    }
    if (position != UNQUEUED) {
        int64_t rule = crawl->settings.found_again;
        double before = rule == FIRST ? score : crawl->slots[url].score;
        if (!(rule == HIGHEST ? score > before : score != before)) {
            return;
        }
    }
    put(crawl, url, score);
}

/* In a bounded frontier repeated links count: a page that links of the same page have evicted may enter again. */
static void tell_best_first(Crawl *crawl, int32_t page)
{
    const Web *web = crawl->web;
    double score = crawl->relevance[page];
    if (!crawl->settings.by_context && !crawl->settings.buffer) {
        int64_t first = web->distinct_offset[page], end = web->distinct_offset[page + 1];
        prefetch_targets(crawl, first, end);
        for (int64_t link = first; link < end; link++) {
            push(crawl, web->distinct_url[link], score);
        }
        return;
    }
    for (int64_t link = web->link_offset[page]; link < web->link_offset[page + 1]; link++) {
        __builtin_prefetch(&crawl->slots[web->link_url[link]]);
    }
    for (int64_t link = web->link_offset[page]; link < web->link_offset[page + 1]; link++) {
        push(crawl, web->link_url[link], crawl->settings.by_context ? link_score(crawl, page, link) : score);
    }
}

/* OPIC and OTIE (wang2009 Eq. 6-9) */

/* Discover a URL; a new one has no cash. */
static void discover_account(Crawl *crawl, int32_t url)
{
    if (discover(crawl, url)) {
        crawl->accounts[url] = (Account){0, -1, 0, IN_QUEUE, UNMARKED};
    }
}

static double withdraw(Crawl *crawl, int32_t url)
{
    double amount = crawl->accounts[url].held;
    crawl->accounts[url].held = 0;
    if (crawl->cash_slots[url].position > 0) {
        heap_remove(&crawl->max_cash, crawl->cash_slots, url);
    }
    return amount;
}

/* Update the rank of a visited page among those that hold cash; of equal ones the one found first comes first. */
static void update_max_cash(Crawl *crawl, int32_t url)
{
    double held = crawl->accounts[url].held;
    if (held > 0) {
        Queued item = {held, (uint64_t)crawl->slots[url].number, url};
        heap_put(crawl, &crawl->max_cash, crawl->cash_slots, item);
    } else if (crawl->cash_slots[url].position > 0) {
        heap_remove(&crawl->max_cash, crawl->cash_slots, url);
    }
}

/* Give cash to a page: the score of a queued page is its cash. */
static void deposit(Crawl *crawl, int32_t url, double amount)
{
    Account *account = &crawl->accounts[url];
    if (account->location == IN_QUEUE) {
        if (crawl->slots[url].position == UNQUEUED) {
            put(crawl, url, amount);
        } else if (amount != 0 && crawl->slots[url].position > 0) {
            put(crawl, url, crawl->slots[url].score + amount);
        }
    } else if (account->location == HELD) {
        account->held += amount;
        if (account->relevance >= 0) {
            update_max_cash(crawl, url);
        }
    }
}

/* wang2009 Eq. 8. */
double revised_cash(const Crawl *crawl, double amount, double relevance)
{
    double slope = 2 * relevance - 1, steepness = pow(fabs(slope), crawl->settings.flatness);
    double change = crawl->settings.strength * copysign(steepness, slope);
    double revised = amount + amount * (change > -1.0 ? change : -1.0);
    return revised < MOST_CASH ? revised : MOST_CASH;
}

/* Note the promise of a link (Eq. 7 and 9); a repeated link has the best one. */
void note_promise(Crawl *crawl, int32_t page, int64_t link)
{
    Account *account = &crawl->accounts[crawl->web->link_url[link]];
    double promised = account->relevance >= 0 ? account->relevance : link_score(crawl, page, link);
    if (account->mark != PROMISED || promised > account->promised) {
        account->promised = promised;
    }
    account->mark = PROMISED;
}

/* The sum of the noted promises of a page's distinct links; each is marked as COUNTED. */
double sum_promises(Crawl *crawl, int32_t page, size_t *n_distinct)
{
    const Web *web = crawl->web;
    double total = 0;
    *n_distinct = 0;
    for (int64_t link = web->link_offset[page]; link < web->link_offset[page + 1]; link++) {
        Account *account = &crawl->accounts[web->link_url[link]];
        if (account->mark == PROMISED) {
            total += account->promised;
            account->mark = COUNTED;
            ++*n_distinct;
        }
    }
    return total;
}

/* Share cash among the distinct links of a visited page, in proportion to their promises (Eq. 6). */
static void share_by_promise(Crawl *crawl, int32_t url, double amount)
{
    const Web *web = crawl->web;
    int32_t page = web->url_page[url];
    int64_t first = web->link_offset[page], end = web->link_offset[page + 1];
    for (int64_t link = first; link < end; link++) {
        __builtin_prefetch(&crawl->slots[web->link_url[link]].position);
        __builtin_prefetch(&crawl->accounts[web->link_url[link]]);
    }
    for (int64_t link = first; link < end; link++) {
        discover_account(crawl, web->link_url[link]);
        note_promise(crawl, page, link);
    }
    size_t n_distinct;
    double total = sum_promises(crawl, page, &n_distinct);
    bool keeps = total <= 0 && crawl->settings.keeps_when_hopeless;
    for (int64_t link = first; link < end; link++) {
        Account *account = &crawl->accounts[web->link_url[link]];
        if (account->mark == COUNTED) {
            account->mark = UNMARKED;
            double share = total > 0 ? account->promised / total : 1 / (double)n_distinct;
            deposit(crawl, web->link_url[link], keeps ? 0 : amount * share);
        }
    }
    if (keeps && n_distinct > 0) {
        crawl->accounts[url].held += amount;
        update_max_cash(crawl, url);
    }
}

static void tell_opic(Crawl *crawl, int32_t url, int32_t page)
{
    const Web *web = crawl->web;
    double amount = withdraw(crawl, url);
    int64_t first = web->distinct_offset[page], end = web->distinct_offset[page + 1];
    prefetch_targets(crawl, first, end);
    for (int64_t link = first; link < end; link++) {
        discover_account(crawl, web->distinct_url[link]);
        deposit(crawl, web->distinct_url[link], amount / (double)(end - first));
    }
}

static void tell_otie(Crawl *crawl, int32_t url, int32_t page)
{
    crawl->accounts[url].relevance = crawl->relevance[page];
    share_by_promise(crawl, url, revised_cash(crawl, withdraw(crawl, url), crawl->relevance[page]));
}

/* A page holds its cash from when it is taken. That of a seed that came first is held already. */
void note_taken(Crawl *crawl, int32_t url, double score)
{
    int64_t loop = crawl->settings.loop;
    if ((loop == OPIC || loop == OTIE) && score < INFINITY) {
        crawl->accounts[url].held = score;
        crawl->accounts[url].location = HELD;
    }
}

/* In every few rounds of OTIE the visited page that holds the most cash shares it again (Algorithm 1, lines 4 and 5). */
void note_round(Crawl *crawl, bool is_empty)
{
    int64_t every = crawl->settings.reshare_every;
    bool is_round = crawl->settings.loop == OTIE && !is_empty;
    crawl->n_rounds += is_round;
    if (!is_round || every == 0 || crawl->n_rounds % every != 0 || crawl->max_cash.size == 0) {
        return;
    }
    int32_t url = crawl->max_cash.items[0].url;
    double amount = withdraw(crawl, url);
    if (crawl->settings.revises_again) {
        amount = revised_cash(crawl, amount, crawl->accounts[url].relevance);
    }
    share_by_promise(crawl, url, amount);
}

/* The crawl */

void start_crawl(Crawl *crawl, const int32_t *seeds, size_t n_seeds)
{
    int64_t loop = crawl->settings.loop;
    for (size_t index = 0; index < n_seeds && !crawl->has_failed; index++) {
        int32_t url = seeds[index];
        double share = 1 / (double)n_seeds;
        if (loop == BREADTH_FIRST) {
            append(crawl, url);
        } else if (loop == BEST_FIRST) {
            push(crawl, url, INFINITY);
        } else {
            discover_account(crawl, url);
            if (crawl->settings.seeds_first) {
                crawl->accounts[url].held = share;
                crawl->accounts[url].location = HELD;
                share = INFINITY;
            }
            put(crawl, url, share);
        }
    }
    drop_oldest(crawl);
}

void tell(Crawl *crawl, int32_t url, int32_t page)
{
    switch (crawl->settings.loop) {
    case BREADTH_FIRST:
        prefetch_targets(crawl, crawl->web->distinct_offset[page], crawl->web->distinct_offset[page + 1]);
        for (int64_t link = crawl->web->distinct_offset[page]; link < crawl->web->distinct_offset[page + 1]; link++) {
            append(crawl, crawl->web->distinct_url[link]);
        }
        drop_oldest(crawl);
        break;
    case BEST_FIRST:
        tell_best_first(crawl, page);
        break;
    case OPIC:
        tell_opic(crawl, url, page);
        break;
    case OTIE:
        tell_otie(crawl, url, page);
        break;
    default:
        tell_ranks(crawl, url, page);
    }
}

void drop(Crawl *crawl, int32_t url)
{
    if (crawl->settings.loop == OPIC || crawl->settings.loop == OTIE) {
        withdraw(crawl, url);
        crawl->accounts[url].location = LOST;
    }
}
