/* Character references, and the bytes of texts (HTML, 13.2.5.72 to 80). */

#include "html_tokens.h"

#include <stdlib.h>

static void add_code(Text *text, uint32_t code)
{
    uint8_t bytes[4];
    text_add(text, bytes, encode_character(bytes, code));
}

/* Numbers that stand for characters of Windows-1252. */
static const uint16_t windows_1252[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178,
};

static uint32_t numbered_code(uint32_t number)
{
    if (number == 0 || number > 0x10FFFF || (number >= 0xD800 && number < 0xE000))
        return 0xFFFD;
    return number >= 0x80 && number < 0xA0 ? windows_1252[number - 0x80] : number;
}

/* Named references, sorted by name; names without semicolon are prefixes that count as well. */
#define MAX_REFERENCE 40

typedef struct {
    char name[MAX_REFERENCE];
    uint8_t length, n_bytes;
    uint8_t bytes[8];
} Reference;

static Reference *references;
static size_t n_references;

static int compare_names(const void *first, const void *second)
{
    return strcmp(((const Reference *)first)->name, ((const Reference *)second)->name);
}

static bool fill_references(PyObject *names)
{
    PyObject *key, *value;
    Py_ssize_t position = 0;
    Py_ssize_t count = PyDict_Size(names);
    if (count <= 0 || !(references = calloc((size_t)count, sizeof *references))) {
        PyErr_NoMemory();
        return false;
    }
    while (PyDict_Next(names, &position, &key, &value)) {
        Py_ssize_t length, n_bytes;
        const char *name = PyUnicode_AsUTF8AndSize(key, &length);
        const char *bytes = name ? PyUnicode_AsUTF8AndSize(value, &n_bytes) : NULL;
        if (!bytes)
            return false;
        Reference *reference = &references[n_references];
        if (length >= MAX_REFERENCE || n_bytes > (Py_ssize_t)sizeof reference->bytes)
            continue;
        memcpy(reference->name, name, (size_t)length);
        memcpy(reference->bytes, bytes, (size_t)n_bytes);
        reference->length = (uint8_t)length;
        reference->n_bytes = (uint8_t)n_bytes;
        n_references++;
    }
    qsort(references, n_references, sizeof *references, compare_names);
    return true;
}

bool html_references_prepare(void)
{
    if (references)
        return true;
    PyObject *module = PyImport_ImportModule("html.entities");
    PyObject *names = module ? PyObject_GetAttrString(module, "html5") : NULL;
    bool is_read = names && fill_references(names);
    if (!is_read) {
        free(references);
        references = NULL;
        n_references = 0;
    }
    Py_XDECREF(names);
    Py_XDECREF(module);
    return is_read;
}

static const Reference *reference_named(const uint8_t *name, size_t length, bool has_semicolon)
{
    char wanted[MAX_REFERENCE + 1];
    if (length + has_semicolon >= MAX_REFERENCE)
        return NULL;
    memcpy(wanted, name, length);
    if (has_semicolon)
        wanted[length] = ';';
    wanted[length + has_semicolon] = 0;
    size_t low = 0, high = n_references;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(references[middle].name, wanted);
        if (order == 0)
            return &references[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool is_alphanumeric(uint8_t byte)
{
    return is_letter(byte) || is_digit(byte);
}

/* Names without semicolon have at most this many letters. */
#define LONGEST_PREFIX 6

/* Add the character that the `&` at `position` stands for; returns the position behind the reference. */
static uint32_t add_named(Text *text, const uint8_t *data, uint32_t position, uint32_t end, Place place)
{
    const uint8_t *name = data + position + 1;
    size_t length = 0, room = end - position - 1;
    while (length < room && length < MAX_REFERENCE && is_alphanumeric(name[length]))
        length++;
    bool has_semicolon = length < room && name[length] == ';';
    const Reference *reference = has_semicolon ? reference_named(name, length, true) : NULL;
    if (reference) {
        text_add(text, reference->bytes, reference->n_bytes);
        return position + reference->length + 1;
    }
    for (size_t prefix = length < LONGEST_PREFIX ? length : LONGEST_PREFIX; prefix > 1; prefix--) {
        reference = reference_named(name, prefix, false);
        if (!reference)
            continue;
        /* In an attribute, a name before a letter, a digit or an equals sign is no reference: it may be a parameter. */
        bool is_followed = prefix < room && (is_alphanumeric(name[prefix]) || name[prefix] == '=');
        if (place == IN_ATTRIBUTE && is_followed)
            break;
        text_add(text, reference->bytes, reference->n_bytes);
        return position + (uint32_t)prefix + 1;
    }
    text_add(text, "&", 1);
    return position + 1;
}

static uint32_t add_numbered(Text *text, const uint8_t *data, uint32_t position, uint32_t end)
{
    uint32_t at = position + 2, number = 0;
    bool is_hexadecimal = at < end && (data[at] | 0x20) == 'x';
    at += is_hexadecimal;
    uint32_t first = at;
    for (; at < end; at++) {
        uint8_t digit = (uint8_t)(data[at] - '0'), letter = (uint8_t)((data[at] | 0x20) - 'a');
        if (digit >= 10) {
            if (!is_hexadecimal || letter >= 6)
                break;
            digit = letter + 10;
        }
        if (number <= 0x10FFFF)
            number = number * (is_hexadecimal ? 16 : 10) + digit;
    }
    if (at == first) {
        text_add(text, data + position, at - position);
        return at;
    }
    add_code(text, numbered_code(number));
    return at + (at < end && data[at] == ';');
}

void text_add_decoded(Text *text, const uint8_t *data, uint32_t start, uint32_t end, Place place, bool drop_null)
{
    while (start < end) {
        uint32_t length = end - start;
        const uint8_t *reference = place == IN_RAW_TEXT ? NULL : memchr(data + start, '&', length);
        uint32_t stop = reference ? (uint32_t)(reference - data) : end;
        const uint8_t *null;
        while (start < stop && (null = memchr(data + start, 0, stop - start))) {
            text_add(text, data + start, (size_t)(null - data) - start);
            if (!drop_null)
                add_code(text, 0xFFFD);
            start = (uint32_t)(null - data) + 1;
        }
        text_add(text, data + start, stop - start);
        start = stop;
        if (start < end) {
            bool is_numbered = start + 1 < end && data[start + 1] == '#';
            start = is_numbered ? add_numbered(text, data, start, end) : add_named(text, data, start, end, place);
        }
    }
}
