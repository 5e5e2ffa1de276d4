/* Memory of large arrays, which are taken from the system and given back to it.

   The allocator of the GNU C library keeps blocks of up to 32 MB for later, once blocks of that size were freed: tables
   that grow step by step would leave a third more memory behind than they use. */

#define _GNU_SOURCE

#include "native.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#ifndef MIN_MAPPED_BYTES
#ifdef __linux__
#define MIN_MAPPED_BYTES ((size_t)1 << 17)
#else
#define MIN_MAPPED_BYTES SIZE_MAX
#endif
#endif

static bool is_mapped(size_t n_bytes)
{
    return n_bytes >= MIN_MAPPED_BYTES;
}

/* Map memory that is 0, or enlarge it. */
static void *mapped(void *memory, size_t n_bytes, size_t n_new_bytes)
{
#ifdef __linux__
    void *found = memory == NULL ? mmap(NULL, n_new_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                 : mremap(memory, n_bytes, n_new_bytes, MREMAP_MAYMOVE);
    return found == MAP_FAILED ? NULL : found;
#else
    (void)memory, (void)n_bytes, (void)n_new_bytes;
    return NULL;
#endif
}

void *allocate_zeros(size_t n_bytes)
{
    return is_mapped(n_bytes) ? mapped(NULL, 0, n_bytes) : calloc(n_bytes, 1);
}

void release_memory(void *memory, size_t n_bytes)
{
#ifdef __linux__
    if (memory != NULL && is_mapped(n_bytes)) {
        munmap(memory, n_bytes);
        return;
    }
#endif
    (void)n_bytes;
    free(memory);
}

/* Enlarge memory by bytes that are 0; NULL, with nothing changed, if there is none. */
static void *enlarged(void *memory, size_t n_bytes, size_t n_new_bytes)
{
    if (memory != NULL && is_mapped(n_bytes)) {
        return mapped(memory, n_bytes, n_new_bytes);
    }
    if (is_mapped(n_new_bytes)) {
        void *larger = mapped(NULL, 0, n_new_bytes);
        if (larger != NULL && memory != NULL) {
            memcpy(larger, memory, n_bytes);
            free(memory);
        }
        return larger;
    }
    void *larger = realloc(memory, n_new_bytes);
    if (larger != NULL) {
        memset((char *)larger + n_bytes, 0, n_new_bytes - n_bytes);
    }
    return larger;
}

bool make_room(void **array, size_t *room, size_t needed, size_t item_size)
{
    if (needed <= *room) {
        return true;
    }
    size_t new_room = *room + *room / 16 + 64;
    new_room = new_room < needed ? needed : new_room;
    void *larger = new_room > SIZE_MAX / item_size ? NULL : enlarged(*array, *room * item_size, new_room * item_size);
    if (larger == NULL) {
        PyErr_NoMemory();
        return false;
    }
    *array = larger;
    *room = new_room;
    return true;
}

bool text_reserve(Text *text, size_t more)
{
    if (text->failed)
        return false;
    if (text->length + more <= text->room)
        return true;
    size_t room = text->length + more + text->room / 2 + 256;
    uint8_t *bytes = realloc(text->bytes, room);
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->room = room;
    return true;
}

void text_add(Text *text, const void *bytes, size_t length)
{
    if (length && text_reserve(text, length)) {
        memcpy(text->bytes + text->length, bytes, length);
        text->length += length;
    }
}
