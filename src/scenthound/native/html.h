/* The HTML reader. */

#ifndef SCENTHOUND_HTML_H
#define SCENTHOUND_HTML_H

#include "native.h"

/* Add the functions of the reader to the module; -1 with an exception if that fails. */
int add_html(PyObject *module);

#endif
