/* The URL table; `scenthound.frontier.url_table` has its rules. */

#ifndef SCENTHOUND_URL_TABLE_H
#define SCENTHOUND_URL_TABLE_H

#include "names.h"

typedef struct {
    Names urls; /* the rest of each URL after its origin, in the group of its origin */
    Names origins, hosts;
    uint32_t *host_of_origin;
    size_t host_of_origin_room;
    /* The origin of the last URL: most links of a page have the same. */
    uint32_t last_origin;
} UrlTable;

/* A URL on its way to a table. */
typedef struct {
    uint64_t hash;
    uint32_t origin;
    bool has_origin; /* whether the table knows its origin */
    Bytes rest;
} UrlKey;

bool table_init(UrlTable *table, HashKey key, int end_bits);
void table_free(UrlTable *table);
size_t table_bytes(const UrlTable *table);

/* Prepare a lookup, and let the processor load what it will need. */
UrlKey table_key(UrlTable *table, Bytes url);
/* The number of a URL, or NOT_FOUND. */
int32_t table_find(const UrlTable *table, UrlKey key);
/* The number of a URL, which is added if it is new; NOT_FOUND if there is no memory. */
int32_t table_add(UrlTable *table, Bytes url);
/* Append all lines of a text, which are new, to a table without an index; `table_index` makes it. False if there is no
   memory. */
bool table_append_lines(UrlTable *table, Bytes lines);
bool table_index(UrlTable *table);

static inline uint32_t table_host(const UrlTable *table, size_t number)
{
    return table->host_of_origin[table->urls.names[number].group];
}

#endif
