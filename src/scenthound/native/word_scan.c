/* Splits texts into words, as text/tokenizer.py does, and numbers them.

   Words of ASCII letters and digits are read eight bytes at a time, all others character by character. The words of a
   small group are hashed before any of them is looked up, so that the memory accesses of the group overlap. The time is
   linear in the length of the text: no character is read more than three times. */

#include "words.h"

#define GROUP 32
#define SOFT_HYPHEN 0xAD
#define CAPITAL_DOTTED_I 0x130
#define CAPITAL_SIGMA 0x3A3

/* A word of the text; empty if it has too many characters. */
typedef struct {
    size_t start, end;
    uint64_t hash;
} FoundWord;

typedef struct {
    Words *words;
    const unsigned char *text;
    size_t length;
    int32_t *numbers;
    size_t n_words; /* with those of the group */
    size_t n_group;
    FoundWord group[GROUP];
    enum scan_result result;
} Scan;

/* Write a part of the text in lower case, without soft hyphens; it has at most `MAX_WORD_CHARACTERS`. */
static size_t lower_part(const Scan *scan, const FoundWord *found, unsigned char *word)
{
    size_t length = 0, size;
    for (size_t position = found->start; position < found->end; position += size) {
        uint32_t code = decode_character(scan->text + position, found->end - position, &size);
        uint32_t letter = letter_of(scan->words->letters, code) & ~UNSPACED;
        if (letter != 0 && length + 4 <= MAX_WORD_BYTES) {
            length += encode_character(word + length, letter);
        }
    }
    return length;
}

static uint32_t group_of(const Words *words, Bytes stem)
{
    size_t size;
    return stem.length > 0 && letter_of(words->letters, decode_character(stem.text, stem.length, &size)) >= UNSPACED;
}

int32_t add_stem(Words *words, Bytes stem)
{
    uint32_t group = group_of(words, stem);
    words->has_unspaced |= group;
    return names_add(&words->stems, names_hash(&words->stems, group, stem), group, stem);
}

int32_t find_stem(Words *words, Bytes stem)
{
    uint32_t group = group_of(words, stem);
    int32_t number = names_find(&words->stems, names_hash(&words->stems, group, stem), group, stem);
    return number == NOT_FOUND ? STOP : number;
}

static int32_t learn(Scan *scan, const FoundWord *found)
{
    unsigned char word[MAX_WORD_BYTES + 1];
    size_t length = porter_stem(word, lower_part(scan, found, word));
    int32_t number = add_stem(scan->words, (Bytes){word, length});
    return number < 0 || seen_add(&scan->words->seen, found->hash, number) < 0 ? -1 : number;
}

static void number_group(Scan *scan)
{
    size_t first = scan->n_words - scan->n_group;
    for (size_t index = 0; index < scan->n_group; index++) {
        const FoundWord *found = &scan->group[index];
        int32_t number = STOP;
        if (found->start < found->end) {
            number = seen_find(&scan->words->seen, found->hash);
            if (number == ABSENT && (number = learn(scan, found)) < 0) {
                scan->result = SCAN_FAILED;
                return;
            }
        }
        scan->numbers[first + index] = number;
    }
    scan->n_group = 0;
}

static inline void add_word(Scan *scan, size_t start, size_t end, uint64_t hash)
{
    if (scan->n_group == GROUP) {
        number_group(scan);
        if (scan->result != SCAN_DONE) {
            return;
        }
    }
    __builtin_prefetch(&scan->words->seen.slots[seen_first(&scan->words->seen, hash)]);
    scan->group[scan->n_group++] = (FoundWord){start, end, hash};
    scan->n_words++;
}

/* The code of a character and its letter. Notes characters that are not supported. */
static uint32_t read_letter(Scan *scan, size_t position, size_t end, uint32_t *code, size_t *size)
{
    *code = decode_character(scan->text + position, end - position, size);
    if (*code == CAPITAL_DOTTED_I || *code == CAPITAL_SIGMA) {
        scan->result = SCAN_UNSUPPORTED;
    }
    return letter_of(scan->words->letters, *code);
}

/* Add a word that starts with a letter at `start`; return the position behind it. */
static size_t read_word(Scan *scan, size_t start, size_t end)
{
    unsigned char word[MAX_WORD_BYTES];
    size_t position = start, n_characters = 0, length = 0, size;
    for (uint32_t code; position < end; position += size) {
        uint32_t letter = read_letter(scan, position, end, &code, &size);
        if (code == SOFT_HYPHEN) {
            continue;
        }
        if (letter == 0 || letter >= UNSPACED) {
            break;
        }
        if (n_characters++ < MAX_WORD_CHARACTERS) {
            length += encode_character(word + length, letter);
        }
    }
    bool is_too_long = n_characters > MAX_WORD_CHARACTERS;
    add_word(scan, start, is_too_long ? start : position, hash_bytes(scan->words->key, 0, (Bytes){word, length}));
    return position;
}

static uint64_t hash_unspaced(const Scan *scan, uint32_t first, uint32_t second)
{
    unsigned char word[BLOCK_BYTES];
    size_t length = encode_character(word, first);
    if (second != 0) {
        length += encode_character(word + length, second);
    }
    return hash_bytes(scan->words->key, 0, (Bytes){word, length});
}

