/* The tags of HTML that the reader knows, and what the standard and the reader say of each.

   TAG(identifier, name, properties). Tags that are not listed are all `TAG_other`, and told apart by their names. */

#ifndef SCENTHOUND_HTML_TAGS_H
#define SCENTHOUND_HTML_TAGS_H

#include "native.h"

/* HTML, 13.2.4.2 and 13.2.4.3: categories and stacks of open elements. */
#define SPECIAL (1u << 0)
#define FORMATTING (1u << 1)
#define SCOPE (1u << 2)            /* ends a search for an element "in scope" */
#define IMPLIED_END (1u << 3)      /* closed by "generate implied end tags" */
#define THOROUGH_END (1u << 4)     /* and by its thorough variant */
#define HEADING (1u << 5)
#define TABLE_PART (1u << 6)       /* contains no text: text in it is moved before the table */
#define BREAKOUT (1u << 7)         /* ends SVG and MathML around it (13.2.6.5) */
#define MATH_TEXT (1u << 8)        /* MathML text integration point */
#define FOREIGN_SPECIAL (1u << 9)  /* special, and ends a search, in SVG or MathML */
#define HEAD_CONTENT (1u << 15)    /* inserted as in the head, wherever it is */
/* What the reader does with them. */
#define BLOCK (1u << 10)           /* in HTML: separates words from those before and after it */
#define SEPARATES_AFTER (1u << 11) /* in MathML: separates words from those after it */
#define HIDDEN (1u << 12)          /* in HTML: its content is not displayed */
#define ALWAYS_HIDDEN (1u << 13)   /* nor in SVG and MathML */
/* What its tags do in a body (13.2.6.4.7). */
#define ENDS_P (1u << 14)          /* its start tag ends a paragraph; that of others reconstructs formatting elements */
#define DIRECT (1u << 16)          /* its start tag does neither */
#define IGNORED (1u << 17)         /* its start tag does nothing */
#define TABLE_TAG (1u << 18)       /* ignored outside of tables */
#define NO_FRAMESETS (1u << 19)    /* framesets are not possible after it */
#define VOID (1u << 20)            /* has no content */
#define RAW_TEXT (1u << 21)        /* has no tags in it */
#define MARKED (1u << 22)          /* is a bound of formatting elements */
#define CLOSED_IN_SCOPE (1u << 23) /* its end tag closes all that is open in it, if it is in scope */

#define SIMPLE_BLOCK (SPECIAL | BLOCK | ENDS_P | CLOSED_IN_SCOPE)

