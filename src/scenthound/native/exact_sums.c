/* Sums of numbers, rounded once.

   Numbers are added together with the errors of all additions (Ogita, Rump and Oishi, "Accurate sum and dot product",
   2005), in some independent lanes. The errors of the sum of errors are bounded: unless the exact sum may be on both sides
   of a point between two doubles, the result is that of rounding once. Otherwise, which is rare, Python adds them. */

#include "exact_sums.h"

#include "native.h"

#include <float.h>
#include <math.h>

#define LANES 4
/* The square of the largest relative error of an addition, doubled because the bound is computed with errors, too. */
#define BOUND_FACTOR 0x1p-105

/* By math.fsum; NaN where that raises an exception. */
static double slow_sum(const double *numbers, size_t count)
{
    PyObject *math = PyImport_ImportModule("math"), *list = PyList_New((Py_ssize_t)count);
    for (size_t index = 0; list != NULL && index < count; index++) {
        PyObject *number = PyFloat_FromDouble(numbers[index]);
        if (number == NULL || PyList_SetItem(list, (Py_ssize_t)index, number) < 0) {
            Py_CLEAR(list);
        }
    }
    PyObject *sum = math == NULL || list == NULL ? NULL : PyObject_CallMethod(math, "fsum", "O", list);
    double result = sum == NULL ? NAN : PyFloat_AsDouble(sum);
    PyErr_Clear();
    Py_XDECREF(sum);
    Py_XDECREF(list);
    Py_XDECREF(math);
    return result;
}

typedef struct {
    double sum, error, size; /* the sum, what rounding took from it, and the sum of absolute values */
} Lane;

static inline void add(Lane *lane, double number)
{
    double sum = lane->sum + number, added = sum - lane->sum;
    lane->error += (lane->sum - (sum - added)) + (number - added);
    lane->size += fabs(number);
    lane->sum = sum;
}

double exact_sum(const double *numbers, size_t count)
{
    Lane lanes[LANES] = {{0, 0, 0}};
    size_t index = 0;
    for (; index + LANES <= count; index += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            add(&lanes[lane], numbers[index + lane]);
        }
    }
    for (; index < count; index++) {
        add(&lanes[0], numbers[index]);
    }
    for (size_t lane = 1; lane < LANES; lane++) {
        double size = lanes[0].size + lanes[lane].size;
        add(&lanes[0], lanes[lane].sum);
        lanes[0].error += lanes[lane].error;
        lanes[0].size = size;
    }
    if (lanes[0].size == 0) {
        return 0;
    }
    double n_additions = (double)count + 2 * LANES;
    /* The least normal number is more than what the product loses if it is not normal. */
    double bound = n_additions * n_additions * BOUND_FACTOR * lanes[0].size + DBL_MIN;
    double lowest = lanes[0].sum + (lanes[0].error - bound), highest = lanes[0].sum + (lanes[0].error + bound);
    return lowest == highest ? lowest : slow_sum(numbers, count);
}
