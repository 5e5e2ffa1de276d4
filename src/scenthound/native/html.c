/* The HTML reader: text, links and head of a page in UTF-8. `scenthound.web.html` describes the result.

   The tree of the page is built as the HTML standard says, with nodes that are ranges of the source, and then walked
   once. The text has the visible words, the title first. Blocks, cells and line breaks separate words, inline elements
   do not; images contribute their alt texts. */

#include "html_tree.h"

#include <stdlib.h>

/* Between the title, blocks, cells and lines; `scenthound.web.html` has it too. */
#define BLOCK_END 0x1E
#define HIGH_BITS UINT64_C(0x8080808080808080)
/* Memory that is kept from page to page, up to these sizes. */
#define MAX_KEPT_NODES (1u << 16)
#define MAX_KEPT_TEXT (1u << 20)

#define N_TEXTS 8

typedef struct {
    Tree tree;
    union {
        struct {
            Text text, references, value, nofollow;
            Text reference_ends, edges, opens, closes; /* of 32-bit numbers */
        };
        Text texts[N_TEXTS];
    };
    uint32_t n_links, max_links, title_end;
    PyObject *base, *metas, *refreshes;
} Page;

static void add_number(Text *numbers, size_t number)
{
    uint32_t value = (uint32_t)number;
    text_add(numbers, &value, sizeof value);
}

static void separate(Page *page)
{
    static const uint8_t end = BLOCK_END;
    if (page->text.length && page->text.bytes[page->text.length - 1] != end)
        text_add(&page->text, &end, 1);
}

static Attribute attribute(Page *page, const Node *node, const char *name)
{
    return find_attribute(page->tree.tokenizer.data, node->start, node->end, name);
}

static void add_value(Page *page, Text *text, Attribute value)
{
    text_add_decoded(text, page->tree.tokenizer.data, value.start, value.end, IN_ATTRIBUTE, false);
}

/* The value of an attribute as a string, "" if there is none. */
static PyObject *value_string(Page *page, Attribute value)
{
    page->value.length = 0;
    if (value.found)
        add_value(page, &page->value, value);
    return PyUnicode_DecodeUTF8((const char *)page->value.bytes, (Py_ssize_t)page->value.length, "replace");
}

/* Links */

static bool has_nofollow(Page *page, Attribute relation)
{
    page->value.length = 0;
    add_value(page, &page->value, relation);
    const uint8_t *bytes = page->value.bytes;
    for (size_t start = 0, end; start < page->value.length; start = end + 1) {
        for (end = start; end < page->value.length && !is_html_space(bytes[end]); end++)
            ;
        if (is_word((Bytes){bytes + start, end - start}, "nofollow"))
            return true;
    }
    return false;
}

static void add_edge(Page *page, Text *which)
{
    add_number(which, page->edges.length / sizeof(uint32_t));
    add_number(&page->edges, page->text.length);
}

/* Note a link, if an element is one; its number is kept in the node. */
static void open_link(Page *page, Node *node)
{
    const char *name = node->tag == TAG_a || node->tag == TAG_area ? "href" : "src";
    Attribute reference = attribute(page, node, name);
    if (!reference.found || page->n_links == page->max_links)
        return;
    node->is_raw = true;
    node->name = page->n_links++;
    add_value(page, &page->references, reference);
    add_number(&page->reference_ends, page->references.length);
    Attribute relation = attribute(page, node, "rel");
    uint8_t is_nofollow = relation.found && has_nofollow(page, relation);
    text_add(&page->nofollow, &is_nofollow, 1);
    add_edge(page, &page->opens);
    /* Links may be nested, so a link may end after later ones. */
    add_number(&page->closes, 0);
    if (node->tag == TAG_area)
        add_value(page, &page->text, attribute(page, node, "alt"));
}

static void close_link(Page *page, const Node *node)
{
    uint32_t edge = (uint32_t)(page->edges.length / sizeof(uint32_t));
    if (page->closes.failed)
        return;
    memcpy(page->closes.bytes + node->name * sizeof edge, &edge, sizeof edge);
    add_number(&page->edges, page->text.length);
}

/* The head */

/* Whether a node is in an element with one of some properties, or with a tag. */
static bool is_inside(Page *page, const Node *node, uint32_t properties, Tag tag)
{
    for (uint32_t parent = node->parent; parent; parent = node_at(&page->tree, parent)->parent) {
        Tag of_parent = node_at(&page->tree, parent)->tag;
        if (properties_of[of_parent] & properties || of_parent == tag)
            return true;
    }
    return false;
}

