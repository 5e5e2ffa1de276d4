/* Words of texts: the stems that they are numbered by, and the words that were seen. */

#ifndef SCENTHOUND_WORDS_H
#define SCENTHOUND_WORDS_H

#include "names.h"

/* Longer words are stop words; `text.tokenizer` and its `STOP` say so. */
#define MAX_WORD_CHARACTERS 40
#define STOP 0
/* Of a character in UTF-8 that takes up to four bytes. */
#define MAX_WORD_BYTES (4 * MAX_WORD_CHARACTERS)
/* A bit that marks letters of scripts without spaces in the table of letters. */
#define UNSPACED ((uint32_t)1 << 31)

/* The lower case of each code point, 0 if it is no letter or digit, with the mark of unspaced letters. */
typedef struct {
    const uint32_t *lower;
    size_t n_codes;
} Letters;

static inline uint32_t letter_of(Letters letters, uint32_t code)
{
    return code < letters.n_codes ? letters.lower[code] : 0;
}

/* porter.c: stem a lower-case word in place; return its new length, which is never greater. */
size_t porter_stem(unsigned char *word, size_t length);

/* seen_words.c: the number of each word that was seen, by its hash alone. */
typedef struct {
    uint32_t hash_low, hash_high;
    uint32_t number_above; /* the number + 1; 0: free */
} SeenSlot;

typedef struct {
    SeenSlot *slots;
    size_t n_slots, count;
} SeenWords;

#define ABSENT (-1)

/* Make room for the first words, or for more; -1 with an exception set. */
int seen_enlarge(SeenWords *seen);
void seen_clear(SeenWords *seen);
/* Add a hash that is not there; -1 with an exception set. */
int seen_add(SeenWords *seen, uint64_t hash, int32_t number);

static inline size_t seen_first(const SeenWords *seen, uint64_t hash)
{
    /* The upper bits, so that slots are in the order of hashes and a larger table is filled from left to right. */
    return (size_t)((hash >> 32) * seen->n_slots >> 32);
}

static inline int32_t seen_find(const SeenWords *seen, uint64_t hash)
{
    size_t index = seen_first(seen, hash);
    uint32_t low = (uint32_t)hash, high = (uint32_t)(hash >> 32);
    for (;;) {
        SeenSlot slot = seen->slots[index];
        if (slot.number_above == 0 || (slot.hash_low == low && slot.hash_high == high)) {
            return (int32_t)slot.number_above - 1;
        }
        index = index + 1 == seen->n_slots ? 0 : index + 1;
    }
}

/* word_scan.c: the words of a text. */
typedef struct {
    HashKey key;
    Letters letters;
    Names stems; /* 0 is the empty one; the group of a stem is 1 if its letters are of a script without spaces */
    bool has_unspaced;
    SeenWords seen;
} Words;

/* The number of a stem, which is added if it is new; -1 with an exception set. */
int32_t add_stem(Words *words, Bytes stem);
/* The number of a stem; `STOP` if it has none. */
int32_t find_stem(Words *words, Bytes stem);

enum scan_result { SCAN_FAILED = -1, SCAN_DONE = 0, SCAN_UNSUPPORTED = 1 };

/* Write the number of each word, at most `length / 2 + 1 + n_cuts` of them, and how many words are before each cut. Cuts
   are ascending positions. Unsupported are texts with a letter whose lower case depends on its neighbours. */
enum scan_result scan_words(Words *words, const unsigned char *text, size_t length, const uint32_t *cuts,
                            size_t n_cuts, int32_t *numbers, size_t *n_words, int32_t *before);
/* Let a word, in lower case, be a stop word; -1 with an exception set. */
int add_stop_word(Words *words, Bytes word);

#endif
