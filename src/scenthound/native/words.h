/* Words of texts: the stems that they are numbered by, and the words that were seen. */

#ifndef SCENTHOUND_WORDS_H
#define SCENTHOUND_WORDS_H

#include "native.h"

/* As in text/vocabulary.py. */
#define MAX_WORD_CHARACTERS 40
#define STOP 0
/* Of a character in UTF-8 that takes up to four bytes. */
#define MAX_WORD_BYTES (4 * MAX_WORD_CHARACTERS)
#define BLOCK_BYTES 8
/* A bit that marks letters of scripts without spaces in the table of letters. */
#define UNSPACED ((uint32_t)1 << 31)
#define INVALID UINT32_MAX

#ifdef __GNUC__
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* The high and the low half of a product, folded. */
static inline uint64_t folded_product(uint64_t first, uint64_t second)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)first * second;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (first & UINT32_MAX) * (second & UINT32_MAX), high = (first >> 32) * (second >> 32);
    uint64_t middle = (first >> 32) * (second & UINT32_MAX) + (low >> 32);
    uint64_t other = (first & UINT32_MAX) * (second >> 32) + (middle & UINT32_MAX);
    return (first * second) ^ (high + (middle >> 32) + (other >> 32));
#endif
}

/* Up to eight bytes, the first of them lowest, padded with 0. */
static inline uint64_t load_block(const unsigned char *bytes, size_t length)
{
    uint64_t block = 0;
    if (length >= BLOCK_BYTES) {
        memcpy(&block, bytes, BLOCK_BYTES);
    } else {
        memcpy(&block, bytes, length);
    }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    block = __builtin_bswap64(block);
#endif
    return block;
}

/* The hash of a word, block by block. The key is secret, so that no page can choose words that collide. */
typedef struct {
    uint64_t of_block, of_chain, of_end;
} HashKey;

static inline uint64_t hash_block(HashKey key, uint64_t hash, uint64_t block)
{
    return folded_product(block ^ key.of_block, hash ^ key.of_chain);
}

static inline uint64_t hash_end(HashKey key, uint64_t hash)
{
    return folded_product(hash ^ key.of_end, key.of_block | 1);
}

static inline uint64_t hash_bytes(HashKey key, const unsigned char *bytes, size_t length)
{
    uint64_t hash = 0;
    for (size_t start = 0; start < length; start += BLOCK_BYTES) {
        hash = hash_block(key, hash, load_block(bytes + start, length - start));
    }
    return hash_end(key, hash);
}

/* The lower case of each code point, 0 if it is no letter or digit, with the mark of unspaced letters. */
typedef struct {
    const uint32_t *lower;
    size_t n_codes;
} Letters;

static inline uint32_t letter_of(Letters letters, uint32_t code)
{
    return code < letters.n_codes ? letters.lower[code] : 0;
}

/* utf_8.c: a character at the start of `available` > 0 bytes and its size; `INVALID` and 1 if there is none. */
uint32_t decode_character(const unsigned char *bytes, size_t available, size_t *size);
/* Write a character, return its size. */
size_t encode_character(unsigned char *bytes, uint32_t code);

/* porter.c: stem a lower-case word in place; return its new length, which is never greater. */
size_t porter_stem(unsigned char *word, size_t length);

/* stems.c: stems numbered from 1 on, compared by text; 0 is the empty one. */
typedef struct {
    uint32_t tag; /* the upper half of the hash */
    uint32_t number; /* 0: free */
} StemSlot;

typedef struct {
    HashKey key;
    Letters letters;
    uint32_t count; /* with number 0 */
    bool has_unspaced;
    unsigned char *text;
    uint32_t *ends; /* of each stem in the text */
    uint8_t *is_unspaced; /* a bit for each stem */
    StemSlot *slots;
    size_t text_room, ends_room, is_unspaced_room, n_slots;
} Stems;

int stems_init(Stems *stems, HashKey key, Letters letters);
void stems_clear(Stems *stems);
/* The number of a stem, which is added if it is new; -1 with an exception set. */
int32_t stems_number(Stems *stems, const unsigned char *stem, size_t length);
/* The number of a stem; `STOP` if it has none. */
int32_t stems_known(Stems *stems, const unsigned char *stem, size_t length);
/* The same for `count` of others, from number `first` on. */
void stems_look_up(const Stems *stems, const Stems *others, uint32_t first, size_t count, int32_t *numbers);
/* Add all stems of a text, one in each line; -1 with an exception set. */
int stems_load(Stems *stems, const unsigned char *text, size_t length);
size_t stems_bytes(const Stems *stems);

static inline bool stems_is_unspaced(const Stems *stems, uint32_t number)
{
    return stems->is_unspaced[number >> 3] >> (number & 7) & 1;
}

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

int seen_init(SeenWords *seen);
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
    Stems stems;
    SeenWords seen;
} Words;

enum scan_result { SCAN_FAILED = -1, SCAN_DONE = 0, SCAN_UNSUPPORTED = 1 };

/* Write the number of each word, at most `length / 2 + 1 + n_cuts` of them, and how many words are before each cut. Cuts
   are ascending positions. Unsupported are texts with a letter whose lower case depends on its neighbours. */
enum scan_result scan_words(Words *words, const unsigned char *text, size_t length, const uint32_t *cuts,
                            size_t n_cuts, int32_t *numbers, size_t *n_words, int32_t *before);
/* Let a word, in lower case, be a stop word; -1 with an exception set. */
int add_stop_word(Words *words, const unsigned char *word, size_t length);

#endif
