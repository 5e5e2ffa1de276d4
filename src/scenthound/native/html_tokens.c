/* The tokenizer of the HTML reader: tags, text, comments, doctypes, raw text. */

#include "html_tokens.h"

static const uint8_t *find(const Tokenizer *tokenizer, uint32_t position, uint8_t byte)
{
    return position < tokenizer->length ? memchr(tokenizer->data + position, byte, tokenizer->length - position) : NULL;
}

static uint32_t after(const Tokenizer *tokenizer, uint32_t position, uint8_t byte)
{
    const uint8_t *found = find(tokenizer, position, byte);
    return found ? (uint32_t)(found - tokenizer->data) + 1 : tokenizer->length;
}

/* Whether a word in lower case is at a position, in any case. */
static bool has_word(const Tokenizer *tokenizer, uint32_t position, const char *word)
{
    return position < tokenizer->length &&
           starts_with((Bytes){tokenizer->data + position, tokenizer->length - position}, word);
}

static uint32_t skip_space(const Tokenizer *tokenizer, uint32_t position, uint32_t end)
{
    while (position < end && is_html_space(tokenizer->data[position]))
        position++;
    return position;
}

/* Attributes */

/* Read one attribute: its name and its value, which is empty if there is none. Returns false at the end of the tag,
   where `*position` is at `>`, at the `/` of `/>`, or at the end of the source. */
static inline bool next_attribute(const uint8_t *data, uint32_t length, uint32_t *position, Attribute *name,
                                  Attribute *value)
{
    uint32_t at = *position;
    while (at < length && (is_html_space(data[at]) || (data[at] == '/' && at + 1 < length && data[at + 1] != '>')))
        at++;
    if (at >= length || data[at] == '>' || data[at] == '/') {
        *position = at;
        return false;
    }
    name->start = at;
    /* A name may start with an equals sign. */
    at++;
    while (at < length && !is_html_space(data[at]) && data[at] != '/' && data[at] != '>' && data[at] != '=')
        at++;
    name->end = at;
    uint32_t after_name = at;
    while (at < length && is_html_space(data[at]))
        at++;
    *value = (Attribute){true, after_name, after_name};
    if (at >= length || data[at] != '=') {
        *position = at;
        return true;
    }
    at++;
    while (at < length && is_html_space(data[at]))
        at++;
    if (at < length && (data[at] == '"' || data[at] == '\'')) {
        const uint8_t *quote = memchr(data + at + 1, data[at], length - at - 1);
        value->start = at + 1;
        value->end = quote ? (uint32_t)(quote - data) : length;
        at = value->end < length ? value->end + 1 : length;
    } else {
        value->start = at;
        while (at < length && !is_html_space(data[at]) && data[at] != '>')
            at++;
        value->end = at;
    }
    *position = at;
    return true;
}

Attribute find_attribute(const uint8_t *data, uint32_t start, uint32_t end, const char *name)
{
    Attribute found, value;
    while (next_attribute(data, end, &start, &found, &value))
        if (is_word((Bytes){data + found.start, found.end - found.start}, name))
            return value;
    return (Attribute){false, 0, 0};
}

bool is_value(const uint8_t *data, Attribute attribute, const char *word)
{
    return attribute.found && is_word((Bytes){data + attribute.start, attribute.end - attribute.start}, word);
}

/* Tags */

static bool read_tag(Tokenizer *tokenizer, uint32_t name_start, Token *token)
{
    const uint8_t *data = tokenizer->data;
    uint32_t length = tokenizer->length, at = name_start;
    while (at < length && !is_html_space(data[at]) && data[at] != '/' && data[at] != '>')
        at++;
    token->tag = tag_named(data + name_start, at - name_start, &token->name);
    token->start = at;
    Attribute name, value;
    while (next_attribute(data, length, &at, &name, &value))
        ;
    token->end = at;
    token->is_self_closing = at < length && data[at] == '/';
    if (token->is_self_closing)
        at++;
    /* A tag that the source ends in is no tag. */
    tokenizer->position = at < length ? at + 1 : length;
    return at < length;
}

/* Comments and doctypes */

static uint32_t after_comment(const Tokenizer *tokenizer, uint32_t position)
{
    const uint8_t *data = tokenizer->data;
    uint32_t length = tokenizer->length;
    if (position < length && data[position] == '>')
        return position + 1;
    if (position + 1 < length && data[position] == '-' && data[position + 1] == '>')
        return position + 2;
    const uint8_t *dash;
    while ((dash = find(tokenizer, position, '-'))) {
        position = (uint32_t)(dash - data) + 1;
        if (position >= length || data[position] != '-')
            continue;
        uint32_t end = position + 1;
        if (end < length && data[end] == '>')
            return end + 1;
        if (end + 1 < length && data[end] == '!' && data[end + 1] == '>')
            return end + 2;
    }
    return length;
}

