/* The URL table; `scenthound.frontier.url_table` has its rules.

   URLs are split into origin (scheme://host:port) and rest. Origins and hosts are stored once: a URL is its rest in the
   group of its origin, and an origin is in the group of its host. */

#include "names.h"
#include "references.h"

/* Origins end after this many characters. */
#define SHORTEST_ORIGIN 8
/* URLs that are looked up at the same time, so that the processor loads their slots together. */
#define BATCH 16

/* The number of a URL that is not in the table: that of a reference that was resolved. */
#define NEW RESOLVED

typedef struct {
    PyObject_HEAD
    Names urls, origins, hosts;
    /* The origin of the last URL: most links of a page have the same. */
    size_t last_origin;
} UrlTable;

/* A URL on its way to the table; `origin` is `NOT_FOUND` if the table does not know it. */
typedef struct {
    uint64_t hash;
    int32_t origin;
    Bytes rest;
} UrlKey;

/* The length of the origin: up to the first slash after the shortest origin, or all. */
static size_t origin_length(Bytes url)
{
    size_t start = 0;
    for (int n = 0; n < SHORTEST_ORIGIN && start < url.length; n++) {
        start++;
        while (start < url.length && (url.text[start] & 0xC0) == 0x80)
            start++;
    }
    const uint8_t *slash = start < url.length ? memchr(url.text + start, '/', url.length - start) : NULL;
    return slash == NULL ? url.length : (size_t)(slash - url.text);
}

static bool ends_authority(uint8_t byte)
{
    return byte == '/' || byte == '?' || byte == '#';
}

/* The host of an origin: no user, no port, IPv6 addresses in brackets; empty if there is none. */
static Bytes host_of(Bytes origin)
{
    const uint8_t *text = origin.text;
    size_t start = 0, n = origin.length;
    while (start < n && !ends_authority(text[start]))
        start++;
    if (n - start < 2 || text[start] != '/' || text[start + 1] != '/')
        return (Bytes){text, 0};
    start += 2;
    size_t end = start, bracket = 0;
    for (; end < n && !ends_authority(text[end]); end++)
        if (text[end] == '@')
            start = end + 1;
    for (size_t i = start; i < end; i++)
        if (text[i] == ']')
            bracket = i + 1;
    if (start < end && text[start] == '[' && bracket)
        return (Bytes){text + start, bracket - start};
    const uint8_t *colon = start < end ? memchr(text + start, ':', end - start) : NULL;
    return (Bytes){text + start, (colon == NULL ? end : (size_t)(colon - text)) - start};
}

/* The number of a name in a group, which is added if it is new and `adds`; else `NOT_FOUND`. */
static int32_t number_of(Names *names, int32_t group, Bytes name, bool adds)
{
    if (group == NOT_FOUND)
        return NOT_FOUND;
    uint64_t hash = names_hash(names, (uint32_t)group, name);
    return adds ? names_add(names, hash, (uint32_t)group, name) : names_find(names, hash, (uint32_t)group, name);
}

static int32_t origin_of(UrlTable *table, Bytes name, bool adds)
{
    if (table->last_origin < table->origins.n && has_text(&table->origins, table->last_origin, name))
        return (int32_t)table->last_origin;
    int32_t host = number_of(&table->hosts, 0, host_of(name), adds);
    int32_t origin = number_of(&table->origins, host, name, adds);
    if (origin != NOT_FOUND)
        table->last_origin = (size_t)origin;
    return origin;
}

/* Prepare a lookup, and let the processor load what it will need. */
static UrlKey key_of_url(UrlTable *table, Bytes url)
{
    size_t end = origin_length(url);
    int32_t origin = origin_of(table, (Bytes){url.text, end}, false);
    UrlKey key = {.origin = origin, .rest = {url.text + end, url.length - end}};
    if (key.origin != NOT_FOUND) {
        key.hash = names_hash(&table->urls, (uint32_t)key.origin, key.rest);
        names_prefetch(&table->urls, key.hash);
    }
    return key;
}

