/* Sums of numbers, rounded once.

   Numbers are added together with the errors of all additions (Ogita, Rump and Oishi, "Accurate sum and dot product",
   2005), in some independent lanes. The errors of the sum of errors are bounded: unless the exact sum may be on both sides
   of a point between two doubles, the result is that of rounding once. Otherwise, the sum is computed exactly. */

#include "exact_sums.h"

#include <float.h>
#include <math.h>

#define LANES 4
/* The square of the largest relative error of an addition, doubled because the bound is computed with errors, too. */
#define BOUND_FACTOR 0x1p-105

/* A sum as numbers that do not overlap, ascending in size (Shewchuk 1997). A double has no more than so many parts. */
#define MAX_PARTS 64

typedef struct {
    double parts[MAX_PARTS];
    int n_parts;
} ExactSum;

static void add_exactly(ExactSum *sum, double number)
{
    int n_kept = 0;
    for (int index = 0; index < sum->n_parts; index++) {
        double part = sum->parts[index];
        if (fabs(number) < fabs(part)) {
            double larger = part;
            part = number;
            number = larger;
        }
        double high = number + part;
        double low = part - (high - number);
        if (low != 0) {
            sum->parts[n_kept++] = low;
        }
        number = high;
    }
    sum->parts[n_kept] = number;
    sum->n_parts = n_kept < MAX_PARTS - 1 ? n_kept + 1 : n_kept;
}

/* The sum, rounded once, half to even. */
static double rounded(const ExactSum *sum)
{
    int index = sum->n_parts;
    if (index == 0) {
        return 0.0;
    }
    double high = sum->parts[--index], low = 0.0;
    while (index > 0) {
        double before = high, part = sum->parts[--index];
        high = before + part;
        low = part - (high - before);
        if (low != 0) {
            break;
        }
    }
    /* The rest decides if the last step was exactly between two numbers. */
    if (index > 0 && ((low < 0 && sum->parts[index - 1] < 0) || (low > 0 && sum->parts[index - 1] > 0))) {
        double twice = low * 2, moved = high + twice;
        if (moved - high == twice) {
            high = moved;
        }
    }
    return high;
}

static double slow_sum(const double *numbers, size_t count)
{
    ExactSum sum = {.n_parts = 0};
    for (size_t index = 0; index < count; index++) {
        if (numbers[index] != 0) {
            add_exactly(&sum, numbers[index]);
        }
    }
    return rounded(&sum);
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
    double n_additions = (double)count + 2 * LANES;
    /* The least normal number is more than what the product loses if it is not normal. */
    double bound = n_additions * n_additions * BOUND_FACTOR * lanes[0].size + DBL_MIN;
    double lowest = lanes[0].sum + (lanes[0].error - bound), highest = lanes[0].sum + (lanes[0].error + bound);
    return lowest == highest ? lowest : slow_sum(numbers, count);
}