/* How those begin that ask for quirks mode: all of some vendors, and all versions of HTML before 4.01 but 4.0 strict. */
static const char *const quirky_identifiers[] = {
    "+//silmaril//",
    "-//as//",
    "-//advasoft ltd//",
    "-//ietf//dtd html",
    "-//metrius//",
    "-//microsoft//",
    "-//netscape comm. corp.//",
    "-//o'reilly and associates//",
    "-//sq//",
    "-//softquad",
    "-//spyglass//",
    "-//sun microsystems corp.//",
    "-//w3c//dtd html 3",
    "-//w3c//dtd html 4.0 ",
    "-//w3c//dtd html experimental",
    "-//w3c//dtd w3 html//",
    "-//w3o//dtd w3 html",
    "-//webtechs//",
};

/* The public identifiers of HTML 4.01 that ask for quirks mode without a system identifier. */
static const char *const quirky_without_system[2] = {
    "-//w3c//dtd html 4.01 frameset//",
    "-//w3c//dtd html 4.01 transitional//",
};

/* A quoted identifier at or behind a position; `*position` moves behind it. */
static Attribute quoted(const Tokenizer *tokenizer, uint32_t *position, uint32_t end)
{
    uint32_t at = skip_space(tokenizer, *position, end);
    if (at >= end || (tokenizer->data[at] != '"' && tokenizer->data[at] != '\''))
        return (Attribute){false, 0, 0};
    uint32_t start = at + 1;
    uint8_t quote = tokenizer->data[at];
    at = start;
    while (at < end && tokenizer->data[at] != quote)
        at++;
    *position = at < end ? at + 1 : end;
    return (Attribute){true, start, at};
}

static bool is_quirky(const Tokenizer *tokenizer, uint32_t position, uint32_t end)
{
    const uint8_t *data = tokenizer->data;
    uint32_t name = skip_space(tokenizer, position, end), at = skip_space(tokenizer, name + 4, end);
    if (!has_word(tokenizer, name, "html") || (at == name + 4 && at < end))
        return true;
    if (at >= end)
        return false;
    bool is_public = has_word(tokenizer, at, "public");
    if (!is_public && !has_word(tokenizer, at, "system"))
        return true;
    at += 6;
    Attribute public_identifier = is_public ? quoted(tokenizer, &at, end) : (Attribute){false, 0, 0};
    Attribute system_identifier = quoted(tokenizer, &at, end);
    if (is_public != public_identifier.found || (!is_public && !system_identifier.found) ||
        is_value(data, system_identifier, "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"))
        return true;
    bool is_any = is_value(data, public_identifier, "-/w3c/dtd html 4.0 transitional/en") ||
                  is_value(data, public_identifier, "html");
    for (size_t index = 0; is_public && index < sizeof quirky_identifiers / sizeof *quirky_identifiers; index++)
        is_any |= has_word(tokenizer, public_identifier.start, quirky_identifiers[index]);
    for (size_t index = 0; is_public && !system_identifier.found && index < 2; index++)
        is_any |= has_word(tokenizer, public_identifier.start, quirky_without_system[index]);
    return is_any;
}

/* Tokens */

/* Read what `<` at `start` opens. False if it is nothing that makes a token; the position is behind it then. */
static bool read_markup(Tokenizer *tokenizer, uint32_t start, Token *token)
{
    const uint8_t *data = tokenizer->data;
    uint8_t next = data[start + 1];
    if (is_letter(next)) {
        token->kind = TOKEN_START_TAG;
        return read_tag(tokenizer, start + 1, token);
    }
    if (next == '/' && start + 2 < tokenizer->length && is_letter(data[start + 2])) {
        token->kind = TOKEN_END_TAG;
        return read_tag(tokenizer, start + 2, token);
    }
    if (next == '!' && has_word(tokenizer, start + 2, "--")) {
        tokenizer->position = after_comment(tokenizer, start + 4);
        return false;
    }
    if (next == '!' && tokenizer->in_foreign_content && start + 9 <= tokenizer->length &&
        memcmp(data + start + 2, "[CDATA[", 7) == 0) {
        uint32_t end = start + 9;
        while (end < tokenizer->length && !has_word(tokenizer, end, "]]>")) {
            const uint8_t *bracket = find(tokenizer, end + 1, ']');
            end = bracket ? (uint32_t)(bracket - data) : tokenizer->length;
        }
        *token = (Token){.kind = TOKEN_TEXT, .start = start + 9, .end = end, .is_raw = true};
        tokenizer->position = end + 3 < tokenizer->length ? end + 3 : tokenizer->length;
        return token->start < token->end;
    }
    tokenizer->position = after(tokenizer, start + 2, '>');
    if (next != '!' || !has_word(tokenizer, start + 2, "doctype"))
        return false;
    token->kind = TOKEN_DOCTYPE;
    bool is_complete = tokenizer->position <= tokenizer->length && data[tokenizer->position - 1] == '>';
    uint32_t end = is_complete ? tokenizer->position - 1 : tokenizer->position;
    token->is_quirky = !is_complete || is_quirky(tokenizer, start + 9, end);
    return true;
}