static int32_t find_url(const UrlTable *table, UrlKey key)
{
    return key.origin == NOT_FOUND ? NOT_FOUND : names_find(&table->urls, key.hash, (uint32_t)key.origin, key.rest);
}

/* The number of a URL, which is added if it is new; `NOT_FOUND` with an exception set. */
static int32_t add_url(UrlTable *table, Bytes url)
{
    size_t end = origin_length(url);
    int32_t origin = origin_of(table, (Bytes){url.text, end}, true);
    return number_of(&table->urls, origin, (Bytes){url.text + end, url.length - end}, true);
}

/* The type */

static PyObject *start(PyObject *self, Arguments *given)
{
    UrlTable *table = (UrlTable *)self;
    HashKey key = key_of(given->salt);
    return none_if(names_init(&table->urls, key) && names_init(&table->origins, key) && names_init(&table->hosts, key));
}

static void dealloc(PyObject *self)
{
    UrlTable *table = (UrlTable *)self;
    names_free(&table->urls);
    names_free(&table->origins);
    names_free(&table->hosts);
    free_object(self);
}

static Py_ssize_t length(PyObject *self)
{
    return (Py_ssize_t)((UrlTable *)self)->urls.n;
}

static PyObject *add_strings(PyObject *self, Arguments *given)
{
    PyObject *urls = given->objects[0];
    Py_ssize_t n = PyList_Check(urls) ? PyList_Size(urls) : -1;
    if (n < 0)
        return PyErr_Format(PyExc_TypeError, "The URLs must be a list.");
    int32_t *numbers;
    PyObject *result = new_array((size_t)n, sizeof *numbers, &numbers);
    for (Py_ssize_t i = 0; result != NULL && i < n; i++) {
        Bytes text;
        PyObject *owner = NULL, *url = PyList_GetItem(urls, i);
        bool is_text = url != NULL && utf_8_of(url, &text, &owner);
        if (!is_text || (numbers[i] = add_url((UrlTable *)self, text)) == NOT_FOUND)
            Py_CLEAR(result);
        Py_XDECREF(owner);
    }
    return result;
}

/* Text number `index`; false, with an exception, if the ends do not ascend or exceed the text. */
static bool part_of(const Py_buffer *text, const Py_buffer *ends, size_t index, Bytes *part)
{
    const uint32_t *end = (const uint32_t *)ends->buf + index;
    uint32_t start = index ? end[-1] : 0;
    *part = (Bytes){(const uint8_t *)text->buf + start, *end - start};
    return check(start <= *end && *end <= (size_t)text->len, "The ends of texts must ascend, and not exceed the text.");
}

/* Replace NEW by the numbers of the next texts. */
static bool add_found(UrlTable *table, int32_t *numbers, size_t n, const Py_buffer *text, const Py_buffer *ends)
{
    size_t n_used = 0;
    for (size_t i = 0; i < n; i++) {
        Bytes url;
        bool is_new = numbers[i] == NEW;
        if (!check(is_new || (numbers[i] >= 0 && (size_t)numbers[i] < table->urls.n), "A URL is not in the table.") ||
            !check(!is_new || n_used < length_of(ends), "There are more new URLs than texts.") ||
            (is_new && (!part_of(text, ends, n_used++, &url) || (numbers[i] = add_url(table, url)) == NOT_FOUND)))
            return false;
    }
    return true;
}

static PyObject *add_texts(PyObject *self, Arguments *given)
{
    const Py_buffer *numbers = &given->arrays[0];
    int32_t *found;
    PyObject *added = new_array(length_of(numbers), sizeof *found, &found);
    if (added != NULL) {
        memcpy(found, numbers->buf, (size_t)numbers->len);
        if (!add_found((UrlTable *)self, found, length_of(numbers), &given->arrays[1], &given->arrays[2]))
            Py_CLEAR(added);
    }
    return added;
}

