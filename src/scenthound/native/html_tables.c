/* The insertion modes of tables (HTML, 13.2.6.4.9 to 15). */

#include "html_tree.h"

static bool is_table_tag(Tag tag)
{
    return properties_of[tag] & TABLE_TAG;
}

static bool is_row_group(Tag tag)
{
    return tag == TAG_tbody || tag == TAG_tfoot || tag == TAG_thead;
}

/* End tags that are ignored in all parts of a table, unless a mode says otherwise before. */
static bool is_ignored_end(const Token *token)
{
    return token->kind == TOKEN_END_TAG &&
           (is_table_tag(token->tag) || token->tag == TAG_body || token->tag == TAG_html);
}

/* Close elements down to the nearest table, row group or row, whichever is wanted. */
typedef enum { TABLE_CONTEXT, GROUP_CONTEXT, ROW_CONTEXT } Context;

static void clear_to(Tree *tree, Context context)
{
    while (tree->depth > 1) {
        const Node *node = node_at(tree, current(tree));
        Tag tag = node->tag;
        if (node->space == SPACE_HTML &&
            (tag == TAG_template || (context == TABLE_CONTEXT && tag == TAG_table) ||
             (context == GROUP_CONTEXT && is_row_group(tag)) || (context == ROW_CONTEXT && tag == TAG_tr)))
            return;
        pop(tree);
    }
}

/* Process a token as in a body, with text and elements moved before the table. */
static bool fostered(Tree *tree, Token *token)
{
    tree->is_fostering = true;
    bool is_done = in_body(tree, token);
    tree->is_fostering = false;
    return is_done;
}

static bool table_text(Tree *tree, Token *token)
{
    bool is_in_table = has_property(tree, current(tree), TABLE_PART) || is_current(tree, TAG_template);
    /* White space between the parts of a table separates nothing that is not separate. */
    return (is_in_table && is_blank(tree, token)) || fostered(tree, token);
}

static bool close_table(Tree *tree)
{
    bool is_open = is_in_scope(tree, TAG_table, TABLE_SCOPE);
    if (is_open) {
        pop_through(tree, TAG_table);
        reset_mode(tree);
    }
    return is_open;
}

/* A column is in a group, and rows and cells are in a body. */
static bool open_part(Tree *tree, Token *token)
{
    Tag tag = token->tag, part = tag == TAG_col ? TAG_colgroup : tag == TAG_tr || is_cell(tag) ? TAG_tbody : tag;
    clear_to(tree, TABLE_CONTEXT);
    if (part == TAG_caption)
        push_marker(tree);
    if (part == tag)
        insert_element(tree, token, SPACE_HTML);
    else
        insert_tag(tree, part);
    tree->mode = part == TAG_caption ? IN_CAPTION : part == TAG_colgroup ? IN_COLUMN_GROUP : IN_TABLE_BODY;
    return part == tag;
}

static bool table_start(Tree *tree, Token *token)
{
    if (is_table_tag(token->tag))
        return open_part(tree, token);
    switch (token->tag) {
    case TAG_table:
        return !close_table(tree);
    case TAG_style:
    case TAG_script:
    case TAG_template:
        return in_head(tree, token);
    case TAG_input:
        if (!has_value(tree, token, "type", "hidden"))
            return fostered(tree, token);
        insert_void(tree, token);
        return true;
    case TAG_form:
        if (!tree->form && !tree->n_open[TAG_template]) {
            tree->form = insert_element(tree, token, SPACE_HTML);
            pop(tree);
        }
        return true;
    default:
        return fostered(tree, token);
    }
}

static bool in_table(Tree *tree, Token *token)
{
    if (token->kind == TOKEN_TEXT)
        return table_text(tree, token);
    if (token->kind == TOKEN_START_TAG)
        return table_start(tree, token);
    if (token->tag == TAG_table) {
        close_table(tree);
        return true;
    }
    if (is_ignored_end(token))
        return true;
    return token->tag == TAG_template ? in_head(tree, token) : fostered(tree, token);
}

/* Whether a tag ends the part of a table that is open: another part starts, or the table ends. */
static bool ends_part(const Token *token)
{
    return (token->kind == TOKEN_START_TAG && is_table_tag(token->tag)) || is_end(token, TAG_table);
}

static bool in_caption(Tree *tree, Token *token)
{
    if (!is_end(token, TAG_caption) && !ends_part(token))
        return is_ignored_end(token) || in_body(tree, token);
    if (!is_in_scope(tree, TAG_caption, TABLE_SCOPE))
        return true;
    generate_implied_end_tags(tree, TAG_none);
    pop_through(tree, TAG_caption);
    clear_to_marker(tree);
    tree->mode = IN_TABLE;
    return is_end(token, TAG_caption);
}

