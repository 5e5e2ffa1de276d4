/* The insertion mode "in body" (HTML, 13.2.6.4.7). */

#include "html_tree.h"

/* Close the list item, or the term or definition, that a new one ends. */
static void close_item(Tree *tree, Tag tag, Tag other)
{
    for (int depth = tree->depth - 1; depth > 0; depth--) {
        uint32_t node = tree->stack[depth];
        if (is_html(tree, node, tag) || is_html(tree, node, other)) {
            Tag open = node_at(tree, node)->tag;
            generate_implied_end_tags(tree, open);
            pop_through(tree, open);
            return;
        }
        bool is_transparent =
            is_html(tree, node, TAG_address) || is_html(tree, node, TAG_div) || is_html(tree, node, TAG_p);
        if (is_special(tree, node) && !is_transparent)
            return;
    }
}

/* Close an element in scope. `except` is the tag that is not implied, the element's own if it could be. */
static bool close_in_scope(Tree *tree, Tag tag, Scope scope, Tag except)
{
    if (!is_in_scope(tree, tag, scope))
        return false;
    generate_implied_end_tags(tree, except);
    pop_through(tree, tag);
    return true;
}

static bool close_select(Tree *tree)
{
    bool is_open = is_in_scope(tree, TAG_select, DEFAULT_SCOPE);
    if (is_open)
        pop_through(tree, TAG_select);
    return is_open;
}

static void close_anchor(Tree *tree)
{
    uint32_t open = last_formatting(tree, TAG_a);
    if (open) {
        adopt(tree, TAG_a);
        remove_formatting(tree, open);
        remove_from_stack(tree, open);
    }
}

static void open_frameset(Tree *tree, const Token *token)
{
    if (tree->depth < 2 || !is_html(tree, tree->stack[1], TAG_body) || !tree->is_framesets_ok)
        return;
    detach(tree, tree->stack[1]);
    pop_to(tree, 1);
    insert_element(tree, token, SPACE_HTML);
    tree->mode = IN_FRAMESET;
}

static void open_form(Tree *tree, const Token *token)
{
    if (tree->form && !tree->n_open[TAG_template])
        return;
    close_p(tree);
    uint32_t form = insert_element(tree, token, SPACE_HTML);
    if (!tree->n_open[TAG_template])
        tree->form = form;
}

/* What a start tag does besides what its properties say; true if that is all. */
static bool prepare_element(Tree *tree, const Token *token)
{
    switch (token->tag) {
    case TAG_body:
        if (tree->depth > 1 && is_html(tree, tree->stack[1], TAG_body) && !tree->n_open[TAG_template])
            tree->is_framesets_ok = false;
        return true;
    case TAG_frameset:
        open_frameset(tree, token);
        return true;
    case TAG_form:
        open_form(tree, token);
        return true;
    case TAG_math:
    case TAG_svg:
        reconstruct_formatting(tree);
        insert_element(tree, token, token->tag == TAG_svg ? SPACE_SVG : SPACE_MATH);
        if (token->is_self_closing)
            pop(tree);
        return true;
    case TAG_select:
        return close_select(tree);
    case TAG_li:
        close_item(tree, TAG_li, TAG_li);
        return false;
    case TAG_dd:
    case TAG_dt:
        close_item(tree, TAG_dd, TAG_dt);
        return false;
    case TAG_button:
        close_in_scope(tree, TAG_button, DEFAULT_SCOPE, TAG_none);
        return false;
    case TAG_a:
        close_anchor(tree);
        return false;
    case TAG_nobr:
        reconstruct_formatting(tree);
        if (is_in_scope(tree, TAG_nobr, DEFAULT_SCOPE))
            adopt(tree, TAG_nobr);
        return false;
    case TAG_table:
        if (!tree->is_quirky)
            close_p(tree);
        tree->mode = IN_TABLE;
        return false;
    case TAG_input:
        close_select(tree);
        if (!has_value(tree, token, "type", "hidden"))
            tree->is_framesets_ok = false;
        return false;
    case TAG_hr:
        close_p(tree);
        if (is_in_scope(tree, TAG_select, DEFAULT_SCOPE))
            generate_implied_end_tags(tree, TAG_none);
        return false;
    case TAG_xmp:
        close_p(tree);
        return false;
    case TAG_option:
    case TAG_optgroup:
        if (is_in_scope(tree, TAG_select, DEFAULT_SCOPE))
            generate_implied_end_tags(tree, token->tag == TAG_option ? TAG_optgroup : TAG_none);
        else if (is_current(tree, TAG_option))
            pop(tree);
        return false;
    case TAG_rb:
    case TAG_rtc:
    case TAG_rp:
    case TAG_rt:
        if (is_in_scope(tree, TAG_ruby, DEFAULT_SCOPE))
            generate_implied_end_tags(tree, token->tag == TAG_rp || token->tag == TAG_rt ? TAG_rtc : TAG_none);
        return false;
    default:
        return false;
    }
}

