/* Resolution of the references (href values) of a page, as `scenthound.web.urls.resolve`. */

#ifndef SCENTHOUND_REFERENCES_H
#define SCENTHOUND_REFERENCES_H

#include "native.h"

/* `MAX_URL_BYTES` of scenthound.web.urls. */
#define MAX_URL_BYTES 2083

/* The URL of a page: canonical, so http or https, with a path, and without user and fragment. */
typedef struct {
    Bytes url;
    size_t scheme_length, root, path_end, directory_end;
} Base;

/* As in scenthound.frontier.url_table, instead of the number of a URL. */
typedef enum {
    RESOLVED = -1,
    NO_TARGET = -2, /* not crawlable */
    UNUSUAL = -3,   /* scenthound.web.urls must resolve it */
    NO_MEMORY = -4,
} Resolution;

/* False if the URL does not look canonical. */
bool read_base(Base *base, Bytes url);
/* Append the URL of a reference in UTF-8; nothing is appended if it is not resolved. `scratch` is overwritten. */
Resolution resolve_reference(const Base *base, Bytes reference, Text *urls, Text *scratch);

#endif
