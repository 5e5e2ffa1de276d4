/* The operations of tree construction: inserting, the stack of open elements, active formatting elements. */

#include "html_tree.h"

#include <stdlib.h>

#define FIRST_NODES 4096

/* Nodes */

/* A new node; if there is no memory, the last one again, because the tree will not be used. */
static uint32_t new_node(Tree *tree)
{
    if (tree->n_nodes == tree->n_room) {
        uint32_t room = tree->n_room + tree->n_room / 2 + 1024;
        Node *nodes = realloc(tree->nodes, room * sizeof *nodes);
        if (!nodes) {
            tree->failed = true;
            return tree->n_nodes - 1;
        }
        tree->nodes = nodes;
        tree->n_room = room;
    }
    memset(&tree->nodes[tree->n_nodes], 0, sizeof(Node));
    return tree->n_nodes++;
}

bool reserve_node(Tree *tree)
{
    if (!tree->n_room) {
        tree->nodes = malloc(FIRST_NODES * sizeof *tree->nodes);
        tree->n_room = tree->nodes ? FIRST_NODES : 0;
    }
    tree->failed = !tree->n_room;
    return !tree->failed && new_node(tree) == 0;
}

void detach(Tree *tree, uint32_t node)
{
    Node *one = node_at(tree, node);
    if (!one->parent)
        return;
    Node *parent = node_at(tree, one->parent);
    if (one->previous)
        node_at(tree, one->previous)->next = one->next;
    else
        parent->first = one->next;
    if (one->next)
        node_at(tree, one->next)->previous = one->previous;
    else
        parent->last = one->previous;
    one->parent = one->previous = one->next = 0;
}

/* Put a detached node into a parent, before one of its children or, if that is 0, behind the last. */
static void place(Tree *tree, uint32_t node, uint32_t parent, uint32_t before)
{
    Node *one = node_at(tree, node), *above = node_at(tree, parent);
    one->parent = parent;
    one->next = before;
    one->previous = before ? node_at(tree, before)->previous : above->last;
    if (one->previous)
        node_at(tree, one->previous)->next = node;
    else
        above->first = node;
    if (before)
        node_at(tree, before)->previous = node;
    else
        above->last = node;
}

/* Put a node into the appropriate place (13.2.6.1): in `target` or, if text there belongs before a table, there. */
static void insert_at(Tree *tree, uint32_t node, uint32_t target)
{
    if (!tree->is_fostering || !has_property(tree, target, TABLE_PART)) {
        place(tree, node, target, 0);
        return;
    }
    for (int depth = tree->depth - 1; depth > 0; depth--) {
        uint32_t open = tree->stack[depth];
        if (is_html(tree, open, TAG_template)) {
            place(tree, node, open, 0);
            return;
        }
        if (is_html(tree, open, TAG_table)) {
            if (node_at(tree, open)->parent)
                place(tree, node, node_at(tree, open)->parent, open);
            else
                place(tree, node, tree->stack[depth - 1], 0);
            return;
        }
    }
    place(tree, node, tree->stack[0], 0);
}

static void count_open(Tree *tree, uint32_t node, int change)
{
    *open_count(tree, node_at(tree, node)->tag, node_at(tree, node)->name) += change;
}

static void push(Tree *tree, uint32_t node)
{
    while (tree->depth >= MAX_DEPTH)
        pop(tree);
    tree->stack[tree->depth++] = node;
    count_open(tree, node, 1);
}

uint32_t insert_element(Tree *tree, const Token *token, Space space)
{
    uint32_t node = new_node(tree);
    Node *one = node_at(tree, node);
    one->tag = (uint16_t)token->tag;
    one->space = (uint8_t)space;
    one->name = token->name;
    one->start = token->start;
    one->end = token->end;
    if (tree->depth)
        insert_at(tree, node, current(tree));
    push(tree, node);
    return node;
}

