/* Stems with numbers in order of first appearance, for millions of them.

   The texts are in one array, in the order of numbers. A slot of the index has the upper half of the hash of a stem, so
   that most others are told apart without their text, and a larger index is filled without reading texts. */

#include "words.h"

#define FIRST_SLOTS 256
/* At most 7 of 10 slots are used. */
#define USED_TENTHS 7
/* Stems that are hashed before any of them is looked up, so that memory accesses overlap. */
#define GROUP 32

static size_t first_slot(size_t n_slots, uint32_t tag)
{
    return (size_t)((uint64_t)tag * n_slots >> 32);
}

static void put(StemSlot *slots, size_t n_slots, StemSlot slot)
{
    size_t index = first_slot(n_slots, slot.tag);
    while (slots[index].number != 0) {
        index = index + 1 == n_slots ? 0 : index + 1;
    }
    slots[index] = slot;
}

static int use_slots(Stems *stems, size_t n_slots)
{
    StemSlot *slots = n_slots > SIZE_MAX / sizeof *slots ? NULL : allocate_zeros(n_slots * sizeof *slots);
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t index = 0; index < stems->n_slots; index++) {
        if (stems->slots[index].number != 0) {
            put(slots, n_slots, stems->slots[index]);
        }
    }
    release_memory(stems->slots, stems->n_slots * sizeof *stems->slots);
    stems->slots = slots;
    stems->n_slots = n_slots;
    return 0;
}

/* Make room for more stems at once. */
static int reserve(Stems *stems, size_t n_more, size_t n_more_bytes)
{
    size_t n_bytes = stems->count > 0 ? stems->ends[stems->count - 1] : 0, n_stems = stems->count;
    /* Ends have 32 bits, numbers 31. */
    if (n_more_bytes > UINT32_MAX - n_bytes || n_more > INT32_MAX - n_stems) {
        PyErr_NoMemory();
        return -1;
    }
    n_stems += n_more;
    if (make_room((void **)&stems->text, &stems->text_room, n_bytes + n_more_bytes, 1) < 0 ||
        make_room((void **)&stems->ends, &stems->ends_room, n_stems, sizeof *stems->ends) < 0 ||
        make_room((void **)&stems->is_unspaced, &stems->is_unspaced_room, n_stems / 8 + 1, 1) < 0) {
        return -1;
    }
    if (n_stems <= stems->n_slots / 10 * USED_TENTHS) {
        return 0;
    }
    size_t enlarged = stems->n_slots + stems->n_slots / 4, needed = n_stems / USED_TENTHS * 10 + 10;
    return use_slots(stems, enlarged < needed ? needed + needed / 8 : enlarged);
}

int stems_init(Stems *stems, HashKey key, Letters letters)
{
    stems->key = key;
    stems->letters = letters;
    if (use_slots(stems, FIRST_SLOTS) < 0 || reserve(stems, 1, 1) < 0) {
        return -1;
    }
    stems->ends[0] = 0;
    stems->is_unspaced[0] = 0;
    stems->count = 1;
    return 0;
}

void stems_clear(Stems *stems)
{
    release_memory(stems->text, stems->text_room);
    release_memory(stems->ends, stems->ends_room * sizeof *stems->ends);
    release_memory(stems->is_unspaced, stems->is_unspaced_room);
    release_memory(stems->slots, stems->n_slots * sizeof *stems->slots);
}

static bool has_text(const Stems *stems, uint32_t number, const unsigned char *text, size_t length)
{
    uint32_t start = stems->ends[number - 1];
    return stems->ends[number] - start == length && memcmp(stems->text + start, text, length) == 0;
}

static void append(Stems *stems, const unsigned char *stem, size_t length)
{
    uint32_t number = stems->count++, start = stems->ends[number - 1];
    memcpy(stems->text + start, stem, length);
    stems->ends[number] = start + (uint32_t)length;
    size_t size;
    bool is_unspaced = letter_of(stems->letters, decode_character(stem, length, &size)) >= UNSPACED;
    if ((number & 7) == 0) {
        stems->is_unspaced[number >> 3] = 0;
    }
    stems->is_unspaced[number >> 3] |= (uint8_t)(is_unspaced << (number & 7));
    stems->has_unspaced |= is_unspaced;
}

/* The upper half of the hash of a stem, whose slot is fetched. */
static uint32_t tag_of(const Stems *stems, const unsigned char *stem, size_t length)
{
    uint32_t tag = (uint32_t)(hash_bytes(stems->key, stem, length) >> 32);
    PREFETCH(&stems->slots[first_slot(stems->n_slots, tag)]);
    return tag;
}

