/* The insertion modes around the body, foreign content, and the loop over the tokens (HTML, 13.2.6). */

#include "html_tree.h"

bool is_blank(Tree *tree, const Token *token)
{
    const uint8_t *data = tree->tokenizer.data;
    for (uint32_t at = token->start; at < token->end; at++)
        if (!is_html_space(data[at]) && data[at] != 0)
            return false;
    return true;
}

bool skip_space(Tree *tree, Token *token)
{
    while (token->start < token->end && is_html_space(tree->tokenizer.data[token->start]))
        token->start++;
    return token->start == token->end;
}

void insert_raw_text(Tree *tree, const Token *token)
{
    Token text;
    read_raw_text(&tree->tokenizer, token->tag, &text);
    insert_element(tree, token, SPACE_HTML);
    /* Its text is that of the body. */
    if (token->tag == TAG_plaintext)
        reconstruct_formatting(tree);
    /* What is hidden is not needed. */
    if (text.start < text.end && !(properties_of[token->tag] & HIDDEN))
        insert_text(tree, &text);
    if (token->tag != TAG_plaintext)
        pop(tree);
}

static void close_template(Tree *tree)
{
    if (!tree->n_open[TAG_template])
        return;
    while (has_property(tree, current(tree), IMPLIED_END | THOROUGH_END))
        pop(tree);
    pop_through(tree, TAG_template);
    clear_to_marker(tree);
    if (tree->n_modes)
        tree->n_modes--;
    reset_mode(tree);
}

/* End tags that are ignored in and around the head. */
static bool is_ignored_end(const Token *token)
{
    return token->kind == TOKEN_END_TAG && token->tag != TAG_head && token->tag != TAG_body && token->tag != TAG_html &&
           token->tag != TAG_br;
}

static void open_template(Tree *tree, const Token *token)
{
    insert_element(tree, token, SPACE_HTML);
    push_marker(tree);
    tree->is_framesets_ok = false;
    tree->mode = IN_TEMPLATE;
    if (tree->n_modes < MAX_DEPTH)
        tree->modes[tree->n_modes++] = IN_TEMPLATE;
}

bool in_head(Tree *tree, Token *token)
{
    uint32_t properties = properties_of[token->tag];
    if (token->kind == TOKEN_START_TAG && token->tag == TAG_template) {
        open_template(tree, token);
    } else if (token->kind == TOKEN_START_TAG && properties & HEAD_CONTENT && properties & VOID) {
        insert_void(tree, token);
    } else if (token->kind == TOKEN_START_TAG && properties & HEAD_CONTENT) {
        insert_raw_text(tree, token);
    } else if (is_start(token, TAG_noscript)) {
        insert_element(tree, token, SPACE_HTML);
        tree->mode = IN_HEAD_NOSCRIPT;
    } else if (is_end(token, TAG_template)) {
        close_template(tree);
    } else if (!is_start(token, TAG_head) && !is_ignored_end(token)) {
        pop(tree);
        tree->mode = AFTER_HEAD;
        return is_end(token, TAG_head);
    }
    return true;
}

static bool in_head_noscript(Tree *tree, Token *token)
{
    Tag tag = token->tag;
    if (token->kind == TOKEN_START_TAG && properties_of[tag] & HEAD_CONTENT && tag != TAG_base && tag != TAG_title &&
        tag != TAG_script && tag != TAG_template)
        return in_head(tree, token);
    if (is_start(token, TAG_head) || is_start(token, TAG_noscript) ||
        (token->kind == TOKEN_END_TAG && tag != TAG_br && tag != TAG_noscript))
        return true;
    pop(tree);
    tree->mode = IN_HEAD;
    return is_end(token, TAG_noscript);
}

/* Insert the elements that are implied before a token; true if the token is done. */
static bool before_head(Tree *tree, Token *token)
{
    if (tree->mode == INITIAL) {
        tree->is_quirky = true;
        tree->mode = BEFORE_HTML;
        return false;
    }
    if (is_ignored_end(token))
        return true;
    Tag implied = tree->mode == BEFORE_HTML ? TAG_html : TAG_head;
    bool is_there = is_start(token, implied);
    uint32_t node = is_there ? insert_element(tree, token, SPACE_HTML) : insert_tag(tree, implied);
    if (implied == TAG_head)
        tree->head = node;
    tree->mode = implied == TAG_html ? BEFORE_HEAD : IN_HEAD;
    return is_there;
}

