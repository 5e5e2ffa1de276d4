/* The WHATWG URL parser (https://url.spec.whatwg.org/#url-parsing) for references on http and https pages.

   Rules
   - The result is the canonical URL: without user and fragment, of at most MAX_URL_BYTES.
   - Hosts other than names of ASCII letters, digits, hyphens, dots and underscores, and IPv4 addresses in their usual
     form, are UNUSUAL; so is invalid UTF-8. The library decides on them.
   - The time is linear in the length of a reference, and so is the memory. */

#include "references.h"

#include <stdio.h>

enum {
    PLAIN = 0,       /* copied */
    ENCODED = 1,     /* percent-encoded in paths and queries */
    PATH_ENCODED = 2,
    QUERY_ENCODED = 4,
    SLASH = 8,
    PATH_END = 16,
    NOT_ASCII = 32,
};

#define E ENCODED
#define N NOT_ASCII
#define NON_ASCII_ROW N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N
static const uint8_t class_of[256] = {
    E, E, E, E, E, E, E, E, E, E, E, E, E, E, E, E,
    E, E, E, E, E, E, E, E, E, E, E, E, E, E, E, E,
    ['\x7F'] = E, [' '] = E, ['"'] = E, ['<'] = E, ['>'] = E,
    ['^'] = PATH_ENCODED, ['`'] = PATH_ENCODED, ['{'] = PATH_ENCODED, ['}'] = PATH_ENCODED,
    ['\''] = QUERY_ENCODED,
    ['/'] = SLASH, ['\\'] = SLASH,
    ['?'] = PATH_END, ['#'] = PATH_END,
    [0x80] = NON_ASCII_ROW, NON_ASCII_ROW, NON_ASCII_ROW, NON_ASCII_ROW,
    NON_ASCII_ROW, NON_ASCII_ROW, NON_ASCII_ROW, NON_ASCII_ROW,
};
#undef E
#undef N

static bool is_slash(uint8_t byte)
{
    return byte == '/' || byte == '\\';
}

static bool is_removed(uint8_t byte)
{
    return byte == '\t' || byte == '\n' || byte == '\r';
}

bool read_base(Base *base, Bytes url)
{
    base->url = url;
    base->scheme_length = url.length > 4 && url.text[4] == 's' ? 5 : 4;
    size_t start = base->scheme_length + 3;
    if (url.length <= start || url.length > MAX_URL_BYTES || memcmp(url.text, "https", base->scheme_length) != 0 ||
        memcmp(url.text + base->scheme_length, "://", 3) != 0)
        return false;
    const uint8_t *root = memchr(url.text + start, '/', url.length - start);
    if (root == NULL || root == url.text + start)
        return false;
    base->root = (size_t)(root - url.text);
    const uint8_t *query = memchr(root, '?', url.length - base->root);
    base->path_end = query == NULL ? url.length : (size_t)(query - url.text);
    base->directory_end = base->path_end;
    while (url.text[base->directory_end - 1] != '/')
        base->directory_end--;
    return true;
}

/* Room for the appended bytes was made by `resolve_reference`. */
static void append(Text *urls, const uint8_t *text, size_t length)
{
    memcpy(urls->bytes + urls->length, text, length);
    urls->length += length;
}

static void append_byte(Text *urls, uint8_t byte)
{
    urls->bytes[urls->length++] = byte;
}

static void append_encoded(Text *urls, uint8_t byte)
{
    static const char digits[] = "0123456789ABCDEF";
    append_byte(urls, '%');
    append_byte(urls, (uint8_t)digits[byte >> 4]);
    append_byte(urls, (uint8_t)digits[byte & 15]);
}

/* Append text up to the first byte of the classes in `end_classes`, with bytes of those in `encoded` encoded. Returns
   the end, NULL if web.urls must decide. */
static const uint8_t *append_part(Text *urls, const uint8_t *text, const uint8_t *end, int encoded, int end_classes)
{
    while (text < end) {
        const uint8_t *plain = text;
        while (text < end && !(class_of[*text] & (encoded | end_classes)))
            text++;
        append(urls, plain, (size_t)(text - plain));
        if (text == end || class_of[*text] & end_classes)
            break;
        size_t length;
        if (decode_character(text, (size_t)(end - text), &length) == INVALID)
            return NULL;
        for (; length; length--)
            append_encoded(urls, *text++);
    }
    return text;
}

/* The number of dots that a segment stands for, each written as "." or "%2e"; 0 if it is any other segment, or has more
   than two. */
static int n_dots(const uint8_t *text, const uint8_t *end)
{
    int n = 0;
    while (text < end) {
        if (*text == '.')
            text++;
        else if (end - text >= 3 && text[0] == '%' && text[1] == '2' && (text[2] | 0x20) == 'e')
            text += 3;
        else
            return 0;
        if (++n > 2)
            return 0;
    }
    return n;
}