/* The number of a stem; `STOP` if it is not there, or empty. */
static int32_t known_number(const Stems *stems, const unsigned char *stem, size_t length, uint32_t tag)
{
    size_t index = first_slot(stems->n_slots, tag);
    for (uint32_t number; length > 0 && (number = stems->slots[index].number) != 0;) {
        if (stems->slots[index].tag == tag && has_text(stems, number, stem, length)) {
            return (int32_t)number;
        }
        index = index + 1 == stems->n_slots ? 0 : index + 1;
    }
    return STOP;
}

static int32_t number_of(Stems *stems, const unsigned char *stem, size_t length, uint32_t tag)
{
    int32_t known = known_number(stems, stem, length, tag);
    if (known != STOP || length == 0) {
        return known;
    }
    if (reserve(stems, 1, length) < 0) {
        return -1;
    }
    append(stems, stem, length);
    put(stems->slots, stems->n_slots, (StemSlot){tag, stems->count - 1});
    return (int32_t)stems->count - 1;
}

int32_t stems_known(Stems *stems, const unsigned char *stem, size_t length)
{
    return known_number(stems, stem, length, tag_of(stems, stem, length));
}

int32_t stems_number(Stems *stems, const unsigned char *stem, size_t length)
{
    return number_of(stems, stem, length, tag_of(stems, stem, length));
}

typedef struct {
    const unsigned char *start;
    size_t length;
    uint32_t tag;
} Line;

/* Look up to `GROUP` stems up. The end and the text of a stem that may be the same are fetched before they are compared. */
static void look_up_group(const Stems *stems, const Line *group, size_t count, int32_t *numbers)
{
    for (size_t index = 0; index < count; index++) {
        StemSlot slot = stems->slots[first_slot(stems->n_slots, group[index].tag)];
        numbers[index] = slot.tag == group[index].tag ? (int32_t)slot.number : STOP;
        if (numbers[index] != STOP) {
            PREFETCH(&stems->ends[numbers[index] - 1]);
        }
    }
    for (size_t index = 0; index < count; index++) {
        if (numbers[index] != STOP) {
            PREFETCH(stems->text + stems->ends[numbers[index] - 1]);
        }
    }
    for (size_t index = 0; index < count; index++) {
        numbers[index] = known_number(stems, group[index].start, group[index].length, group[index].tag);
    }
}

void stems_look_up(const Stems *stems, const Stems *others, uint32_t first, size_t count, int32_t *numbers)
{
    for (size_t done = 0; done < count; done += GROUP) {
        Line group[GROUP];
        size_t n_stems = count - done < GROUP ? count - done : GROUP;
        for (size_t index = 0; index < n_stems; index++) {
            uint32_t number = first + (uint32_t)(done + index), start = number == 0 ? 0 : others->ends[number - 1];
            size_t length = others->ends[number] - start;
            group[index] = (Line){others->text + start, length, tag_of(stems, others->text + start, length)};
        }
        look_up_group(stems, group, n_stems, numbers + done);
    }
}

/* Find the next lines of a text, at most `GROUP`; return the start of the line behind them, NULL at the end. */
static const unsigned char *read_lines(const Stems *stems, const unsigned char *text, const unsigned char *end,
                                       Line *lines, size_t *n_lines)
{
    for (*n_lines = 0; text != NULL && *n_lines < GROUP;) {
        const unsigned char *line_end = text == end ? NULL : memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((line_end == NULL ? end : line_end) - text);
        lines[(*n_lines)++] = (Line){text, length, tag_of(stems, text, length)};
        text = line_end == NULL ? NULL : line_end + 1;
    }
    return text;
}

int stems_load(Stems *stems, const unsigned char *text, size_t length)
{
    const unsigned char *end = text + length;
    size_t n_all = 1, n_lines;
    for (size_t index = 0; index < length; index++) {
        n_all += text[index] == '\n';
    }
    if (reserve(stems, n_all, length) < 0) {
        return -1;
    }
    for (Line lines[GROUP]; text != NULL;) {
        text = read_lines(stems, text, end, lines, &n_lines);
        for (size_t index = 0; index < n_lines; index++) {
            if (number_of(stems, lines[index].start, lines[index].length, lines[index].tag) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

size_t stems_bytes(const Stems *stems)
{
    return stems->text_room + stems->ends_room * sizeof *stems->ends + stems->is_unspaced_room +
           stems->n_slots * sizeof *stems->slots;
}