static bool in_column_group(Tree *tree, Token *token)
{
    if (token->kind == TOKEN_TEXT && (is_blank(tree, token) || skip_space(tree, token)))
        return true;
    if (token->kind != TOKEN_TEXT && token->tag == TAG_template)
        return in_head(tree, token);
    if (is_start(token, TAG_col))
        insert_void(tree, token);
    if (is_start(token, TAG_col) || is_end(token, TAG_col) || !is_current(tree, TAG_colgroup))
        return true;
    pop(tree);
    tree->mode = IN_TABLE;
    return is_end(token, TAG_colgroup);
}

static bool has_row_group(Tree *tree)
{
    return is_in_scope(tree, TAG_tbody, TABLE_SCOPE) || is_in_scope(tree, TAG_thead, TABLE_SCOPE) ||
           is_in_scope(tree, TAG_tfoot, TABLE_SCOPE);
}

static bool in_table_body(Tree *tree, Token *token)
{
    bool is_row = is_start(token, TAG_tr), is_own_end = token->kind == TOKEN_END_TAG && is_row_group(token->tag);
    if (is_row || (token->kind == TOKEN_START_TAG && is_cell(token->tag))) {
        clear_to(tree, GROUP_CONTEXT);
        tree->mode = IN_ROW;
        if (is_row)
            insert_element(tree, token, SPACE_HTML);
        else
            insert_tag(tree, TAG_tr);
        return is_row;
    }
    if (!is_own_end && !ends_part(token))
        return is_ignored_end(token) || in_table(tree, token);
    if (is_own_end ? !is_in_scope(tree, token->tag, TABLE_SCOPE) : !has_row_group(tree))
        return true;
    clear_to(tree, GROUP_CONTEXT);
    pop(tree);
    tree->mode = IN_TABLE;
    return is_own_end;
}

static bool in_row(Tree *tree, Token *token)
{
    bool ends_group = token->kind == TOKEN_END_TAG && is_row_group(token->tag);
    if (token->kind == TOKEN_START_TAG && is_cell(token->tag)) {
        clear_to(tree, ROW_CONTEXT);
        insert_element(tree, token, SPACE_HTML);
        push_marker(tree);
        tree->mode = IN_CELL;
        return true;
    }
    if (!ends_group && !is_end(token, TAG_tr) && !ends_part(token))
        return is_ignored_end(token) || in_table(tree, token);
    if ((ends_group && !is_in_scope(tree, token->tag, TABLE_SCOPE)) || !is_in_scope(tree, TAG_tr, TABLE_SCOPE))
        return true;
    clear_to(tree, ROW_CONTEXT);
    pop(tree);
    tree->mode = IN_TABLE_BODY;
    return is_end(token, TAG_tr);
}

static void close_cell(Tree *tree)
{
    generate_implied_end_tags(tree, TAG_none);
    while (tree->depth > 1) {
        const Node *node = node_at(tree, current(tree));
        bool is_last = node->space == SPACE_HTML && is_cell(node->tag);
        pop(tree);
        if (is_last)
            break;
    }
    clear_to_marker(tree);
    tree->mode = IN_ROW;
}

static bool in_cell(Tree *tree, Token *token)
{
    bool is_own_end = token->kind == TOKEN_END_TAG && is_cell(token->tag);
    bool ends_row = is_end(token, TAG_table) || is_end(token, TAG_tr) ||
                    (token->kind == TOKEN_END_TAG && is_row_group(token->tag));
    if (!is_own_end && !ends_row && !ends_part(token))
        return is_ignored_end(token) || in_body(tree, token);
    bool is_open = token->kind == TOKEN_END_TAG ? is_in_scope(tree, token->tag, TABLE_SCOPE)
                                                : is_in_scope(tree, TAG_td, TABLE_SCOPE) ||
                                                      is_in_scope(tree, TAG_th, TABLE_SCOPE);
    if (is_open && is_own_end) {
        generate_implied_end_tags(tree, TAG_none);
        pop_through(tree, token->tag);
        clear_to_marker(tree);
        tree->mode = IN_ROW;
    } else if (is_open) {
        close_cell(tree);
    }
    return is_own_end || !is_open;
}

bool in_table_part(Tree *tree, Token *token)
{
    switch (tree->mode) {
    case IN_CAPTION: return in_caption(tree, token);
    case IN_COLUMN_GROUP: return in_column_group(tree, token);
    case IN_TABLE_BODY: return in_table_body(tree, token);
    case IN_ROW: return in_row(tree, token);
    case IN_CELL: return in_cell(tree, token);
    default: return in_table(tree, token);
    }
}