/* Add the bigrams of the run of unspaced letters at `start`, or a single one; return the position behind it. */
static size_t read_unspaced(Scan *scan, size_t start, size_t end)
{
    size_t position = start, last_start = start, last_end = start, size, n_letters = 0;
    uint32_t last = 0;
    for (uint32_t code; position < end && scan->result == SCAN_DONE; position += size) {
        uint32_t letter = read_letter(scan, position, end, &code, &size);
        if (code == SOFT_HYPHEN) {
            continue;
        }
        if (letter < UNSPACED) {
            break;
        }
        if (n_letters++ > 0) {
            add_word(scan, last_start, position + size, hash_unspaced(scan, last, code));
        }
        last = code;
        last_start = position;
        last_end = position + size;
    }
    if (n_letters == 1) {
        add_word(scan, last_start, last_end, hash_unspaced(scan, last, 0));
    }
    return position;
}

/* Read what starts with a character beyond ASCII; return the position behind it. */
static size_t read_other(Scan *scan, size_t position, size_t end)
{
    uint32_t code;
    size_t size;
    uint32_t letter = read_letter(scan, position, end, &code, &size);
    if (letter == 0) {
        return position + size;
    }
    return letter >= UNSPACED ? read_unspaced(scan, position, end) : read_word(scan, position, end);
}

/* ASCII letters and digits, eight bytes at a time */

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))
#define HIGH_BITS EACH_BYTE(0x80)

/* The high bit of each byte that is an ASCII letter or digit. */
static inline uint64_t letter_marks(uint64_t block)
{
    uint64_t low = block & ~HIGH_BITS, lowered = low | EACH_BYTE(0x20);
    uint64_t is_letter = (lowered + EACH_BYTE(0x80 - 'a')) & ~(lowered + EACH_BYTE(0x7F - 'z'));
    uint64_t is_digit = (low + EACH_BYTE(0x80 - '0')) & ~(low + EACH_BYTE(0x7F - '9'));
    return (is_letter | is_digit) & ~block & HIGH_BITS;
}

/* How many bytes are before the first one that is marked. */
static inline size_t bytes_before(uint64_t marks)
{
    return marks == 0 ? BLOCK_BYTES : (size_t)__builtin_ctzll(marks) / 8;
}

/* The bytes from `position` on, 0 at and behind `end`. */
static inline uint64_t load_at(const Scan *scan, size_t position, size_t end)
{
    uint64_t block = load_block(scan->text + position, scan->length - position);
    return end - position >= BLOCK_BYTES ? block : block & ~(~UINT64_C(0) << 8 * (end - position));
}

/* The first bytes of a block in lower case; all are letters or digits, and digits have this bit. */
static inline uint64_t lowered(uint64_t block, size_t n_letters)
{
    uint64_t kept = n_letters == BLOCK_BYTES ? ~UINT64_C(0) : ~(~UINT64_C(0) << 8 * n_letters);
    return (block | EACH_BYTE(0x20)) & kept;
}

/* Add the word at `start`, whose first letters are known; return the position behind it and its separator. */
static inline size_t read_ascii_word(Scan *scan, size_t start, size_t end, uint64_t block, size_t n_letters)
{
    HashKey key = scan->words->key;
    size_t position = start;
    uint64_t hash = 0;
    for (;;) {
        hash = hash_block(key, hash, lowered(block, n_letters));
        position += n_letters;
        if (n_letters < BLOCK_BYTES || position == end) {
            break;
        }
        block = load_at(scan, position, end);
        n_letters = bytes_before(~letter_marks(block) & HIGH_BITS);
        if (n_letters == 0) {
            break;
        }
    }
    if (position < end && scan->text[position] >= 0x80) {
        return read_word(scan, start, end);
    }
    bool is_too_long = position - start > MAX_WORD_CHARACTERS;
    add_word(scan, start, is_too_long ? start : position, hash_end(key, hash));
    /* Whatever ended the word is no part of the next. */
    return position + 1;
}

/* Read a part of the text that no word reaches across. */
static void read_part(Scan *scan, size_t position, size_t end)
{
    while (position < end && scan->result == SCAN_DONE) {
        uint64_t block = load_at(scan, position, end), marks = letter_marks(block);
        size_t n_letters = bytes_before(~marks & HIGH_BITS);
        if (n_letters > 0) {
            position = read_ascii_word(scan, position, end, block, n_letters);
        } else if (scan->text[position] >= 0x80) {
            position = read_other(scan, position, end);
        } else {
            position += bytes_before(marks | (block & HIGH_BITS));
        }
    }
}

enum scan_result scan_words(Words *words, const unsigned char *text, size_t length, const uint32_t *cuts,
                            size_t n_cuts, int32_t *numbers, size_t *n_words, int32_t *before)
{
    Scan scan = {.words = words, .text = text, .length = length, .numbers = numbers, .result = SCAN_DONE};
    size_t start = 0;
    for (size_t index = 0; index < n_cuts; index++) {
        read_part(&scan, start, cuts[index]);
        before[index] = (int32_t)scan.n_words;
        start = cuts[index];
    }
    read_part(&scan, start, length);
    if (scan.result == SCAN_DONE) {
        number_group(&scan);
    }
    *n_words = scan.n_words;
    return scan.result;
}

int add_stop_word(Words *words, Bytes word)
{
    uint64_t hash = hash_bytes(words->key, 0, word);
    return seen_find(&words->seen, hash) == ABSENT ? seen_add(&words->seen, hash, STOP) : 0;
}
