/* The insertion modes of tables (HTML, 13.2.6.4.9 to 15). */

#include "html_tree.h"

static bool is_table_tag(Tag tag)
{
    switch (tag) {
    case TAG_caption:
    case TAG_col:
    case TAG_colgroup:
    case TAG_tbody:
    case TAG_td:
    case TAG_tfoot:
    case TAG_th:
    case TAG_thead:
    case TAG_tr:
        return true;
    default:
        return false;
    }
}

static bool is_row_group(Tag tag)
{
    return tag == TAG_tbody || tag == TAG_tfoot || tag == TAG_thead;
}

static bool is_cell(Tag tag)
{
    return tag == TAG_td || tag == TAG_th;
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

static bool table_start(Tree *tree, Token *token)
{
    switch (token->tag) {
    case TAG_caption:
        clear_to(tree, TABLE_CONTEXT);
        push_marker(tree);
        insert_element(tree, token, SPACE_HTML);
        tree->mode = IN_CAPTION;
        return true;
    case TAG_colgroup:
        clear_to(tree, TABLE_CONTEXT);
        insert_element(tree, token, SPACE_HTML);
        tree->mode = IN_COLUMN_GROUP;
        return true;
    case TAG_col:
        clear_to(tree, TABLE_CONTEXT);
        insert_tag(tree, TAG_colgroup);
        tree->mode = IN_COLUMN_GROUP;
        return false;
    case TAG_tbody:
    case TAG_tfoot:
    case TAG_thead:
        clear_to(tree, TABLE_CONTEXT);
        insert_element(tree, token, SPACE_HTML);
        tree->mode = IN_TABLE_BODY;
        return true;
    case TAG_td:
    case TAG_th:
    case TAG_tr:
        clear_to(tree, TABLE_CONTEXT);
        insert_tag(tree, TAG_tbody);
        tree->mode = IN_TABLE_BODY;
        return false;
    case TAG_table:
        if (!is_in_scope(tree, TAG_table, TABLE_SCOPE))
            return true;
        pop_through(tree, TAG_table);
        reset_mode(tree);
        return false;
    case TAG_style:
    case TAG_script:
    case TAG_template:
        return in_head(tree, token);
    case TAG_input:
        if (!is_value(tree->tokenizer.data, find_attribute(tree->tokenizer.data, token->start, token->end, "type"),
                      "hidden"))
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
        if (is_in_scope(tree, TAG_table, TABLE_SCOPE)) {
            pop_through(tree, TAG_table);
            reset_mode(tree);
        }
        return true;
    }
    if (is_ignored_end(token))
        return true;
    return token->tag == TAG_template ? in_head(tree, token) : fostered(tree, token);
}

static bool in_caption(Tree *tree, Token *token)
{
    bool is_start = token->kind == TOKEN_START_TAG, is_end = token->kind == TOKEN_END_TAG;
    bool is_own_end = is_end && token->tag == TAG_caption;
    if (is_own_end || (is_start && is_table_tag(token->tag)) || (is_end && token->tag == TAG_table)) {
        if (!is_in_scope(tree, TAG_caption, TABLE_SCOPE))
            return true;
        generate_implied_end_tags(tree, TAG_none);
        pop_through(tree, TAG_caption);
        clear_to_marker(tree);
        tree->mode = IN_TABLE;
        return is_own_end;
    }
    return is_ignored_end(token) || in_body(tree, token);
}

static bool in_column_group(Tree *tree, Token *token)
{
    if (token->kind == TOKEN_TEXT && (is_blank(tree, token) || skip_space(tree, token)))
        return true;
    if (token->kind != TOKEN_TEXT) {
        if (token->tag == TAG_html && token->kind == TOKEN_START_TAG)
            return in_body(tree, token);
        if (token->tag == TAG_template)
            return in_head(tree, token);
        if (token->tag == TAG_col) {
            if (token->kind == TOKEN_START_TAG)
                insert_void(tree, token);
            return true;
        }
    }
    if (!is_current(tree, TAG_colgroup))
        return true;
    pop(tree);
    tree->mode = IN_TABLE;
    return token->kind == TOKEN_END_TAG && token->tag == TAG_colgroup;
}

static bool has_row_group(Tree *tree)
{
    return is_in_scope(tree, TAG_tbody, TABLE_SCOPE) || is_in_scope(tree, TAG_thead, TABLE_SCOPE) ||
           is_in_scope(tree, TAG_tfoot, TABLE_SCOPE);
}

static bool in_table_body(Tree *tree, Token *token)
{
    bool is_start = token->kind == TOKEN_START_TAG, is_end = token->kind == TOKEN_END_TAG;
    if (is_start && (token->tag == TAG_tr || is_cell(token->tag))) {
        clear_to(tree, GROUP_CONTEXT);
        tree->mode = IN_ROW;
        if (token->tag == TAG_tr)
            insert_element(tree, token, SPACE_HTML);
        else
            insert_tag(tree, TAG_tr);
        return token->tag == TAG_tr;
    }
    if (is_end && is_row_group(token->tag)) {
        if (is_in_scope(tree, token->tag, TABLE_SCOPE)) {
            clear_to(tree, GROUP_CONTEXT);
            pop(tree);
            tree->mode = IN_TABLE;
        }
        return true;
    }
    if ((is_start && is_table_tag(token->tag)) || (is_end && token->tag == TAG_table)) {
        if (!has_row_group(tree))
            return true;
        clear_to(tree, GROUP_CONTEXT);
        pop(tree);
        tree->mode = IN_TABLE;
        return false;
    }
    return is_ignored_end(token) || in_table(tree, token);
}

static bool in_row(Tree *tree, Token *token)
{
    bool is_start = token->kind == TOKEN_START_TAG, is_end = token->kind == TOKEN_END_TAG;
    if (is_start && is_cell(token->tag)) {
        clear_to(tree, ROW_CONTEXT);
        insert_element(tree, token, SPACE_HTML);
        push_marker(tree);
        tree->mode = IN_CELL;
        return true;
    }
    bool is_own_end = is_end && token->tag == TAG_tr;
    bool ends_group = is_end && is_row_group(token->tag);
    if (is_own_end || ends_group || (is_start && is_table_tag(token->tag)) || (is_end && token->tag == TAG_table)) {
        if ((ends_group && !is_in_scope(tree, token->tag, TABLE_SCOPE)) || !is_in_scope(tree, TAG_tr, TABLE_SCOPE))
            return true;
        clear_to(tree, ROW_CONTEXT);
        pop(tree);
        tree->mode = IN_TABLE_BODY;
        return is_own_end;
    }
    return is_ignored_end(token) || in_table(tree, token);
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
    bool is_start = token->kind == TOKEN_START_TAG, is_end = token->kind == TOKEN_END_TAG;
    if (is_end && is_cell(token->tag)) {
        if (is_in_scope(tree, token->tag, TABLE_SCOPE)) {
            generate_implied_end_tags(tree, TAG_none);
            pop_through(tree, token->tag);
            clear_to_marker(tree);
            tree->mode = IN_ROW;
        }
        return true;
    }
    bool ends_row = is_end && (token->tag == TAG_table || token->tag == TAG_tr || is_row_group(token->tag));
    if (ends_row || (is_start && is_table_tag(token->tag))) {
        if (ends_row && !is_in_scope(tree, token->tag, TABLE_SCOPE))
            return true;
        if (is_start && !is_in_scope(tree, TAG_td, TABLE_SCOPE) && !is_in_scope(tree, TAG_th, TABLE_SCOPE))
            return true;
        close_cell(tree);
        return false;
    }
    return is_ignored_end(token) || in_body(tree, token);
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
