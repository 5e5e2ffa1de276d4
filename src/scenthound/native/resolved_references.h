/* Resolution of all references of a page, called from Python. */

#ifndef SCENTHOUND_RESOLVED_REFERENCES_H
#define SCENTHOUND_RESOLVED_REFERENCES_H

#include "url_table.h"

/* Numbers of references without a number; scenthound.frontier.url_index has the same. */
enum { NEW = -1, WITHOUT_TARGET = -2, LEFT_TO_LIBRARY = -3 };

PyObject *resolve_references(PyObject *module, PyObject *arguments);
/* As the method `UrlTable.resolve`. */
PyObject *resolve_in_table(UrlTable *table, PyObject *arguments);

#endif