uint32_t insert_tag(Tree *tree, Tag tag)
{
    Token token = {.kind = TOKEN_START_TAG, .tag = tag};
    return insert_element(tree, &token, SPACE_HTML);
}

void insert_void(Tree *tree, const Token *token)
{
    insert_element(tree, token, SPACE_HTML);
    pop(tree);
}

void insert_text(Tree *tree, const Token *token)
{
    uint32_t node = new_node(tree);
    Node *one = node_at(tree, node);
    one->space = node_at(tree, current(tree))->space;
    one->is_raw = token->is_raw;
    one->start = token->start;
    one->end = token->end;
    insert_at(tree, node, current(tree));
}

/* The stack of open elements */

/* Whether an element has a property in HTML, or is special in SVG or MathML; names of one are not special in the other. */
static bool is_marked(Tree *tree, uint32_t node, uint32_t property)
{
    const Node *one = node_at(tree, node);
    uint32_t properties = properties_of[one->tag];
    if (one->space == SPACE_HTML)
        return properties & property;
    bool is_of_math = properties & MATH_TEXT || one->tag == TAG_annotation_xml;
    return properties & FOREIGN_SPECIAL && is_of_math == (one->space == SPACE_MATH);
}

bool is_special(Tree *tree, uint32_t node)
{
    return is_marked(tree, node, SPECIAL);
}

bool is_scope(Tree *tree, uint32_t node)
{
    return is_marked(tree, node, SCOPE);
}

void pop(Tree *tree)
{
    count_open(tree, tree->stack[--tree->depth], -1);
}

void pop_to(Tree *tree, int depth)
{
    while (tree->depth > depth)
        pop(tree);
}

void pop_through(Tree *tree, Tag tag)
{
    while (tree->depth > 1) {
        bool is_last = is_current(tree, tag);
        pop(tree);
        if (is_last)
            return;
    }
}

/* The last position of a node in the stack or the formatting elements, or -1. */
static int position_of(const uint32_t *nodes, int count, uint32_t node)
{
    while (count > 0 && nodes[count - 1] != node)
        count--;
    return count - 1;
}

static void take_out(uint32_t *nodes, int *count, int position)
{
    --*count;
    memmove(nodes + position, nodes + position + 1, (size_t)(*count - position) * sizeof *nodes);
}

static void put_in(uint32_t *nodes, int *count, int position, uint32_t node)
{
    memmove(nodes + position + 1, nodes + position, (size_t)(*count - position) * sizeof *nodes);
    nodes[position] = node;
    ++*count;
}

int depth_of(const Tree *tree, uint32_t node)
{
    return position_of(tree->stack, tree->depth, node);
}

static void remove_at(Tree *tree, int depth)
{
    count_open(tree, tree->stack[depth], -1);
    take_out(tree->stack, &tree->depth, depth);
}

void remove_from_stack(Tree *tree, uint32_t node)
{
    int depth = depth_of(tree, node);
    if (depth >= 0)
        remove_at(tree, depth);
}

static void insert_into_stack(Tree *tree, int depth, uint32_t node)
{
    if (tree->depth == MAX_DEPTH)
        pop(tree);
    put_in(tree->stack, &tree->depth, depth < tree->depth ? depth : tree->depth, node);
    count_open(tree, node, 1);
}

static bool ends_scope(Tree *tree, uint32_t node, Scope scope)
{
    if (scope == TABLE_SCOPE)
        return is_html(tree, node, TAG_html) || is_html(tree, node, TAG_table) || is_html(tree, node, TAG_template);
    if (scope == LIST_SCOPE && (is_html(tree, node, TAG_ol) || is_html(tree, node, TAG_ul)))
        return true;
    return is_scope(tree, node) || (scope == BUTTON_SCOPE && is_html(tree, node, TAG_button));
}

bool is_in_scope(Tree *tree, Tag tag, Scope scope)
{
    if (!tree->n_open[tag])
        return false;
    for (int depth = tree->depth - 1; depth >= 0; depth--) {
        if (is_html(tree, tree->stack[depth], tag))
            return true;
        if (ends_scope(tree, tree->stack[depth], scope))
            return false;
    }
    return false;
}

