/* The tree of a page, and the operations of its construction (HTML, 13.2.4 and 13.2.6). */

#ifndef SCENTHOUND_HTML_TREE_H
#define SCENTHOUND_HTML_TREE_H

#include "html_tokens.h"

typedef enum { SPACE_HTML, SPACE_SVG, SPACE_MATH } Space;

/* A text or an element. Nodes refer to each other by their indices; 0 is none. */
typedef struct {
    uint16_t tag;        /* TAG_none for a text */
    uint8_t space;       /* of the element */
    bool is_raw;         /* of a text: `&` stands for itself */
    bool is_integration; /* an HTML integration point of SVG or MathML */
    uint32_t name;
    uint32_t start, end; /* of the text, or of the attributes */
    uint32_t parent, first, last, previous, next;
} Node;

typedef enum {
    INITIAL,
    BEFORE_HTML,
    BEFORE_HEAD,
    IN_HEAD,
    IN_HEAD_NOSCRIPT,
    AFTER_HEAD,
    IN_BODY,
    IN_TABLE,
    IN_CAPTION,
    IN_COLUMN_GROUP,
    IN_TABLE_BODY,
    IN_ROW,
    IN_CELL,
    IN_TEMPLATE,
    AFTER_BODY,
    IN_FRAMESET,
    AFTER_FRAMESET,
    AFTER_AFTER_BODY,
    AFTER_AFTER_FRAMESET,
} Mode;

/* Deeper elements are put beside the deepest one, as in browsers. */
#define MAX_DEPTH 512
/* More formatting elements that are not closed lose the oldest. */
#define MAX_FORMATTING 256
/* Counters of open elements with other tags: so that an end tag of none of them costs no search. */
#define N_OTHER 256
/* Copies and moves that every page may cause, besides one for each eight bytes. */
#define MIN_BUDGET 10000

typedef struct {
    Tokenizer tokenizer;
    Node *nodes;
    uint32_t n_nodes, n_room;
    bool failed; /* no memory */
    uint32_t stack[MAX_DEPTH];
    int depth;
    int n_open[N_TAGS + N_OTHER]; /* elements on the stack by tag; other tags by a part of the hash of their names */
    uint32_t formatting[MAX_FORMATTING]; /* active formatting elements; 0 is a marker */
    int n_formatting;
    Mode modes[MAX_DEPTH]; /* of open templates */
    int n_modes;
    Mode mode;
    uint32_t head, form;
    bool is_framesets_ok, is_fostering, is_quirky;
    /* Copies and moves of elements that the page may still cause: without a limit, elements that are never closed cost
       quadratic time. */
    uint32_t budget;
} Tree;

static inline Node *node_at(Tree *tree, uint32_t node)
{
    return &tree->nodes[node];
}

static inline uint32_t current(const Tree *tree)
{
    return tree->stack[tree->depth - 1];
}

static inline bool is_html(Tree *tree, uint32_t node, Tag tag)
{
    return node_at(tree, node)->tag == tag && node_at(tree, node)->space == SPACE_HTML;
}

static inline bool is_current(Tree *tree, Tag tag)
{
    return tree->depth && is_html(tree, current(tree), tag);
}

static inline bool has_property(Tree *tree, uint32_t node, uint32_t property)
{
    return node_at(tree, node)->space == SPACE_HTML && properties_of[node_at(tree, node)->tag] & property;
}

static inline bool is_cell(Tag tag)
{
    return tag == TAG_td || tag == TAG_th;
}

static inline bool is_start(const Token *token, Tag tag)
{
    return token->kind == TOKEN_START_TAG && token->tag == tag;
}

static inline bool is_end(const Token *token, Tag tag)
{
    return token->kind == TOKEN_END_TAG && token->tag == tag;
}

/* Whether a tag has an attribute with a value, both in lower case here. */
static inline bool has_value(const Tree *tree, const Token *token, const char *name, const char *value)
{
    const uint8_t *data = tree->tokenizer.data;
    return is_value(data, find_attribute(data, token->start, token->end, name), value);
}

/* The counter of open elements with a tag. */
static inline int *open_count(Tree *tree, Tag tag, uint32_t name)
{
    return &tree->n_open[tag == TAG_other ? N_TAGS + name % N_OTHER : tag];
}

/* Whether an element is "special", or ends a search for an element in scope. */
bool is_special(Tree *tree, uint32_t node);
bool is_scope(Tree *tree, uint32_t node);

/* Reserve node 0, which is none; false if there is no memory. */
bool reserve_node(Tree *tree);

/* Inserting */
uint32_t insert_element(Tree *tree, const Token *token, Space space);
uint32_t insert_tag(Tree *tree, Tag tag);
void insert_text(Tree *tree, const Token *token);
void insert_void(Tree *tree, const Token *token);

/* The stack of open elements */
void pop(Tree *tree);
void pop_to(Tree *tree, int depth);
void pop_through(Tree *tree, Tag tag);
void remove_from_stack(Tree *tree, uint32_t node);
int depth_of(const Tree *tree, uint32_t node);
typedef enum { DEFAULT_SCOPE, LIST_SCOPE, BUTTON_SCOPE, TABLE_SCOPE } Scope;
bool is_in_scope(Tree *tree, Tag tag, Scope scope);
void generate_implied_end_tags(Tree *tree, Tag except);
void close_p(Tree *tree);

/* Active formatting elements */
void push_formatting(Tree *tree, uint32_t node);
void push_marker(Tree *tree);
void clear_to_marker(Tree *tree);
void reconstruct_formatting(Tree *tree);
uint32_t last_formatting(Tree *tree, Tag tag);
void remove_formatting(Tree *tree, uint32_t node);
/* The adoption agency algorithm; false if the end tag is to be treated as that of any other element. */
bool adopt(Tree *tree, Tag tag);

/* Tree surgery */
void detach(Tree *tree, uint32_t node);

void reset_mode(Tree *tree);

/* Insertion modes: true if the token is done, false if it is to be processed again, perhaps in another mode. */
bool in_head(Tree *tree, Token *token);
bool in_body(Tree *tree, Token *token);
bool in_table_part(Tree *tree, Token *token);

/* Insert an element with raw text, and the text. */
void insert_raw_text(Tree *tree, const Token *token);
bool is_blank(Tree *tree, const Token *token);
/* Skip the white space at the start of a text; true if nothing is left. */
bool skip_space(Tree *tree, Token *token);

/* Build the tree of a page in UTF-8, of less than 2^31 bytes; `tree->failed` if there is no memory. */
void build_tree(Tree *tree, const uint8_t *data, uint32_t length);

#endif