static bool after_head(Tree *tree, Token *token)
{
    bool is_body = is_start(token, TAG_body);
    if (token->kind == TOKEN_START_TAG && properties_of[token->tag] & HEAD_CONTENT) {
        tree->stack[tree->depth++] = tree->head;
        tree->n_open[TAG_head]++;
        in_head(tree, token);
        remove_from_stack(tree, tree->head);
        return true;
    }
    if (is_body || is_start(token, TAG_frameset)) {
        insert_element(tree, token, SPACE_HTML);
        tree->is_framesets_ok &= !is_body;
        tree->mode = is_body ? IN_BODY : IN_FRAMESET;
        return true;
    }
    if (is_end(token, TAG_template))
        return in_head(tree, token);
    if (is_start(token, TAG_head) || is_end(token, TAG_head) || is_ignored_end(token))
        return true;
    insert_tag(tree, TAG_body);
    tree->mode = IN_BODY;
    return false;
}

static bool in_template(Tree *tree, Token *token)
{
    if (token->kind == TOKEN_TEXT)
        return in_body(tree, token);
    if (token->kind == TOKEN_END_TAG)
        return token->tag == TAG_template ? in_head(tree, token) : true;
    if (properties_of[token->tag] & HEAD_CONTENT)
        return in_head(tree, token);
    tree->mode = !(properties_of[token->tag] & TABLE_TAG) ? IN_BODY
                 : token->tag == TAG_col                  ? IN_COLUMN_GROUP
                 : token->tag == TAG_tr                   ? IN_TABLE_BODY
                 : is_cell(token->tag)                    ? IN_ROW
                                                          : IN_TABLE;
    if (tree->n_modes)
        tree->modes[tree->n_modes - 1] = tree->mode;
    return false;
}

static bool after_body(Tree *tree, Token *token)
{
    if (token->kind == TOKEN_TEXT && is_blank(tree, token))
        return in_body(tree, token);
    bool is_end_of_html = tree->mode == AFTER_BODY && is_end(token, TAG_html);
    tree->mode = is_end_of_html ? AFTER_AFTER_BODY : IN_BODY;
    return is_end_of_html;
}

static bool in_frameset(Tree *tree, Token *token)
{
    bool is_inside = tree->mode == IN_FRAMESET;
    if (is_start(token, TAG_noframes))
        return in_head(tree, token);
    if (is_inside && is_start(token, TAG_frameset)) {
        insert_element(tree, token, SPACE_HTML);
    } else if (is_inside && is_start(token, TAG_frame)) {
        insert_void(tree, token);
    } else if (is_inside && is_end(token, TAG_frameset) && tree->depth > 1) {
        pop(tree);
        tree->mode = is_current(tree, TAG_frameset) ? IN_FRAMESET : AFTER_FRAMESET;
    } else if (tree->mode == AFTER_FRAMESET && is_end(token, TAG_html)) {
        tree->mode = AFTER_AFTER_FRAMESET;
    }
    return true;
}

static bool in_mode(Tree *tree, Token *token)
{
    if (token->kind == TOKEN_TEXT && tree->mode <= AFTER_HEAD && skip_space(tree, token))
        return true;
    if (is_start(token, TAG_html) && tree->mode > BEFORE_HTML && tree->mode != IN_TEMPLATE)
        return true;
    switch (tree->mode) {
    case INITIAL:
    case BEFORE_HTML:
    case BEFORE_HEAD: return before_head(tree, token);
    case IN_HEAD: return in_head(tree, token);
    case IN_HEAD_NOSCRIPT: return in_head_noscript(tree, token);
    case AFTER_HEAD: return after_head(tree, token);
    case IN_BODY: return in_body(tree, token);
    case IN_TEMPLATE: return in_template(tree, token);
    case AFTER_BODY:
    case AFTER_AFTER_BODY: return after_body(tree, token);
    case IN_FRAMESET:
    case AFTER_FRAMESET:
    case AFTER_AFTER_FRAMESET: return in_frameset(tree, token);
    default: return in_table_part(tree, token);
    }
}