void generate_implied_end_tags(Tree *tree, Tag except)
{
    while (tree->depth > 1 && has_property(tree, current(tree), IMPLIED_END) && !is_current(tree, except))
        pop(tree);
}

void close_p(Tree *tree)
{
    if (is_in_scope(tree, TAG_p, BUTTON_SCOPE)) {
        generate_implied_end_tags(tree, TAG_p);
        pop_through(tree, TAG_p);
    }
}

void reset_mode(Tree *tree)
{
    for (int depth = tree->depth - 1; depth > 0; depth--) {
        const Node *node = node_at(tree, tree->stack[depth]);
        if (node->space != SPACE_HTML)
            continue;
        switch (node->tag) {
        case TAG_td:
        case TAG_th: tree->mode = IN_CELL; return;
        case TAG_tr: tree->mode = IN_ROW; return;
        case TAG_tbody:
        case TAG_thead:
        case TAG_tfoot: tree->mode = IN_TABLE_BODY; return;
        case TAG_caption: tree->mode = IN_CAPTION; return;
        case TAG_colgroup: tree->mode = IN_COLUMN_GROUP; return;
        case TAG_table: tree->mode = IN_TABLE; return;
        case TAG_template: tree->mode = tree->n_modes ? tree->modes[tree->n_modes - 1] : IN_BODY; return;
        case TAG_head: tree->mode = IN_HEAD; return;
        case TAG_body: tree->mode = IN_BODY; return;
        case TAG_frameset: tree->mode = IN_FRAMESET; return;
        default: break;
        }
    }
    tree->mode = tree->head ? AFTER_HEAD : BEFORE_HEAD;
}

/* Active formatting elements */

static int formatting_position(const Tree *tree, uint32_t node)
{
    return position_of(tree->formatting, tree->n_formatting, node);
}

void remove_formatting(Tree *tree, uint32_t node)
{
    int position = formatting_position(tree, node);
    if (position >= 0)
        take_out(tree->formatting, &tree->n_formatting, position);
}

static void insert_formatting_at(Tree *tree, int position, uint32_t node)
{
    if (tree->n_formatting == MAX_FORMATTING) {
        take_out(tree->formatting, &tree->n_formatting, 0);
        position = position > 0 ? position - 1 : 0;
    }
    put_in(tree->formatting, &tree->n_formatting, position, node);
}

void push_marker(Tree *tree)
{
    insert_formatting_at(tree, tree->n_formatting, 0);
}

static bool has_same_attributes(Tree *tree, const Node *one, const Node *other)
{
    uint32_t length = one->end - one->start;
    return length == other->end - other->start &&
           memcmp(tree->tokenizer.data + one->start, tree->tokenizer.data + other->start, length) == 0;
}

void push_formatting(Tree *tree, uint32_t node)
{
    /* At most three equal elements (the "Noah's Ark clause"). */
    int n_equal = 0, oldest = -1;
    const Node *one = node_at(tree, node);
    for (int position = tree->n_formatting - 1; position >= 0 && tree->formatting[position]; position--) {
        const Node *other = node_at(tree, tree->formatting[position]);
        if (other->tag == one->tag && has_same_attributes(tree, one, other)) {
            n_equal++;
            oldest = position;
        }
    }
    if (n_equal >= 3)
        take_out(tree->formatting, &tree->n_formatting, oldest);
    insert_formatting_at(tree, tree->n_formatting, node);
}

void clear_to_marker(Tree *tree)
{
    while (tree->n_formatting && tree->formatting[--tree->n_formatting])
        ;
}

uint32_t last_formatting(Tree *tree, Tag tag)
{
    for (int position = tree->n_formatting - 1; position >= 0 && tree->formatting[position]; position--)
        if (node_at(tree, tree->formatting[position])->tag == tag)
            return tree->formatting[position];
    return 0;
}

