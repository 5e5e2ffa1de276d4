/* What all parts of the extension share. */

#ifndef SCENTHOUND_NATIVE_H
#define SCENTHOUND_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#endif
