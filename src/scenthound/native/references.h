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

typedef enum {
    RESOLVED,
    NO_TARGET, /* not crawlable */
    UNUSUAL,   /* the library must resolve it */
    NO_MEMORY,
} Resolution;

/* False if the URL does not look canonical. */
bool read_base(Base *base, Bytes url);
/* Append the URL of a reference in UTF-8; nothing is appended if it is not resolved. `scratch` is overwritten. */
Resolution resolve_reference(const Base *base, Bytes reference, Text *urls, Text *scratch);

#endif
