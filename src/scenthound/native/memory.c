/* Memory of large arrays, which are taken from the system and given back to it.

   The allocator of the GNU C library keeps blocks of up to 32 MB for later, once blocks of that size were freed: tables
   that grow step by step would leave a third more memory behind than they use. */

#define _GNU_SOURCE

#include "native.h"

#ifdef __linux__
#include <sys/mman.h>
#ifndef MIN_MAPPED_BYTES
#define MIN_MAPPED_BYTES ((size_t)1 << 17)
#endif

static bool is_mapped(size_t n_bytes)
{
    return n_bytes >= MIN_MAPPED_BYTES;
}

static void *map(size_t n_bytes)
{
    void *memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void *allocate_zeros(size_t n_bytes)
{
    return is_mapped(n_bytes) ? map(n_bytes) : calloc(n_bytes, 1);
}

void release_memory(void *memory, size_t n_bytes)
{
    if (memory != NULL && is_mapped(n_bytes)) {
        munmap(memory, n_bytes);
    } else {
        free(memory);
    }
}

void *enlarge_memory(void *memory, size_t n_bytes, size_t n_new_bytes)
{
    if (!is_mapped(n_new_bytes)) {
        return realloc(memory, n_new_bytes);
    }
    if (memory != NULL && is_mapped(n_bytes)) {
        void *moved = mremap(memory, n_bytes, n_new_bytes, MREMAP_MAYMOVE);
        return moved == MAP_FAILED ? NULL : moved;
    }
    void *mapped = map(n_new_bytes);
    if (mapped != NULL && memory != NULL) {
        memcpy(mapped, memory, n_bytes);
        free(memory);
    }
    return mapped;
}

#else

void *allocate_zeros(size_t n_bytes)
{
    return calloc(n_bytes, 1);
}

void release_memory(void *memory, size_t n_bytes)
{
    (void)n_bytes;
    free(memory);
}

void *enlarge_memory(void *memory, size_t n_bytes, size_t n_new_bytes)
{
    (void)n_bytes;
    return realloc(memory, n_new_bytes);
}

#endif

int make_room(void **array, size_t *room, size_t needed, size_t item_size)
{
    if (needed <= *room) {
        return 0;
    }
    size_t enlarged = *room + *room / 8 + 64;
    if (enlarged < needed) {
        enlarged = needed;
    }
    void *larger = NULL;
    if (enlarged <= SIZE_MAX / item_size) {
        larger = enlarge_memory(*array, *room * item_size, enlarged * item_size);
    }
    if (larger == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *array = larger;
    *room = enlarged;
    return 0;
}