static bool start_tag(Tree *tree, Token *token)
{
    if (token->tag == TAG_image)
        token->tag = TAG_img;
    uint32_t properties = properties_of[token->tag];
    if (properties & HEAD_CONTENT)
        return in_head(tree, token);
    if (properties & (TABLE_TAG | IGNORED) || prepare_element(tree, token))
        return true;
    if (properties & ENDS_P)
        close_p(tree);
    else if (!(properties & DIRECT))
        reconstruct_formatting(tree);
    if (has_property(tree, current(tree), HEADING) && properties & HEADING)
        pop(tree);
    if (properties & NO_FRAMESETS)
        tree->is_framesets_ok = false;
    if (properties & RAW_TEXT) {
        insert_raw_text(tree, token);
        return true;
    }
    uint32_t element = insert_element(tree, token, SPACE_HTML);
    if (properties & VOID)
        pop(tree);
    if (properties & FORMATTING)
        push_formatting(tree, element);
    if (properties & MARKED)
        push_marker(tree);
    return true;
}

static void close_any(Tree *tree, const Token *token)
{
    if (!*open_count(tree, token->tag, token->name))
        return;
    for (int depth = tree->depth - 1; depth > 0; depth--) {
        uint32_t node = tree->stack[depth];
        const Node *one = node_at(tree, node);
        if (one->space == SPACE_HTML && one->tag == token->tag && (one->tag != TAG_other || one->name == token->name)) {
            if (token->tag != TAG_other)
                generate_implied_end_tags(tree, token->tag);
            pop_to(tree, depth);
            return;
        }
        if (is_special(tree, node))
            return;
    }
}

static void close_form(Tree *tree)
{
    uint32_t form = tree->form;
    if (tree->n_open[TAG_template]) {
        close_in_scope(tree, TAG_form, DEFAULT_SCOPE, TAG_none);
        return;
    }
    tree->form = 0;
    int depth = form ? depth_of(tree, form) : -1;
    for (int above = tree->depth - 1; above > depth; above--)
        if (is_scope(tree, tree->stack[above]))
            return;
    if (depth >= 0) {
        generate_implied_end_tags(tree, TAG_none);
        remove_from_stack(tree, form);
    }
}

static void close_heading(Tree *tree)
{
    for (int depth = tree->depth - 1; depth > 0; depth--) {
        if (has_property(tree, tree->stack[depth], HEADING)) {
            generate_implied_end_tags(tree, TAG_none);
            pop_to(tree, depth);
            return;
        }
        if (is_scope(tree, tree->stack[depth]))
            return;
    }
}

static bool end_tag(Tree *tree, Token *token)
{
    uint32_t properties = properties_of[token->tag];
    if (properties & CLOSED_IN_SCOPE) {
        if (close_in_scope(tree, token->tag, DEFAULT_SCOPE, TAG_none) && properties & MARKED)
            clear_to_marker(tree);
        return true;
    }
    if (properties & HEADING) {
        close_heading(tree);
        return true;
    }
    switch (token->tag) {
    case TAG_template:
        return in_head(tree, token);
    case TAG_body:
    case TAG_html:
        if (!is_in_scope(tree, TAG_body, DEFAULT_SCOPE))
            return true;
        tree->mode = AFTER_BODY;
        return token->tag == TAG_body;
    case TAG_form:
        close_form(tree);
        return true;
    case TAG_p:
        if (!is_in_scope(tree, TAG_p, BUTTON_SCOPE))
            insert_tag(tree, TAG_p);
        close_p(tree);
        return true;
    case TAG_li:
        close_in_scope(tree, TAG_li, LIST_SCOPE, TAG_li);
        return true;
    case TAG_dd:
    case TAG_dt:
        close_in_scope(tree, token->tag, DEFAULT_SCOPE, token->tag);
        return true;
    case TAG_br:
        token->kind = TOKEN_START_TAG;
        token->start = token->end;
        return start_tag(tree, token);
    default:
        if (!(properties & FORMATTING) || !adopt(tree, token->tag))
            close_any(tree, token);
        return true;
    }
}

bool in_body(Tree *tree, Token *token)
{
    if (token->kind == TOKEN_START_TAG)
        return start_tag(tree, token);
    if (token->kind == TOKEN_END_TAG)
        return end_tag(tree, token);
    reconstruct_formatting(tree);
    insert_text(tree, token);
    if (tree->is_framesets_ok && !is_blank(tree, token))
        tree->is_framesets_ok = false;
    return true;
}