static bool opens_markup(const Tokenizer *tokenizer, uint32_t position)
{
    if (position + 1 >= tokenizer->length)
        return false;
    uint8_t next = tokenizer->data[position + 1];
    /* `</` at the very end is text. */
    return is_letter(next) || next == '!' || next == '?' || (next == '/' && position + 2 < tokenizer->length);
}

void next_token(Tokenizer *tokenizer, Token *token)
{
    while (tokenizer->position < tokenizer->length) {
        uint32_t start = tokenizer->position, at = start;
        const uint8_t *found;
        while ((found = find(tokenizer, at, '<')) && !opens_markup(tokenizer, (uint32_t)(found - tokenizer->data)))
            at = (uint32_t)(found - tokenizer->data) + 1;
        uint32_t end = found ? (uint32_t)(found - tokenizer->data) : tokenizer->length;
        if (end > start) {
            *token = (Token){.kind = TOKEN_TEXT, .start = start, .end = end};
            tokenizer->position = end;
            return;
        }
        if (read_markup(tokenizer, start, token))
            return;
    }
    *token = (Token){.kind = TOKEN_END_OF_FILE};
}

/* Raw text */

static bool has_name(const Tokenizer *tokenizer, uint32_t position, const char *name, uint32_t length)
{
    if (!has_word(tokenizer, position, name) || position + length >= tokenizer->length)
        return false;
    uint8_t next = tokenizer->data[position + length];
    return is_html_space(next) || next == '/' || next == '>';
}

/* The end of a script (13.2.5.4, 13.2.5.20 to 31): in a comment, a script start tag hides the next script end tag. */
static uint32_t script_end(const Tokenizer *tokenizer, uint32_t position)
{
    const uint8_t *data = tokenizer->data;
    uint32_t length = tokenizer->length, comment = 0;
    bool is_escaped = false, is_doubly_escaped = false;
    while (position < length) {
        if (!is_escaped) {
            const uint8_t *found = find(tokenizer, position, '<');
            if (!found)
                return length;
            position = (uint32_t)(found - data);
            if (has_word(tokenizer, position, "<!--")) {
                is_escaped = true;
                comment = position + 2;
                position += 4;
                if (position < length && data[position] == '>')
                    is_escaped = false;
                continue;
            }
            if (position + 1 < length && data[position + 1] == '/' && has_name(tokenizer, position + 2, "script", 6))
                return position;
            position++;
            continue;
        }
        uint8_t byte = data[position];
        if (byte == '>' && position >= comment + 2 && data[position - 1] == '-' && data[position - 2] == '-') {
            is_escaped = is_doubly_escaped = false;
        } else if (byte == '<' && position + 1 < length) {
            bool is_end = data[position + 1] == '/';
            if (has_name(tokenizer, position + 1 + is_end, "script", 6)) {
                if (is_end && !is_doubly_escaped)
                    return position;
                is_doubly_escaped = !is_end;
            }
        }
        position++;
    }
    return length;
}

void read_raw_text(Tokenizer *tokenizer, Tag tag, Token *text)
{
    uint32_t start = tokenizer->position, end = start;
    if (tag == TAG_plaintext) {
        end = tokenizer->length;
    } else if (tag == TAG_script) {
        end = script_end(tokenizer, start);
    } else {
        const char *name = tag_names[tag];
        uint32_t length = (uint32_t)strlen(name);
        const uint8_t *found;
        while ((found = find(tokenizer, end, '<'))) {
            end = (uint32_t)(found - tokenizer->data);
            if (end + 1 < tokenizer->length && tokenizer->data[end + 1] == '/' &&
                has_name(tokenizer, end + 2, name, length))
                break;
            end++;
        }
        if (!found)
            end = tokenizer->length;
    }
    bool has_references = tag == TAG_title || tag == TAG_textarea;
    *text = (Token){.kind = TOKEN_TEXT, .start = start, .end = end, .is_raw = !has_references};
    tokenizer->position = end;
    if (end < tokenizer->length) {
        Token end_tag;
        read_tag(tokenizer, end + 2, &end_tag);
    }
}