static uint32_t copied(Tree *tree, uint32_t node)
{
    uint32_t copy = new_node(tree);
    const Node *one = node_at(tree, node);
    Node *other = node_at(tree, copy);
    other->tag = one->tag;
    other->name = one->name;
    other->start = one->start;
    other->end = one->end;
    return copy;
}

void reconstruct_formatting(Tree *tree)
{
    int position = tree->n_formatting - 1;
    if (position < 0 || !tree->formatting[position] || depth_of(tree, tree->formatting[position]) >= 0)
        return;
    while (position > 0 && tree->formatting[position - 1] && depth_of(tree, tree->formatting[position - 1]) < 0)
        position--;
    for (; position < tree->n_formatting && tree->budget; position++, tree->budget--) {
        uint32_t copy = copied(tree, tree->formatting[position]);
        insert_at(tree, copy, current(tree));
        push(tree, copy);
        tree->formatting[position] = copy;
    }
}

static void move_children(Tree *tree, uint32_t from, uint32_t to)
{
    uint32_t child;
    while ((child = node_at(tree, from)->first)) {
        detach(tree, child);
        place(tree, child, to, 0);
        if (tree->budget)
            tree->budget--;
    }
}

/* One turn of the adoption agency algorithm (13.2.6.4.7) for the end tag of a formatting element that is open, with
   the special element `furthest`, which is open in it. */
static void adopt_from(Tree *tree, uint32_t element, int element_depth, int furthest_depth)
{
    uint32_t furthest = tree->stack[furthest_depth], common = tree->stack[element_depth - 1];
    int bookmark = formatting_position(tree, element);
    uint32_t last = furthest;
    int n_inner = 0;
    for (int depth = furthest_depth - 1; depth > element_depth; depth--) {
        uint32_t node = tree->stack[depth];
        int position = formatting_position(tree, node);
        if (++n_inner > 3 && position >= 0) {
            take_out(tree->formatting, &tree->n_formatting, position);
            if (position < bookmark)
                bookmark--;
            position = -1;
        }
        if (position < 0) {
            remove_at(tree, depth);
            continue;
        }
        uint32_t copy = copied(tree, node);
        tree->formatting[position] = tree->stack[depth] = copy;
        if (last == furthest)
            bookmark = position + 1;
        detach(tree, last);
        place(tree, last, copy, 0);
        last = copy;
    }
    detach(tree, last);
    insert_at(tree, last, common);
    uint32_t copy = copied(tree, element);
    move_children(tree, furthest, copy);
    place(tree, copy, furthest, 0);
    int position = formatting_position(tree, element);
    if (position >= 0) {
        take_out(tree->formatting, &tree->n_formatting, position);
        if (position < bookmark)
            bookmark--;
    }
    insert_formatting_at(tree, bookmark < 0 ? 0 : bookmark, copy);
    remove_from_stack(tree, element);
    insert_into_stack(tree, depth_of(tree, furthest) + 1, copy);
}

bool adopt(Tree *tree, Tag tag)
{
    if (is_current(tree, tag) && formatting_position(tree, current(tree)) < 0) {
        pop(tree);
        return true;
    }
    for (int n_outer = 0; n_outer < 8; n_outer++) {
        uint32_t element = last_formatting(tree, tag);
        if (!element)
            return false;
        int depth = depth_of(tree, element);
        if (depth < 0) {
            remove_formatting(tree, element);
            return true;
        }
        for (int above = tree->depth - 1; above > depth; above--)
            if (is_scope(tree, tree->stack[above]))
                return true;
        int furthest = depth + 1;
        while (furthest < tree->depth && !is_special(tree, tree->stack[furthest]))
            furthest++;
        if (furthest == tree->depth || !tree->budget) {
            pop_to(tree, depth);
            remove_formatting(tree, element);
            return true;
        }
        tree->budget--;
        adopt_from(tree, element, depth, furthest);
    }
    return true;
}