static bool load_lines(UrlTable *table, PyObject *text)
{
    char *bytes;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(text, &bytes, &length) < 0)
        return false;
    Bytes rest = {(const uint8_t *)bytes, (size_t)length}, line;
    bool is_loaded = true;
    while (is_loaded && next_line(&rest, &line)) {
        int32_t next = (int32_t)table->urls.n, number = add_url(table, line);
        is_loaded = number != NOT_FOUND && check(number == next, "A URL is there twice.");
    }
    return is_loaded;
}

static PyObject *load(PyObject *self, Arguments *given)
{
    UrlTable *table = (UrlTable *)self;
    PyObject *iterator = NULL, *text;
    bool is_loaded = check(table->urls.n == 0, "Only an empty table can be loaded.") &&
                     (iterator = PyObject_GetIter(given->objects[0])) != NULL;
    while (is_loaded && (text = PyIter_Next(iterator)) != NULL) {
        is_loaded = load_lines(table, text);
        Py_DECREF(text);
    }
    Py_XDECREF(iterator);
    return none_if(is_loaded && PyErr_Occurred() == NULL);
}

static PyObject *find(PyObject *self, Arguments *given)
{
    Bytes text;
    PyObject *owner;
    if (!utf_8_of(given->objects[0], &text, &owner))
        return NULL;
    int32_t number = find_url((UrlTable *)self, key_of_url((UrlTable *)self, text));
    Py_XDECREF(owner);
    return number == NOT_FOUND ? Py_NewRef(Py_None) : PyLong_FromLong(number);
}

/* The URL of a number below the length of the table. */
static PyObject *url_string(const UrlTable *table, size_t number, Text *buffer)
{
    Bytes origin = name_text(&table->origins, table->urls.names[number].group), rest = name_text(&table->urls, number);
    buffer->length = 0;
    text_add(buffer, origin.text, origin.length);
    text_add(buffer, rest.text, rest.length);
    return buffer->failed ? PyErr_NoMemory() : string_of((Bytes){buffer->bytes, buffer->length});
}

static PyObject *url(PyObject *self, Arguments *given)
{
    Text buffer = {0};
    const UrlTable *table = (UrlTable *)self;
    Py_ssize_t number = given->integers[0];
    PyObject *text = is_index(number, table->urls.n) ? url_string(table, (size_t)number, &buffer) : NULL;
    free(buffer.bytes);
    return text;
}

static PyObject *urls(PyObject *self, Arguments *given)
{
    Py_ssize_t first = given->integers[0], last = given->integers[1], n = length(self);
    if (first < 0 || first > last || last > n)
        return PyErr_Format(PyExc_IndexError, "No URLs %zd to %zd in a table of %zd.", first, last, n);
    Text buffer = {0};
    PyObject *texts = PyList_New(last - first);
    for (Py_ssize_t number = first; texts != NULL && number < last; number++) {
        PyObject *text = url_string((UrlTable *)self, (size_t)number, &buffer);
        if (text == NULL || PyList_SetItem(texts, number - first, text) < 0)
            Py_CLEAR(texts);
    }
    free(buffer.bytes);
    return texts;
}

static PyObject *host_numbers(PyObject *self, Arguments *given)
{
    const UrlTable *table = (UrlTable *)self;
    const Py_buffer *numbers = &given->arrays[0];
    int32_t *hosts;
    if (!are_below(numbers, table->urls.n))
        return PyErr_Format(PyExc_IndexError, "There are numbers beyond a table of %zu.", table->urls.n);
    PyObject *result = new_array(length_of(numbers), sizeof *hosts, &hosts);
    for (size_t i = 0; result != NULL && i < length_of(numbers); i++)
        hosts[i] = (int32_t)table->origins.names[table->urls.names[((const int32_t *)numbers->buf)[i]].group].group;
    return result;
}

static PyObject *host(PyObject *self, Arguments *given)
{
    const Names *hosts = &((UrlTable *)self)->hosts;
    Py_ssize_t number = given->integers[0];
    return is_index(number, hosts->n) ? string_of(name_text(hosts, (size_t)number)) : NULL;
}

static PyObject *n_bytes(PyObject *self, Arguments *Py_UNUSED(given))
{
    const UrlTable *table = (UrlTable *)self;
    return PyLong_FromSize_t(names_bytes(&table->urls) + names_bytes(&table->origins) + names_bytes(&table->hosts));
}

