/* PageRank in few iterations (Gauss-Seidel).

   The rank of pages without links and the random jumps are both spread evenly. So ranks are proportional to the solution of
   `x(p) = 1 + d * (sum over q that links to p of x(q) / outdegree(q))`. Each x(p) is computed from the values already
   updated in the same iteration, with the geometric series of a link to itself summed up. Starting from x = 1 all x only
   grow, and each is at least as large as in the plain iteration; so no more iterations are needed, on webs about half.
   Links are transposed first: random reads are several times as fast as random writes. */

#include "native.h"

#include <math.h>

typedef struct {
    size_t n_pages;
    int64_t *offset; /* of the other pages that link to each page, ascending */
    int32_t *source;
    double *passed_on, *returned, *share, *rank; /* the parts of one allocation */
} Ranks;

void transpose(const int64_t *offset, const int32_t *target, size_t n_pages, size_t n_targets, bool drops_loops,
               int64_t *of_target, int32_t *sources)
{
    for (size_t page = 0; page < n_pages; page++) {
        for (int64_t link = offset[page]; link < offset[page + 1]; link++) {
            of_target[target[link]] += !drops_loops || target[link] != (int32_t)page;
        }
    }
    for (size_t index = 1; index <= n_targets; index++) {
        of_target[index] += of_target[index - 1];
    }
    /* Filled from the end, so that in the end each offset is a start. */
    for (size_t page = n_pages; page-- > 0;) {
        for (int64_t link = offset[page]; link < offset[page + 1]; link++) {
            if (!drops_loops || target[link] != (int32_t)page) {
                sources[--of_target[target[link]]] = (int32_t)page;
            }
        }
    }
}

/* Iterate until the ranks change by less than the tolerance relative to their sum. */
static void iterate(Ranks *ranks, double tolerance, Py_ssize_t most_rounds)
{
    double change = INFINITY, total = 0;
    for (Py_ssize_t round = 0; round < most_rounds && !(change < tolerance * total); round++) {
        change = total = 0;
        for (size_t page = 0; page < ranks->n_pages; page++) {
            double rank = 1;
            for (int64_t link = ranks->offset[page]; link < ranks->offset[page + 1]; link++) {
                rank += ranks->share[ranks->source[link]];
            }
            rank /= 1 - ranks->returned[page];
            change += fabs(rank - ranks->rank[page]);
            total += rank;
            ranks->rank[page] = rank;
            ranks->share[page] = rank * ranks->passed_on[page];
        }
    }
}

static PyObject *computed(Arguments *given, const int64_t *offset, size_t n_pages, const int32_t *target)
{
    size_t n_links = (size_t)offset[n_pages];
    Ranks ranks = {n_pages, zeros_for(given, n_pages + 1, sizeof(int64_t)), room_for(given, n_links, sizeof(int32_t)),
                   zeros_for(given, 4 * n_pages, sizeof(double)), NULL, NULL, NULL};
    if (ranks.offset == NULL || ranks.source == NULL || ranks.passed_on == NULL) {
        return NULL;
    }
    ranks.returned = ranks.passed_on + n_pages;
    ranks.share = ranks.returned + n_pages;
    ranks.rank = ranks.share + n_pages;
    transpose(offset, target, n_pages, n_pages, true, ranks.offset, ranks.source);
    for (size_t page = 0; page < n_pages; page++) {
        int64_t count = offset[page + 1] - offset[page];
        /* The fraction of its rank that each link of a page passes on, and that a link to itself returns. */
        ranks.passed_on[page] = ranks.share[page] = count > 0 ? given->numbers[0] / (double)count : 0;
        for (int64_t link = offset[page]; link < offset[page + 1]; link++) {
            ranks.returned[page] = target[link] == (int32_t)page ? ranks.passed_on[page] : ranks.returned[page];
        }
        ranks.rank[page] = 1;
    }
    iterate(&ranks, given->numbers[1], given->integers[0]);
    return array_of(ranks.rank, n_pages, sizeof(double));
}

PyObject *pagerank(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *offsets = &given->arrays[0], *targets = &given->arrays[1];
    double damping = given->numbers[0];
    bool is_valid = are_offsets(offsets, length_of(targets)) && are_below(targets, length_of(offsets) - 1);
    return check(is_valid && damping >= 0 && damping < 1, "the arrays are not those of a graph")
               ? computed(given, offsets->buf, length_of(offsets) - 1, targets->buf)
               : NULL;
}
