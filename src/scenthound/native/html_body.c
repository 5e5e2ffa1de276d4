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

static void close_select(Tree *tree)
{
    if (is_in_scope(tree, TAG_select, DEFAULT_SCOPE))
        pop_through(tree, TAG_select);
}

static void open_anchor(Tree *tree, const Token *token)
{
    uint32_t open = last_formatting(tree, TAG_a);
    if (open) {
        adopt(tree, TAG_a);
        remove_formatting(tree, open);
        remove_from_stack(tree, open);
    }
    reconstruct_formatting(tree);
    push_formatting(tree, insert_element(tree, token, SPACE_HTML));
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

static void open_option(Tree *tree, const Token *token)
{
    if (is_in_scope(tree, TAG_select, DEFAULT_SCOPE))
        generate_implied_end_tags(tree, token->tag == TAG_option ? TAG_optgroup : TAG_none);
    else if (is_current(tree, TAG_option))
        pop(tree);
    reconstruct_formatting(tree);
    insert_element(tree, token, SPACE_HTML);
}

static void open_foreign(Tree *tree, const Token *token)
{
    reconstruct_formatting(tree);
    insert_element(tree, token, token->tag == TAG_svg ? SPACE_SVG : SPACE_MATH);
    if (token->is_self_closing)
        pop(tree);
}

static bool start_tag(Tree *tree, Token *token)
{
    if (properties_of[token->tag] & HEAD_CONTENT)
        return in_head(tree, token);
    if (properties_of[token->tag] & CLOSES_P) {
        close_p(tree);
        insert_element(tree, token, SPACE_HTML);
        return true;
    }
    switch (token->tag) {
    case TAG_html:
    case TAG_caption:
    case TAG_col:
    case TAG_colgroup:
    case TAG_frame:
    case TAG_head:
    case TAG_tbody:
    case TAG_td:
    case TAG_tfoot:
    case TAG_th:
    case TAG_thead:
    case TAG_tr:
        return true;
    case TAG_body:
        if (tree->depth > 1 && is_html(tree, tree->stack[1], TAG_body) && !tree->n_open[TAG_template])
            tree->is_framesets_ok = false;
        return true;
    case TAG_frameset:
        open_frameset(tree, token);
        return true;
    case TAG_p:
        close_p(tree);
        insert_element(tree, token, SPACE_HTML);
        return true;
    case TAG_h1:
    case TAG_h2:
    case TAG_h3:
    case TAG_h4:
    case TAG_h5:
    case TAG_h6:
        close_p(tree);
        if (has_property(tree, current(tree), HEADING))
            pop(tree);
        insert_element(tree, token, SPACE_HTML);
        return true;
    case TAG_pre:
    case TAG_listing:
        close_p(tree);
        insert_element(tree, token, SPACE_HTML);
        tree->is_framesets_ok = false;
        return true;
    case TAG_form:
        open_form(tree, token);
        return true;
    case TAG_li:
        tree->is_framesets_ok = false;
        close_item(tree, TAG_li, TAG_li);
        close_p(tree);
        insert_element(tree, token, SPACE_HTML);
        return true;
    case TAG_dd:
    case TAG_dt:
        tree->is_framesets_ok = false;
        close_item(tree, TAG_dd, TAG_dt);
        close_p(tree);
        insert_element(tree, token, SPACE_HTML);
        return true;
    case TAG_plaintext:
        close_p(tree);
        insert_raw_text(tree, token);
        return true;
    case TAG_button:
        if (is_in_scope(tree, TAG_button, DEFAULT_SCOPE)) {
            generate_implied_end_tags(tree, TAG_none);
            pop_through(tree, TAG_button);
        }
        reconstruct_formatting(tree);
        insert_element(tree, token, SPACE_HTML);
        tree->is_framesets_ok = false;
        return true;
    case TAG_a:
        open_anchor(tree, token);
        return true;
    case TAG_nobr:
        reconstruct_formatting(tree);
        if (is_in_scope(tree, TAG_nobr, DEFAULT_SCOPE)) {
            adopt(tree, TAG_nobr);
            reconstruct_formatting(tree);
        }
        push_formatting(tree, insert_element(tree, token, SPACE_HTML));
        return true;
    case TAG_applet:
    case TAG_marquee:
    case TAG_object:
        reconstruct_formatting(tree);
        insert_element(tree, token, SPACE_HTML);
        push_marker(tree);
        tree->is_framesets_ok = false;
        return true;
    case TAG_table:
        if (!tree->is_quirky)
            close_p(tree);
        insert_element(tree, token, SPACE_HTML);
        tree->is_framesets_ok = false;
        tree->mode = IN_TABLE;
        return true;
    case TAG_image:
        token->tag = TAG_img;
        /* fall through */
    case TAG_area:
    case TAG_br:
    case TAG_embed:
    case TAG_img:
    case TAG_keygen:
    case TAG_wbr:
        reconstruct_formatting(tree);
        insert_void(tree, token);
        tree->is_framesets_ok = false;
        return true;
    case TAG_input:
        close_select(tree);
        reconstruct_formatting(tree);
        insert_void(tree, token);
        if (!is_value(tree->tokenizer.data, find_attribute(tree->tokenizer.data, token->start, token->end, "type"),
                      "hidden"))
            tree->is_framesets_ok = false;
        return true;
    case TAG_param:
    case TAG_source:
    case TAG_track:
        insert_void(tree, token);
        return true;
    case TAG_hr:
        close_p(tree);
        if (is_in_scope(tree, TAG_select, DEFAULT_SCOPE))
            generate_implied_end_tags(tree, TAG_none);
        insert_void(tree, token);
        tree->is_framesets_ok = false;
        return true;
    case TAG_xmp:
        close_p(tree);
        reconstruct_formatting(tree);
        /* fall through */
    case TAG_textarea:
    case TAG_iframe:
        tree->is_framesets_ok = false;
        /* fall through */
    case TAG_noembed:
        insert_raw_text(tree, token);
        return true;
    case TAG_select:
        if (is_in_scope(tree, TAG_select, DEFAULT_SCOPE)) {
            pop_through(tree, TAG_select);
            return true;
        }
        reconstruct_formatting(tree);
        insert_element(tree, token, SPACE_HTML);
        tree->is_framesets_ok = false;
        return true;
    case TAG_option:
    case TAG_optgroup:
        open_option(tree, token);
        return true;
    case TAG_rb:
    case TAG_rtc:
    case TAG_rp:
    case TAG_rt:
        if (is_in_scope(tree, TAG_ruby, DEFAULT_SCOPE))
            generate_implied_end_tags(tree, token->tag == TAG_rp || token->tag == TAG_rt ? TAG_rtc : TAG_none);
        insert_element(tree, token, SPACE_HTML);
        return true;
    case TAG_math:
    case TAG_svg:
        open_foreign(tree, token);
        return true;
    default:
        reconstruct_formatting(tree);
        uint32_t element = insert_element(tree, token, SPACE_HTML);
        if (properties_of[token->tag] & FORMATTING)
            push_formatting(tree, element);
        return true;
    }
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
    if (tree->n_open[TAG_template]) {
        if (is_in_scope(tree, TAG_form, DEFAULT_SCOPE)) {
            generate_implied_end_tags(tree, TAG_none);
            pop_through(tree, TAG_form);
        }
        return;
    }
    uint32_t form = tree->form;
    tree->form = 0;
    if (!form)
        return;
    int depth = depth_of(tree, form);
    for (int above = tree->depth - 1; above > depth; above--)
        if (is_scope(tree, tree->stack[above]))
            return;
    if (depth < 0)
        return;
    generate_implied_end_tags(tree, TAG_none);
    remove_from_stack(tree, form);
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

/* Close an element in scope. `except` is the tag that is not implied, the element's own if it could be. */
static bool close_in_scope(Tree *tree, Tag tag, Scope scope, Tag except)
{
    if (!is_in_scope(tree, tag, scope))
        return false;
    generate_implied_end_tags(tree, except);
    pop_through(tree, tag);
    return true;
}

static bool end_tag(Tree *tree, Token *token)
{
    if (properties_of[token->tag] & CLOSES_P) {
        close_in_scope(tree, token->tag, DEFAULT_SCOPE, TAG_none);
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
    case TAG_button:
    case TAG_listing:
    case TAG_pre:
    case TAG_select:
        close_in_scope(tree, token->tag, DEFAULT_SCOPE, TAG_none);
        return true;
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
    case TAG_h1:
    case TAG_h2:
    case TAG_h3:
    case TAG_h4:
    case TAG_h5:
    case TAG_h6:
        close_heading(tree);
        return true;
    case TAG_applet:
    case TAG_marquee:
    case TAG_object:
        if (close_in_scope(tree, token->tag, DEFAULT_SCOPE, TAG_none))
            clear_to_marker(tree);
        return true;
    case TAG_br:
        token->kind = TOKEN_START_TAG;
        token->start = token->end;
        return start_tag(tree, token);
    default:
        if (!(properties_of[token->tag] & FORMATTING) || !adopt(tree, token->tag))
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