/* Append a path to a URL that ends with the slash of a directory; `root` is the length of the URL of the root. Returns
   the end of the path, NULL if web.urls must decide. */
static const uint8_t *append_path(Text *urls, size_t root, const uint8_t *text, const uint8_t *end)
{
    for (;;) {
        size_t directory = urls->length;
        const uint8_t *segment = text;
        text = append_part(urls, text, end, ENCODED | PATH_ENCODED | NOT_ASCII, SLASH | PATH_END);
        if (text == NULL)
            return NULL;
        bool is_last = text == end || !is_slash(*text);
        int dots = segment < text && (*segment == '.' || *segment == '%') ? n_dots(segment, text) : 0;
        if (dots)
            urls->length = directory;
        if (dots == 2 && directory > root)
            do
                urls->length--;
            while (urls->bytes[urls->length - 1] != '/');
        if (is_last)
            return text;
        if (!dots)
            append_byte(urls, '/');
        text++;
    }
}

static Resolution append_query(Text *urls, const uint8_t *text, const uint8_t *end)
{
    if (text == end || *text != '?')
        return RESOLVED;
    const uint8_t *fragment = memchr(text, '#', (size_t)(end - text));
    end = fragment == NULL ? end : fragment;
    return append_part(urls, text, end, ENCODED | QUERY_ENCODED | NOT_ASCII, 0) == NULL ? UNUSUAL : RESOLVED;
}

static Resolution append_path_and_query(Text *urls, size_t root, const uint8_t *text, const uint8_t *end)
{
    text = append_path(urls, root, text, end);
    return text == NULL ? UNUSUAL : append_query(urls, text, end);
}

/* Whether a name whose last label is a number is an IPv4 address in the form that it would get. */
static bool is_plain_address(Bytes host)
{
    int n_parts = 1, value = -1;
    for (size_t i = 0; i < host.length; i++) {
        uint8_t byte = host.text[i];
        if (byte == '.' && value >= 0) {
            n_parts++;
            value = -1;
        } else if (is_digit(byte) && value != 0) {
            value = (value < 0 ? 0 : value * 10) + byte - '0';
        } else {
            return false;
        }
        if (value > 255)
            return false;
    }
    return n_parts == 4 && value >= 0;
}

static bool ends_in_number(Bytes host)
{
    size_t end = host.length;
    if (end && host.text[end - 1] == '.')
        end--;
    size_t start = end;
    bool is_number = true;
    for (; start && host.text[start - 1] != '.'; start--)
        is_number &= is_digit(host.text[start - 1]);
    /* "0x" may begin a hexadecimal number. */
    bool may_be_hexadecimal = end - start >= 2 && host.text[start] == '0' && (host.text[start + 1] | 0x20) == 'x';
    return start < end && (is_number || may_be_hexadecimal);
}

/* Append a host in lower case, unless it is UNUSUAL. */
static Resolution append_host(Text *urls, Bytes host)
{
    for (size_t i = 0; i < host.length; i++) {
        uint8_t byte = host.text[i];
        bool is_capital = (uint8_t)(byte - 'A') < 26;
        if (!is_letter(byte) && !is_digit(byte) && byte != '-' && byte != '.' && byte != '_')
            return UNUSUAL;
        append_byte(urls, is_capital ? byte | 0x20 : byte);
    }
    return ends_in_number(host) && !is_plain_address(host) ? UNUSUAL : RESOLVED;
}

/* Append ":" and a port, unless it is the default one. */
static Resolution append_port(Text *urls, Bytes port, bool is_https)
{
    uint32_t number = 0;
    for (size_t i = 0; i < port.length; i++) {
        if (!is_digit(port.text[i]))
            return NO_TARGET;
        number = number * 10 + (port.text[i] - '0');
        if (number > 65535)
            return NO_TARGET;
    }
    if (port.length && number != (is_https ? 443 : 80)) {
        char text[8];
        int length = snprintf(text, sizeof text, ":%u", (unsigned)number);
        append(urls, (const uint8_t *)text, (size_t)length);
    }
    return RESOLVED;
}

