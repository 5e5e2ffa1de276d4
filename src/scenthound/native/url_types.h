/* Types and functions for URLs. */

#ifndef SCENTHOUND_URL_TYPES_H
#define SCENTHOUND_URL_TYPES_H

#include "native.h"

/* Add them to the module. Returns 0, or -1 with an exception. */
int add_url_types(PyObject *module);

#endif