#define HTML_TAGS(TAG)                                                                                                 \
    TAG(a, "a", FORMATTING)                                                                                            \
    TAG(address, "address", SIMPLE_BLOCK)                                                                              \
    TAG(annotation, "annotation", ALWAYS_HIDDEN)                                                                       \
    TAG(annotation_xml, "annotation-xml", ALWAYS_HIDDEN | FOREIGN_SPECIAL)                                             \
    TAG(applet, "applet", SPECIAL | SCOPE | CLOSED_IN_SCOPE | NO_FRAMESETS | MARKED)                                   \
    TAG(area, "area", SPECIAL | NO_FRAMESETS | VOID)                                                                   \
    TAG(article, "article", SIMPLE_BLOCK)                                                                              \
    TAG(aside, "aside", SIMPLE_BLOCK)                                                                                  \
    TAG(b, "b", FORMATTING | BREAKOUT)                                                                                 \
    TAG(base, "base", SPECIAL | HEAD_CONTENT | VOID)                                                                   \
    TAG(basefont, "basefont", SPECIAL | HEAD_CONTENT | VOID)                                                           \
    TAG(bgsound, "bgsound", SPECIAL | HEAD_CONTENT | VOID)                                                             \
    TAG(big, "big", FORMATTING | BREAKOUT)                                                                             \
    TAG(blockquote, "blockquote", SIMPLE_BLOCK | BREAKOUT)                                                             \
    TAG(body, "body", SPECIAL | BREAKOUT)                                                                              \
    TAG(br, "br", SPECIAL | BLOCK | BREAKOUT | NO_FRAMESETS | VOID)                                                    \
    TAG(button, "button", SPECIAL | BLOCK | CLOSED_IN_SCOPE | NO_FRAMESETS)                                            \
    TAG(caption, "caption", SPECIAL | SCOPE | THOROUGH_END | BLOCK | TABLE_TAG)                                        \
    TAG(center, "center", SIMPLE_BLOCK | BREAKOUT)                                                                     \
    TAG(code, "code", FORMATTING | BREAKOUT)                                                                           \
    TAG(col, "col", SPECIAL | TABLE_TAG)                                                                               \
    TAG(colgroup, "colgroup", SPECIAL | THOROUGH_END | TABLE_TAG)                                                      \
    TAG(datalist, "datalist", HIDDEN)                                                                                  \
    TAG(dd, "dd", SPECIAL | IMPLIED_END | BLOCK | BREAKOUT | ENDS_P | NO_FRAMESETS)                                    \
    TAG(desc, "desc", FOREIGN_SPECIAL)                                                                                 \
    TAG(details, "details", SIMPLE_BLOCK)                                                                              \
    TAG(dialog, "dialog", BLOCK | ENDS_P | CLOSED_IN_SCOPE)                                                            \
    TAG(dir, "dir", SIMPLE_BLOCK)                                                                                      \
    TAG(div, "div", SIMPLE_BLOCK | BREAKOUT)                                                                           \
    TAG(dl, "dl", SIMPLE_BLOCK | BREAKOUT)                                                                             \
    TAG(dt, "dt", SPECIAL | IMPLIED_END | BLOCK | BREAKOUT | ENDS_P | NO_FRAMESETS)                                    \
    TAG(em, "em", FORMATTING | BREAKOUT)                                                                               \
    TAG(embed, "embed", SPECIAL | BREAKOUT | NO_FRAMESETS | VOID)                                                      \
    TAG(fieldset, "fieldset", SIMPLE_BLOCK)                                                                            \
    TAG(figcaption, "figcaption", SIMPLE_BLOCK)                                                                        \
    TAG(figure, "figure", SIMPLE_BLOCK)                                                                                \
    TAG(font, "font", FORMATTING)                                                                                      \
    TAG(footer, "footer", SIMPLE_BLOCK)                                                                                \
    TAG(foreignobject, "foreignobject", FOREIGN_SPECIAL)                                                               \
    TAG(form, "form", SPECIAL | BLOCK)                                                                                 \
    TAG(frame, "frame", SPECIAL | IGNORED)                                                                             \
    TAG(frameset, "frameset", SPECIAL)                                                                                 \
    TAG(h1, "h1", SPECIAL | HEADING | BLOCK | BREAKOUT | ENDS_P)                                                       \
    TAG(h2, "h2", SPECIAL | HEADING | BLOCK | BREAKOUT | ENDS_P)                                                       \
    TAG(h3, "h3", SPECIAL | HEADING | BLOCK | BREAKOUT | ENDS_P)                                                       \
    TAG(h4, "h4", SPECIAL | HEADING | BLOCK | BREAKOUT | ENDS_P)                                                       \
    TAG(h5, "h5", SPECIAL | HEADING | BLOCK | BREAKOUT | ENDS_P)                                                       \
    TAG(h6, "h6", SPECIAL | HEADING | BLOCK | BREAKOUT | ENDS_P)                                                       \
    TAG(head, "head", SPECIAL | BREAKOUT | IGNORED)                                                                    \
    TAG(header, "header", SIMPLE_BLOCK)                                                                                \
    TAG(hgroup, "hgroup", SIMPLE_BLOCK)                                                                                \
    TAG(hr, "hr", SPECIAL | BLOCK | BREAKOUT | DIRECT | NO_FRAMESETS | VOID)                                           \
    TAG(html, "html", SPECIAL | SCOPE | IGNORED)                                                                       \
    TAG(i, "i", FORMATTING | BREAKOUT)                                                                                 \
    TAG(iframe, "iframe", SPECIAL | HIDDEN | DIRECT | NO_FRAMESETS | RAW_TEXT)                                         \
    TAG(image, "image", 0)                                                                                             \
    TAG(img, "img", SPECIAL | BREAKOUT | NO_FRAMESETS | VOID)                                                          \
    TAG(input, "input", SPECIAL | VOID)                                                                                \
    TAG(keygen, "keygen", SPECIAL | NO_FRAMESETS | VOID)                                                               \
    TAG(label, "label", BLOCK)                                                                                         \
    TAG(legend, "legend", BLOCK)                                                                                       \
    TAG(li, "li", SPECIAL | IMPLIED_END | BLOCK | BREAKOUT | ENDS_P | NO_FRAMESETS)                                    \
    TAG(link, "link", SPECIAL | HEAD_CONTENT | VOID)                                                                   \
    TAG(listing, "listing", SPECIAL | BLOCK | BREAKOUT | ENDS_P | CLOSED_IN_SCOPE | NO_FRAMESETS)                      \
    TAG(main, "main", SIMPLE_BLOCK)                                                                                    \
    TAG(malignmark, "malignmark", 0)                                                                                   \
    TAG(marquee, "marquee", SPECIAL | SCOPE | BLOCK | CLOSED_IN_SCOPE | NO_FRAMESETS | MARKED)                         \
    TAG(math, "math", 0)                                                                                               \
    TAG(menu, "menu", SIMPLE_BLOCK | BREAKOUT)                                                                         \
    TAG(meta, "meta", SPECIAL | BREAKOUT | HEAD_CONTENT | VOID)                                                        \
    TAG(mglyph, "mglyph", 0)                                                                                           \
    TAG(mi, "mi", MATH_TEXT | FOREIGN_SPECIAL)                                                                         \
    TAG(mn, "mn", MATH_TEXT | FOREIGN_SPECIAL)                                                                         \
    TAG(mo, "mo", MATH_TEXT | FOREIGN_SPECIAL)                                                                         \
    TAG(ms, "ms", MATH_TEXT | FOREIGN_SPECIAL)                                                                         \
    TAG(mtable, "mtable", SEPARATES_AFTER)                                                                             \
    TAG(mtd, "mtd", SEPARATES_AFTER)                                                                                   \
    TAG(mtext, "mtext", MATH_TEXT | FOREIGN_SPECIAL)                                                                   \
    TAG(mtr, "mtr", SEPARATES_AFTER)                                                                                   \
    TAG(nav, "nav", SIMPLE_BLOCK)                                                                                      \
    TAG(nobr, "nobr", FORMATTING | BREAKOUT)                                                                           \
    TAG(noembed, "noembed", SPECIAL | HIDDEN | DIRECT | RAW_TEXT)                                                      \
    TAG(noframes, "noframes", SPECIAL | HIDDEN | HEAD_CONTENT | RAW_TEXT)                                              \
    TAG(noscript, "noscript", SPECIAL)                                                                                 \
    TAG(object, "object", SPECIAL | SCOPE | BLOCK | CLOSED_IN_SCOPE | NO_FRAMESETS | MARKED)                           \
    TAG(ol, "ol", SIMPLE_BLOCK | BREAKOUT)                                                                             \
    TAG(optgroup, "optgroup", IMPLIED_END | BLOCK)                                                                     \
    TAG(option, "option", IMPLIED_END | BLOCK)                                                                         \
    TAG(output, "output", BLOCK)                                                                                       \
    TAG(p, "p", SPECIAL | IMPLIED_END | BLOCK | BREAKOUT | ENDS_P)                                                     \
    TAG(param, "param", SPECIAL | DIRECT | VOID)                                                                       \
    TAG(plaintext, "plaintext", SPECIAL | ENDS_P | RAW_TEXT)                                                           \
    TAG(pre, "pre", SPECIAL | BLOCK | BREAKOUT | ENDS_P | CLOSED_IN_SCOPE | NO_FRAMESETS)                              \
    TAG(rb, "rb", IMPLIED_END | DIRECT)                                                                                \
    TAG(rp, "rp", IMPLIED_END | BLOCK | DIRECT)                                                                        \
    TAG(rt, "rt", IMPLIED_END | BLOCK | DIRECT)                                                                        \
    TAG(rtc, "rtc", IMPLIED_END | DIRECT)                                                                              \
    TAG(ruby, "ruby", BREAKOUT)                                                                                        \
    TAG(s, "s", FORMATTING | BREAKOUT)                                                                                 \
    TAG(script, "script", SPECIAL | HIDDEN | ALWAYS_HIDDEN | HEAD_CONTENT | RAW_TEXT)                                  \
    TAG(search, "search", SIMPLE_BLOCK)                                                                                \
    TAG(section, "section", SIMPLE_BLOCK)                                                                              \
    TAG(select, "select", SPECIAL | SCOPE | BLOCK | CLOSED_IN_SCOPE | NO_FRAMESETS)                                    \
    TAG(small, "small", FORMATTING | BREAKOUT)                                                                         \
    TAG(source, "source", SPECIAL | DIRECT | VOID)                                                                     \
    TAG(span, "span", BREAKOUT)                                                                                        \
    TAG(strike, "strike", FORMATTING | BREAKOUT)                                                                       \
    TAG(strong, "strong", FORMATTING | BREAKOUT)                                                                       \
    TAG(style, "style", SPECIAL | HIDDEN | ALWAYS_HIDDEN | HEAD_CONTENT | RAW_TEXT)                                    \
    TAG(sub, "sub", BREAKOUT)                                                                                          \
    TAG(summary, "summary", SIMPLE_BLOCK)                                                                              \
    TAG(sup, "sup", BREAKOUT)                                                                                          \
    TAG(svg, "svg", 0)                                                                                                 \
    TAG(table, "table", SPECIAL | SCOPE | TABLE_PART | BLOCK | BREAKOUT | DIRECT | NO_FRAMESETS)                       \
    TAG(tbody, "tbody", SPECIAL | THOROUGH_END | TABLE_PART | BLOCK | TABLE_TAG)                                       \
    TAG(td, "td", SPECIAL | SCOPE | THOROUGH_END | BLOCK | TABLE_TAG)                                                  \
    TAG(template, "template", SPECIAL | SCOPE | HIDDEN | HEAD_CONTENT)                                                 \
    TAG(textarea, "textarea", SPECIAL | BLOCK | DIRECT | NO_FRAMESETS | RAW_TEXT)                                      \
    TAG(tfoot, "tfoot", SPECIAL | THOROUGH_END | TABLE_PART | BLOCK | TABLE_TAG)                                       \
    TAG(th, "th", SPECIAL | SCOPE | THOROUGH_END | BLOCK | TABLE_TAG)                                                  \
    TAG(thead, "thead", SPECIAL | THOROUGH_END | TABLE_PART | BLOCK | TABLE_TAG)                                       \
    TAG(title, "title", SPECIAL | FOREIGN_SPECIAL | HEAD_CONTENT | RAW_TEXT)                                           \
    TAG(tr, "tr", SPECIAL | THOROUGH_END | TABLE_PART | BLOCK | TABLE_TAG)                                             \
    TAG(track, "track", SPECIAL | DIRECT | VOID)                                                                       \
    TAG(tt, "tt", FORMATTING | BREAKOUT)                                                                               \
    TAG(u, "u", FORMATTING | BREAKOUT)                                                                                 \
    TAG(ul, "ul", SIMPLE_BLOCK | BREAKOUT)                                                                             \
    TAG(var, "var", BREAKOUT)                                                                                          \
    TAG(wbr, "wbr", SPECIAL | NO_FRAMESETS | VOID)                                                                     \
    TAG(xmp, "xmp", SPECIAL | BLOCK | NO_FRAMESETS | RAW_TEXT)

#define TAG_IDENTIFIER(identifier, name, properties) TAG_##identifier,
typedef enum { TAG_none, TAG_other, HTML_TAGS(TAG_IDENTIFIER) N_TAGS } Tag;
#undef TAG_IDENTIFIER

extern const uint32_t properties_of[N_TAGS];
extern const char *const tag_names[N_TAGS];

/* Prepare `tag_named`. */
void html_tags_prepare(void);

/* The tag of a name in any case, and a hash of the name, which tells tags apart that are `TAG_other`. */
Tag tag_named(const uint8_t *name, size_t length, uint32_t *hash);

#endif