/* Append the host and the port of an authority, whose user is left out. */
static Resolution append_authority(const Base *base, Text *urls, Bytes authority, bool is_https)
{
    const uint8_t *at;
    while (authority.length && (at = memchr(authority.text, '@', authority.length)) != NULL)
        authority = (Bytes){at + 1, authority.length - (size_t)(at + 1 - authority.text)};
    size_t start = base->scheme_length + 3;
    if (is_https == (base->scheme_length == 5) && authority.length == base->root - start &&
        memcmp(authority.text, base->url.text + start, authority.length) == 0) {
        append(urls, authority.text, authority.length);
        return RESOLVED;
    }
    if (authority.length == 0)
        return NO_TARGET;
    const uint8_t *colon = memchr(authority.text, ':', authority.length);
    Bytes host = {authority.text, colon == NULL ? authority.length : (size_t)(colon - authority.text)};
    if (host.length == 0)
        return NO_TARGET;
    Resolution result = append_host(urls, host);
    if (result != RESOLVED || colon == NULL)
        return result;
    return append_port(urls, (Bytes){colon + 1, authority.length - host.length - 1}, is_https);
}

/* What follows the slashes before an authority. */
static Resolution append_from_authority(const Base *base, Text *urls, const uint8_t *text, const uint8_t *end,
                                        bool is_https)
{
    while (text < end && is_slash(*text))
        text++;
    const uint8_t *authority = text;
    while (text < end && !(class_of[*text] & (SLASH | PATH_END)))
        text++;
    append(urls, (const uint8_t *)"https://", is_https ? 5 : 4);
    append(urls, (const uint8_t *)"://", 3);
    Resolution result = append_authority(base, urls, (Bytes){authority, (size_t)(text - authority)}, is_https);
    if (result != RESOLVED)
        return result;
    append_byte(urls, '/');
    if (text < end && is_slash(*text))
        text++;
    return append_path_and_query(urls, urls->length, text, end);
}

/* The length of the scheme of a reference, without its colon; 0 if it has none. */
static size_t scheme_length(const uint8_t *text, const uint8_t *end)
{
    const uint8_t *start = text;
    if (text == end || !is_letter(*text))
        return 0;
    while (text < end && (is_letter(*text) || is_digit(*text) || *text == '+' || *text == '-' || *text == '.'))
        text++;
    return text < end && *text == ':' ? (size_t)(text - start) : 0;
}

static Resolution append_resolved(const Base *base, Text *urls, const uint8_t *text, const uint8_t *end)
{
    bool is_https = base->scheme_length == 5;
    size_t length = scheme_length(text, end);
    if (length) {
        bool is_of_base = is_word((Bytes){text, length}, is_https ? "https" : "http");
        if (!is_of_base && !is_word((Bytes){text, length}, is_https ? "http" : "https"))
            return NO_TARGET;
        text += length + 1;
        if (!is_of_base)
            return append_from_authority(base, urls, text, end, !is_https);
    }
    if (text == end || *text == '#') {
        append(urls, base->url.text, base->url.length);
        return RESOLVED;
    }
    if (*text == '?') {
        append(urls, base->url.text, base->path_end);
        return append_query(urls, text, end);
    }
    if (!is_slash(*text)) {
        size_t root = urls->length + base->root + 1;
        append(urls, base->url.text, base->directory_end);
        return append_path_and_query(urls, root, text, end);
    }
    if (end - text >= 2 && is_slash(text[1]))
        return append_from_authority(base, urls, text, end, is_https);
    append(urls, base->url.text, base->root + 1);
    return append_path_and_query(urls, urls->length, text + 1, end);
}

/* Strip control characters and spaces from both ends, and remove tabs and newlines. False if there is no memory. */
static bool clean(Bytes *reference, Text *scratch)
{
    const uint8_t *text = reference->text, *end = text + reference->length;
    while (text < end && *text <= ' ')
        text++;
    while (text < end && end[-1] <= ' ')
        end--;
    *reference = (Bytes){text, (size_t)(end - text)};
    /* Nearly never: looking at all bytes at once is faster than stopping at the first. */
    bool is_any_removed = false;
    for (; text < end; text++)
        is_any_removed |= is_removed(*text);
    if (!is_any_removed)
        return true;
    scratch->length = 0;
    if (!text_reserve(scratch, reference->length))
        return false;
    for (text = reference->text; text < end; text++)
        if (!is_removed(*text))
            append_byte(scratch, *text);
    *reference = (Bytes){scratch->bytes, scratch->length};
    return true;
}

Resolution resolve_reference(const Base *base, Bytes reference, Text *urls, Text *scratch)
{
    /* Three bytes for each encoded one, and a scheme, slashes and a port besides. */
    size_t first = urls->length;
    if (reference.length > (SIZE_MAX / 16) ||
        !text_reserve(urls, base->url.length + 3 * reference.length + 32) || !clean(&reference, scratch))
        return NO_MEMORY;
    Resolution result = append_resolved(base, urls, reference.text, reference.text + reference.length);
    if (result == RESOLVED && urls->length - first > MAX_URL_BYTES)
        result = NO_TARGET;
    if (result != RESOLVED)
        urls->length = first;
    return result;
}