/* Foreign content: SVG and MathML (13.2.6.5) */

static bool is_math_text(Tree *tree, uint32_t node)
{
    return node_at(tree, node)->space == SPACE_MATH && properties_of[node_at(tree, node)->tag] & MATH_TEXT;
}

static bool is_foreign(Tree *tree, const Token *token)
{
    if (!tree->depth)
        return false;
    const Node *node = node_at(tree, current(tree));
    if (node->space == SPACE_HTML)
        return false;
    bool is_start = token->kind == TOKEN_START_TAG, is_text = token->kind == TOKEN_TEXT;
    if (is_math_text(tree, current(tree)) &&
        (is_text || (is_start && token->tag != TAG_mglyph && token->tag != TAG_malignmark)))
        return false;
    if (node->space == SPACE_MATH && node->tag == TAG_annotation_xml && is_start && token->tag == TAG_svg)
        return false;
    return !(node->is_integration && (is_start || is_text));
}

static bool is_integration(Tree *tree, const Token *token, Space space)
{
    if (space == SPACE_SVG)
        return token->tag == TAG_foreignobject || token->tag == TAG_desc || token->tag == TAG_title;
    return token->tag == TAG_annotation_xml && (has_value(tree, token, "encoding", "text/html") ||
                                                has_value(tree, token, "encoding", "application/xhtml+xml"));
}

static bool breaks_out(Tree *tree, const Token *token)
{
    if (token->kind == TOKEN_END_TAG)
        return token->tag == TAG_br || token->tag == TAG_p;
    const uint8_t *data = tree->tokenizer.data;
    return properties_of[token->tag] & BREAKOUT ||
           (token->tag == TAG_font && (find_attribute(data, token->start, token->end, "color").found ||
                                       find_attribute(data, token->start, token->end, "face").found ||
                                       find_attribute(data, token->start, token->end, "size").found));
}

static bool in_foreign_content(Tree *tree, Token *token)
{
    if (token->kind == TOKEN_TEXT) {
        insert_text(tree, token);
        if (!is_blank(tree, token))
            tree->is_framesets_ok = false;
        return true;
    }
    if (breaks_out(tree, token)) {
        while (tree->depth > 1 && node_at(tree, current(tree))->space != SPACE_HTML &&
               !is_math_text(tree, current(tree)) && !node_at(tree, current(tree))->is_integration)
            pop(tree);
        return in_mode(tree, token);
    }
    if (token->kind == TOKEN_START_TAG) {
        Space space = node_at(tree, current(tree))->space;
        uint32_t node = insert_element(tree, token, space);
        node_at(tree, node)->is_integration = is_integration(tree, token, space);
        if (token->is_self_closing)
            pop(tree);
        return true;
    }
    for (int depth = tree->depth - 1; depth > 0; depth--) {
        const Node *node = node_at(tree, tree->stack[depth]);
        if (node->space == SPACE_HTML)
            return in_mode(tree, token);
        if (node->tag == token->tag && node->name == token->name) {
            pop_to(tree, depth);
            return true;
        }
    }
    return true;
}

void build_tree(Tree *tree, const uint8_t *data, uint32_t length)
{
    Node *nodes = tree->nodes;
    uint32_t n_room = tree->n_room;
    memset(tree, 0, sizeof *tree);
    tree->nodes = nodes;
    tree->n_room = n_room;
    tree->tokenizer = (Tokenizer){.data = data, .length = length};
    tree->is_framesets_ok = true;
    tree->budget = length / 8 + MIN_BUDGET;
    /* Node 0 is none. */
    if (!reserve_node(tree))
        return;
    Token token;
    for (;;) {
        tree->tokenizer.in_foreign_content = tree->depth && node_at(tree, current(tree))->space != SPACE_HTML;
        next_token(&tree->tokenizer, &token);
        if (token.kind == TOKEN_END_OF_FILE || tree->failed)
            return;
        if (token.kind == TOKEN_DOCTYPE) {
            if (tree->mode == INITIAL) {
                tree->is_quirky = token.is_quirky;
                tree->mode = BEFORE_HTML;
            }
            continue;
        }
        while (!(is_foreign(tree, &token) ? in_foreign_content(tree, &token) : in_mode(tree, &token)) && !tree->failed)
            ;
    }
}
