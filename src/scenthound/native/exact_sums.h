/* Sums of numbers, rounded once: those of Python's math.fsum, whatever the order of the numbers. */

#ifndef SCENTHOUND_EXACT_SUMS_H
#define SCENTHOUND_EXACT_SUMS_H

#include <stddef.h>

double exact_sum(const double *numbers, size_t count);

#endif
