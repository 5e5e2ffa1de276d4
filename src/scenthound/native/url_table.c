/* URLs by number, split into origin (scheme://host:port) and rest. Origins and hosts are stored once. */

#include "url_table.h"

/* Origins end after this many characters. */
#define SHORTEST_ORIGIN 8

bool table_init(UrlTable *table, HashKey key, int end_bits)
{
    *table = (UrlTable){0};
    return names_init(&table->urls, key, end_bits) && names_init(&table->origins, key, 32) &&
           names_init(&table->hosts, key, 32);
}

void table_free(UrlTable *table)
{
    names_free(&table->urls);
    names_free(&table->origins);
    names_free(&table->hosts);
    free(table->host_of_origin);
    table->host_of_origin = NULL;
}

size_t table_bytes(const UrlTable *table)
{
    return names_bytes(&table->urls) + names_bytes(&table->origins) + names_bytes(&table->hosts) +
           table->host_of_origin_room * sizeof(uint32_t);
}

/* The length of the origin: up to the first slash after the shortest origin, or all. */
static size_t origin_length(Bytes url)
{
    size_t start = 0;
    for (int n = 0; n < SHORTEST_ORIGIN && start < url.length; n++) {
        start++;
        while (start < url.length && (url.text[start] & 0xC0) == 0x80)
            start++;
    }
    const uint8_t *slash = start < url.length ? memchr(url.text + start, '/', url.length - start) : NULL;
    return slash == NULL ? url.length : (size_t)(slash - url.text);
}

static bool ends_authority(uint8_t byte)
{
    return byte == '/' || byte == '?' || byte == '#';
}

/* The host of an origin: no user, no port, IPv6 addresses in brackets; empty if there is none. */
static Bytes host_of(Bytes origin)
{
    const uint8_t *text = origin.text;
    size_t start = 0, n = origin.length;
    while (start < n && !ends_authority(text[start]))
        start++;
    if (n - start < 2 || text[start] != '/' || text[start + 1] != '/')
        return (Bytes){text, 0};
    start += 2;
    size_t end = start, bracket = 0;
    for (; end < n && !ends_authority(text[end]); end++)
        if (text[end] == '@')
            start = end + 1;
    for (size_t i = start; i < end; i++)
        if (text[i] == ']')
            bracket = i + 1;
    if (start < end && text[start] == '[' && bracket)
        return (Bytes){text + start, bracket - start};
    const uint8_t *colon = start < end ? memchr(text + start, ':', end - start) : NULL;
    return (Bytes){text + start, (colon == NULL ? end : (size_t)(colon - text)) - start};
}

static int32_t find_origin(UrlTable *table, Bytes name)
{
    Names *origins = &table->origins;
    if (table->last_origin < origins->n && is_name(origins, table->last_origin, 0, name))
        return (int32_t)table->last_origin;
    int32_t number = names_find(origins, names_hash(origins, 0, name), 0, name);
    if (number != NOT_FOUND)
        table->last_origin = (uint32_t)number;
    return number;
}

static int32_t add_origin(UrlTable *table, Bytes name)
{
    int32_t number = find_origin(table, name);
    if (number != NOT_FOUND)
        return number;
    Bytes host_name = host_of(name);
    int32_t host = names_add(&table->hosts, names_hash(&table->hosts, 0, host_name), 0, host_name);
    if (host == NOT_FOUND || !grow_to((void **)&table->host_of_origin, &table->host_of_origin_room,
                                      table->origins.n + 1, sizeof(uint32_t)))
        return NOT_FOUND;
    number = names_add(&table->origins, names_hash(&table->origins, 0, name), 0, name);
    if (number != NOT_FOUND) {
        table->host_of_origin[number] = (uint32_t)host;
        table->last_origin = (uint32_t)number;
    }
    return number;
}

UrlKey table_key(UrlTable *table, Bytes url)
{
    size_t end = origin_length(url);
    int32_t origin = find_origin(table, (Bytes){url.text, end});
    UrlKey key = {.has_origin = origin != NOT_FOUND, .rest = {url.text + end, url.length - end}};
    if (key.has_origin) {
        key.origin = (uint32_t)origin;
        key.hash = names_hash(&table->urls, key.origin, key.rest);
        names_prefetch(&table->urls, key.hash);
    }
    return key;
}

int32_t table_find(const UrlTable *table, UrlKey key)
{
    return key.has_origin ? names_find(&table->urls, key.hash, key.origin, key.rest) : NOT_FOUND;
}

int32_t table_add(UrlTable *table, Bytes url)
{
    size_t end = origin_length(url);
    int32_t origin = add_origin(table, (Bytes){url.text, end});
    if (origin == NOT_FOUND)
        return NOT_FOUND;
    Bytes rest = {url.text + end, url.length - end};
    return names_add(&table->urls, names_hash(&table->urls, (uint32_t)origin, rest), (uint32_t)origin, rest);
}

bool table_append_lines(UrlTable *table, Bytes lines)
{
    const uint8_t *position = lines.text, *end = lines.text + lines.length;
    for (;;) {
        const uint8_t *newline = position < end ? memchr(position, '\n', (size_t)(end - position)) : NULL;
        Bytes url = {position, (size_t)((newline == NULL ? end : newline) - position)};
        size_t rest = origin_length(url);
        int32_t origin = add_origin(table, (Bytes){position, rest});
        if (origin == NOT_FOUND ||
            !names_append(&table->urls, (uint32_t)origin, (Bytes){position + rest, url.length - rest}))
            return false;
        if (newline == NULL)
            return true;
        position = newline + 1;
    }
}

bool table_index(UrlTable *table)
{
    return names_index(&table->urls);
}
