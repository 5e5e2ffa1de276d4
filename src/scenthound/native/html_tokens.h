/* The tokenizer of the HTML reader (HTML, 13.2.5), its attributes and character references.

   A token is a range of the source. Nothing is copied: text and attributes are decoded where they are used. Comments
   and processing instructions are skipped. */

#ifndef SCENTHOUND_HTML_TOKENS_H
#define SCENTHOUND_HTML_TOKENS_H

#include "html_tags.h"

typedef enum { TOKEN_END_OF_FILE, TOKEN_TEXT, TOKEN_START_TAG, TOKEN_END_TAG, TOKEN_DOCTYPE } TokenKind;

typedef struct {
    TokenKind kind;
    Tag tag;
    uint32_t name;       /* hash of the name of the tag */
    uint32_t start, end; /* of the text, or of the attributes */
    bool is_raw;         /* of text: `&` stands for itself */
    bool is_self_closing;
    bool is_quirky;      /* of a doctype: it asks for quirks mode */
} Token;

typedef struct {
    const uint8_t *data;
    uint32_t length;
    uint32_t position;
    bool in_foreign_content; /* whether `<![CDATA[` starts text; set by the tree builder */
} Tokenizer;

static inline bool is_html_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r' || byte == '\f';
}

/* Read the next token. */
void next_token(Tokenizer *tokenizer, Token *token);

/* Read the raw text of an element up to its end tag, which is read as well, or to the end of the source. */
void read_raw_text(Tokenizer *tokenizer, Tag tag, Token *text);

/* A value of an attribute: a range of the source. `found` is false if there is no such attribute. */
typedef struct {
    bool found;
    uint32_t start, end;
} Attribute;

/* The first attribute of a tag with a name, which is in lower case. */
Attribute find_attribute(const uint8_t *data, uint32_t start, uint32_t end, const char *name);

/* Whether a value, without character references, is a word in lower case, in any case. */
bool is_value(const uint8_t *data, Attribute attribute, const char *word);

/* Add a range of the source with its character references replaced. In text, U+0000 is dropped if `drop_null` is set;
   elsewhere it is replaced by U+FFFD. */
typedef enum { IN_TEXT, IN_ATTRIBUTE, IN_RAW_TEXT } Place;
void text_add_decoded(Text *text, const uint8_t *data, uint32_t start, uint32_t end, Place place, bool drop_null);

/* Read the named character references of Python's html.entities; false with an exception if that fails. */
bool html_references_prepare(void);

#endif