/* What Python's `str.split` splits at. */
static bool is_unicode_space(uint32_t code)
{
    return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || code == 0x85 || code == 0xA0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
           code == 0x202F || code == 0x205F || code == 0x3000;
}

static bool is_only_space(const Text *text)
{
    size_t size;
    for (size_t at = 0; at < text->length; at += size)
        if (!is_unicode_space(decode_character(text->bytes + at, text->length - at, &size)))
            return false;
    return true;
}

/* Write the first title that is not empty. */
static void write_title(Page *page)
{
    Tree *tree = &page->tree;
    for (uint32_t index = 1; index < tree->n_nodes; index++) {
        const Node *node = node_at(tree, index);
        if (node->tag != TAG_title || node->space != SPACE_HTML || !node->first ||
            is_inside(page, node, HIDDEN | ALWAYS_HIDDEN, TAG_none))
            continue;
        const Node *text = node_at(tree, node->first);
        text_add_decoded(&page->text, tree->tokenizer.data, text->start, text->end, IN_TEXT, false);
        if (!is_only_space(&page->text)) {
            page->title_end = (uint32_t)page->text.length;
            separate(page);
            return;
        }
        page->text.length = 0;
    }
}

static bool append_string(PyObject *list, PyObject *string)
{
    bool is_added = string && PyList_Append(list, string) == 0;
    Py_XDECREF(string);
    return is_added;
}

static bool read_meta(Page *page, const Node *node)
{
    Attribute name = attribute(page, node, "name"), equivalent = attribute(page, node, "http-equiv");
    Attribute content = attribute(page, node, "content");
    if (name.found && name.start < name.end &&
        !append_string(page->metas, Py_BuildValue("NN", value_string(page, name), value_string(page, content))))
        return false;
    page->value.length = 0;
    if (equivalent.found)
        add_value(page, &page->value, equivalent);
    if (is_word((Bytes){page->value.bytes, page->value.length}, "refresh") && !is_inside(page, node, 0, TAG_noscript))
        return append_string(page->refreshes, value_string(page, content));
    return true;
}

static bool read_base(Page *page, const Node *node)
{
    Attribute reference = attribute(page, node, "href");
    if (reference.found && !page->base)
        page->base = value_string(page, reference);
    return !reference.found || page->base;
}

/* The walk */

/* Enter a node; `*descend` is whether to walk its children. False with an exception if an object cannot be made. */
static bool enter(Page *page, Node *node, bool *descend)
{
    *descend = true;
    if (node->tag == TAG_none) {
        Place place = node->is_raw ? IN_RAW_TEXT : IN_TEXT;
        bool is_in_textarea = is_html(&page->tree, node->parent, TAG_textarea);
        bool drop_null = node->space == SPACE_HTML && !node->is_raw && !is_in_textarea;
        text_add_decoded(&page->text, page->tree.tokenizer.data, node->start, node->end, place, drop_null);
        return true;
    }
    uint32_t properties = properties_of[node->tag];
    bool is_in_html = node->space == SPACE_HTML;
    node->is_raw = false;
    if (is_in_html && properties & BLOCK)
        separate(page);
    *descend = !(properties & (is_in_html ? HIDDEN | ALWAYS_HIDDEN : ALWAYS_HIDDEN));
    switch (node->tag) {
    case TAG_a:
    case TAG_area:
    case TAG_frame:
    case TAG_iframe:
        open_link(page, node);
        return true;
    case TAG_img: {
        Attribute alternative = attribute(page, node, "alt");
        if (alternative.found && alternative.start < alternative.end) {
            text_add(&page->text, " ", 1);
            add_value(page, &page->text, alternative);
            text_add(&page->text, " ", 1);
        }
        return true;
    }
    case TAG_title:
        *descend = !is_in_html;
        return true;
    case TAG_meta:
        return read_meta(page, node);
    case TAG_base:
        return read_base(page, node);
    default:
        return true;
    }
}

static void leave(Page *page, const Node *node)
{
    if (node->tag == TAG_none)
        return;
    if (node->is_raw)
        close_link(page, node);
    if ((node->space == SPACE_HTML && properties_of[node->tag] & BLOCK) ||
        (node->space == SPACE_MATH && properties_of[node->tag] & SEPARATES_AFTER))
        separate(page);
}