/* References of a page */

/* Append the URL of each reference; numbers are NEW or say why there is no URL, which is empty then. */
static bool resolve_each(const Base *base, const Py_buffer *text, const Py_buffer *references, Text *urls,
                         int32_t *numbers, uint32_t *ends)
{
    Text scratch = {0};
    bool is_done = true;
    for (size_t i = 0; is_done && i < length_of(references); i++) {
        Bytes reference;
        if (!(is_done = part_of(text, references, i, &reference)))
            break;
        Resolution result = resolve_reference(base, reference, urls, &scratch);
        if (result == NO_MEMORY || urls->length > UINT32_MAX) {
            PyErr_NoMemory();
            is_done = false;
        }
        numbers[i] = result;
        ends[i] = (uint32_t)urls->length;
    }
    free(scratch.bytes);
    return is_done;
}

/* Replace NEW by the numbers of known URLs, and keep only the others; returns how many. */
static size_t find_known(UrlTable *table, Text *text, int32_t *numbers, uint32_t *ends, size_t n_all)
{
    UrlKey keys[BATCH];
    Bytes urls[BATCH];
    size_t n_new = 0, start = 0;
    text->length = 0;
    for (size_t first = 0; first < n_all; first += BATCH) {
        size_t n = n_all - first < BATCH ? n_all - first : BATCH;
        for (size_t i = 0; i < n; i++) {
            urls[i] = (Bytes){text->bytes + start, ends[first + i] - start};
            start = ends[first + i];
            if (numbers[first + i] == NEW)
                keys[i] = key_of_url(table, urls[i]);
        }
        for (size_t i = 0; i < n; i++) {
            if (numbers[first + i] != NEW || (numbers[first + i] = find_url(table, keys[i])) != NOT_FOUND)
                continue;
            /* Before or where it was, and so before all that are still to be read. */
            memmove(text->bytes + text->length, urls[i].text, urls[i].length);
            text->length += urls[i].length;
            ends[n_new++] = (uint32_t)text->length;
        }
    }
    return n_new;
}

static PyObject *resolve_texts(PyObject *self, Arguments *given)
{
    const Py_buffer *page = &given->arrays[0], *text = &given->arrays[1], *references = &given->arrays[2];
    size_t n = length_of(references);
    Base base;
    int32_t *numbers;
    uint32_t *ends = room_for(given, n, sizeof *ends);
    bool is_base = read_base(&base, (Bytes){page->buf, (size_t)page->len});
    if (ends == NULL || !check(is_base, "The base URL is not canonical."))
        return NULL;
    Text urls = {0};
    PyObject *result = NULL, *of_references = new_array(n, sizeof *numbers, &numbers);
    if (of_references != NULL && resolve_each(&base, text, references, &urls, numbers, ends)) {
        size_t n_new = find_known((UrlTable *)self, &urls, numbers, ends, n);
        const char *of_new = urls.length ? (const char *)urls.bytes : "";
        result = Py_BuildValue("ONN", of_references, PyBytes_FromStringAndSize(of_new, (Py_ssize_t)urls.length),
                               array_of(ends, n_new, sizeof *ends));
    }
    Py_XDECREF(of_references);
    free(urls.bytes);
    return result;
}

#define METHODS(METHOD)                                                                                                \
    METHOD(add_strings, "o")                                                                                           \
    METHOD(add_texts, "iyi")                                                                                           \
    METHOD(load, "o")                                                                                                  \
    METHOD(find, "o")                                                                                                  \
    METHOD(url, "n")                                                                                                   \
    METHOD(urls, "nn")                                                                                                 \
    METHOD(host_numbers, "i")                                                                                          \
    METHOD(host, "n")                                                                                                  \
    METHOD(n_bytes, "")                                                                                                \
    METHOD(resolve_texts, "yyi")
DEFINE_TYPE(UrlTable, UrlTable, url_table_spec, "k", start, {Py_sq_length, length}, )