static bool walk(Page *page)
{
    Tree *tree = &page->tree;
    if (!tree->depth)
        return true;
    uint32_t root = tree->stack[0], node = root;
    for (;;) {
        bool descend;
        if (!enter(page, node_at(tree, node), &descend))
            return false;
        if (descend && node_at(tree, node)->first) {
            node = node_at(tree, node)->first;
            continue;
        }
        leave(page, node_at(tree, node));
        while (node != root && !node_at(tree, node)->next) {
            node = node_at(tree, node)->parent;
            leave(page, node_at(tree, node));
        }
        if (node == root)
            return true;
        node = node_at(tree, node)->next;
    }
}

/* The page */

/* The memory of the last page; NULL while it is used. */
static Page *kept;

static Page *take_page(void)
{
    Page *page = kept ? kept : calloc(1, sizeof *page);
    kept = NULL;
    if (!page)
        return NULL;
    for (size_t index = 0; index < N_TEXTS; index++)
        page->texts[index].length = 0;
    page->n_links = page->title_end = 0;
    page->base = NULL;
    page->metas = PyList_New(0);
    page->refreshes = PyList_New(0);
    return page;
}

static bool has_failed(const Page *page)
{
    bool is_any_failed = page->tree.failed;
    for (size_t index = 0; index < N_TEXTS; index++)
        is_any_failed |= page->texts[index].failed;
    return is_any_failed;
}

static void give_back(Page *page)
{
    Py_CLEAR(page->base);
    Py_CLEAR(page->metas);
    Py_CLEAR(page->refreshes);
    bool is_large = page->tree.n_room > MAX_KEPT_NODES || kept || has_failed(page);
    for (size_t index = 0; index < N_TEXTS; index++)
        is_large |= page->texts[index].room > MAX_KEPT_TEXT;
    if (!is_large) {
        kept = page;
        return;
    }
    for (size_t index = 0; index < N_TEXTS; index++)
        free(page->texts[index].bytes);
    free(page->tree.nodes);
    free(page);
}

static PyObject *bytes_of(const Text *text)
{
    return PyBytes_FromStringAndSize((const char *)text->bytes, (Py_ssize_t)text->length);
}

static PyObject *result(Page *page)
{
    return Py_BuildValue("NINNNNNNOOO", bytes_of(&page->text), page->title_end, bytes_of(&page->edges),
                         bytes_of(&page->opens), bytes_of(&page->closes), bytes_of(&page->references),
                         bytes_of(&page->reference_ends), bytes_of(&page->nofollow), page->base ? page->base : Py_None,
                         page->metas, page->refreshes);
}

/* Whether all bytes are characters. Parts of a character before and after a tag would become one in the text. */
static bool is_utf_8(const uint8_t *bytes, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        uint64_t block;
        while (length - at >= sizeof block && (memcpy(&block, bytes + at, sizeof block), !(block & HIGH_BITS)))
            at += sizeof block;
        size = 0;
        if (at < length && decode_character(bytes + at, length - at, &size) == INVALID)
            return false;
    }
    return true;
}

/* The result, or NULL with or without an exception: without one, there is no memory. */
static PyObject *page_read(Page *page, const Py_buffer *source)
{
    if (!page->metas || !page->refreshes)
        return NULL;
    build_tree(&page->tree, source->buf, (uint32_t)source->len);
    if (page->tree.failed)
        return NULL;
    write_title(page);
    return walk(page) && !has_failed(page) ? result(page) : NULL;
}

PyObject *read_html(PyObject *Py_UNUSED(module), Arguments *given)
{
    const Py_buffer *source = &given->arrays[0];
    if (!check(source->len <= INT32_MAX, "A page must have less than 2 GiB.") ||
        !check(given->integers[0] >= 0, "The number of links must not be negative."))
        return NULL;
    if (!is_utf_8(source->buf, (size_t)source->len))
        return Py_NewRef(Py_None);
    Page *page = take_page();
    if (!page)
        return PyErr_NoMemory();
    page->max_links = given->integers[0] < INT32_MAX ? (uint32_t)given->integers[0] : INT32_MAX;
    PyObject *read = page_read(page, source);
    give_back(page);
    return read || PyErr_Occurred() ? read : PyErr_NoMemory();
}

bool prepare_html(void)
{
    html_tags_prepare();
    return html_references_prepare();
}
